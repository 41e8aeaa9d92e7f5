"""A short line of a text that matches, and the words that are marked in it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index.analysis import ask, finder, snippet, spans, text_terms

FILLER = "lorem ipsum dolor sit amet " * 20


def test_snippet_is_the_whole_line_when_it_fits() -> None:
    assert snippet("# Use\n\nthe  **lock** `now`\n", ["lock"]) == "Use the lock now"


def test_snippet_shows_the_densest_match_when_text_is_long() -> None:
    text = f"A lock. {FILLER} The lock guards the queue. {FILLER}"
    found = snippet(text, ["lock", "queue"], width=60)
    assert "The lock guards the queue." in found
    assert found[0] == found[-1] == "…"


def test_snippet_starts_at_the_start_when_nothing_matches() -> None:
    assert snippet(f"Start {FILLER}", ["queue"], width=20) == "Start lorem ipsum…"


def test_snippet_cuts_between_words_when_there_are_spaces() -> None:
    words = snippet(f"{FILLER} queue {FILLER}", ["queue"], width=50).strip("…").split()
    assert set(words) <= {*FILLER.split(), "queue"}


def test_snippet_drops_markup_when_text_is_markdown() -> None:
    assert snippet("```py\nx = 1\n```\n> see [the page](http://x)", []) == "x = 1 see the page"


@given(st.text(), st.text(max_size=20), st.integers(10, 80))
def test_snippet_is_one_short_line_when_text_is_anything(text: str, question: str, width: int) -> None:
    found = snippet(text, text_terms(question), width=width)
    assert len(found) <= width
    assert len(found.splitlines()) <= 1


WORDS = ("dying", "skies", "Ordering", "orders", "happily", "snake_case", "MultiThreaded", "a/b.py", "C++", "only")
SIGNS = ("naïve", "日本語", "Straße", "\u0130stanbul", "\u212aiss", "\u00a0", "\u3000", ".", "-", "é")
BETWEEN = re.compile(r"\S+")
TEXTS = st.lists(st.sampled_from((*WORDS, *SIGNS, " ", "\n", "\t")), max_size=20).map("".join)


@given(TEXTS, st.sampled_from((*WORDS, "die sky", "order only", "naive Istanbul kiss", "日本 strasse", "b.py multi")))
def test_finder_finds_what_analysing_each_word_finds(text: str, question: str) -> None:
    asked = ask(question)
    wanted = frozenset(asked.terms).union(asked.wholes)
    parts = [
        (part.start(), start, end, token) for part in BETWEEN.finditer(text) for start, end, token in spans(part[0])
    ]
    held = [(at + start, at + end, wanted.intersection((*one.words, *one.wholes))) for at, start, end, one in parts]
    assert finder(wanted)(text) == [hit for hit in held if hit[2]]
