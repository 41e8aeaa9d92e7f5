"""Which checks a run has, which of its findings are new, what a crash leaves, and which paths git tracks."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import entry_text, write_entry
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trees import HeldTree, case_of, facts_with

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes, get_check, get_checks, require_known_wings
from mdmem.checks.engine import mark_new, run_checks
from mdmem.errors import GoneError, SettingsError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.globs import matches
from mdmem.store.settings import Settings, WingSettings, parse_settings

EMPTY = "body-empty"
DANGLING = "dangling-link"


def test_codes_asked_for_are_run_whatever_the_settings_choose() -> None:
    settings = Settings(ignore=(EMPTY,), wings={"app": WingSettings(select=("expired",))})
    assert chosen_codes(settings, [EMPTY, DANGLING], [DANGLING]) == (EMPTY,)


def test_codes_leave_out_what_every_wing_and_the_root_ignore() -> None:
    settings = Settings(ignore=(EMPTY,), wings={"app": WingSettings(ignore=(DANGLING,))})
    assert set(get_checks()) - set(chosen_codes(settings)) == {EMPTY, "entry-too-long"}


@pytest.mark.parametrize(
    ("content", "line", "key"),
    [
        ("[check]\nselect = ['body-emty']", 2, "check.select"),
        ("[check]\nselect = []\nignore = [\n  'expired',\n  'body-emty',\n]", 5, "check.ignore"),
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
            yield Finding(EMPTY, "it is empty", case.catalog.place(entry.address, "title"))
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
    (finding,) = run_checks(two_entries(tmp_path), [EMPTY])
    assert (finding.code, finding.severity) == ("check-crashed", Severity.ERROR)
    assert (finding.place.path, finding.address) == place
    assert finding.message.startswith(f"the check `body-empty` failed: {message}")
    assert len(finding.message) < 260
    assert finding.help.startswith("run it again with `--ignore body-empty` to go on without it; `MDMEM_DEBUG=1`")


def test_other_checks_go_on_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing(monkeypatch, KeyError(1), at=None)
    found = run_checks(two_entries(tmp_path), [EMPTY, DANGLING])
    assert [one.code for one in found] == [DANGLING, DANGLING, "check-crashed"]


@pytest.mark.parametrize(("error", "is_debugging"), [(KeyError("why"), True), (GoneError("a file went away"), False)])
def test_crash_is_raised_when_debugging_and_a_fault_outside_the_program_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, *, is_debugging: bool
) -> None:
    crashing(monkeypatch, error, at=None)
    with pytest.raises(type(error), match=r"why|a file went away"):
        run_checks(two_entries(tmp_path), [EMPTY], is_debugging=is_debugging)


def test_crash_leaves_the_run_incomplete() -> None:
    assert all(get_check(code).incomplete for code in ("unreadable", "check-crashed", "git-unavailable"))


IN_ROOT = frozenset({"app/rules/a.md", "app/README.md"})
PATHS = frozenset({"src/nav/node.py", "src/nav/deep/x.py", "src/a b.py", "README.md"})
FACTS = facts_with(IN_ROOT, "memory", tracked_in_repository=PATHS | {f"memory/{path}" for path in IN_ROOT})


@pytest.mark.parametrize("path", ["../src/nav/node.py", "../src/nav", "../src/nav/", "/README.md", "app/rules/a.md"])
def test_holds_what_is_tracked_from_the_root_or_the_top(path: str) -> None:
    assert FACTS.has(path)


@pytest.mark.parametrize("path", ["src/nav/node.py", "../src/na", "../../README.md", "/nav"])
def test_holds_nothing_else(path: str) -> None:
    assert not FACTS.has(path)


GLOBS = ["src/**", "src/nav/**", "src", "src/", "src/nav/", "./src/**", "**/x.py", "*.md", "src/*.py", "src/*/x.py"]
GLOBS += ["src/na", "nav/**", "src/n?v/node.py", "src/[m-n]av/**", "sr*", "**", "src/a b.py", "src/nav/node.py/**"]
GLOBS += ["src//nav/**", "src/./nav/node.py", "/src/**", "../src", "**/", "*/", "src/*/", ".", ""]


@pytest.mark.parametrize("glob", GLOBS)
def test_has_match_agrees_with_matching_every_path(glob: str) -> None:
    assert FACTS.has_match(glob) == any(matches(glob, path) for path in FACTS.tracked_in_repository)
