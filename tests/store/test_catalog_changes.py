"""What a change did to its base: moves are told from deletions, and what cannot be read is neither gone nor new."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, write_entry
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trees import ListedTree

from mdmem.checks.case import Base, Case
from mdmem.checks.engine import run_checks
from mdmem.store.catalog.changes import Changes, ComparableText, first_difference, says_the_same
from mdmem.store.catalog.load import load
from mdmem.store.git.process import find_repository
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind, GitTree, Tree, TreeFile, WorkingTree

TODAY = date(2026, 11, 21)
RULE = "Times are stored in UTC.\n"


def tree_of(**texts: str) -> ListedTree:
    """Return a tree of files, whose names stand for the addresses `app/rules/NAME`, or `WING__ROOM__NAME`."""
    content = {
        f"{name.replace('__', '/') if '__' in name else f'app/rules/{name}'}.md": text for name, text in texts.items()
    }
    return ListedTree(
        tuple(TreeFile(path) for path in content), {path: text.encode() for path, text in content.items()}
    )


def case_of(before: Tree, after: Tree) -> Case:
    return Case(load(after), Settings(), TODAY, base=Base("base", load(before), Settings()))


def told(changes: Changes) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Return what was changed (from, to), added and taken away, without `app/rules/`."""
    short = [
        [entry.address.removeprefix("app/rules/") for entry in entries] for entries in (changes.added, changes.gone)
    ]
    pairs = [(one.before.address, one.after.address) for one in changes.changed]
    return [tuple(end.removeprefix("app/rules/") for end in pair) for pair in pairs], *short


def changed(before: Tree, after: Tree) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    return told(case_of(before, after).changes)


def test_each_kind_of_change_is_told_apart() -> None:
    before = tree_of(a=entry_text(), b=entry_text("One.\n"), c=entry_text("Two.\n"))
    after = tree_of(a=entry_text(), b=entry_text("One and a half.\n"), d=entry_text("Three.\n"))
    assert changed(before, after) == ([("b", "b")], ["d"], ["c"])


def test_entry_whose_words_stand_elsewhere_moved() -> None:
    before = tree_of(a=entry_text(RULE), b=entry_text("One.\n"))
    after = tree_of(app__times__a=entry_text(" Times  are stored\r\nin UTC.", title="UTC"), b=entry_text("One.\n"))
    assert changed(before, after) == ([("a", "app/times/a")], [], [])


def test_move_to_an_address_that_was_there_before_is_a_deletion() -> None:
    before = tree_of(a=entry_text(RULE), b=entry_text(RULE))
    assert changed(before, tree_of(b=entry_text(RULE))) == ([], [], ["a"])


BROKEN = "---\ntype: [\n---\n"


@pytest.mark.parametrize(("before", "after"), [(BROKEN, entry_text()), (entry_text(), BROKEN), (BROKEN, BROKEN + "x")])
def test_file_that_cannot_be_parsed_on_a_side_is_neither_new_nor_gone(before: str, after: str) -> None:
    assert changed(tree_of(a=before), tree_of(a=after)) == ([], [], [])


@pytest.mark.parametrize("place", ["app", "app/rules"])
@pytest.mark.parametrize("kind", [FileKind.SYMLINK, FileKind.UNREADABLE])
def test_entries_below_a_closed_folder_are_neither_new_nor_gone(place: str, kind: FileKind) -> None:
    opened, closed = tree_of(a=entry_text()), ListedTree((TreeFile(place, kind),))
    assert changed(opened, closed) == ([], [], [])
    assert changed(closed, opened) == ([], [], [])


def test_line_endings_alone_leave_the_text(tmp_path: Path) -> None:
    changes = case_of(tree_of(a=entry_text(RULE)), tree_of(a=entry_text(RULE).replace("\n", "\r\n"))).changes
    assert [(one.keeps_text, one.keeps_title, one.altered()) for one in changes.changed] == [(True, True, ())]


def test_commit_is_compared_with_the_files_on_disk(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path) / "memory")
    write_entry(root, "app/rules/a", RULE)
    write_entry(root, "app/rules/b", "One.\n")
    commit = commit_all(tmp_path)
    (root / "app/times").mkdir()
    git(root, "mv", "app/rules/a.md", "app/times/a.md")
    write_entry(root, "app/rules/b", "Two.\n")
    repository = find_repository(root)
    assert repository is not None
    before = GitTree(repository, "memory", commit, "base")
    assert changed(before, WorkingTree(root)) == ([("a", "app/times/a"), ("b", "b")], [], [])


def test_files_in_conflict_are_left_out() -> None:
    from mdmem.checks.case import Merge
    from mdmem.store.git.history import PathConflict

    case = case_of(tree_of(a=entry_text(RULE), b=entry_text("One.\n")), tree_of(a=entry_text("Other.\n")))
    assert case.base is not None
    conflicts = (PathConflict("app/rules/a.md", "content"), PathConflict("app/rules/b.md", "modify/delete"))
    merged = replace(case, merge=Merge(case.base, case.base, case.base, conflicts))
    assert told(merged.changes) == ([], [], [])


NAMES = st.sets(st.from_regex(r"[a-z]{1,4}", fullmatch=True), max_size=6)


@given(NAMES)
def test_whole_wing_that_is_renamed_loses_and_gains_nothing(names: set[str]) -> None:
    before = tree_of(**{name: entry_text(f"{name}.\n") for name in names})
    after = tree_of(**{f"shop__rules__{name}": entry_text(f"{name}.\n") for name in names})
    assert changed(before, after) == ([(name, f"shop/rules/{name}") for name in sorted(names)], [], [])


def test_ended_entry_of_the_base_may_be_moved_and_stays_ended() -> None:
    ended = entry_text(RULE, status="deprecated", reason="closed")
    case = case_of(tree_of(a=ended), tree_of(b=ended))
    codes = ["deleted-in-force", "illegal-transition", "superseded-entry-edited", "frozen-text-changed"]
    assert run_checks(case, codes) == []


A, B = "app/rules/a", "app/rules/b"
THERE = frozenset({A, B, "app/rules/c"})


def same(before: str, after: str, moves: dict[str, str] | None = None, now: frozenset[str] = THERE) -> bool:
    return says_the_same(ComparableText(A, before, THERE, moves or {}), ComparableText(A, after, now))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # Blanks that nobody sees.
        *(("One.\nTwo.\n", after, True) for after in ("One.\nTwo.", "\nOne.  \r\nTwo.\t\r\n\r\n", "One.\nTwo.\n")),
        # Every other change.
        *(
            ("One.\nTwo.\n", f"{after}\n", False)
            for after in ("One. Two.", "    One.\nTwo.", "One.\n\nTwo.", "one.\nTwo.", "")
        ),
        # A link that led nowhere may be mended, and a short address be written in full.
        ("[see: app/rules/gone]", "[see: app/rules/b]", True),
        ("[see: app/rules/gone]", "[see: app/rules/lost]", False),
        ("[see: app/rules/b]", "[see: app/rules/gone]", False),
        ("See [[b]].", "See [[app/rules/b]].", True),
        # The words beside a link count.
        ("Use [[b]].", "Avoid [[app/rules/b]].", False),
        ("Use [[b]].", "Use [[b]] and [[c]].", False),
    ],
)
def test_bodies_say_the_same(before: str, after: str, expected: bool) -> None:
    assert same(before, after) is expected


def test_link_that_follows_a_move_is_the_same() -> None:
    moved = "app/times/b"
    before, after = "See [see: app/rules/b] and [b](b.md).\n", "See [see: app/times/b] and [b](../times/b.md).\n"
    assert same(before, after, {B: moved}, THERE - {B} | {moved})
    assert not same(before, after, {}, THERE | {moved})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("One.\nTwo.\n", "One.\nThree.\n", (1, "Three.")),
        ("One.\n", "\n\nOther.\n", (2, "Other.")),
        ("One.\n", "One.\n\nTwo.\n", (2, "Two.")),
        ("One.\nTwo.\n", "One.\n", (0, "One.")),
        ("One.\n", "", (0, "")),
    ],
)
def test_first_difference_is_a_line_of_the_new_text(before: str, after: str, expected: tuple[int, str]) -> None:
    assert first_difference(before, after) == expected
