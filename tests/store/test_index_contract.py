"""Whatever way an index answers in, the answer is the same."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index import TextAnswer
from mdmem.store.index.fulltext import FullTextIndex

from .index_builders import WORDS, Tree, document, numbered, tree

Way = Callable[[Tree, Path], FullTextIndex]


def scan(_made: Tree, _folder: Path) -> FullTextIndex:
    """Never keep anything."""
    return FullTextIndex(None)


def index(made: Tree, folder: Path) -> FullTextIndex:
    """Hold the tree as it is."""
    kept = FullTextIndex(folder)
    kept.refresh(made)
    return kept


def beside(made: Tree, folder: Path) -> FullTextIndex:
    """Hold another state of the tree: some documents other, or longer, some not yet there, some not any more."""
    keys = sorted(made.live)
    old = Tree(*made.read(keys))
    old.drop(*keys[::5])
    passages = "".join(f"# Queue {number}\n\n{'executor ' * 120}\n" for number in range(3))
    old.put(*(document(key, passages) for key in keys[1::4]))
    old.put(*(document(f"w/gone/e{number}", "executor lock thread retry") for number in range(9)))
    kept = index(old, folder)
    # They stand behind those that follow by key.
    old.put(*(document(key, "executor executor queue") for key in keys[2::8]))
    kept.refresh(old)
    return kept


def segments(made: Tree, folder: Path) -> FullTextIndex:
    """Hold the tree in several segments, with dead documents in them."""
    keys = sorted(made.live)
    kept = beside(made, folder)
    for end in range(0, len(keys), max(1, len(keys) // 4)):
        part = Tree(*made.read(keys[:end]), *(numbered(number) for number in range(end, end + 3)))
        kept.refresh(part)
    kept.refresh(made)
    return kept


WAYS = [scan, index, beside, segments]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


def test_search_ranks_the_title_first_when_another_has_it_in_the_body(way: Way, tmp_path: Path) -> None:
    made = Tree(document("w/r/a", "the executor", title="One"), document("w/r/b", "two", title="The executor"))
    found = way(made, tmp_path).search("executor", made)
    assert [match.key for match in found.matches] == ["w/r/b", "w/r/a"]


def test_search_orders_by_key_when_scores_are_equal(way: Way, tmp_path: Path) -> None:
    made = Tree(*(document(f"w/r/{name}", "lock", title="x") for name in "cab"))
    found = way(made, tmp_path).search("lock", made)
    assert [match.key for match in found.matches] == ["w/r/a", "w/r/b", "w/r/c"]


def test_search_keeps_scores_when_only_some_may_match(way: Way, tmp_path: Path) -> None:
    made = tree(40)
    kept = way(made, tmp_path)
    among = {f"w/r/e{number}" for number in range(0, 40, 3)}
    every = kept.search("executor lock", made).matches
    some = kept.search("executor lock", made, among=among).matches
    assert some == [match for match in every if match.key in among] != []


@pytest.mark.parametrize(
    "question", ["", "the of", '"', "*", "AND", "id:x (", "C++", "🎉", "\x00\ud800", "lock " * 1000]
)
def test_search_does_not_raise_when_question_is_anything(way: Way, tmp_path: Path, question: str) -> None:
    made = tree(12)
    found = way(made, tmp_path).search(question, made)
    assert bool(found.matches) == ("lock" in question)


QUESTIONS = [
    ("executor lock nowhere", False),
    ("run_executor.py", False),
    ("Entry7 Entry8 merge", False),
    ("title:executor OR text:retry^3", True),
    ("lock AND NOT queue", True),
    ('"about executor" OR "queue lock"~3', True),
    ("nav* exec* created:[2026-03-05 TO 2026-03-11]", True),
    ("tags:lock type:decision", True),
]


@pytest.mark.parametrize(("question", "syntax"), QUESTIONS)
def test_search_gives_equal_bits_when_asked_in_each_way(tmp_path: Path, question: str, syntax: bool) -> None:
    made = tree(60)
    answers = [each(made, tmp_path / each.__name__).search(question, made, syntax=syntax) for each in WAYS]
    assert answers[0].matches
    assert [answer.matches for answer in answers[1:]] == [answers[0].matches] * 3
    assert [answer.source for answer in answers] == ["scan", "index", "index", "index"]


TEXTS = st.lists(st.sampled_from([*WORDS, "snake_case", "CamelCase", "猫が好き", "the", "C++"]), max_size=12).map(
    " ".join
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, Tree, str]:
    """Return the tree that is held, the tree that is asked, and a question."""
    before = draw(st.dictionaries(st.integers(0, 9), TEXTS, max_size=8))
    after = before | draw(st.dictionaries(st.integers(0, 9), TEXTS, min_size=1, max_size=4))
    for gone in draw(st.lists(st.sampled_from(sorted(before)), max_size=3)) if before else []:
        after.pop(gone, None)
    held, asked = (
        Tree(*(document(f"w/r/e{number}", text, title=text[:20]) for number, text in texts.items()))
        for texts in (before, after)
    )
    return held, asked, draw(TEXTS)


@given(trees())
def test_search_agrees_with_a_scan_when_trees_are_anything(case: tuple[Tree, Tree, str]) -> None:
    held, asked, question = case

    def answer(kept: FullTextIndex) -> TextAnswer:
        return kept.search(question, asked)

    with TemporaryDirectory() as folder:
        kept = index(held, Path(folder))
        expected = answer(FullTextIndex(None)).matches
        assert answer(kept).matches == expected
        kept.refresh(asked)
        assert answer(kept).matches == expected
