"""Test the three-way merge of an entry: joined parts, conflicts, their style, and that nothing is lost."""

import re
import time
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from markdown.test_patch import KEYS, PLAIN, documents
from mdmem.markdown import layout, patch
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.merge import BODY, ConflictSide, EntryMerge, Marks, Sides, has_hunks, merge_entries, take_side
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.fields import LISTS

HEAD = "type: decision\nstatus: active\ncreated_at: 2026-03-05\n"


def text_of(front: str, body: str = "\nWe decided.\n") -> str:
    return f"---\n{HEAD}{front}---\n{body}"


def as_text(sides: Sides[bytes]) -> tuple[bytes, bool]:
    """Replace git's merge of text by one marked conflict of the whole text."""
    one = sides.agreed()
    return (one[0], False) if one is not None else (b"<as text>", True)


def merge(
    ancestor: str, ours: str, theirs: str, *, path: str = "nav/rules/a.md", marks: Marks | None = None
) -> EntryMerge:
    sides = Sides(*(text.encode() for text in (ancestor, ours, theirs)))
    return merge_entries(path, sides, merge_text=as_text, marks=marks)


def merged(ancestor: str, ours: str, theirs: str) -> str:
    """Return the front matter, without the fields that all entries here have, that three of them merge to."""
    outcome = merge(text_of(ancestor), text_of(ours), text_of(theirs))
    assert (outcome.conflicts, outcome.is_plain) == ((), False)
    content = outcome.content.decode()
    assert content.startswith(f"---\n{HEAD}")
    return content.removeprefix(f"---\n{HEAD}").removesuffix("---\n\nWe decided.\n")


def torn(ancestor: str, ours: str, theirs: str) -> tuple[str, ...]:
    outcome = merge(text_of(ancestor), text_of(ours), text_of(theirs))
    assert not outcome.is_plain
    for side, own in ((ConflictSide.OURS, ours), (ConflictSide.THEIRS, theirs)):
        assert take_side(outcome.content, side).decode() == text_of(own)
    return outcome.conflicts


@pytest.mark.parametrize(
    ("ancestor", "ours", "theirs", "result"),
    [
        pytest.param("tags: [a]\n", "tags: [a, b]\n", "tags: [a, c]\n", "tags: [a, b, c]\n", id="both add"),
        pytest.param("tags: [a, b]\n", "tags: [a]\n", "tags: [a, b, c]\n", "tags: [a, c]\n", id="one removes"),
        pytest.param("tags: [a, b]\n", "tags: [a]\n", "tags: [b]\n", "", id="both remove"),
        pytest.param("tags: [a]\n", "", "tags: [a, b]\n", "tags: [b]\n", id="key removed, item added"),
        pytest.param("tags: a\n", "tags: [a, b]\n", "tags: [a, c]\n", "tags: [a, b, c]\n", id="plain value"),
        pytest.param("", "tags: [b]\n", "tags: [a, b]\n", "tags: [b, a]\n", id="both bring the key"),
        pytest.param("", "see: w/r/a\n", "see: [w/r/b]\n", "see: [w/r/a, w/r/b]\n", id="value and list"),
        pytest.param(
            "see:\n- w/r/a # one\n",
            "see:\n- w/r/a # one\n- 'w/r/b'\n",
            'see:\n- w/r/a # one\n# of late\n- "w/r/c" # new\n',
            'see:\n- w/r/a # one\n- "w/r/b"\n# of late\n- "w/r/c" # new\n',
            id="comments of items",
        ),
        pytest.param(
            "relations:\n- type: uses\n  to: w/r/a\n",
            "relations:\n- type: uses\n  to: w/r/a\n- type: uses\n  to: w/r/b\n",
            "relations:\n- type: uses\n  to: w/r/a\n- {type: owns, to: w/r/c}\n",
            "relations:\n- type: uses\n  to: w/r/a\n- type: uses\n  to: w/r/b\n- {type: owns, to: w/r/c}\n",
            id="nested items",
        ),
        pytest.param("x-a: [1]\n", "x-a: [1, 2]\n", "x-a: [1, 3]\n", 'x-a: [1, 2, "3"]\n', id="list of one's own"),
    ],
)
def test_lists_are_joined_as_sets(ancestor: str, ours: str, theirs: str, result: str) -> None:
    assert merged(ancestor, ours, theirs) == result


def test_lists_of_thousands_of_items_are_merged_in_time() -> None:
    started = time.process_time()
    texts = (text_of(f"tags: [{','.join(items)}]\n") for items in ([], ["a"] * 4_000, ["b"] * 4_000))
    merge(*texts)
    # Both once compared each item with each, which took ten seconds.
    texts = (text_of(f"tags: [{','.join(['a'] * count)}]\n") for count in (4_000, 4_001, 4_002))
    merge(*texts)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("ours", "theirs", "result"),
    [
        ("2026-05-01", "2026-06-01", "2026-06-01"),
        ("2026-06-01", "2026-05-01", "2026-06-01"),
        ("2026-06-01", "2026-06-01T09:00:00+02:00", "2026-06-01T09:00:00+02:00"),
        ("2026-06-01T23:00:00-05:00", "2026-06-02", "2026-06-01T23:00:00-05:00"),
        ("2026-06-01T10:00:00", "2026-06-01T09:00:00Z", "2026-06-01T10:00:00"),
    ],
)
def test_later_day_holds(ours: str, theirs: str, result: str) -> None:
    for ancestor in ("verified_at: 2026-04-01\n", ""):
        assert merged(ancestor, f"verified_at: {ours}\n", f"verified_at: {theirs}\n") == f"verified_at: {result}\n"


def test_value_of_one_side_stands_in_the_words_of_the_other() -> None:
    ours, theirs = "owner: 'Ada' # asks\n", "owner: Bo\n"
    assert merged("owner: Ada\n", ours, theirs) == "owner: 'Bo' # asks\n"
    assert merged("owner: Ada\n", theirs, ours) == "owner: 'Bo' # asks\n"


def test_same_value_in_two_styles_is_no_conflict() -> None:
    assert merged("", "superseded_by: [w/r/b, w/r/c]\n", "superseded_by:\n- w/r/c\n- w/r/b\n") == (
        "superseded_by: [w/r/b, w/r/c]\n"
    )


@pytest.mark.parametrize(
    ("ancestor", "ours", "theirs"),
    [
        pytest.param("", "superseded_by: w/r/b\n", "superseded_by: w/r/c\n", id="two successors"),
        pytest.param("", "superseded_by: [w/r/b]\n", "superseded_by: [w/r/b, w/r/c]\n", id="one more successor"),
        pytest.param("superseded_by: w/r/b\n", "", "superseded_by: w/r/c\n", id="revived and replaced"),
        pytest.param("owner: Ada\n", "owner: Bo\n", "owner: Cy\n", id="two values"),
        pytest.param("owner: Ada\n", "", "owner: Cy\n", id="removed and changed"),
        pytest.param("version: 1\n", "version: 2 # ours\n", "version: 2 # theirs\n", id="two comments"),
        pytest.param("# a\nowner: Ada\n", "# b\nowner: Ada\n", "# c\nowner: Ada\n", id="two comments above"),
        pytest.param("verified_at: soon\n", "verified_at: now\n", "verified_at: 2026-05-01\n", id="a day that is none"),
        pytest.param(
            "repeatable_steps: [a, b]\n", "repeatable_steps: [a, c]\n", "repeatable_steps: [a, d]\n", id="steps"
        ),
        pytest.param("ignore: {a: b}\n", "ignore: {a: b, c: d}\n", "ignore: {a: b, e: f}\n", id="mappings"),
        pytest.param("tags: [a]\n", "tags: []\n", "# why\ntags: [a, b]\n".replace(", b", ""), id="a comment would go"),
    ],
)
def test_what_people_have_to_decide_is_torn(ancestor: str, ours: str, theirs: str) -> None:
    assert len(torn(ancestor, ours, theirs)) == 1


def test_steps_that_both_sides_append_are_joined() -> None:
    name = "repeatable_steps"
    assert merged(f"{name}: [a]\n", f"{name}: [a, b]\n", f"{name}: [a, c]\n") == f"{name}: [a, b, c]\n"


def test_status_is_never_chosen() -> None:
    before = text_of("")
    ours, theirs = (before.replace("active", status) for status in ("deprecated", "under_review"))
    outcome = merge(before, ours, theirs, marks=Marks(ours="HEAD", theirs="topic", width=9, shows_base=True))
    assert outcome.conflicts == ("status",)
    hunk = (
        "<<<<<<<<< HEAD\nstatus: deprecated\n||||||||| base\nstatus: active\n=========\nstatus: under_review\n"
        ">>>>>>>>> topic\n"
    )
    assert outcome.content.decode() == before.replace("status: active\n", hunk)


def test_shared_comment_stands_above_the_marks() -> None:
    outcome = merge(text_of("# who\nowner: Ada\n"), text_of("# who\nowner: Bo\n"), text_of("# who\nowner: Cy\n"))
    assert b"# who\n<<<<<<< ours\nowner: Bo\n=======\nowner: Cy\n>>>>>>> theirs\n---\n" in outcome.content


def test_comment_above_a_key_goes_with_it() -> None:
    ancestor, ours = "# who\nowner: Ada\nsee: w/r/a\n", "see: w/r/a\n"
    assert merged(ancestor, ours, "# who\nowner: Ada\nsee: w/r/b\n") == "see: w/r/b\n"


def test_order_of_ours_is_kept_and_additions_stand_where_they_stood() -> None:
    ancestor = "title: A\nowner: Ada\nx-b: 1\n"
    ours = "owner: Ada\ntitle: A\nx-b: 1\nx-d: 1\n"
    theirs = "title: A\nowner: Ada\nfocus: f\nx-b: 1\nx-c: 1\n"
    assert merged(ancestor, ours, theirs) == "owner: Ada\nfocus: f\ntitle: A\nx-b: 1\nx-c: 1\nx-d: 1\n"


def test_two_bodies_are_gits_to_merge() -> None:
    before = text_of("")
    outcome = merge(before, before.replace("We", "They"), before.replace("We", "You"))
    assert outcome == EntryMerge(f"---\n{HEAD}---\n<as text>".encode(), ("body",))


def test_fence_that_ended_the_file_gets_a_line_when_a_body_comes() -> None:
    before = f"---\n{HEAD}---"
    outcome = merge(before, before.replace("active", "draft"), f"{before}\nBody.\n")
    assert outcome.content.decode() == f"---\n{HEAD}---\nBody.\n".replace("active", "draft")


@pytest.mark.parametrize("side", ["ours", "theirs", "both"])
def test_byte_order_mark_comes_and_goes_with_a_side(side: str) -> None:
    plain = text_of("tags: [a]\n")
    ours, theirs = plain.replace("[a]", "[a, b]"), plain.replace("[a]", "[a, c]")
    marked = [
        "\ufeff" + text if side in (name, "both") else text for name, text in (("ours", ours), ("theirs", theirs))
    ]
    assert merge(plain, *marked).content.decode() == "\ufeff" + plain.replace("[a]", "[a, b, c]")
    assert merge("\ufeff" + plain, ours, "\ufeff" + theirs).content.decode() == plain.replace("[a]", "[a, b, c]")


@pytest.mark.parametrize(
    "broken", ["no front matter\n", "---\ntags: [a\n---\n", "---\ntitle: no entry\n---\n", "---\na: 1\na: 2\n---\n"]
)
def test_what_is_no_entry_is_gits_to_merge(broken: str) -> None:
    before = text_of("tags: [a]\n")
    outcome = merge(before, before.replace("[a]", "[b]"), broken)
    assert outcome == EntryMerge(b"<as text>", ("body",), is_plain=True)


def test_manifest_is_merged_by_key() -> None:
    before, path = "---\nkind: project\nowners: [Ada]\n---\n", "nav/README.md"
    outcome = merge(before, before.replace("Ada", "Ada, Bo"), before.replace("Ada", "Ada, Cy"), path=path)
    assert outcome == EntryMerge(before.replace("Ada", "Ada, Bo, Cy").encode())


def test_comments_below_the_keys_that_differ_are_gits_to_merge() -> None:
    before = text_of("")
    outcome = merge(before, text_of("# ours\n"), text_of("# theirs\n"))
    assert outcome.is_plain


HUNK = "a\n<<<<<<< HEAD\nours\n||||||| base\nold\n=======\ntheirs\n>>>>>>> topic\nb\n"


@pytest.mark.parametrize("more", [0, 1, 34])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_side_of_the_marks_is_taken_and_the_rest_stays(line_break: str, more: int) -> None:
    content = (
        (re.sub(r"([<|=>])\1{6}", lambda found: found[0] + found[1] * more, HUNK) * 2)
        .replace("\n", line_break)
        .encode()
    )
    assert [one.code for one in parse_document("w/r/e.md", content).findings] == ["merge-marker"]
    ours, theirs = ((f"a\n{side}\nb\n" * 2).replace("\n", line_break) for side in ConflictSide)
    assert take_side(content, ConflictSide.OURS).decode() == ours
    assert take_side(content, ConflictSide.THEIRS).decode() == theirs


SETEXT = "Options\n=======\n"
EXAMPLE = "```\n<<<<<<< HEAD\na\n=======\n{}\n>>>>>>> side\n```\n"


@pytest.mark.parametrize("base", ["", "||||||| base\n" + SETEXT])
@pytest.mark.parametrize(
    ("frame", "ours", "theirs", "more"),
    [
        pytest.param("a\n{}", f"{SETEXT}ours\n", "theirs\n", 0, id="heading of ours"),
        pytest.param("a\n{}", "ours\n", f"theirs\n\n{SETEXT}b\n", 0, id="heading of theirs"),
        pytest.param("a\n{}", SETEXT, f"b\n{SETEXT}", 0, id="both"),
        pytest.param(EXAMPLE.replace("{}\n", "{}"), "ours\n", "theirs\n", 2, id="wider conflict in an example"),
    ],
)
def test_markers_that_a_side_contains_are_no_markers_of_git(
    frame: str, ours: str, theirs: str, more: int, base: str
) -> None:
    hunk = Marks(ours="HEAD", width=7 + more, shows_base=bool(base)).hunk(base[13:], ours, theirs, line_break="\n")
    sides = Sides(*(frame.format(one).encode() for one in (base[13:], ours, theirs)))
    for side in ConflictSide:
        assert take_side(frame.format(hunk).encode(), side, sides) == getattr(sides, side)


@pytest.mark.parametrize("text", ["Title\n=======\n", "<<<<<<< a\nx\n", "<<<<<<< a\nx\n=======\ny\n", ""])
def test_text_without_all_the_marks_holds_no_conflict(text: str) -> None:
    assert not has_hunks(text.encode())
    assert take_side(text.encode(), ConflictSide.OURS) == text.encode()


def test_conflicts_of_hundreds_of_widths_are_read_in_time() -> None:
    started = time.process_time()
    wide = (re.sub(r"([<|=>])\1{6}", lambda found, more=more: found[0] + found[1] * more, HUNK) for more in range(200))
    # Each width was once searched for each other width, which took minutes.
    assert take_side("".join(wide).encode(), ConflictSide.OURS).startswith(b"a\nours\nb\n")
    assert time.process_time() - started < 2


# A manifest: any keys will do.
PATH = "w/README.md"
NAMES = (*KEYS, "verified_at")


def by_line(sides: Sides[bytes]) -> tuple[bytes, bool]:
    """Replace git to save a process: return one whole text, or a conflict of both."""
    one = sides.agreed()
    if one is not None:
        return one[0], False
    ours, theirs = ((side if side.endswith(b"\n") else side + b"\n").decode() for side in (sides.ours, sides.theirs))
    return Marks().hunk("", ours, theirs, line_break="\n").encode(), True


def merge_bytes(ancestor: bytes, ours: bytes, theirs: bytes) -> EntryMerge:
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
    """Assert what a key means after a merge_bytes, told by the three values alone."""
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
    outcome = merge_bytes(*drawn)
    event(f"torn: {bool(outcome.conflicts)}, plain: {outcome.is_plain}")
    if outcome.conflicts:
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
    outcome = merge_bytes(*drawn)
    if outcome.is_plain:
        return
    assert has_hunks(outcome.content) or not outcome.conflicts
    ancestor, *sides = (fields_of(content) for content in drawn)
    torn, emptied = set(outcome.conflicts), LISTS | {"x-a", "x-ü"}
    both = {*sides[0], *sides[1]}
    kept, added = (sides[0].keys() & sides[1].keys()) - torn - emptied, both - ancestor.keys() - torn
    for side, stated in zip(ConflictSide, sides, strict=True):
        chosen = fields_of(take_side(outcome.content, side))
        assert kept | added <= set(chosen) <= both
        assert all(chosen.get(name) == stated.get(name) for name in torn - {BODY})


@given(triples())
def test_sides_may_change_places(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, theirs = drawn
    one, other = merge_bytes(ancestor, ours, theirs), merge_bytes(ancestor, theirs, ours)
    if one.is_plain or other.is_plain:
        # If one side has indented keys, not every key can keep its text.
        return
    assert sorted(one.conflicts) == sorted(other.conflicts)
    if one.conflicts:
        return
    mine, yours = fields_of(one.content), fields_of(other.content)
    assert mine.keys() == yours.keys()
    assert all(sorted(map(str, listed(mine[name]))) == sorted(map(str, listed(yours[name]))) for name in mine)


@given(triples())
def test_comment_that_a_side_wrote_is_kept(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, _ = drawn
    first, line_break, rest = ancestor.partition(b"\r\n" if b"---\r\n" in ancestor else b"\n")
    theirs = first + line_break + b"# they say why" + line_break + rest
    assert b"# they say why" in merge_bytes(ancestor, ours, theirs).content


@given(triples())
def test_one_side_that_changed_is_the_merge(drawn: tuple[bytes, bytes, bytes]) -> None:
    ancestor, ours, theirs = drawn
    assert merge_bytes(ancestor, ancestor, theirs) == EntryMerge(theirs)
    assert merge_bytes(ancestor, ours, ancestor) == EntryMerge(ours)
    assert merge_bytes(ancestor, ours, ours) == EntryMerge(ours)


@given(triples(), st.sampled_from([b"theirs\n", b"# last\n\nline"]))
def test_body_of_one_side_comes_with_the_front_matter_of_the_other(
    drawn: tuple[bytes, bytes, bytes], body: bytes
) -> None:
    """Merging by key is at work here, where one side alone changed the front matter."""
    ancestor, ours, _ = drawn
    bodies = {parse_document(PATH, content).body for content in (ancestor, ours)}
    if len(bodies) > 1 or b"\r" in ancestor or not ancestor.endswith(b"\n"):
        return
    outcome = merge_bytes(ancestor, ours, ancestor + body)
    assert outcome == EntryMerge(ours + body)
