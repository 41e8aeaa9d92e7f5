import math

import pytest

from mdmem.index.postings import MemoryPostings
from mdmem.index.scoring import K1, LENGTH_SHARE, WEIGHTS, Corpus, saturate, term, weigh
from mdmem.index.terms import SCORED


def corpus(*bodies: str, dead: frozenset[int] = frozenset()) -> Corpus:
    """Return documents whose bodies are these words, as they stand."""
    postings = MemoryPostings()
    for number, body in enumerate(bodies):
        postings.add(number, {"body": {word: body.split().count(word) for word in body.split()}})
    keys = [None if number in dead else f"k{number}" for number in range(len(bodies))]
    sizes = [0 if key is None else len(body.split()) for key, body in zip(keys, bodies, strict=True)]
    lengths = {name: sizes if name == "body" else [0] * len(bodies) for name in SCORED}
    return Corpus(keys, lengths, (postings,))


def test_weigh_is_the_formula_when_one_field_holds_the_term() -> None:
    made = corpus("a a b", "c")
    share = LENGTH_SHARE["body"]
    expected = WEIGHTS["body"] * 2 / (1 - share + share * 3 / 2)
    assert weigh(made, term("a")) == {0: pytest.approx(expected)}


def test_saturate_is_the_formula_when_one_of_two_documents_holds_the_term() -> None:
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert dict(saturate(corpus("a", "b"), {0: 2.0})) == {0: pytest.approx(idf * 2.0 / (K1 + 2.0))}


def test_saturate_is_positive_when_every_document_holds_the_term() -> None:
    made = corpus("a", "a", "a")
    assert all(gain > 0 for _, gain in saturate(made, weigh(made, term("a"))))


def test_weigh_leaves_out_when_a_document_is_dead() -> None:
    alive, masked = corpus("a b", "c"), corpus("a b", "c", "a a a a", dead=frozenset([2]))
    assert weigh(masked, term("a")) == weigh(alive, term("a"))
    assert (masked.count, masked.slopes) == (alive.count, alive.slopes)
