"""What fits a budget, in what form, and what is said of the rest."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.ask.budget import OMITTED_LISTED, pack
from mdmem.ask.given import is_given
from mdmem.ask.pack import (
    CITED,
    NOTHING_GIVEN,
    PLAIN,
    Form,
    Given,
    Mention,
    Pack,
    PackedEntry,
    Printed,
    Texts,
)
from mdmem.ask.question import AnswerBasis, Omission, Tier
from mdmem.ask.ranks import Retrieval, Retrieved, sort_key_of
from mdmem.ask.relevance import Relevance
from mdmem.markdown.text import content_of, summary_of, tokens_of
from mdmem.model.entry import EntryType, Status
from mdmem.model.lineage import Stance, Standing
from mdmem.render.ink import Ink
from mdmem.render.json import PrintedJson, agents_json, dump, pack_json
from mdmem.render.retrieval import PrintedText, markdown_size, pack_markdown, pack_text, text_size
from mdmem.store.workspace.scope import Scope

INVARIANT, DECISION, PATTERN, NOTE = EntryType


def item(
    name: str, kind: EntryType, *, score: float = 1.0, current: bool = True, on_path: bool = False, **fields: object
) -> Retrieved:
    """Return an item whose address is `app/a/<name>`; one of a score holds a word of the question."""
    status = Status.ACTIVE if current else Status.DEPRECATED
    made = entry(f"app/a/{name}", type=kind, title=name, status=status, **fields)
    return Retrieved(
        sort_key=sort_key_of(made, score, force=(not current, False, Tier.PROJECT.rank, int(not current))),
        entry=made,
        status=status,
        tier=Tier.PROJECT,
        score=score,
        matches=score > 0,
        current=current,
        why=lambda: "holds word",
        terms=frozenset({"word"} if score else ()),
        on_path=on_path,
    )


def packed(
    items: Sequence[Retrieved],
    bodies: Mapping[str, str],
    budget: int,
    *,
    proposed: Sequence[Retrieved] = (),
    omitted: Sequence[Omission] = (),
    given: Given = NOTHING_GIVEN,
    printed: Printed = PLAIN,
    terms: tuple[str, ...] = ("word",),
    beneath: Callable[[Retrieved], tuple[Mention, ...]] = lambda _item: (),
    is_brief: bool = False,
) -> Pack:
    """Return what fits of items in their order; `bodies` are by name."""
    ordered = tuple(sorted(items, key=lambda one: one.sort_key))
    scope = Scope(wing="app", wings=("app",))
    basis = AnswerBasis(omitted=tuple(omitted))
    found = Retrieval(scope=scope, items=ordered, proposed=tuple(proposed), terms=terms, basis=basis, is_brief=is_brief)
    bodies = {f"app/a/{name}": body for name, body in bodies.items()}
    digest = {address: body[:9] or "-" for address, body in bodies.items()}.__getitem__
    texts = Texts(bodies.__getitem__, lambda address: len(bodies[address]), digest, beneath)
    return pack(found, budget, texts=texts, printed=printed, given=given)


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
BODIES = st.sampled_from(["", "One.", text(1), text(2), text(9), "# H\n\n" + text(30), "- a\n- b\n\nÄ猫" * 40])


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[Retrieved], list[Retrieved], dict[str, str]]:
    """Return items, drafts, and the bodies of both."""
    items, bodies = [], {}
    for number in range(draw(st.integers(0, 24))):
        name = f"e{number}"
        bodies[name] = draw(BODIES)
        steps = ("first", "then") if draw(st.booleans()) else ()
        score, current, on_path = draw(st.integers(0, 9)), draw(st.integers(0, 9)) > 0, draw(st.integers(0, 5)) == 0
        made = item(name, draw(KINDS), score=score, current=current, on_path=on_path, repeatable_steps=steps)
        items.append(made)
    drafts = [item(f"d{number}", draw(KINDS), current=False) for number in range(draw(st.integers(0, 4)))]
    bodies |= {one.entry.title: draw(BODIES) for one in drafts}
    return items, drafts, bodies


@given(candidates(), st.integers(0, 4000), st.booleans(), st.booleans())
def test_what_finds_no_line_need_not_be_tried(
    drawn: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int, is_brief: bool, is_hard: bool
) -> None:
    items, drafts, bodies = drawn
    terms = ("word", "other", "third", "fourth") if is_hard else ("word",)
    known = {one.entry.address: "digest" for one in items[::5]}

    def answer() -> Pack:
        return packed(items, bodies, budget, proposed=drafts, terms=terms, is_brief=is_brief, given=known)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Relevance, "others_while", lambda self, *_: self.others())
        tried = answer()
    assert answer() == tried


@pytest.mark.parametrize("is_brief", [False, True])
def test_of_hundreds_that_touch_a_question_few_are_told(is_brief: bool) -> None:
    told = set[str]()

    class Telling(type(PLAIN)):
        def entry(self, packed: PackedEntry) -> int:
            told.add(packed.item.entry.address)
            return super().entry(packed)

    best = replace(item("d", DECISION, score=3.0), terms=frozenset({"b", "c", "d"}))
    items = [best, *(item(f"n{number}", NOTE, score=2.0) for number in range(300))]
    bodies = {one.entry.title: "Text.\n" for one in items}
    answer = packed(items, bodies, 1500, terms=("word", "b", "c", "d"), printed=Telling(), is_brief=is_brief)
    assert len(answer.items) > 1
    assert len(told) < 30


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


@pytest.mark.parametrize(
    ("rendered", "printed"),
    [
        (lambda answer: pack_text(answer, ink=Ink()), text_size),
        (pack_markdown, markdown_size),
        (lambda answer: dump(pack_json(answer)), PrintedJson()),
        (lambda answer: dump(agents_json(answer)), PrintedJson(agents_json)),
    ],
    ids=["text", "markdown", "json", "agents"],
)
@given(made=candidates(), budget=st.integers(0, 1500))
def test_budget_holds_what_is_printed_beside_invariants_and_the_line_of_counts(
    rendered: Callable[[Pack], str],
    printed: Printed,
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]],
    budget: int,
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, budget, proposed=drafts, printed=printed)
    invariants = tuple(one for one in answer.items if is_invariant(one.item))
    # A text counts what a document names.
    named = answer.basis.omitted if isinstance(printed, PrintedText) else ()
    bare = replace(answer, items=invariants, proposed=(), basis=replace(answer.basis, omitted=named))
    assert len(rendered(answer).encode()) - len(rendered(bare).encode()) <= budget * 4
    assert answer.over_budget == (answer.tokens > budget)


@given(candidates(), st.integers(0, 1500))
def test_everything_is_given_named_or_counted_once(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, drafts, bodies = made
    answer = packed(items, bodies, budget, proposed=drafts)
    said = [one.item.entry.address for one in (*answer.items, *answer.proposed)]
    said += [one.address for one in answer.basis.omitted]
    assert len(said) == len(set(said))
    assert len(said) + sum(one.count for one in answer.basis.omitted_counts) == len(items) + len(drafts)
    assert all(one.why for one in answer.basis.omitted)


@given(candidates(), st.integers(0, 6000))
def test_items_stand_in_the_order_of_authority_and_the_best_matches_are_among_them(
    made: tuple[list[Retrieved], list[Retrieved], dict[str, str]], budget: int
) -> None:
    items, _, bodies = made
    answer = packed(items, bodies, budget)
    order = [one.item.sort_key for one in answer.items]
    assert order == sorted(order)
    best = sorted((one for one in items if one.score and one.current), key=lambda one: -one.score)
    if best and budget > 4000:
        assert best[0].entry.address in {one.item.entry.address for one in answer.items}


# --- the order of the policy ---


def review() -> tuple[list[Retrieved], dict[str, str]]:
    """Return the policy's example: 2 invariants, 3 decisions, 6 patterns, 9 notes, of 250 tokens and more each."""
    items = [item(f"i{number}", INVARIANT, score=0) for number in range(2)]
    items += [item(f"d{number}", DECISION, score=(9, 8, 1)[number]) for number in range(3)]
    items += [item(f"p{number}", PATTERN, score=8 - number, repeatable_steps=("do it",)) for number in range(6)]
    items += [item(f"n{number}", NOTE, score=9 - number) for number in range(9)]
    return items, {one.entry.title: text(2 if one.entry.type is DECISION else 10) for one in items}


def test_policy_example_keeps_invariants_and_decisions_whole_and_two_patterns_short() -> None:
    answer = packed(*review(), 180)
    assert forms(answer) == {
        "i0": "full", "i1": "full", "d0": "full", "d1": "full", "p0": "summary", "p1": "summary"
    }  # fmt: skip
    assert Counter(one.type for one in answer.basis.omitted) == {"decision": 1, "pattern": 4, "note": 9}
    assert reasons(answer)["d2"] == "holds little of the question"


def test_best_matches_come_before_authority_where_nothing_presses() -> None:
    items, bodies = review()
    bodies = {name: text(3) for name in bodies}
    answer = packed(items, bodies, 1500)
    assert {"d0", "n0", "n1", "n2", "p0", "p1"} <= forms(answer).keys()
    assert [one.item.entry.type for one in answer.items] == sorted(
        (one.item.entry.type for one in answer.items), key=list(EntryType).index
    )


def test_best_ten_are_there_in_a_line_where_no_content_fits() -> None:
    items = [item(f"n{number:02}", NOTE, score=20 - number) for number in range(20)]
    answer = packed(items, {one.entry.title: text(9) for one in items}, 1500)
    assert [name for name in forms(answer) if name < "n10"] == [f"n{number:02}" for number in range(10)]
    assert list(forms(answer).values())[:2] == ["full", "summary"]


LONG = "Use a queue. " * 200


def test_three_have_content_where_each_may_govern_and_a_line_says_nothing_of_what_is_far() -> None:
    scores = {"a": 1.0, "b": 0.95, "c": 0.9, "d": 0.6, "e" * 40: 0.55, "far": 0.4}
    items = [item(name, DECISION, score=score) for name, score in scores.items()]
    bodies = dict.fromkeys(scores, LONG)
    answer = packed(items, bodies, 1500)
    assert forms(answer) == {"a": "summary", "b": "summary", "c": "summary", "d": "summary", "e" * 40: "line"}
    assert reasons(answer) == {"far": "holds little of the question"}
    # Where the best stands alone, it has their room.
    alone = packed(items[:1], bodies, 1500)
    assert len(alone.items[0].content) > 1.5 * len(answer.items[0].content)


@pytest.mark.parametrize("scores", [(9, 3), (9, 8.9, 3), (9, 8.9, 8.8, 8.7, 8.6, 8.5, 8.4, 8.3)])
@pytest.mark.parametrize("has_draft", [False, True])
def test_answer_to_words_is_4096_bytes_at_most_and_the_best_takes_what_the_others_leave(
    scores: tuple[float, ...], has_draft: bool
) -> None:
    items = [item(f"n{number}", DECISION, score=score) for number, score in enumerate(scores)]
    draft = [item("idea", DECISION, score=9)] if has_draft else []
    bodies = {
        one.entry.title: "\n\n".join(f"Use word `w.{at}` by default." for at in range(400)) for one in (*items, *draft)
    }
    answer = packed(items, bodies, 1500, proposed=draft, printed=markdown_size)
    assert len(answer.proposed) == has_draft
    assert 2900 <= len(pack_markdown(answer).encode()) <= 4096


def test_what_is_newer_and_cites_the_best_match_has_room_before_what_matches_better() -> None:
    scores = {"best": 1.0, "b": 0.7, "c": 0.68, "newer": 0.6}
    items = [item(name, DECISION, score=score) for name, score in scores.items()]
    told = (Mention(CITED, "app/a/newer", said="See best."),)
    bodies = dict.fromkeys(scores, LONG)
    answer = packed(items, bodies, 1500, beneath=lambda one: told if one.entry.title == "best" else ())
    assert forms(answer) == {"best": "summary", "b": "summary", "c": "line", "newer": "summary"}
    assert forms(packed(items, bodies, 1500))["newer"] == "line"


def test_draft_takes_no_room_of_its_own_where_three_in_force_match_better() -> None:
    items = [item(name, DECISION, score=score) for name, score in {"a": 9, "b": 8.9, "c": 8.8, "d": 8.7}.items()]
    bodies = dict.fromkeys(("a", "b", "c", "d", "idea"), LONG)
    given = [packed(items, bodies, 1500, proposed=[item("idea", DECISION, score=score)]) for score in (9, 8)]
    assert [[one.item.entry.title for one in answer.proposed] for answer in given] == [["idea"], []]


def test_what_covers_a_path_is_there_whole_before_what_matches_better() -> None:
    items = [item("far", NOTE, score=9), item("here", DECISION, score=0, on_path=True)]
    answer = packed(items, {"far": text(9), "here": text(9)}, 500)
    assert forms(answer) == {"here": "full", "far": "summary"}
    # As is an invariant that a branch proposes: once merged it would stand.
    rule = item("rule", INVARIANT, score=0)
    stance = Stance(Standing.UNCOMMITTED)
    proposed = replace(rule, stance=stance, sort_key=sort_key_of(rule.entry, 0, force=(False, True, 1, 0)))
    answer = packed([items[0], proposed], {"far": text(9), "rule": text(9)}, 500)
    assert forms(answer) == {"rule": "full", "far": "summary"}


def test_what_ended_goes_before_everything_in_force() -> None:
    items = [item("old", INVARIANT, current=False), item("note", NOTE, score=0.1)]
    answer = packed(items, {"old": text(4), "note": text(4)}, 120)
    assert (forms(answer), reasons(answer)) == ({"note": "full"}, {"old": "no longer in force"})


def test_drafts_take_what_is_left() -> None:
    bodies = {"rule": text(4), "idea": text(1), "longer": text(9)}
    drafts = [item("idea", DECISION), item("longer", DECISION)]
    answer = packed([item("rule", INVARIANT)], bodies, 40, proposed=drafts)
    assert [(one.item.entry.title, one.form.value) for one in answer.proposed] == [("idea", "full")]
    assert reasons(answer) == {"longer": "over the budget"}


def test_long_draft_whose_heading_does_not_fit_is_not_read() -> None:
    read: list[str] = []

    def body(address: str) -> str:
        read.append(address)
        return text(9)

    found = Retrieval(scope=Scope(wing="app", wings=("app",)), items=(), proposed=(item("long", DECISION),))
    texts = Texts(body, lambda _: 900, str)
    assert (pack(found, 3, texts=texts).proposed, read) == ((), [])
    assert (len(pack(found, 400, texts=texts).proposed), set(read)) == (1, {"app/a/long"})


def test_long_decision_on_a_path_gives_the_section_that_decides() -> None:
    body = f"# Context\n\n{text(30)}\n\n# Decision\n\nWe use a queue.\n\n# Consequences\n\n{text(9)}"
    answer = packed([item("d", DECISION, on_path=True)], {"d": body}, 1500)
    assert [(one.form.value, "We use a queue." in one.content) for one in answer.items] == [("section", True)]
    # What is asked for and the section does not hold follows it, in short.
    assert 0 < answer.items[0].content.count("word word") < 2 * text(9).count("word word")


# --- what was given before ---


def test_what_was_given_whole_is_a_line_until_it_changes() -> None:
    items = [item("rule", INVARIANT), item("d", DECISION)]
    bodies = {"rule": "Must.", "d": "Queue."}
    first = packed(items, bodies, 1500)
    assert first.gave == {"app/a/rule": "Must.", "app/a/d": "Queue."}
    again = packed(items, bodies | {"d": "Two queues."}, 1500, given=first.gave)
    assert forms(again) == {"rule": "given", "d": "full"}
    assert again.gave == {"app/a/d": "Two queue"}


def test_what_was_shortened_is_a_line_where_each_passage_was_given_of_the_same_file() -> None:
    more = [item("a", NOTE, score=9), item("b", NOTE, score=8)]
    bodies = {"a": text(9), "b": text(9)}
    first = packed(more, bodies, 1500)
    assert forms(first) == {"a": "full", "b": "summary"}
    assert forms(packed(more, bodies, 1500, given=first.gave)) == {"a": "given", "b": "given"}
    # Another question may find less in it, or more; what an older state of the file said is not what it says.
    long = {"b": f"We use a queue.\n\n# Size\n\n{text(20)}\n\n# Why\n\n{text(9)}"}
    both, lead = packed(more[1:], long, 1500), packed(more[1:], long, 1500, terms=("queue",))
    assert both.items[0].content.startswith(f"{lead.items[0].content}\n\n… ")
    assert forms(packed(more[1:], long, 1500, terms=("queue",), given=both.gave)) == {"b": "given"}
    then = packed(more[1:], long, 1500, given=lead.gave)
    assert (forms(then), then.gave) == ({"b": "summary"}, both.gave)
    assert then.items[0].content.startswith("… 00 word")
    assert "[note] app/a/b (more of it)\n  … 00 word" in pack_text(then, ink=Ink())
    edited = {"b": f"\n{long['b']}"}
    assert forms(packed(more[1:], edited, 1500, given=both.gave)) == {"b": "summary"}


def test_what_was_given_keeps_its_room_and_nothing_weaker_takes_it() -> None:
    items = [item(f"n{number}", NOTE, score=9 - number / 100) for number in range(12)]
    bodies = {one.entry.title: text(20) for one in items}
    first = packed(items, bodies, 1100)
    told = {one for one, form in forms(first).items() if form == "summary"}
    again = packed(items, bodies, 1100, given=first.gave)
    assert {one for one, form in forms(again).items() if form != "given"} == set()
    assert forms(again).keys() == forms(first).keys() >= told
    assert again.tokens < first.tokens / 4


def test_what_was_named_before_is_not_named_by_its_title_again() -> None:
    items = [item("a", NOTE, score=9), *(item(f"n{number}", NOTE, score=8) for number in range(8))]
    bodies = {one.entry.title: text(20) for one in items}
    first = packed(items, bodies, 1100)
    lines = [one for one, form in forms(first).items() if form == "line"]
    assert lines
    # A title is not the text.
    named = {address: known for address, known in first.gave.items() if not is_given(known)}
    again = packed(items, bodies, 1100, given=named)
    assert {forms(again)[one] for one in lines} == {"given"}
    assert re.search(rf"^Named before: \[note\] {', '.join(lines)}$", pack_text(again, ink=Ink()), re.MULTILINE)
    assert forms(packed(items[-1:], bodies, 1500, given=named)) == {items[-1].entry.title: "full"}


# --- a budget of 0, and over it ---


def test_budget_of_0_gives_invariants_alone_and_says_that_they_exceed_it() -> None:
    answer = packed(*review(), 0)
    assert forms(answer) == {"i0": "full", "i1": "full"}
    assert (answer.tokens, answer.over_budget, len(answer.basis.omitted)) == (505, True, 18)
    assert "505 tokens, 505 of them for invariants beyond the budget of 0; from" in pack_text(answer, ink=Ink())


def test_budget_of_0_without_invariants_gives_nothing_and_is_kept() -> None:
    answer = packed([item("d", DECISION)], {"d": "Text."}, 0)
    assert (answer.items, answer.tokens, answer.over_budget) == ((), 0, False)
    assert reasons(answer) == {"d": "over the budget"}


# --- what is left out ---


def test_what_covers_a_path_and_is_left_out_is_named() -> None:
    items = [item("here", DECISION, on_path=True), *(item(f"n{number}", DECISION) for number in range(2))]
    answer = packed(items, {one.entry.title: text(9) for one in items}, 0, printed=text_size)
    assert "Left out: app/a/here, 2 decisions (over the budget). 0 of 0" in pack_text(answer, ink=Ink())
    said = [packed(items, {one.entry.title: text(9) for one in items}, size, printed=PrintedJson()) for size in (0, 30)]
    assert [[one.address for one in answer.basis.omitted] for answer in said] == [[], ["app/a/here"]]
    assert [[one.count for one in answer.basis.omitted_counts] for answer in said] == [[3], [2]]


def test_draft_takes_what_the_share_of_words_leaves_and_only_the_budget_is_called_one() -> None:
    notes = [item(f"n{number:02}", NOTE, score=9 - number / 9) for number in range(40)]
    bodies = {one.entry.title: text(9) for one in notes} | {"idea": text(1), "little": text(1)}
    drafts = [item("idea", DECISION, score=9), item("little", DECISION, score=0)]
    answer = packed(notes, bodies, 1500, proposed=drafts)
    assert [one.item.entry.title for one in answer.proposed] == ["idea"]
    assert "over the budget" not in reasons(answer).values()
    assert reasons(answer)["n39"] == "beyond a short answer"


def test_omitted_are_50_at_most_and_the_rest_counted_by_type_and_reason() -> None:
    items = [item(f"n{number:03}", NOTE) for number in range(70)]
    elsewhere = [Omission(f"app/a/r{number}", "invariant", "applies elsewhere") for number in range(3)]
    answer = packed(items, {one.entry.title: text(1) for one in items}, 0, omitted=elsewhere)
    assert (OMITTED_LISTED, len(answer.basis.omitted)) == (50, 50)
    assert answer.basis.omitted[:3] == tuple(elsewhere)
    assert [(one.type, one.why, one.count) for one in answer.basis.omitted_counts] == [("note", "over the budget", 23)]


# --- forms ---


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
        (f"{'word ' * 200}", "word " * 95 + "…"),
        ("猫" * 300, "猫" * 158 + " …"),
    ],
)
def test_summary_is_what_was_decided_else_the_first_paragraph(body: str, expected: str) -> None:
    assert summary_of(entry("app/a/d"), body) == expected


def test_summary_of_a_pattern_without_a_body_is_its_steps() -> None:
    assert summary_of(entry("app/a/p", type=PATTERN, repeatable_steps=("one",)), "") == "1. one"


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2)])
def test_tokens_are_4_bytes_each(size: int, tokens: int) -> None:
    assert tokens_of(size) == tokens
