import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index.analysis import _runs, ask, fold, positions_of, split, text_terms


def analyse(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, and its identifiers, in order."""
    tokens = [split(run, singles=True) for run in _runs(fold(text))]
    return [word for token in tokens for word in token.words], [whole for token in tokens for whole in token.wholes]


def test_analyse_stems_and_drops_stop_words_when_text_is_prose() -> None:
    assert analyse("The node was using its executors.") == (["node", "use", "executor"], [])


@pytest.mark.parametrize(
    ("text", "words", "wholes"),
    [
        ("snake_case", ["snake", "case"], ["snake_case"]),
        ("kebab-case", ["kebab", "case"], ["kebab-case"]),
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
def test_analyse_splits_and_keeps_when_text_is_an_identifier(text: str, words: list[str], wholes: list[str]) -> None:
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


def test_analyse_ignores_when_text_is_emoji() -> None:
    assert analyse("🎉 👩‍👩‍👧 ❤️ →") == ([], [])


def test_ask_maps_terms_to_words_as_typed_when_they_were_changed() -> None:
    asked = ask('How do "Cafés" use executors, executor?')
    assert asked.terms == ("cafe", "use", "executor")
    assert asked.typed == {"cafe": "Cafés", "use": "use", "executor": "executors"}


def test_ask_lets_the_whole_stand_for_its_parts_when_it_is_camel_case() -> None:
    asked = ask("GitHub")
    assert asked.terms == ("git", "hub")
    assert asked.wholes == {"github": ("git", "hub")}


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
