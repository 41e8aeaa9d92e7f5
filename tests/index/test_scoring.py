import math

import pytest

from mdmem.index.corpus import LENGTH_SHARE, Corpus, Weights
from mdmem.index.fields import SCORED
from mdmem.index.postings import MemoryPostings
from mdmem.index.protocol import Bar
from mdmem.index.scoring import K1, LOOKED_INTO, MOST_TIMES, WEIGHTS, WHOLE_SHARE, Scores, plain, rank, term, weigh


def corpus(*bodies: str, dead: frozenset[int] = frozenset()) -> Corpus:
    """Return documents whose bodies are these words, as they stand."""
    postings = MemoryPostings()
    for number, body in enumerate(bodies):
        postings.add(number, {"body": {word: body.split().count(word) for word in body.split()}})
    keys = [None if number in dead else f"k{number}" for number in range(len(bodies))]
    sizes = [0 if key is None else len(body.split()) for key, body in zip(keys, bodies, strict=True)]
    lengths = {name: sizes if name == "body" else [0] * len(bodies) for name in SCORED}
    return Corpus(keys, lengths, (postings,))


def paged(*passages: tuple[str, str]) -> Corpus:
    """Return passages, each of the document of a name."""
    made = corpus(*(body for _, body in passages))
    return Corpus([name for name, _ in passages], made.lengths, made.sources)


def test_weigh_is_the_formula_when_one_field_holds_the_term() -> None:
    made = corpus("a a b", "c")
    share = LENGTH_SHARE["body"]
    expected = WEIGHTS["body"] * 2 / (1 - share + share * 3 / 2)
    assert weigh(made, term("a")).wholes == {0: pytest.approx(expected)}


def test_scores_are_the_formula_when_one_of_two_documents_holds_the_term() -> None:
    made = corpus("a", "b")
    scores = Scores(made)
    assert list(scores.add(weigh(made, term("a")))) == [0]
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert scores.of([0, 1]) == [pytest.approx(idf / (K1 + 1)), 0]


def test_score_is_of_the_whole_and_of_the_best_passage() -> None:
    made = paged(("k", "a x"), ("k", "a a"), ("other", "x x"))
    scores = Scores(made)
    scores.add(weigh(made, term("a")))
    share, idf = LENGTH_SHARE["body"], math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    whole, best = (3 / (1 - share + share * 4 / 3), 2 / (1 - share + share * 1))
    expected = WHOLE_SHARE * whole / (K1 + whole) + (1 - WHOLE_SHARE) * best / (K1 + best)
    assert scores.of([0]) == [pytest.approx(idf * math.sqrt(3) * expected)]


def test_rank_weighs_what_comes_again_where_it_comes_more_than_what_comes_once() -> None:
    found = rank(plain("stay hub"), corpus("stay x x", "stay y y", "hub hub hub", "hub x x"), lambda _keys: ())
    assert [match.key for match in found] == ["k2", "k3", "k0", "k1"]


def test_scores_grow_with_how_often_a_term_comes_where_it_comes_up_to_a_limit() -> None:
    gains: list[float] = []
    for times in (1, 4, 10_000, 100_000):
        scores = Scores(corpus("a", "b"))
        scores.add(Weights({}, {0: 1.0}, (), 1, times))
        gains += scores.of([0])
    assert gains == [gains[0], pytest.approx(2 * gains[0]), *[pytest.approx(math.sqrt(MOST_TIMES) * gains[0])] * 2]


def test_rank_puts_words_in_one_passage_before_the_same_words_in_two() -> None:
    made = paged(("apart", "lock x"), ("apart", "hub x"), ("near", "lock hub"), ("near", "x x"))
    assert [match.key for match in rank(plain("lock hub"), made, lambda _keys: ())] == ["near", "apart"]


def test_few_documents_have_the_scores_that_they_have_among_all() -> None:
    words = ("lock", "hub", "key", "bar", "door")
    said = [" ".join(words[(number * step) % 5] for step in range(1, 2 + number % 7)) for number in range(150)]
    for made in (corpus(*said), paged(*((f"d{number // 2:03}", body) for number, body in enumerate(said)))):
        whole = rank(plain("lock hub key"), made, lambda _keys: ())
        for few in (frozenset(whole.keys[:3]), frozenset(whole.keys[-3:]), frozenset(whole.keys[40:60])):
            found = rank(plain("lock hub key"), made, lambda _keys: (), among=few, bar=whole.bar)
            assert list(found) == [match for match in whole if match.key in few]


def test_passages_are_looked_at_of_what_is_no_worse_than_the_bar_of_another_ranking() -> None:
    made = paged(("k", "lock x"), ("k", "lock lock"), ("other", "x x"))

    def score(bar: Bar) -> float:
        return rank(plain("lock"), made, lambda _keys: (), among={"k"}, bar=bar).scores[0]

    # Also where it is the last of the best in its own: it stands among the others by their measure.
    bare, whole = score((-math.inf, "")), rank(plain("lock"), made, lambda _keys: ()).scores[0]
    last = bare / WHOLE_SHARE
    assert bare < whole
    assert [score((-at * last, "k")) for at in (1.001, 0.999)] == [bare, whole]


def test_scores_are_positive_when_every_document_holds_the_term() -> None:
    made = corpus("a", "a", "a")
    scores = Scores(made)
    scores.add(weigh(made, term("a")))
    assert all(score > 0 for score in scores.of([0, 1, 2]))


def test_weigh_leaves_out_when_a_document_is_dead() -> None:
    alive, masked = corpus("a b", "c"), corpus("a b", "c", "a a a a", dead=frozenset([2]))
    assert weigh(masked, term("a")) == weigh(alive, term("a"))
    assert (masked.count, masked.passages) == (alive.count, alive.passages)


def test_rank_of_those_that_hold_some_terms_is_that_of_all_without_the_others() -> None:
    said = ("lock x", "lock hub", "hub y y", "lock x x hub", "hub hub lock x x x x")
    made = paged(*((f"k{number // 2}", said[number % len(said)]) for number in range(2 * LOOKED_INTO + 40)))
    wanted = {frozenset(("lock", "y")), frozenset(("x", "nobody"))}
    found = rank(plain("lock hub x y"), made, lambda _keys: ())
    left = tuple(match for match in found if any(match.terms >= one for one in wanted))
    assert rank(plain("lock hub x y"), made, lambda _keys: (), holding=wanted) == left
    assert 0 < len(left) < len(found)
