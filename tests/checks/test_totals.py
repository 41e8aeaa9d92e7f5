"""Findings that are told as one for each wing: which, when, and what the one says."""

from __future__ import annotations

from mdmem.checks.totals import with_totals
from mdmem.finding import Finding, Place, Severity

LONG = "entry-too-long"


def long_entries(wing: str, *tokens: int, new: bool = False) -> list[Finding]:
    return [
        Finding(LONG, f"{n}", Place(f"{wing}/r/e{n}.md"), "split it", severity=Severity.WARNING, new=new, measure=n)
        for n in tokens
    ]


def test_many_in_a_wing_are_one_that_names_their_number_and_the_worst() -> None:
    (one,) = with_totals(long_entries("app", 1300, 9000, 1400, 1500))
    assert (one.place.path, one.severity, one.count) == ("app/r/e9000.md", Severity.WARNING, 4)
    assert one.message == (
        "4 entries of `app` are over the budget of their type, this one with 9000 tokens the longest"
    )
    assert one.help == "split it; `mdmem check --select entry-too-long` lists them"


def test_few_in_a_wing_what_is_new_and_other_codes_are_told_one_by_one() -> None:
    few = [*long_entries("app", 1, 2, 3), *long_entries("web", 4), *long_entries("new", 5, 6, 7, 8, new=True)]
    others = [Finding("body-empty", "", Place(f"app/r/{name}.md"), severity=Severity.ERROR) for name in "abcd"]
    assert with_totals([*few, *others]) == [*few, *others]


def test_many_that_nobody_approved_are_one_though_a_change_is_always_new() -> None:
    code = "approved-by-nobody"
    found = [
        Finding(code, "", Place(f"app/r/{name}.md"), f"ask for {name}", severity=Severity.WARNING, new=True)
        for name in "abcd"
    ]
    (one,) = with_totals(found)
    assert one.message == "4 entries of `app` became active, and none of its owners stands behind them"
    assert (one.count, one.new, one.help) == (4, True, f"ask for a; `--select {code}` lists them")
