"""Every fix of every golden case: `fixed.diff` beside `expected.txt` is what it changes, and no file of it, nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from test_cases import CASES, TODAY, facts_of, settings_of

from mdmem.checks.case import Case
from mdmem.checks.check import get_check
from mdmem.checks.engine import CheckReport, run_checks
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog.load import load
from mdmem.store.tree import Tree, TreeView, WorkingTree
from mdmem.write.change_set import Change
from mdmem.write.fix import FixResult, find_new, fix_all

FIXED = "fixed.diff"
FIXABLE = sorted({path.parent.parent.name for path in CASES.glob(f"*/*/{FIXED}")})


def check(folder: Path, tree: Tree, codes: tuple[str, ...]) -> CheckReport:
    case = Case(load(tree), settings_of(folder / "root"), TODAY, facts_of(folder))
    return CheckReport(tree.name, 0, tuple(run_checks(case, codes)))


def mend(folder: Path, tree: Tree) -> FixResult:
    return fix_all(tree, lambda one: check(folder, one, (folder.parent.name,)), with_unsafe=True)


@cache
def mended(folder: Path) -> tuple[Tree, FixResult]:
    """Return the tree of a case and all that is mended in it, read once for all that is asked of it."""
    tree = WorkingTree(folder / "root")
    return tree, mend(folder, tree)


def after(tree: Tree, result: FixResult) -> TreeView:
    """Return the tree that a plan leads to."""
    contents = {change.path: change.after for change in result.plan.changes}
    renames = [(change.path, change.to) for change in result.plan.changes if change.to != change.path]
    return TreeView(tree, changed={}).with_changes(contents, renames)


def shown(result: FixResult) -> str:
    """Return what a plan changes, as a diff in which marks and line ends can be read."""
    return "".join(line for change in result.plan.changes for line in _diff(change))


def _diff(change: Change) -> Iterable[str]:
    if change.before == change.after:
        return [f"rename {change.path} => {change.to}\n"]
    return difflib.unified_diff(_lines(change.before), _lines(change.after), change.path, change.to, n=0)


def _lines(data: bytes) -> list[str]:
    lines = data.decode().replace("\ufeff", "<BOM>").replace("\r", "<CR>").split("\n")
    ends = [f"{line}\n" for line in lines[:-1]]
    return [*ends, f"{lines[-1]}<no newline>\n"] if lines[-1] else ends


def failing_cases() -> list[Path]:
    found = (case for code in FIXABLE for case in sorted((CASES / code).iterdir()))
    return [case for case in found if not case.name.startswith("clean")]


named = pytest.mark.parametrize("folder", failing_cases(), ids=lambda path: f"{path.parent.name}/{path.name}")


@named
def test_fix_changes_only_what_is_meant(folder: Path) -> None:
    expected = folder / FIXED
    assert shown(mended(folder)[1]) == (expected.read_text() if expected.exists() else "")


@named
def test_fixed_findings_are_gone(folder: Path) -> None:
    tree, result = mended(folder)
    now = check(folder, after(tree, result), (folder.parent.name,))
    left = {(one.place.path, one.message) for one in now.findings if one.code == get_check(folder.parent.name).code}
    assert {(one.place.path, one.message) for one in result.fixed}.isdisjoint(left)


@named
def test_fix_is_the_same_twice(folder: Path) -> None:
    assert mend(folder, after(*mended(folder))).plan.changes == ()


def test_other_checks_offer_no_fix() -> None:
    fixable = {get_check(code).code for code in FIXABLE}
    others = [case for case in sorted(CASES.glob("*/*")) if get_check(case.parent.name).code not in fixable]
    found = [(case, check(case, WorkingTree(case / "root"), (case.parent.name,))) for case in others]
    assert [(case.name, one.code) for case, report in found for one in report.findings if one.fix is not None] == []


def test_renames_hide_no_new_finding_in_another_folder() -> None:
    gone, new = Finding("missing-field", "a", Place("app/a/x.md")), Finding("missing-field", "b", Place("app/b/y.md"))
    moved = [("app/a/x.md", "app/a/z.md")]
    assert find_new([gone], [new], ended=(), renames=moved) == [new]
    assert find_new([gone], [Finding("missing-field", "c", Place("app/a/v.md"))], ended=(), renames=moved) == []
