"""Test the terms of a text, and the snippet around them."""

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index.analysis import _runs, ask, finder, fold, positions_of, snippet, spans, split, text_terms


def analyse(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, and its identifiers, in order."""
    tokens = [split(run, singles=True) for run in _runs(fold(text))]
    return [word for token in tokens for word in token.words], [whole for token in tokens for whole in token.wholes]


@pytest.mark.parametrize(
    ("text", "words", "wholes"),
    [
        ("The node was using its executors.", ["node", "use", "executor"], []),
        ("🎉 👩‍👩‍👧 ❤️ →", [], []),
        ("snake_case", ["snake", "case"], ["snake_case"]),
        ("kebab-case", ["kebab", "case"], ["kebabcas"]),
        ("MultiThreadedExecutor", ["multi", "thread", "executor"], ["multithreadedexecutor"]),
        ("HTTPServer", ["http", "server"], ["httpserver"]),
        ("src/exec_main.py", ["src", "exec", "main", "py"], ["src/exec_main.py", "exec_main.py"]),
        ("std::vector", ["std", "vector"], ["std::vector"]),
        (".net", ["net"], [".net"]),
        ("C++", ["c++"], []),
        ("C#", ["c#"], []),
        ("notepad++", ["notepad"], ["notepad++"]),
        ("3.11", ["3.11"], []),
        ("2026-03-05", ["2026-03-05"], []),
        ("APIs", ["api"], []),
        ("to_be", [], ["to_be"]),
    ],
)
def test_analyse_stems_words_and_keeps_identifiers_whole(text: str, words: list[str], wholes: list[str]) -> None:
    assert analyse(text) == (words, wholes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("naïve", unicodedata.normalize("NFD", "NAÏVE")),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ﬁne", "fine"),
        ("\uff26\uff55\uff4c\uff4c", "full"),
        ("ёлка", "Елка"),
        ("Όδος", "οδοσ"),
        ("مُحَمَّد", "محمد"),
        ("soft\u00adhyphen", "softhyphen"),
    ],
)
def test_text_terms_are_equal_when_only_accents_or_case_differ(one: str, other: str) -> None:
    assert text_terms(one) == text_terms(other) != frozenset()


@pytest.mark.parametrize("text", ["हिन्दी", "भाषा", "мама", "ελληνικά", "العربية", "עברית", "தமிழ்", "ქართული"])
def test_analyse_keeps_one_word_when_script_has_spaces(text: str) -> None:
    words, _ = analyse(text)
    assert len(words) == 1


@pytest.mark.parametrize(
    ("text", "question"), [("日本語のテキスト", "日本語"), ("我喜欢猫", "猫"), ("한국어는", "한국"), ("ภาษาไทย", "ไทย")]
)
def test_ask_meets_the_text_when_script_has_no_spaces(text: str, question: str) -> None:
    assert set(ask(question).terms) <= text_terms(text)
    assert ask(question).terms


def test_ask_maps_terms_to_words_as_typed_when_they_were_changed() -> None:
    asked = ask('How do "Cafés" use executors, executor?')
    assert asked.terms == ("cafe", "use", "executor")
    assert asked.typed == {"cafe": "Cafés", "use": "use", "executor": "executors"}


@pytest.mark.parametrize(
    ("text", "terms", "wholes"),
    [("GitHub", ("git", "hub"), {"github": ("git", "hub")}), ("e-mail", ("e", "mail"), {"email": ("e", "mail")})],
)
def test_ask_lets_one_word_stand_for_its_parts(
    text: str, terms: tuple[str, ...], wholes: dict[str, tuple[str, ...]]
) -> None:
    asked = ask(text)
    assert (asked.terms, wholes.items() <= asked.wholes.items()) == (terms, True)


@pytest.mark.parametrize("text", ["", "the of and", '"', "*", "( ) [", "🎉", " \n\t"])
def test_ask_has_no_terms_when_nothing_is_searchable(text: str) -> None:
    assert ask(text).terms == ()


def test_text_terms_are_short_when_a_word_is_endless() -> None:
    assert {len(term) for term in text_terms("x" * 5000 + " " + "a_" * 3000)} <= set(range(65))


@given(st.text())
def test_ask_finds_a_document_when_it_is_the_question(text: str) -> None:
    assert set(ask(text).terms) <= text_terms(text)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_fold_changes_nothing_when_done_twice(text: str) -> None:
    assert analyse(fold(text)) == analyse(text)


PIECES = st.sampled_from(
    (
        *" \n\u3000\xa0'(,./\\_-+#é한かİ\u0301\u093f\u3099\ud800\x00",
        "::",
        "C++",
        "c#",
        "fooBar",
        "the",
        "3",
        "漢字",
        "x" * 70,
    )
)


@given(st.lists(PIECES | st.characters(), max_size=12).map("".join))
def test_positions_count_what_the_runs_of_the_whole_text_give(text: str) -> None:
    words, wholes = analyse(text)
    assert {term: len(places) for term, places in positions_of(text).items()} == Counter(words + wholes)


FILLER = "lorem ipsum dolor sit amet " * 20


@pytest.mark.parametrize(
    ("text", "terms", "width", "expected"),
    [
        ("# Use\n\nthe  **lock** `now`\n", ["lock"], 200, "Use the lock now"),
        ("```py\nx = 1\n```\n> see [the page](http://x)", [], 200, "x = 1 see the page"),
        (f"Start {FILLER}", ["queue"], 20, "Start lorem ipsum…"),
    ],
)
def test_snippet_is_plain_text_in_one_line(text: str, terms: list[str], width: int, expected: str) -> None:
    assert snippet(text, terms, width=width) == expected


def test_snippet_shows_the_densest_match_when_text_is_long() -> None:
    text = f"A lock. {FILLER} The lock guards the queue. {FILLER}"
    found = snippet(text, ["lock", "queue"], width=60)
    assert "The lock guards the queue." in found
    assert found[0] == found[-1] == "…"


def test_snippet_cuts_between_words_when_there_are_spaces() -> None:
    words = snippet(f"{FILLER} queue {FILLER}", ["queue"], width=50).strip("…").split()
    assert set(words) <= {*FILLER.split(), "queue"}


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
