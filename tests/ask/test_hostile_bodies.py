"""Test long hostile bodies: an answer takes about as long as for other bodies of this size."""

from time import process_time

import pytest
from builders import entry

from mdmem.ask.excerpt import NO_WEIGHTS, excerpt, mentioning_sentences
from mdmem.ask.rank import coverage_of, weights_of
from mdmem.ask.relate import mention_pattern
from mdmem.markdown.body import without_targets
from mdmem.store.index import Match
from mdmem.store.index.analysis import snippet

SIZE = 100_000
# Each took 3 to 18 seconds with a quadratic search, and takes less than a second on a slow machine.
SECONDS = 3


def long(part: str) -> str:
    return (part * SIZE)[:SIZE]


@pytest.mark.parametrize(
    "body",
    [
        long("# word\n"),
        long("Word. "),
        long("word\n\n"),
        long("- word\n"),
        long("```\nword\n```\n"),
        long("`") + " word",
        long("UPDATE: word is a b c\n\n"),
        "word" + long(" ") + "word\n\nword",
        long("# Pros\n\n* Good, because word\n\n"),
        f"word a{long(chr(0x301))}{long(chr(0x316))} word",
    ],
)
def test_excerpt_of_a_hostile_body_is_made_in_time(body: str) -> None:
    started = process_time()
    assert excerpt(entry("app/rules/long"), body, 1700, {**NO_WEIGHTS, "word": 1.0})
    assert process_time() - started < SECONDS


@pytest.mark.parametrize("body", [long(".adr148x"), long(".0148x"), long("[adr 148](x.md) "), long("](0148-x.md ")])
def test_mentions_in_a_hostile_body_are_found_in_time(body: str) -> None:
    pattern = mention_pattern(entry("app/rules/0148-x", title="Record"), is_near=True)
    started = process_time()
    list(mentioning_sentences(body, pattern))
    assert process_time() - started < SECONDS


def test_links_of_a_hostile_text_are_removed_in_time() -> None:
    started = process_time()
    without_targets(f"`{' ' * SIZE}>`")
    snippet(long("![word]("), ["word"])
    snippet(f"word {9 * long('[')}", ["word"])
    assert process_time() - started < SECONDS
    assert without_targets("See `the docs <https://a.example>`_ and [it](b.md).") == "See the docs and it."


def test_coverage_by_a_body_of_one_word_is_found_in_time() -> None:
    weights = weights_of(["word", "zebra"], [frozenset(["word"])], 1)
    matches = [(entry("app/rules/long"), Match("app/rules/long", 1.0, frozenset(["word"])))]
    started = process_time()
    coverage_of(weights, matches, lambda _: 5 * long("word "), 1, has_unknown=False)
    assert process_time() - started < SECONDS
