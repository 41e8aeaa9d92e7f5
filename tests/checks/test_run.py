"""What a run leaves out because nobody asked for it."""

from __future__ import annotations

import pytest

from mdmem.checks.engine import CheckReport
from mdmem.checks.run import CheckRequest, reported
from mdmem.finding import Finding, Place, Severity

OLD, NEW = (
    [Finding(level.value, "", Place("a/b/c.md"), severity=level, new=new) for level in Severity]
    for new in (False, True)
)
REPORT = CheckReport("git index", 1, (*OLD, *NEW))


@pytest.mark.parametrize(
    ("request_", "told", "older"),
    [
        (CheckRequest(), [*OLD, *NEW], 0),
        (CheckRequest(with_info=False), [*OLD[:2], *NEW[:2]], 0),
        (CheckRequest(with_info=False, with_older=False), [OLD[0], *NEW[:2]], 1),
        (CheckRequest(with_older=False), [OLD[0], *NEW], 2),
        (CheckRequest(with_older=False, strict=True), [*OLD[:2], *NEW], 1),
    ],
)
def test_report_keeps_what_is_asked_for_and_what_fails(request_: CheckRequest, told: list[Finding], older: int) -> None:
    made = reported(REPORT, request_)
    assert (list(made.findings), made.older) == (told, older)


@pytest.mark.parametrize(("strict", "fails"), [(False, False), (True, True)])
def test_strict_run_fails_for_warnings(strict: bool, fails: bool) -> None:
    report = CheckReport("git index", 1, (OLD[1],))
    assert reported(report, CheckRequest(strict=strict)).is_failing is fails
