"""What a run leaves out because nobody asked for it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mdmem.checks.engine import CheckReport
from mdmem.checks.run import CheckRequest, limited
from mdmem.model.finding import Finding, Place, Severity

OLD, NEW = (
    [Finding(level.value, "", Place("a/b/c.md"), severity=level, new=new) for level in Severity]
    for new in (False, True)
)
REPORT = CheckReport("git index", 1, (*OLD, *NEW), base="HEAD")


@pytest.mark.parametrize(
    ("request_", "reported", "left_out"),
    [
        (CheckRequest(), NEW, OLD),
        (CheckRequest(with_info=False), NEW[:2], OLD[:2]),
        (CheckRequest(shows_old=True), [*OLD, *NEW], []),
    ],
)
def test_what_was_there_before_is_counted(
    request_: CheckRequest, reported: list[Finding], left_out: list[Finding]
) -> None:
    made = limited(REPORT, request_)
    assert (list(made.reported), list(made.left_out)) == (reported, left_out)


@pytest.mark.parametrize(("old_fails", "reported"), [(False, []), (True, OLD[:1])])
def test_what_was_there_before_fails_only_where_the_settings_say_so(old_fails: bool, reported: list[Finding]) -> None:
    report = replace(REPORT, findings=tuple(OLD), old_fails=old_fails)
    assert (report.is_failing, list(report.reported)) == (old_fails, reported)


def test_without_anything_to_compare_with_nothing_is_old() -> None:
    report = replace(REPORT, findings=tuple(OLD), base=None)
    assert (report.is_failing, list(report.reported)) == (True, OLD)


@pytest.mark.parametrize(("strict", "fails"), [(False, False), (True, True)])
def test_strict_run_fails_for_warnings(strict: bool, fails: bool) -> None:
    report = CheckReport("git index", 1, (OLD[1],))
    assert limited(report, CheckRequest(strict=strict)).is_failing is fails


def test_what_could_not_be_looked_at_is_told_each_time() -> None:
    unread = Finding("unreadable", "", Place("a/b/c.md"), severity=Severity.ERROR)
    report = replace(REPORT, findings=(unread,), incomplete=("a/b/c.md",))
    assert (report.reported, report.is_failing) == ((unread,), True)
