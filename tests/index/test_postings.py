import pytest

from mdmem.index.manifest import DamagedIndexError, reading
from mdmem.index.postings import MemoryPostings


def test_memory_postings_hold_numbers_and_frequencies_when_documents_are_added() -> None:
    postings = MemoryPostings()
    postings.add(3, {"body": {"lock": 2, "queue": 1}, "title": {"lock": 1}})
    postings.add(5, {"body": {"lock": 4}})
    assert postings.postings("body", "lock") == [([3, 5], [2, 4])]
    assert postings.postings("tags", "lock") == []
    assert sorted(postings.lexicon("body", "")) == ["lock", "queue"]
    assert postings.lexicon("body", "q") == ["queue"]


def test_memory_postings_leave_out_when_a_term_is_not_wanted() -> None:
    postings = MemoryPostings()
    postings.add(0, {"body": {"lock": 2, "queue": 1}}, wanted=frozenset(["queue"]))
    assert postings.lexicon("body", "") == ["queue"]


@pytest.mark.parametrize("kind", [Exception, OSError, EOFError, AssertionError, RecursionError, MemoryError])
def test_reading_raises_ours_when_anything_fails(kind: type[Exception]) -> None:
    with pytest.raises(DamagedIndexError, match=kind.__name__), reading():
        raise kind


def test_reading_lets_through_when_the_user_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt), reading():
        raise KeyboardInterrupt
