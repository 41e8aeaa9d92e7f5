from contextlib import suppress

import pytest
from golden import read_rows
from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index import QuerySyntaxError
from mdmem.store.index.fulltext import FullTextIndex

from .index_builders import Tree, document

TREE = Tree(
    document("ros2/rooms/a", "# Single thread\n\nThe navigation stack uses a queue.", title="Executor", owner="Team A"),
    document("ros2/rooms/b", "A queue of the stack in nav_main.py", title="Lock", tags=("local-override",)),
    document("web/pages/c", "The stack", status="draft", created_at="2026-03-31T10:00:00+02:00", focus="Build"),
    document("web/pages/d", "navigable", type="note", created_at="2026-04-01", verified_at="2026-05-01"),
)


def keys(question: str) -> str:
    found = FullTextIndex(None).search(question, TREE, syntax=True)
    return "".join(sorted(match.key[-1] for match in found.matches))


@pytest.mark.parametrize(("question", "expected"), read_rows("index/query_language.txt"))
def test_search_reads_the_language_when_asked_to(question: str, expected: str) -> None:
    assert (keys(question) or "nothing") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("colour:red", "a field was expected before `:`, not `colour`; the fields are title, "),
        *((asked, '`"` and brackets in pairs were expected') for asked in ('"open', "(open", "shut)", ")x(")),
        ("(" * 60 + "x" + ")" * 60, '`"` and brackets in pairs were expected, at most 50 nested ones'),
        ("a" * 4001, "a query of at most 4000 characters was expected"),
    ],
)
def test_search_says_what_was_expected_when_question_cannot_be_read(question: str, expected: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        keys(question)
    assert str(caught.value).startswith(expected)


def test_search_reports_terms_when_question_is_in_the_language() -> None:
    found = FullTextIndex(None).search("type:decision AND (Queues OR nav*) NOT lock", TREE, syntax=True)
    assert found.terms == ("queue", "nav*")
    assert found.words["queue"] == "Queues"


def test_search_weighs_when_a_word_is_boosted() -> None:
    def best(question: str) -> str:
        return FullTextIndex(None).search(question, TREE, syntax=True).matches[0].key

    assert best("lock^9 executor") == "ros2/rooms/b"
    assert best("lock executor^9") == "ros2/rooms/a"


@given(st.text(alphabet="ab*?~^:\"()[]{}<>= +-\\/.'#ANDORT2é", max_size=25))
def test_search_answers_or_explains_when_question_is_anything(question: str) -> None:
    with suppress(QuerySyntaxError):
        keys(question)
