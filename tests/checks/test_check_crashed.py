"""A check that raises is a finding, and the others go on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_entry
from msgspec.structs import replace
from trees import case_of

from mdmem.checks.case import Case
from mdmem.checks.check import get_check, get_checks
from mdmem.checks.engine import run_checks
from mdmem.errors import GoneError
from mdmem.model.finding import Finding, Severity

EMPTY, DANGLING = "body-empty", "dangling-link"


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


def test_crash_names_the_check_the_file_and_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing(monkeypatch, KeyError("app/x"), at="app/rules/b")
    (finding,) = run_checks(two_entries(tmp_path), [EMPTY])
    assert finding.message == "the check `body-empty` failed: KeyError: 'app/x'"
    assert (finding.code, finding.severity, finding.place.path) == ("check-crashed", Severity.ERROR, "app/rules/b.md")
    assert finding.address == "app/rules/b"
    assert finding.help.startswith("run it again with `--ignore body-empty` to go on without it; `MDMEM_DEBUG=1`")


def test_crash_that_tells_no_file_stands_at_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing(monkeypatch, RuntimeError(), at=None)
    (finding,) = run_checks(two_entries(tmp_path), [EMPTY])
    assert (finding.place.path, finding.message) == ("mdmem.toml", "the check `body-empty` failed: RuntimeError")


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


def test_crash_message_is_one_printable_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing(monkeypatch, ValueError("a\n\x1bb " + "c" * 500), at=None)
    (finding,) = run_checks(two_entries(tmp_path), [EMPTY])
    start = "the check `body-empty` failed: ValueError: a <U+001B>b ccc"
    assert (finding.message[: len(start)], len(finding.message) < 260) == (start, True)
