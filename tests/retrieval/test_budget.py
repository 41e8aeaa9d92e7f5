"""What fits a budget, in what form, and what is said of the rest."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.entry.model import EntryType, Status
from mdmem.entry.text import content_of, summary_of, tokens_of
from mdmem.retrieval.budget import OMITTED_LISTED, pack
from mdmem.retrieval.pack import Form, Pack, PackedEntry
from mdmem.retrieval.question import AnswerBasis, Omission, Retrieval, Retrieved, Tier
from mdmem.workspace.scope import Scope

INVARIANT, DECISION, PATTERN, NOTE = EntryType


def item(name: str, kind: EntryType, *, matches: bool = True, current: bool = True, **fields: object) -> Retrieved:
    """Return an item whose address is `app/a/<name>`."""
    status = Status.ACTIVE if current else Status.DEPRECATED
    made = entry(f"app/a/{name}", type=kind, title=name, status=status, **fields)
    return Retrieved(
        entry=made, status=status, tier=Tier.PROJECT, score=1.0, matches=matches, current=current, reason="a test"
    )


def packed(
    items: Sequence[Retrieved],
    bodies: Mapping[str, str],
    budget: int,
    *,
    proposed: Sequence[Retrieved] = (),
    omitted: Sequence[Omission] = (),
) -> Pack:
    """Return what fits of items in their order; `bodies` are by name."""
    ordered = tuple(sorted(items, key=lambda one: one.sort_key))
    scope = Scope(wing="app", wings=("app",))
    found = Retrieval(scope=scope, items=ordered, proposed=tuple(proposed), basis=AnswerBasis(omitted=tuple(omitted)))
    texts = {f"app/a/{name}": body for name, body in bodies.items()}
    return pack(found, budget, body=texts.__getitem__, size=lambda address: len(texts[address].strip().encode()))


def cost_of(one: PackedEntry) -> int:
    """Return what an item counts for: its address, its title and its content, a token being 4 bytes."""
    entry = one.item.entry
    return tokens_of(len(f"{entry.address}\n{entry.title}\n{one.content}".encode()))


def forms(answer: Pack) -> dict[str, str]:
    """Return the form of each item by its name."""
    return {one.item.entry.title: one.form.value for one in answer.items}


def reasons(answer: Pack) -> dict[str, str]:
    """Return why each entry that is named as left out is, by its name."""
    return {one.address.removeprefix("app/a/"): one.why for one in answer.basis.omitted}


def text(paragraphs: int) -> str:
    """Return paragraphs of 100 bytes, 25 tokens each."""
    return "\n\n".join(f"{number:02} " + "word " * 19 for number in range(paragraphs))


# --- properties ---

KINDS = st.sampled_from(list(EntryType))
BODIES = st.sampled_from(["", "One.", text(1), text(2), text(9), "# H\n\n" + text(3), "- a\n- b\n\nÄ猫" * 40])


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[Retrieved], list[Retrieved], dict[str, str]]:
    """Return items, drafts, and the bodies of both."""
    items, bodies = [], {}
    for number in range(draw(st.integers(0, 24))):
        name = f"e{number}"
        bodies[name] = draw(BODIES)
        steps = ("first", "then") if draw(st.booleans()) else ()
        matches, current = draw(st.booleans()), draw(st.integers(0, 9)) > 0
        items.append(item(name, draw(KINDS), matches=matches, current=current, repeatable_steps=steps))
    drafts = [item(f"d{number}", draw(KINDS), current=False) for number in range(draw(st.integers(0, 4)))]
    bodies |= {one.entry.title: draw(BODIES) for one in drafts}
    return items, drafts, bodies


def is_invariant(one: Retrieved) -> bool:
    return one.entry.type is INVARIANT and one.current


@given(candidates(), st.integers(0, 1500))
def test_invariants_are_never_dropped_or_shortened(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, budget, proposed=drafts)
    given_whole = {
        one.item.entry.title: one.content for one in answer.items if is_invariant(one.item) and one.form is Form.FULL
    }
    assert given_whole == {
        one.entry.title: content_of(one.entry, bodies[one.entry.title]) for one in items if is_invariant(one)
    }


@given(candidates(), st.integers(0, 1500))
def test_total_stays_within_the_budget_unless_invariants_alone_exceed_it(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, budget, proposed=drafts)
    assert answer.tokens >= sum(map(cost_of, (*answer.items, *answer.proposed)))
    assert answer.over_budget == (answer.tokens > budget)
    if answer.over_budget:
        assert all(is_invariant(one.item) for one in answer.items)
        assert answer.proposed == ()


@given(candidates(), st.integers(0, 1500))
def test_everything_is_given_or_named_once(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, budget, proposed=drafts)
    given_or_named = [one.item.entry.address for one in (*answer.items, *answer.proposed)]
    given_or_named += [one.address for one in answer.basis.omitted]
    assert sorted(given_or_named) == sorted(one.entry.address for one in (*items, *drafts))
    assert all(one.why for one in answer.basis.omitted)


@given(candidates(), st.integers(0, 1500))
def test_items_keep_their_order_and_a_note_stays_only_where_nothing_higher_was_cut(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, _, bodies = made
    answer = packed(items, bodies, budget)
    order = [one.item.sort_key for one in answer.items]
    assert order == sorted(order)
    notes = [one for one in answer.items if one.item.entry.type is NOTE and one.item.current]
    if notes:
        assert all(one.form is Form.FULL for one in answer.items)
        assert {one.type for one in answer.basis.omitted if one.why != "no longer in force"} <= {"note"}


@given(candidates())
def test_everything_is_given_whole_where_it_fits(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]],
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, 10**6, proposed=drafts)
    assert {one.form for one in (*answer.items, *answer.proposed)} <= {Form.FULL}
    assert (len(answer.items), len(answer.proposed), answer.basis.omitted) == (len(items), len(drafts), ())


# --- the order of the policy ---


def review() -> tuple[list[Retrieved], dict[str, str]]:
    """Return the policy's example: 2 invariants, 3 decisions, 6 patterns, 9 notes, of 250 tokens and more each."""
    items = [item(f"i{number}", INVARIANT, matches=False) for number in range(2)]
    items += [item(f"d{number}", DECISION, matches=number < 2) for number in range(3)]
    items += [item(f"p{number}", PATTERN, matches=number < 2, repeatable_steps=("do it",)) for number in range(6)]
    items += [item(f"n{number}", NOTE, matches=number < 3) for number in range(9)]
    return items, {one.entry.title: text(10) for one in items}


def test_policy_example_keeps_invariants_and_decisions_whole_and_two_patterns_short() -> None:
    answer = packed(*review(), 1080)
    assert forms(answer) == {"i0": "full", "i1": "full", "d0": "full", "d1": "full", "p0": "summary", "p1": "summary"}
    assert Counter(one.type for one in answer.basis.omitted) == {"decision": 1, "pattern": 4, "note": 9}
    assert reasons(answer)["d2"] == "decision that does not match"


@pytest.mark.parametrize(
    ("budget", "whole", "short", "gone"),
    [
        (5240, 20, 0, []),
        (5000, 19, 0, ["n8"]),  # the notes that do not match go first, the last in order first
        (3700, 14, 0, ["n8", "n7", "n6", "n5", "n4", "n3"]),
        (3400, 13, 0, ["n8", "n7", "n6", "n5", "n4", "n3", "n2"]),
        (2700, 10, 1, [f"n{number}" for number in range(9)]),  # then patterns are shortened, the last first
        (1570, 5, 6, [f"n{number}" for number in range(9)]),
        (1310, 4, 7, [f"n{number}" for number in range(9)]),  # then the decision that does not match is
        (1200, 4, 6, ["d2", *(f"n{number}" for number in range(9))]),  # and goes
    ],
)
def test_policy_order_of_what_goes_first(budget: int, whole: int, short: int, gone: list[str]) -> None:
    answer = packed(*review(), budget)
    assert Counter(forms(answer).values()) == {
        form: count for form, count in (("full", whole), ("summary", short)) if count
    }
    assert sorted(reasons(answer)) == sorted(gone)


def test_notes_that_match_go_after_those_that_do_not() -> None:
    items, bodies = review()
    assert reasons(packed(items, bodies, 3400)) == {
        "n2": "over the budget",
        **{f"n{number}": "note that does not match" for number in range(3, 9)},
    }


def test_what_ended_goes_before_everything_in_force() -> None:
    items = [item("old", INVARIANT, current=False), item("note", NOTE, matches=False)]
    answer = packed(items, {"old": text(4), "note": text(4)}, 120)
    assert (forms(answer), reasons(answer)) == ({"note": "full"}, {"old": "no longer in force"})


def test_decisions_that_match_are_shortened_only_as_far_as_they_must_be() -> None:
    decisions = [item(name, DECISION) for name in "abc"]
    bodies = {name: text(9) for name in "abc"}
    assert forms(packed(decisions, bodies, 300)) == {"a": "full", "b": "summary", "c": "summary"}
    assert forms(packed(decisions[:2], bodies, 250)) == {"a": "summary", "b": "summary"}
    assert forms(packed(decisions, bodies, 150)) == {"a": "summary", "b": "summary", "c": "summary"}


def test_drafts_take_what_is_left() -> None:
    bodies = {"rule": text(4), "idea": text(1), "longer": text(9)}
    drafts = [item("idea", DECISION), item("longer", DECISION)]
    answer = packed([item("rule", INVARIANT)], bodies, 145, proposed=drafts)
    assert [(one.item.entry.title, one.form.value) for one in answer.proposed] == [("idea", "full")]
    assert reasons(answer) == {"longer": "over the budget"}


# --- a budget of 0, and over it ---


def test_budget_of_0_gives_invariants_alone_and_says_that_they_exceed_it() -> None:
    answer = packed(*review(), 0)
    assert forms(answer) == {"i0": "full", "i1": "full"}
    assert (answer.tokens, answer.over_budget, len(answer.basis.omitted)) == (506, True, 18)


def test_budget_of_0_without_invariants_gives_nothing_and_is_kept() -> None:
    answer = packed([item("d", DECISION)], {"d": "Text."}, 0)
    assert (answer.items, answer.tokens, answer.over_budget) == ((), 0, False)
    assert reasons(answer) == {"d": "over the budget"}


# --- what is left out ---


def test_omitted_are_50_at_most_and_the_rest_counted_by_type_and_reason() -> None:
    items = [item(f"n{number:03}", NOTE, matches=False) for number in range(70)]
    elsewhere = [Omission(f"app/a/r{number}", "invariant", "applies elsewhere") for number in range(3)]
    answer = packed(items, {one.entry.title: text(1) for one in items}, 0, omitted=elsewhere)
    assert (OMITTED_LISTED, len(answer.basis.omitted)) == (50, 50)
    assert answer.basis.omitted[:3] == tuple(elsewhere)
    assert [(one.type, one.why, one.count) for one in answer.basis.omitted_counts] == [
        ("note", "note that does not match", 23)
    ]


# --- forms ---


def test_item_of_one_paragraph_is_not_called_shortened() -> None:
    decisions = [item("a", DECISION), item("b", DECISION)]
    answer = packed(decisions, {"a": text(1), "b": text(9)}, 50)
    assert (forms(answer), reasons(answer)) == ({"a": "full"}, {"b": "over the budget"})


def test_content_of_a_pattern_is_its_body_its_trigger_its_steps_and_its_limits() -> None:
    made = entry(
        "app/a/p", type=PATTERN, trigger="a call blocks", repeatable_steps=("one", "two"), exclusions=("tests",)
    )
    assert content_of(made, "\nBody.\n") == "Body.\n\nWhen: a call blocks\n\n1. one\n2. two\n\nNot when:\n- tests"


def test_content_of_a_session_is_what_it_states() -> None:
    made = entry("app/a/s", type=NOTE, objective="dock", actions_taken=("looked",), open_items=("why",))
    assert content_of(made, "") == "Objective: dock\n\nDone:\n- looked\n\nOpen:\n- why"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("First.\n\nSecond.\n", "First."),
        ("First\nline.\n\nSecond.\n", "First line."),
        ("# Heading\n\nFirst.\n\nSecond.\n", "First."),
        ("# Heading\nFirst.\n\nSecond.\n", "First."),
        ("# Heading\n\n\n\nFirst.\n\nSecond.\n", "First."),
        ("Heading\n=======\n\nFirst.\n", "First."),
        (".. note::\n\nFirst.\n", "First."),
        ("# Heading\r\n\r\nFirst.\r\n\r\nSecond.\r\n", "First."),
        ("", ""),
        ("# Heading\n", ""),
        (f"{'One two. ' * 60}\n", ("One two. " * 53).strip()),
        (f"{'word ' * 200}", "word " * 96 + "…"),
        ("猫" * 300, "猫" * 160 + " …"),
    ],
)
def test_summary_is_the_first_paragraph(body: str, expected: str) -> None:
    assert summary_of(entry("app/a/d"), body) == expected


def test_summary_of_a_pattern_without_a_body_is_its_steps() -> None:
    assert summary_of(entry("app/a/p", type=PATTERN, repeatable_steps=("one",)), "") == "1. one"


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_tokens_are_4_bytes_each(size: int, tokens: int) -> None:
    assert tokens_of(size) == tokens
