"""Three-way merges of any front matter: both changes, no key lost, order kept, and the same from either side."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from markdown.test_patch_properties import KEYS, PLAIN, documents
from mdmem.markdown import layout, patch
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.merge import BODY, ConflictSide, EntryMerge, Marks, Sides, has_hunks, merge_entries, take_side
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.fields import LISTS

# A manifest: any keys will do.
PATH = "w/README.md"
NAMES = (*KEYS, "verified_at")


def by_line(sides: Sides[bytes]) -> tuple[bytes, bool]:
    """Stand in for git, which is a process: one whole text, or a conflict of the whole."""
    one = sides.agreed()
    if one is not None:
        return one[0], False
    ours, theirs = ((side if side.endswith(b"\n") else side + b"\n").decode() for side in (sides.ours, sides.theirs))
    return Marks().hunk("", ours, theirs, line_break="\n").encode(), True


def merge(ancestor: bytes, ours: bytes, theirs: bytes) -> EntryMerge:
    return merge_entries(PATH, Sides(ancestor, ours, theirs), merge_text=by_line)


def fields_of(content: bytes) -> dict[str, Any]:
    fields = parse_document(PATH, content).fields
    assert fields is not None
    return dict(fields)


@st.composite
def changes(draw: st.DrawFn, before: Document) -> bytes:
    """Draw what somebody makes of a document: fields set, removed, added to, and another body."""
    document = before
    for _ in range(draw(st.integers(0, 4))):
        name, text = draw(st.sampled_from(NAMES)), draw(PLAIN)
        days = st.sampled_from(["2026-01-31", "2026-02-01", "2026-02-01T10:00:00+02:00"])
        text = draw(days) if name.endswith("_at") else text
        how = draw(st.sampled_from(["set", "remove", "add", "list"]))
        is_list = name in LISTS
        try:
            if how == "add" and is_list:
                edits = patch.add_items(document, name, [text])
            elif how == "list" and is_list:
                edits = patch.set_fields(document, {name: draw(st.lists(PLAIN, unique=True, max_size=3))})
            else:
                edits = patch.set_fields(document, {name: None if how == "remove" else text})
        except (UnpatchableError, TypeError, ValueError):
            continue
        document = parse_document(PATH, layout.apply_edits(document.data, edits))
    more = draw(st.sampled_from([b"", b"", b"more\n"]))
    return document.data + more if document.data.endswith(b"\n") else document.data


@st.composite
def triples(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """Draw a document and what two people make of it."""
    before = parse_document(PATH, draw(documents()).document.data)
    return before.data, draw(changes(before)), draw(changes(before))


def listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def is_set(name: str, *values: Any) -> bool:
    if name in LISTS:
        return not any(isinstance(value, dict) for value in values)
    return all(isinstance(value, list) for value in values if value is not None)


def assert_both_changes(name: str, merged: Any, ancestor: Any, ours: Any, theirs: Any) -> None:
    """Assert what a key means after a merge, told by the three values alone."""
    if ours == theirs or theirs == ancestor:
        assert merged == ours
    elif ours == ancestor:
        assert merged == theirs
    elif is_set(name, ancestor, ours, theirs):
        old, mine, other = listed(ancestor), listed(ours), listed(theirs)
        removed = [item for item in old if item not in mine or item not in other]
        wanted = [item for item in (*mine, *other) if item not in removed]
        assert set(map(str, listed(merged))) == set(map(str, wanted))
        assert [item for item in listed(merged) if item in mine] == [item for item in mine if item in wanted]
    else:
        assert name == "verified_at"
        assert merged == max(ours, theirs, key=lambda value: (value[:10], value))


@given(triples())
def test_merge_without_a_conflict_is_both_changes_in_the_order_of_a_side(drawn: tuple[bytes, bytes, bytes]) -> None:
    outcome = merge(*drawn)
    event(f"torn: {bool(outcome.torn)}, plain: {outcome.is_plain}")
    if outcome.torn:
        return
    merged = fields_of(outcome.content)
    ancestor, ours, theirs = (fields_of(content) for content in drawn)
    for name in NAMES:
        assert_both_changes(name, merged.get(name), ancestor.get(name), ours.get(name), theirs.get(name))
    if not outcome.is_plain:
        common = [name for name in merged if name in ours and name in theirs]
        assert common in ([name for name in side if name in common] for side in (ours, theirs))


@given(triples())
def test_each_side_of_the_marks_is_an_entry_without_a_key_lost_or_from_nowhere(
    drawn: tuple[bytes, bytes, bytes],
) -> None:
    outcome = merge(*drawn)
    if outcome.is_plain:
        return
    assert has_hunks(outcome.content) or not outcome.torn
    ancestor, *sides = (fields_of(content) for content in drawn)
    torn, emptied = set(outcome.torn), LISTS | {"x-a", "x-ü"}
    both = {*sides[0], *sides[1]}
    kept, added = (sides[0].keys() & sides[1].keys()) - torn - emptied, both - ancestor.keys() - torn
    for side, stated in zip(ConflictSide, sides, strict=True):
        chosen = fields_of(take_side(outcome.content, side))
        assert kept | added <= set(chosen) <= both
        assert all(chosen.get(name) == stated.get(name) for name in torn - {BODY})


@given(triples())
def test_sides_may_change_places(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, theirs = drawn
    one, other = merge(ancestor, ours, theirs), merge(ancestor, theirs, ours)
    if one.is_plain or other.is_plain:
        # Keys of one side may be indented, and then not every key can stand in its words.
        return
    assert sorted(one.torn) == sorted(other.torn)
    if one.torn:
        return
    mine, yours = fields_of(one.content), fields_of(other.content)
    assert mine.keys() == yours.keys()
    assert all(sorted(map(str, listed(mine[name]))) == sorted(map(str, listed(yours[name]))) for name in mine)


@given(triples())
def test_comment_that_a_side_wrote_is_kept(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, _ = drawn
    first, line_break, rest = ancestor.partition(b"\r\n" if b"---\r\n" in ancestor else b"\n")
    theirs = first + line_break + b"# they say why" + line_break + rest
    assert b"# they say why" in merge(ancestor, ours, theirs).content


@given(triples())
def test_one_side_that_changed_is_the_merge(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, theirs = drawn
    assert merge(ancestor, ancestor, theirs) == EntryMerge(theirs)
    assert merge(ancestor, ours, ancestor) == EntryMerge(ours)
    assert merge(ancestor, ours, ours) == EntryMerge(ours)


@given(triples(), st.sampled_from([b"theirs\n", b"# last\n\nline"]))
def test_body_of_one_side_comes_with_the_front_matter_of_the_other(
    drawn: tuple[bytes, bytes, bytes], body: bytes
) -> None:
    """Merging by key is at work here, where one side alone changed the front matter."""
    ancestor, ours, _ = drawn
    bodies = {parse_document(PATH, content).body for content in (ancestor, ours)}
    if len(bodies) > 1 or b"\r" in ancestor or not ancestor.endswith(b"\n"):
        return
    outcome = merge(ancestor, ours, ancestor + body)
    assert outcome == EntryMerge(ours + body)
