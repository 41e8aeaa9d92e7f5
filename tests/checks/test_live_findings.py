"""Findings while entries are edited: after each edit they are those of a full run."""

from datetime import date
from pathlib import Path

import pytest
from builders import TODAY, entry_text, make_root, write, write_entry
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.catalog import load
from mdmem.catalog.edits import with_edits
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.checks.live_findings import LiveFindings
from mdmem.finding import Finding
from mdmem.settings import parse_settings
from mdmem.tree import OverlaidTree, Tree, WorkingTree

WINGS = ("app", "shared")
ADDRESSES = tuple(f"{wing}/{room}/{name}" for wing in WINGS for room in ("r", "s") for name in ("a", "b", "c"))
SETTINGS = parse_settings(b"")
CODES = chosen_codes(SETTINGS)


def case_of(tree: Tree, catalog=None) -> Case:
    return Case(catalog or load(tree), SETTINGS, date.fromisoformat(TODAY))


links = st.lists(st.sampled_from([*ADDRESSES, "a", "s/b", "app/r/nowhere"]), max_size=2, unique=True)
texts = st.builds(
    lambda body, wrong, **fields: wrong(entry_text(body, **{key: value for key, value in fields.items() if value})),
    st.sampled_from(
        [
            "We decided.\n\nRationale: it was tried.\n",
            "As in [[app/r/a]] and [b](b.md), see [[nowhere]].\n\nThis amends app/r/b.\n",
            "<!-- mdmem: ignore link-to-superseded it is history -->\n<!-- mdmem: ignore dangling-link -->\n",
            "It should be fast. AKIAIOSFODNN7EXAMPLE\n",
        ]
    ),
    st.sampled_from([str, str, str, str, lambda text: text.replace("---\n\n", ""), lambda text: text[:30]]),
    type=st.sampled_from(["decision", "decision", "invariant", "note"]),
    status=st.sampled_from(["active", "active", "draft", "deprecated", "under_review", "actve"]),
    title=st.sampled_from([None, "Use a queue for orders", "Use a queue for all orders"]),
    reason=st.sampled_from([None, "it did not scale"]),
    deprecated_at=st.sampled_from([None, "2026-03-06"]),
    label=st.sampled_from([None, None, "local-override"]),
    supersedes=links,
    superseded_by=links,
    see=links,
    conflicts_with=links,
    overrides=links,
    amends=links,
)
edits = st.tuples(st.sampled_from(ADDRESSES), texts)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_root(tmp_path_factory.mktemp("live"))
    for wing, kind in zip(WINGS, ("project", "shared"), strict=True):
        write(folder, f"{wing}/README.md", f"---\nkind: {kind}\nowners: [team]\n---\n")
    for address in ADDRESSES:
        write_entry(folder, address)
    return folder


def by_file(findings: list[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.place.path, []).append(finding)
    return found


def edited(root: Path, start: list, later: list, *, each: bool) -> None:
    """Make some edits, and compare what is found with a full run, after each or in the end."""
    below = WorkingTree(root)
    changed = {f"{address}.md": text.encode() for address, text in start}
    tree = OverlaidTree(below, changed)
    catalog = load(tree)
    live = LiveFindings(case_of(tree, catalog), CODES)
    for number, (address, text) in enumerate(later, 1):
        path = f"{address}.md"
        changed = {**changed, path: text.encode()}
        tree = OverlaidTree(below, changed)
        catalog = with_edits(catalog, tree, {path: text.encode()})
        live.edit(case_of(tree, catalog), [path])
        if each or number == len(later):
            assert by_file(live.findings()) == by_file(run_checks(case_of(tree), CODES))


@given(start=st.lists(edits, max_size=8), later=st.lists(edits, min_size=1, max_size=4))
def test_findings_after_edits_are_those_of_a_full_run(root: Path, start: list, later: list) -> None:
    edited(root, start, later, each=False)


@pytest.mark.long
@settings(max_examples=300)
@given(start=st.lists(edits, max_size=12), later=st.lists(edits, min_size=1, max_size=8))
def test_findings_after_each_of_many_edits_are_those_of_a_full_run(root: Path, start: list, later: list) -> None:
    edited(root, start, later, each=True)


def test_a_check_that_failed_once_is_asked_of_all_files_afterwards(root: Path) -> None:
    tree = OverlaidTree(WorkingTree(root), {"app/r/a.md": entry_text(see=["app/r/nowhere"]).encode()})
    live = LiveFindings(case_of(tree), CODES, asking=lambda code, case: ValueError(code))
    again = case_of(OverlaidTree(tree, {"shared/s/c.md": entry_text("It was tried.\n").encode()}))
    live.edit(again, ["shared/s/c.md"])
    found = by_file(live.findings())
    assert "dangling-link" in [one.code for one in found["app/r/a.md"]]
    assert found == by_file(run_checks(again, CODES))
