"""Cranfield's judged questions: the weights must not get worse by accident."""

import pytest
from bench.index_quality import CORPORA, cranfield_documents, cranfield_questions, measure, scan


@pytest.mark.skipif(not (CORPORA / "cranfield").is_dir(), reason="the corpora are not here")
def test_search_finds_what_is_relevant_when_questions_are_cranfields() -> None:
    found = measure(scan(cranfield_documents()), cranfield_questions())
    assert found["ndcg"] >= 0.395
    assert found["recall"] >= 0.40
