"""Test a run: its checks, the severity of findings, new and excused findings, and a check that crashes."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import entry_text, write, write_entry
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trees import HeldTree, case_of, facts_with

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes, get_checks, require_known_wings
from mdmem.checks.engine import mark_new, run_checks
from mdmem.errors import GoneError, SettingsError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.globs import any_match
from mdmem.store.settings import Settings, WingSettings, parse_settings

EMPTY = "body-empty"
DANGLING = "dangling-link"


def test_codes_are_those_asked_for_or_else_those_that_the_root_or_a_wing_does_not_ignore() -> None:
    settings = Settings(ignore=(EMPTY,), wings={"app": WingSettings(ignore=(DANGLING,))})
    assert chosen_codes(settings, [EMPTY, DANGLING], [DANGLING]) == (EMPTY,)
    assert set(get_checks()) - set(chosen_codes(settings)) == {EMPTY, "entry-too-long"}


@pytest.mark.parametrize(
    ("content", "line", "key"),
    [
        ("[check]\nselect = ['body-emty']", 2, "check.select"),
        ("[check]\nselect = []\nignore = [\n  'expired',\n  'body-emty',\n]", 3, "check.ignore"),
        ("[check.severity]\nexpired = 'info'\nbody-emty = 'info'", 3, "check.severity"),
        ("[check]\nseverity = {body-emty = 'info'}", 2, "check.severity"),
        ("[check]\nselect = []\n[wings.app.check]\nselect = ['body-emty']", 4, "wings.app.check.select"),
        ("[wings.app]\ncheck.severity.body-emty = 'info'", 2, "wings.app.check.severity"),
    ],
)
def test_code_in_the_settings_that_does_not_exist_is_named_with_its_line(content: str, line: int, key: str) -> None:
    settings = parse_settings(content.encode())
    with pytest.raises(SettingsError) as caught:
        chosen_codes(settings)
    sentence = f"mdmem.toml:{line}: `{key}` contains `body-emty`, which is not a check; did you mean `body-empty`"
    assert (str(caught.value)[: len(sentence)], caught.value.line) == (sentence, line)
    assert caught.value.readable == settings


def test_table_of_a_wing_that_is_not_there_is_refused_with_the_nearest() -> None:
    settings = parse_settings(b"[check]\n[wings.ap.check]\nignore = []\n")
    require_known_wings(settings, ["ap"])
    with pytest.raises(SettingsError) as caught:
        require_known_wings(settings, ["shop", "app"])
    assert str(caught.value) == "mdmem.toml:2: `wings.ap` is for a wing that does not exist; did you mean `app`?"


def found(message: str, line: int = 1, path: str = "app/rules/a.md", code: str = EMPTY) -> Finding:
    return Finding(code, message, Place(path, line))


MILDER, GRAVER = (replace(found("it is empty"), severity=one) for one in (Severity.WARNING, Severity.ERROR))
FEWER, MORE = (replace(found(f"{count} such findings"), count=count) for count in (51, 52))


@pytest.mark.parametrize(
    ("now", "was", "is_new"),
    [
        (found("it is empty"), found("it is empty"), False),
        (found("it is empty", code=DANGLING), found("it is empty"), True),
        (found("it is empty", path="app/rules/b.md"), found("it is empty"), True),
        (found("it has 90 tokens, line 14", 14), found("it has 812 tokens, line 3", 3), False),
        (GRAVER, MILDER, True),
        (MILDER, GRAVER, False),
        (MORE, FEWER, True),
        (FEWER, MORE, False),
    ],
)
def test_finding_is_new_without_one_of_its_code_and_file_that_says_as_much(
    now: Finding, was: Finding, *, is_new: bool
) -> None:
    assert [one.new for one in mark_new([now], [was])] == [is_new]


alike = st.lists(st.builds(found, st.sampled_from(["a", "b 1", "b 2"]), st.integers(1, 3)), max_size=8)


@given(alike, alike)
def test_new_findings_are_as_many_as_the_base_lacks(now: list[Finding], base: list[Finding]) -> None:
    marked = mark_new(now, base)
    assert [(one.message, one.place) for one in marked] == [(one.message, one.place) for one in now]
    for start in ("a", "b"):
        more = sum(one.message[0] == start for one in now) - sum(one.message[0] == start for one in base)
        assert sum(one.new for one in marked if one.message[0] == start) == max(0, more)


def test_many_findings_of_a_kind_in_a_file_are_cut_and_counted(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/a", see=[f"app/rules/gone-{number}" for number in range(150)])
    found = run_checks(case_of(tmp_path), [DANGLING])
    assert len(found) == 101
    assert "the file has 150 such findings; 100 are shown" in {one.message for one in found}


@pytest.mark.parametrize(
    "text",
    [
        entry_text(see=f"[{','.join(['tbd'] * 3_900)}]"),
        entry_text(tags=f"[{','.join('a' * 7_500)}]"),
        entry_text(see=f"[{','.join('b' * 7_500)}]"),
        entry_text(**{f"k{number}": "" for number in range(1_700)}),
        entry_text("".join(f'password="x7Gk29dLqP03mZ{number}" ' for number in range(30_000))),
    ],
    ids=["placeholders", "tags", "links", "empty", "secrets"],
)
def test_file_of_thousands_of_findings_is_checked_in_time_and_some_get_a_fix(text: str) -> None:
    case = case_of(HeldTree({"app/rules/a.md": text.encode()}))
    started = time.process_time()
    found = [one for check in get_checks().values() for one in check.find(case)]
    # Each took half a minute to an hour when every finding got a fix.
    assert time.process_time() - started < 10
    assert len(found) > 1_000
    assert max(Counter(one.code for one in found if one.fix is not None).values(), default=0) <= 25


def two_entries(root: Path) -> Case:
    for address in ("app/rules/a", "app/rules/b"):
        write_entry(root, address, see=["app/rules/gone"])
    return case_of(root)


def crashing(monkeypatch: pytest.MonkeyPatch, error: Exception, *, at: str | None) -> None:
    def find(case: Case) -> Iterator[Finding]:
        for entry in case.catalog.entries.values() if at else ():
            yield Finding(EMPTY, "it is empty", case.place(entry.address, "title"))
            if entry.address == at:
                raise error
        raise error

    checks = get_checks()
    monkeypatch.setitem(checks, EMPTY, replace(checks[EMPTY], rule=find))


@pytest.mark.parametrize(
    ("error", "at", "place", "message"),
    [
        (KeyError("app/x"), "app/rules/b", ("app/rules/b.md", "app/rules/b"), "KeyError: 'app/x'"),
        (RuntimeError(), None, ("mdmem.toml", None), "RuntimeError"),
        (ValueError("a\n\x1bb " + "c" * 500), None, ("mdmem.toml", None), "ValueError: a <U+001B>b ccc"),
    ],
    ids=["with a file", "without a file", "one printable line"],
)
def test_crash_names_the_check_the_file_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, at: str, place: tuple[str, str], message: str
) -> None:
    crashing(monkeypatch, error, at=at)
    found = run_checks(two_entries(tmp_path), [EMPTY, DANGLING])
    (finding,) = (one for one in found if one.code != DANGLING)
    assert (finding.code, finding.severity, len(found)) == ("check-crashed", Severity.ERROR, 3), "others go on"
    assert (finding.place.path, finding.address) == place
    assert finding.message.startswith(f"the check `body-empty` failed: {message}")
    assert len(finding.message) < 260
    assert finding.help.startswith("run it again with `--ignore body-empty` to go on without it; `MDMEM_DEBUG=1`")


@pytest.mark.parametrize(("error", "is_debugging"), [(KeyError("why"), True), (GoneError("a file went away"), False)])
def test_crash_is_raised_when_debugging_and_a_fault_outside_the_program_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, *, is_debugging: bool
) -> None:
    crashing(monkeypatch, error, at=None)
    with pytest.raises(type(error), match=r"why|a file went away"):
        run_checks(two_entries(tmp_path), [EMPTY], is_debugging=is_debugging)


IN_ROOT = frozenset({"app/rules/a.md", "app/README.md"})
PATHS = frozenset({"src/nav/node.py", "src/nav/deep/x.py", "src/a b.py", "README.md"})
FACTS = facts_with(IN_ROOT, "memory", tracked_in_repository=PATHS | {f"memory/{path}" for path in IN_ROOT})


def test_path_is_tracked_from_the_root_or_the_top() -> None:
    tracked = ("../src/nav/node.py", "../src/nav", "../src/nav/", "/README.md", "app/rules/a.md")
    others = ("src/nav/node.py", "../src/na", "../../README.md", "/nav")
    assert [path for path in (*tracked, *others) if FACTS.has(path)] == [*tracked]


GLOBS = ["src/**", "src/nav/**", "src", "src/", "src/nav/", "./src/**", "**/x.py", "*.md", "src/*.py", "src/*/x.py"]
GLOBS += ["src/na", "nav/**", "src/n?v/node.py", "src/[m-n]av/**", "sr*", "**", "src/a b.py", "src/nav/node.py/**"]
GLOBS += ["src//nav/**", "src/./nav/node.py", "/src/**", "../src", "**/", "*/", "src/*/", ".", ""]


def test_has_match_agrees_with_matching_every_path() -> None:
    paths = FACTS.tracked_in_repository
    assert [one for one in GLOBS if FACTS.has_match(one) != (any_match([one], paths) is not None)] == []


ERROR, WARNING, INFO = Severity
ENDED = {"status": "deprecated", "deprecated_reason": "it ended", "deprecated_at": "2026-04-01"}


def weights(root: Path, *codes: str, settings: Settings = Settings(), by_wing: bool = True) -> list[tuple[str, str]]:  # noqa: B008  # frozen
    found = run_checks(case_of(root, settings), codes, by_wing=by_wing)
    return [(one.place.path.split("/")[0], f"{one.code} {one.severity}") for one in found]


def write_faulty(root: Path, wing: str, **fields: object) -> None:
    write_entry(root, f"{wing}/rules/a", "", see=[f"{wing}/rules/gone"], **fields)


def test_weight_is_the_checks_then_the_roots_then_the_wings(tmp_path: Path) -> None:
    for wing in ("app", "shop"):
        write_faulty(tmp_path, wing)
    wings = {"shop": WingSettings(severity={EMPTY: INFO})}
    settings = Settings(severity={EMPTY: WARNING}, wings=wings)
    assert weights(tmp_path, EMPTY, DANGLING, settings=settings) == [
        ("app", f"{EMPTY} warning"),
        ("app", f"{DANGLING} error"),
        ("shop", f"{EMPTY} info"),
        ("shop", f"{DANGLING} error"),
    ]


@pytest.mark.parametrize(
    ("of_root", "of_wing", "app", "shop"),
    [
        ({}, {"ignore": (EMPTY,)}, {EMPTY, DANGLING}, {DANGLING}),
        ({}, {"select": (EMPTY,)}, {EMPTY, DANGLING}, {EMPTY}),
        ({"select": (DANGLING,)}, {"select": (EMPTY,)}, {DANGLING}, {EMPTY}),
        ({"ignore": (EMPTY,)}, {"select": (EMPTY,)}, {DANGLING}, {EMPTY}),
        ({"ignore": (EMPTY,)}, {"ignore": (DANGLING,)}, {DANGLING}, set()),
        ({"ignore": (EMPTY,)}, {"severity": {EMPTY: INFO}}, {DANGLING}, {DANGLING}),
        ({}, {"select": (EMPTY, DANGLING), "ignore": (EMPTY,)}, {EMPTY, DANGLING}, {DANGLING}),
    ],
)
def test_wing_chooses_its_codes(
    tmp_path: Path,
    of_root: dict[str, tuple[str, ...]],
    of_wing: dict[str, tuple[str, ...]],
    app: set[str],
    shop: set[str],
) -> None:
    for wing in ("app", "shop"):
        write_faulty(tmp_path, wing)
    settings = Settings(**of_root, wings={"shop": WingSettings(**of_wing)})
    found = weights(tmp_path, EMPTY, DANGLING, settings=settings)
    assert {code.split()[0] for wing, code in found if wing == "app"} == app
    assert {code.split()[0] for wing, code in found if wing == "shop"} == shop


SUPERSEDED = {"superseded_by": ["app/rules/b"]}


@pytest.mark.parametrize(
    ("fields", "settings", "severity"),
    [
        ({"status": "draft"}, Settings(), ERROR),
        ({"status": "active", "expires_at": "2026-05-01"}, Settings(), ERROR),
        ({"status": "under_review"}, Settings(), ERROR),
        (ENDED, Settings(), WARNING),
        (SUPERSEDED, Settings(), WARNING),
        (ENDED, Settings(severity={EMPTY: WARNING}), INFO),
        (ENDED, Settings(ended="same"), ERROR),
        ({**ENDED, "superseded_by": "{to: app/rules/b}"}, Settings(), ERROR),
    ],
    ids=["draft", "expired", "in doubt", "ended", "superseded", "of settings", "kept by settings", "unread successor"],
)
def test_weight_is_one_level_less_on_an_entry_that_certainly_ended(
    tmp_path: Path, fields: dict[str, object], settings: Settings, severity: Severity
) -> None:
    write_faulty(tmp_path, "app", **fields)
    if fields is SUPERSEDED:
        write_entry(tmp_path, "app/rules/b", supersedes=["app/rules/a"])
    assert weights(tmp_path, EMPTY, settings=settings) == [("app", f"{EMPTY} {severity}")]


def test_weight_is_less_for_faults_of_the_content_and_never_for_others_or_a_broken_supersession(tmp_path: Path) -> None:
    fields = {"confidence": "high", "verified_at": "2023-14-05", "title": "x" * 200, "see": ["app/rules/lost"]}
    write_entry(tmp_path, "app/rules/a", "Old.", **ENDED, **fields, superseded_by=["app/rules/gone"])
    write_entry(tmp_path, "app/rules/b", "Old.", status="deprecated", creatd_at="2026-01-01")
    expected = {
        ("a", DANGLING): ["warning", "error"],
        ("a", "invalid-value"): ["warning"],
        ("a", "date-form"): ["warning"],
        ("a", "unclear-title"): ["info"],
        ("b", "deprecated-at-missing"): ["warning"],
        ("b", "deprecated-without-successor-or-reason"): ["error"],
        ("b", "file-form"): ["warning"],
        ("b", "unknown-field"): ["warning"],
    }
    found: dict[tuple[str, str], list[str]] = {}
    for one in run_checks(case_of(tmp_path), get_checks()):
        found.setdefault((one.place.path[10], one.code), []).append(str(one.severity))
    assert {key: found[key] for key in expected} == expected


A = "app/rules/a"
IGNORE = "<!-- mdmem: ignore"
VAGUE, UNUSED = "invariant-wording", "unused-suppression"


def reported(root: Path, *codes: str, settings: Settings = Settings()) -> list[tuple[str, str]]:  # noqa: B008  # frozen
    return [(finding.code, finding.place.path) for finding in run_checks(case_of(root, settings), codes)]


def write_vague(root: Path, address: str, ignore: str = "", **fields: object) -> None:
    """Write an invariant that prefers, with a comment below."""
    write_entry(root, address, f"Prefer UTC.\n\n{ignore}\n", type="invariant", **fields)


def test_comment_keeps_out_its_code_for_its_entry_alone(tmp_path: Path) -> None:
    write_vague(tmp_path, A, f"{IGNORE} {VAGUE} the word is quoted -->", see=["app/rules/gone"])
    write_vague(tmp_path, "app/rules/b")
    assert reported(tmp_path, VAGUE, DANGLING) == [(DANGLING, f"{A}.md"), (VAGUE, "app/rules/b.md")]


@pytest.mark.parametrize(
    "comment",
    [
        f"{IGNORE} {VAGUE} -->",
        f"{IGNORE} {VAGUE} ... -->",
        f"`{IGNORE} {VAGUE} it is code -->`",
        f"```\n{IGNORE} {VAGUE} it is code -->\n```",
        f"{IGNORE} {VAGUE} it is not closed",
        f"<!-- ignore {VAGUE} it is not ours -->",
        f"{IGNORE} Vague-Invariant it is written otherwise -->",
    ],
)
def test_comment_that_does_not_hold_keeps_out_nothing(tmp_path: Path, comment: str) -> None:
    write_vague(tmp_path, A, comment)
    assert reported(tmp_path, VAGUE) == [(VAGUE, f"{A}.md")]


def test_reason_may_hold_code_and_several_lines(tmp_path: Path) -> None:
    write_vague(tmp_path, A, f"{IGNORE} {VAGUE}:\n`prefer`\nis quoted -->")
    (only,) = case_of(tmp_path).suppressions
    assert (only.code, only.reason, only.fault, only.place.line) == (VAGUE, "`prefer` is quoted", None, 9)


def test_comment_of_a_manifest_keeps_out_what_stands_there(tmp_path: Path) -> None:
    for wing, comment in (("app", f"{IGNORE} wing-without-owner everybody owns it -->\n"), ("shop", "")):
        write(tmp_path, f"{wing}/README.md", f"---\nkind: project\n---\n\n{comment}")
        write_entry(tmp_path, f"{wing}/rules/a")
    assert reported(tmp_path, "wing-without-owner") == [("wing-without-owner", "shop/README.md")]


def test_entry_and_manifest_that_cannot_be_read_excuse_nothing(tmp_path: Path) -> None:
    write_entry(tmp_path, A, f"{IGNORE} invalid-value it is ours -->\n", type="rule", ignore="{invalid-value: ours}")
    write(tmp_path, "app/README.md", f"---\nkind: [\n---\n\n{IGNORE} manifest-invalid it is ours -->\n")
    assert reported(tmp_path, "invalid-value", "manifest-invalid", UNUSED) == [
        ("manifest-invalid", "app/README.md"),
        ("invalid-value", f"{A}.md"),
    ]


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (f"{{{VAGUE}: the word is quoted}}", [DANGLING]),
        (f"{{{VAGUE}: the word is quoted, {DANGLING}: it is coming}}", []),
        (f"{{{VAGUE}: , {DANGLING}: it is coming}}", [VAGUE]),
        (f"[{VAGUE}]", [DANGLING, VAGUE]),
        ("{vague-invarient: a slip}", [DANGLING, VAGUE]),
    ],
)
def test_front_matter_keeps_out_the_codes_that_it_gives_a_reason_for(
    tmp_path: Path, ignore: str, left: list[str]
) -> None:
    write_entry(tmp_path, A, "Prefer UTC.\n", type="invariant", see=["app/rules/gone"], ignore=ignore)
    assert [code for code, _ in reported(tmp_path, VAGUE, DANGLING)] == left


def test_other_end_of_a_finding_does_not_keep_it_out(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/new", supersedes=[A])
    write_entry(tmp_path, A, f"Old.\n\n{IGNORE} supersession-one-sided not here -->\n")
    assert reported(tmp_path, "supersession-one-sided") == [("supersession-one-sided", "app/rules/new.md")]


@pytest.mark.parametrize("code", sorted(code for code, one in get_checks().items() if not one.is_excusable))
def test_code_that_no_file_may_excuse_is_named(tmp_path: Path, code: str) -> None:
    write_entry(tmp_path, A, f"Text.\n\n{IGNORE} {code} we know -->\n")
    (finding,) = run_checks(case_of(tmp_path), ["suppression-invalid"])
    assert (finding.message, finding.severity) == (f"`{code}` cannot be ignored in a file", Severity.ERROR)


def test_suppression_that_kept_nothing_out_is_unused(tmp_path: Path) -> None:
    write_entry(tmp_path, A, f"Must.\n\n{IGNORE} {VAGUE} it was vague -->\n", ignore=f"{{{DANGLING}: it is coming}}")
    found = run_checks(case_of(tmp_path), [UNUSED, VAGUE, DANGLING])
    assert [(one.place.line, one.message, one.address) for one in found] == [
        (5, f"`{DANGLING}` finds nothing here that could be ignored", A),
        (10, f"`{VAGUE}` finds nothing here that could be ignored", A),
    ]
    assert {one.severity for one in found} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("code", "ran", "ignored", "left"),
    [
        (VAGUE, DANGLING, (), []),
        ("link-not-tracked", "link-not-tracked", (), []),
        (VAGUE, VAGUE, (VAGUE,), []),
        (EMPTY, EMPTY, (), ["check-crashed"]),
    ],
    ids=["its check did not run", "it depends on git", "its wing ignores the check", "its check crashed"],
)
def test_suppression_is_not_called_unused_where_nobody_can_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, ran: str, ignored: tuple[str, ...], left: list[str]
) -> None:
    crashing(monkeypatch, KeyError(1), at=None)
    write_entry(tmp_path, A, ignore=f"{{{code}: it depends}}")
    settings = Settings(wings={"app": WingSettings(ignore=ignored)})
    assert [found for found, _ in reported(tmp_path, ran, UNUSED, settings=settings)] == left
