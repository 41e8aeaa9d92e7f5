"""Test each part of a review."""

import re

import pytest
from builders import entry_text
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from change.sides import ARTICLE, reviewed, successor, superseded
from mdmem.change.review_model import AMENDS, CLAIMS, Counts, FieldEdit, Move, ReviewReport, Rewording, Span
from mdmem.change.review_parts import word_changes

OLD = entry_text("The old words.\n", title="Old rule")
RULE = entry_text(ARTICLE, type="invariant", title="Times are UTC")


def short(address: str) -> str:
    return address.removeprefix("app/rules/")


def test_illegal_changes_of_status_are_marked_and_come_first() -> None:
    before = {name: entry_text(f"{name}.\n", owner="Ada") for name in "bcd"}
    before["a"] = entry_text("A.\n", type="invariant", status="draft", owner="Ada")
    statuses = {"a": "active", "c": "under_review", "d": "draft"}
    after = {name: re.sub("status: .*", f"status: {now}", before[name]) for name, now in statuses.items()}
    found = reviewed(before, after).transitions
    assert [(short(one.entry.address), one.before, one.after, one.is_illegal) for one in found] == [
        ("b", "active", None, True),
        ("d", "active", "draft", True),
        ("a", "draft", "active", False),
        ("c", "active", "under_review", False),
    ]


@pytest.mark.parametrize("was_there", [False, True])
def test_supersession_pairs_the_old_and_the_new_entry(*, was_there: bool) -> None:
    plain = {"b": entry_text("The new words.\n")} if was_there else {}
    after = {"a": superseded("b", title="Old rule"), "b": successor("a", title="New rule")}
    (belief,) = reviewed({"a": OLD, **plain}, after).beliefs
    assert belief.before is not None
    told = (belief.before.title, [one.title for one in belief.after], belief.reason)
    assert told == ("Old rule", ["New rule"], "it was slow")
    assert belief.was_there == ({"app/rules/b"} if was_there else frozenset())


@pytest.mark.parametrize(
    ("before", "text", "reason"),
    [
        ({"a": OLD}, entry_text("Old.\n", status="deprecated", deprecated_reason="nobody needs it"), "nobody needs it"),
        ({}, entry_text("Use UTC.\n\nRationale: `now()` lies.\n\n# More\n\nNothing.\n"), "`now()` lies."),
        # If the rationale is a list, its first item is the reason.
        ({}, entry_text("Use UTC.\n\n## Rationale\n\n* **It\n  sorts.**\n* It is one.\n"), "**It sorts.**"),
    ],
)
def test_new_or_deprecated_rule_has_its_reason(before: dict[str, str], text: str, reason: str) -> None:
    belief = reviewed(before, {"a": text}).beliefs[0]
    assert (belief.before is None, len(belief.after), belief.reason) == (not before, int(not before), reason)


def relations(found: ReviewReport) -> list[tuple[str, str, str, bool]]:
    """Return each relation as (entry, relation, other entry, is new)."""
    return [(short(one.entry.address), one.says, short(one.on.address), one.is_new) for one in found.bearings]


@pytest.mark.parametrize(
    ("text", "says"),
    [(successor("a"), CLAIMS), (entry_text("A part of it.", amends=["app/rules/a"]), AMENDS)],
    ids=["claim", "amendment"],
)
def test_one_sided_supersession_and_amendment_change_no_belief(text: str, says: str) -> None:
    stated = {"a": OLD, "b": text}
    found = reviewed({"a": OLD}, stated)
    assert relations(found) == [("b", says, "a", True)]
    assert [one.before for one in found.beliefs] == [None]
    assert relations(reviewed(stated, {"a": OLD, "b": RULE})) == [("b", says, "a", False)]
    assert relations(reviewed(stated, {"a": superseded("b"), "b": successor("a")})) == []


def test_changed_words_of_a_frozen_text_are_listed() -> None:
    found = reviewed({"a": RULE}, {"a": RULE.replace("to the second", "to the minute")}).rewordings[0]
    assert found.is_frozen
    assert [one for one in found.body if one.mark != " "] == [Span("-", "second,"), Span("+", "minute,")]
    assert found.faults == ("the text of a current invariant changed, and its `version` did not",)
    found = reviewed({"a": RULE}, {"a": RULE.replace(", to", ",\nto")}).rewordings[0]
    assert (found.body, found.notice) == ((), "only line breaks changed")
    versioned = reviewed({"a": RULE}, {"a": entry_text("Other.\n", type="invariant", title="Times are UTC", version=2)})
    assert (versioned.rewordings[0].notice, versioned.rewordings[0].faults) == ("version 1 → 2", ())
    assert versioned.edits == ()


def fields_of(change: Rewording | FieldEdit) -> list[tuple[str, str, str]]:
    return [(one.name, one.before, one.after) for one in change.fields]


def test_binding_fields_are_listed_apart_from_others() -> None:
    found = reviewed({"a": entry_text(applies_to=["src/**"])}, {"a": entry_text(applies_to=["lib/**"])})
    assert ([fields_of(one) for one in found.rewordings], found.edits) == ([[("applies_to", "src/**", "lib/**")]], ())
    found = reviewed({"a": entry_text(owner="Ada", tags=["x"])}, {"a": entry_text(tags=["x", "y"])})
    expected = [("owner", "Ada", ""), ("tags", "x", "x, y")]
    assert (found.rewordings, [fields_of(one) for one in found.edits]) == ((), [expected])


def test_move_is_no_change_of_belief() -> None:
    found = reviewed(
        {"a": OLD, "b": entry_text(see=["app/rules/a"])}, {"app/law/a": OLD, "b": entry_text(see=["app/law/a"])}
    )
    assert found.moves == (Move("app/rules/a", "app/law/a"),)
    assert (found.beliefs, found.transitions, found.edits) == ((), (), ())


def test_file_that_says_the_same_in_other_bytes_is_a_no_op() -> None:
    found = reviewed({"a": OLD}, {"a": OLD.replace("type: decision", "type:  decision  # ours")})
    assert (found.no_ops, found.counts.altered) == (("app/rules/a",), 0)
    assert not found.is_empty


def test_dependents_of_a_superseded_entry_are_listed_with_their_owners() -> None:
    cites = entry_text("As ever.\n\n[see: app/rules/a]\n", owner="Bob")
    links = entry_text("By field.\n", overrides="app/rules/a")
    new = {"a": superseded("b"), "b": successor("a"), "c": links, "web/rules/x": cites}
    found = reviewed({"a": OLD, "c": links, "web/rules/x": cites}, new).dependents
    assert [(one.entry.address, one.how, one.entry.owners, one.heads) for one in found] == [
        ("app/rules/c", ("overrides",), (), ("app/rules/b",)),
        ("web/rules/x", ("text",), ("Bob",), ("app/rules/b",)),
    ]
    example = entry_text("```\n[see: app/rules/a]\n```\n")
    assert reviewed({"a": OLD, "b": example}, {"b": example}).dependents == ()


def test_files_of_a_changed_rule_are_counted_and_the_first_listed() -> None:
    files = [f"src/{number}.py" for number in range(8)]
    found = reviewed({}, {"a": entry_text(applies_to=["src/*.py"])}, files=[*files, "docs/x.md"]).covered[0]
    assert (found.count, found.files) == (8, tuple(files[:5]))


def test_contradiction_is_new_with_the_link_and_ended_without() -> None:
    free = {"a": RULE, "b": entry_text("Local time.\n")}
    bound = {**free, "b": entry_text("Local time.\n", conflicts_with=["app/rules/a"])}
    new, ended = reviewed(free, bound).contradictions, reviewed(bound, free).contradictions
    assert [(one.is_new, one.first.type, one.second.type) for one in new] == [(True, "invariant", "decision")]
    assert [one.is_new for one in ended] == [False]


def test_two_successors_without_a_reason_contradict_each_other() -> None:
    after = {"a": superseded("b"), "b": successor("a", title="One"), "c": successor("a", title="Two")}
    found = reviewed({"a": OLD}, after).contradictions
    assert [(short(one.first.address), short(one.second.address), one.is_new) for one in found] == [("b", "c", True)]


def test_file_that_cannot_be_read_is_neither_gone_nor_new() -> None:
    found = reviewed({"a": RULE}, {"a": None})
    told = [(one.which, one.path, one.other and one.other.title) for one in found.unread]
    assert told == [("after", "app/rules/a.md", "Times are UTC")]
    assert (found.beliefs, found.transitions, found.is_empty) == ((), (), False)
    assert reviewed({"a": None}, {"a": None}).is_empty


_STATUSES = st.sampled_from(["draft", "active", "under_review", "deprecated"])
_ROOMS = st.sampled_from(["rules", "law"])
_WORDS = st.sampled_from(["one", "two"])
_TREES = st.dictionaries(st.sampled_from("abcd"), st.tuples(_STATUSES, _ROOMS, _WORDS, st.sampled_from(" abcd")))


def _texts(tree: dict[str, tuple[str, str, str, str]]) -> dict[str, str]:
    texts = {}
    for name, (status, room, word, old) in tree.items():
        links = {"supersedes": [f"app/{tree[old][1]}/{old}"]} if old in tree and old != name else {}
        texts[f"app/{room}/{name}"] = entry_text(f"The words of {name} are {word}.\n", status=status, **links)
    return texts


@given(_TREES)
def test_identical_trees_have_an_empty_review(tree: dict[str, tuple[str, str, str, str]]) -> None:
    found = reviewed(_texts(tree), _texts(tree))
    current = found.counts.in_force_after
    assert (found.is_empty, found.counts) == (True, Counts(in_force_before=current, in_force_after=current))
    assert (found.transitions, found.beliefs, found.rewordings, found.edits) == ((), (), (), ())


@given(_TREES, _TREES)
def test_review_in_the_other_direction_mirrors_the_counts(
    one: dict[str, tuple[str, str, str, str]], other: dict[str, tuple[str, str, str, str]]
) -> None:
    there, back = reviewed(_texts(one), _texts(other)), reviewed(_texts(other), _texts(one))
    counts = back.counts
    mirrored = replace(counts, added=counts.gone, gone=counts.added, no_ops=there.counts.no_ops)
    mirrored = replace(mirrored, in_force_before=counts.in_force_after, in_force_after=counts.in_force_before)
    assert there.counts == mirrored
    assert sum(one.is_new for one in there.contradictions) == sum(not one.is_new for one in back.contradictions)


def test_proposal_begins_with_the_first_sentences_below_its_headings_and_changes_no_belief() -> None:
    text = "# A title\n\n## Decision\n\nWe do this. And that.\n"
    draft = entry_text(text, status="draft", supersedes=["app/rules/a"], reason="it was slow")
    found = reviewed({"a": OLD}, {"a": OLD, "b": draft})
    assert ([one.opening for one in found.proposed], found.beliefs) == (["We do this. And that."], ())


_WORDINGS = st.lists(st.sampled_from(["a", "b", "c", "\n\n"]), max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("a b", "a\nb ", ""),
        ("a b c", "a x c", " a|-b|+x| c"),
        ("", "new words", "+new words"),
        ("old words", "", "-old words"),
        ("a\n\nb", "a b", " a|-\n\n| b"),
        ("a b", "a b c", " a b|+c"),
    ],
)
def test_changed_words_are_marked(before: str, after: str, expected: str) -> None:
    assert "|".join(f"{span.mark}{span.text}" for span in word_changes(before, after)) == expected


@given(_WORDINGS, _WORDINGS)
def test_changed_words_add_up_to_both_texts(before: str, after: str) -> None:
    spans = word_changes(before, after)
    for text, mark in ((before, "-"), (after, "+")):
        words = [word for span in spans if span.mark in (" ", mark) for word in span.text.split()]
        assert not spans or words == text.split()


def test_very_long_texts_are_one_change() -> None:
    before, after = (" ".join(f"{letter}{number}" for number in range(3000)) for letter in "ab")
    assert [span.mark for span in word_changes(f"x {before} y", f"x {after} y")] == [" ", "-", "+", " "]
