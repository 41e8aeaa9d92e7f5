"""Test the baseline: its records, the findings that it hides, and superfluous records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.checks.baseline import Counts, apply_baseline, baseline_of, read_baseline
from mdmem.checks.check import get_checks
from mdmem.errors import SettingsError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.settings import Settings, WingSettings

ERROR, WARNING, INFO = Severity
EMPTY, DANGLING, STRAY, STALE = "body-empty", "dangling-link", "stray-file", "unused-suppression"
A, B = "app/rules/a", "app/rules/b"


def found(code: str, address: str = A, line: int = 1, severity: Severity = ERROR, *, new: bool = False) -> Finding:
    return Finding(code, "it is so", Place(f"{address}.md", line), "", address, severity=severity, new=new)


def applied(
    findings: list[Finding],
    counts: Counts,
    settings: Settings = Settings(),  # noqa: B008  # frozen
    codes: tuple[str, ...] = tuple(get_checks()),
) -> tuple[list[int], list[Finding]]:
    """Return the lines of the findings that are still reported, and the findings about superfluous records."""
    kept, stale = apply_baseline(findings, counts, path=".known.json", settings=settings, codes=codes)
    return [one.place.line for one in kept], stale


def test_baseline_has_one_sorted_line_a_record() -> None:
    stray = Finding(STRAY, "it is not an entry", Place("app/notes.txt"), severity=WARNING)
    findings = [stray, found(EMPTY, B), found(DANGLING, A, 7), found(DANGLING, A, 5), found("expired", severity=INFO)]
    expected = b"""{"schema": 1, "findings": [
{"code": "body-empty", "address": "app/rules/b", "count": 1},
{"code": "dangling-link", "address": "app/rules/a", "count": 2},
{"code": "stray-file", "address": "app/notes.txt", "count": 1}
]}
"""
    assert baseline_of(findings) == expected
    for content in (expected, b"\xef\xbb\xbf" + expected.replace(b"\n", b"\r\n")):
        assert read_baseline(content) == {(EMPTY, B): 1, (DANGLING, A): 2, (STRAY, "app/notes.txt"): 1}


@pytest.mark.parametrize("code", ["unreadable", "check-crashed", "unused-suppression", "nothing-checked"])
def test_baseline_records_nothing_that_cannot_be_excused(code: str) -> None:
    assert baseline_of([found(code)]) == baseline_of([])


def test_baseline_keeps_what_is_known_of_checks_that_did_not_run() -> None:
    content = baseline_of([found(EMPTY)], old={(DANGLING, B): 2, (EMPTY, B): 1}, codes=(EMPTY,))
    assert read_baseline(content) == {(EMPTY, A): 1, (DANGLING, B): 2}


@pytest.mark.parametrize(
    ("findings", "counts", "lines"),
    [
        ([found(EMPTY, A, 90), found(EMPTY, B, 3)], {(EMPTY, A): 1}, [3]),
        ([found(DANGLING, A, line) for line in (3, 5, 9)], {(DANGLING, A): 2}, [9]),
        ([found(DANGLING, A, 3, new=True), found(DANGLING, A, 5), found(DANGLING, A, 9)], {(DANGLING, A): 2}, [3]),
    ],
    ids=["one that moved in its file is known", "the lowest is beyond the count", "a new one is reported first"],
)
def test_findings_beyond_the_records_are_reported(findings: list[Finding], counts: Counts, lines: list[int]) -> None:
    assert applied(findings, counts) == (lines, [])


def test_record_that_matches_less_than_it_says_is_stale() -> None:
    lines, stale = applied([found(DANGLING, A, 3)], {(DANGLING, A): 3, (EMPTY, B): 1})
    assert (lines, {one.code for one in stale}, {one.severity for one in stale}) == ([], {STALE}, {WARNING})
    assert [one.message for one in stale] == [
        "the baseline has 3 of `dangling-link` for `app/rules/a`, and the run found 1",
        "the baseline has 1 of `body-empty` for `app/rules/b`, and the run found 0",
    ]
    assert {one.place for one in stale} == {Place(".known.json")}


@pytest.mark.parametrize(
    ("settings", "codes", "findings"),
    [
        (Settings(), (DANGLING, STALE), []),
        (Settings(), (EMPTY, DANGLING), []),
        (Settings(wings={"app": WingSettings(ignore=(EMPTY,))}), tuple(get_checks()), []),
        (Settings(), tuple(get_checks()), [found("unreadable", B)]),
        (Settings(), tuple(get_checks()), [found("check-crashed", "mdmem")]),
    ],
    ids=["its check did not run", "nobody asks", "its wing ignores it", "a file was not read", "a check crashed"],
)
def test_record_is_not_called_stale_where_nobody_can_tell(
    settings: Settings, codes: tuple[str, ...], findings: list[Finding]
) -> None:
    assert applied(findings, {(EMPTY, A): 1}, settings, codes)[1] == []


def file_of(*records: str) -> bytes:
    return ('{"schema": 1, "findings": [\n' + ",\n".join(records) + "\n]}\n").encode()


one = '{"code": "body-empty", "address": "app/rules/a", "count": 1}'
unknown, unlike, whole = (one.replace("body-empty", code) for code in ("body-emty", "qqqq", "unreadable"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (file_of(one, unknown), ": there is no check `body-emty`; did you mean `body-empty` or "),
        (file_of(unlike), ": there is no check `qqqq`; `mdmem check --explain all` lists them"),
        (file_of(one, whole), ": `unreadable` cannot be recorded in a baseline; remove the record"),
        (file_of(one, one), ": `body-empty` is recorded twice for `app/rules/a`; keep one"),
        (file_of(one.replace("1", "0")), " cannot be read: Expected `int` >= 1 - at `$.findings[0].count`; "),
        (file_of(one.replace('"app/rules/a"', '""')), " cannot be read: Expected `str` of length >= 1 - at "),
        (file_of(one.replace("count", "cuont")), " cannot be read: Object "),
        (file_of(one, "[]"), " cannot be read: Expected `object`, got `array` - at `$.findings[1]`; "),
        (file_of(one, "<<<<<<< HEAD\n" + one), ":3: invalid JSON: expecting value; "),
        (b'{"schema": 2, "findings": []}', " cannot be read: Invalid enum value 2"),
        (b'{"findings": []}', " cannot be read: Object missing required field `schema`"),
        (b"\xff", " cannot be read: 'utf-8' codec can't decode byte 0xff"),
        (b"[" * 100_000, " cannot be read: "),
        (b"9" * 10_000, " cannot be read: "),
    ],
)
def test_baseline_that_does_not_fit_is_refused_with_its_place(content: bytes, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_baseline(content, path=".known.json")
    assert str(caught.value).startswith(f".known.json{said}")
    assert "cannot be read" not in said or str(caught.value).endswith("`mdmem check --update-baseline` writes it again")


some = st.lists(
    st.builds(found, st.sampled_from([EMPTY, DANGLING, "expired"]), st.sampled_from([A, B]), st.integers(1, 9)),
    max_size=12,
)


@given(some, some)
def test_baseline_reports_as_many_as_are_beyond_its_counts(old: list[Finding], now: list[Finding]) -> None:
    baseline = read_baseline(baseline_of(old))
    assert applied(old, baseline) == ([], [])
    kept, stale = applied(now, baseline)
    counts = {(one.code, one.address) for one in (*old, *now)}
    more = {key: sum((one.code, one.address) == key for one in now) - baseline.get(key, 0) for key in counts}
    assert len(kept) == sum(max(0, count) for count in more.values())
    assert len(stale) == sum(count < 0 for count in more.values())
    assert baseline_of(reversed(old)) == baseline_of(old)
