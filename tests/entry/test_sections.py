"""The sections of a body, what is said of it in few words, and which sentences name another entry."""

from __future__ import annotations

import re

from builders import entry
from golden import GoldenCase, each_case
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.headings import sections_of
from mdmem.markdown.passages import Find, Hit
from mdmem.markdown.sections import citing_sentences, deciding_section, least_size, naming, shortened
from mdmem.markdown.sentences import sentences_in, size_of

ENTRY = entry("a/b/c", title="T")


def finding(words: str) -> Find | None:
    """Return what finds words as they stand."""

    def find(text: str) -> list[Hit]:
        hits = re.finditer(r"[a-z]+", text.casefold())
        return [(hit.start(), hit.end(), frozenset([hit[0]])) for hit in hits if hit[0] in words.split()]

    return find if words else None


@each_case("entry/sections.txt")
def test_sections_of(case: GoldenCase) -> None:
    found = [f"{one.level} {one.heading} : {(one.text.split() or [''])[0]}" for one in sections_of(case.before)]
    assert [line.strip() for line in found] == case.after.splitlines()


@each_case("entry/shortened.txt")
def test_shortened(case: GoldenCase) -> None:
    assert shortened(ENTRY, case.before, finding(case.action)) == case.after.rstrip("\n")


PARTS = ["# One\n", "Two\n===\n", "```\n", "<!--", "-->", "\n", "a b. C d.\n", "~~~\n", "\r\n"]


@given(st.lists(st.sampled_from(PARTS)))
def test_sections_are_the_body_whatever_it_is(parts: list[str]) -> None:
    body = "".join(parts)
    found = sections_of(body)
    assert "".join(body[slice(*one.span)] for one in found).strip() == body.strip()
    assert all(one.text == body[one.start : one.span[1]] for one in found)


@given(st.text(st.sampled_from("aB. \n#-=*`>|猫。:[]()<!"), max_size=300), st.integers(40, 700))
def test_shortened_keeps_its_limit_whatever_the_body(body: str, limit: int) -> None:
    assert size_of(shortened(ENTRY, body, finding("a"), limit)) <= limit


@given(st.lists(st.sampled_from([*PARTS, "ab cd. ", "ab must cd. ", "x" * 90, "\n\n"])), st.sampled_from([380, 600]))
def test_least_size_is_no_more_than_what_is_given(parts: list[str], limit: int) -> None:
    one, body = entry("a/b/c", repeatable_steps=["first"]), "".join(parts)
    for find in (None, finding("ab"), finding("cd")):
        assert least_size(one, body, limit) <= size_of(shortened(one, body, find, limit))


def test_deciding_section_is_whole_without_what_was_turned_down() -> None:
    decided = "## Decision\n\nUse it.\n\n```\n\nx = 1\n```\n\n### Options\n\nNo.\n\n### How\n\nSo.\n\n"
    body = f"# T\n\n{decided}## Status\n\nDone.\n"
    assert deciding_section(ENTRY, body) == "Use it.\n\n```\n\nx = 1\n```\n\n### How\n\nSo."
    assert deciding_section(ENTRY, "Use it.\n") == ""


def test_deciding_section_is_cut_at_a_paragraph_and_never_within_code() -> None:
    body = "## Decision\n\n" + "Use it. " * 200 + "\n\n```\n" + "x = 1\n\n" * 100 + "```\n"
    assert deciding_section(ENTRY, body) == f"{'Use it. ' * 200}".strip() + " …"


def test_no_passage_is_of_a_plan_of_tests_or_of_what_was_found_before() -> None:
    aside = "".join(
        f"## {name}\n\nA queue of 9 waits.\n\n" for name in ("Test Plan", "Current state review", "History")
    )
    body = f"## Decision\n\nWe wait.\n\n{aside}## Design\n\nEach queue has its own lock.\n"
    told = shortened(ENTRY, body, finding("queue"))
    assert told == "We wait.\n\n… Each queue has its own lock."


def test_passage_with_the_name_that_a_body_gives_its_subject_goes_before_another() -> None:
    filler = "\n\n".join(f"Runs that are done number {n} take up room." for n in range(9))
    body = f"""## Decision

Runs that ended go away by themselves.

## Details

{filler}

The field `ttlAfter` says when: `ttlAfter` counts seconds, and without ttlAfter runs stay.
"""
    assert "`ttlAfter` says when" in shortened(ENTRY, body, finding("runs done"), 380)


def test_links_are_what_they_say() -> None:
    body = "## Decision\n\nWe will use [the lock](https://example.org/a/b#c) and `its key <https://example.org/>`__.\n"
    assert shortened(ENTRY, body) == "We will use the lock and its key."


def test_lead_leaves_room_to_passages_but_for_what_rules() -> None:
    first, rest = "We will keep the lock of the door. ", "It is green and of brass, as many locks were. " * 6
    body = "## Decision\n\n{}\n\n## Details\n\n" + "\n\n".join(f"The key {n} opens a door at 7." for n in range(9))
    told = shortened(ENTRY, body.format(first + rest), finding("key"), 600)
    assert told.count("It is green") < 6
    assert "must be shut" in shortened(ENTRY, body.format(first + rest[:230] + "It must be shut."), finding("key"), 600)


def test_citing_sentences_begin_with_those_that_change_something() -> None:
    body = (
        "# One\n\nSee PEP-484 for types. It is :pep:`0484` again!\n\n```\nPEP 484\n```\n\n"
        "This amends PEP 484 (e.g. its names). PEP 4840 is another.\n\n"
        "## References\n\n* Replaces `a/b/pep-484`, as said.\n\n"
        "## Rejected ideas\n\nThis PEP extends PEP 484.\n\n### More\n\nThis PEP replaces PEP 484.\n"
        "## Rules\n\nIn words\nof PEP 484, this PEP extends PEP 484.\n"
    )
    assert [" ".join(filter(None, one)) for one in citing_sentences(body, ("a/b/pep-484",))] == [
        "In words of PEP 484, this PEP extends PEP 484. extends it",
        "This amends PEP 484 (e.g. its names).",
        "This PEP replaces PEP 484.",
        "* Replaces `a/b/pep-484`, as said.",
        "This PEP extends PEP 484.",
        "See PEP-484 for types.",
        "It is :pep:`0484` again!",
    ]
    assert citing_sentences(body, ("pep-48", "a/b/pep")) == ()


@given(
    st.text(st.sampled_from("aA-kK\u212asS\u017fiI\u0131\u01307 0"), max_size=12),
    st.text(st.sampled_from("aksi-\u01307")),
)
def test_citing_sentences_miss_no_mention_in_any_case(said: str, name: str) -> None:
    pattern = naming([name])
    is_named = pattern is not None and pattern.search(f"It is {said} here.") is not None
    assert bool(citing_sentences(f"It is {said} here.", (name,))) == is_named


def test_citing_sentence_that_is_long_is_cut_around_the_name() -> None:
    ((found, _),) = citing_sentences(f"{'word ' * 300}replaces ADR 7 {'word ' * 300}", ("ADR-0007",))
    assert "replaces ADR 7" in found
    assert size_of(found) <= 300


LISTED = """\
# Abstract

Orders are priced once.

# Exceptions

There are places where a discount is not allowed, for safety:

- A discount is prohibited at the top of an order. Example:

      order(discount)

  This keeps totals plain.

- A discount is prohibited in a refund.
%s
Prose about vouchers.
"""


def test_list_stands_below_the_sentence_that_announces_it() -> None:
    said = shortened(ENTRY, LISTED % "", finding("where is a discount not allowed"))
    assert "for safety:\n- A discount is prohibited at the top of an order." in said
    assert "This keeps totals plain.\n- A discount is prohibited in a refund." in said
    assert "vouchers" not in said


def test_of_a_long_list_each_item_has_its_first_sentence() -> None:
    more = "".join(f"\n- A discount is prohibited in case {n}.\n  {'Some reason for that. ' * 6}\n" for n in range(4))
    said = shortened(ENTRY, LISTED % more, finding("where is a discount not allowed"), limit=1600)
    assert "top of an order.\n- A discount is prohibited in a refund.\n- A discount is prohibited in case 0.\n" in said
    assert "reason" not in said


def test_full_stop_of_an_items_number_ends_no_sentence() -> None:
    body = "# Decision\n\nOrders are sent:\n\n1. Only once.\n2. Never at night.\n"
    assert [one.text for one in sentences_in(body, 12, len(body))][1:] == ["1. Only once.", "2. Never at night."]
