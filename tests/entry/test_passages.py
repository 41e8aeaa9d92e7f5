"""The passages of a body that say most of what is asked for: found best first, without taking all of it apart."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from random import Random

import pytest

from mdmem.markdown import passages
from mdmem.markdown.headings import sections_of
from mdmem.markdown.passages import _LEAST, Passages, _Run, _Start, _Weighed
from mdmem.markdown.sentences import sentences_in, size_of
from mdmem.store.index.finder import finder

WORDS = ("lock", "hub", "key", "door")
OTHERS = ("the second", "the first", "default", "words", "2.5", "of", "`maxSkew`", "the following:", "a new")
BODIES = 24


class Plain(Passages):
    """Takes the whole body apart, and then looks for the best run of all."""

    def _next(
        self, heap: list[_Weighed], covered: int, is_out: Callable[[_Run], bool], budget: Iterator[int]
    ) -> _Run | None:
        del budget

        def runs(some: Iterable[_Run | _Start]) -> Iterable[_Run]:
            for one in some:
                yield from [one] if isinstance(one, _Run) else runs(one.begun())

        left = sorted((one for one in runs(one for *_, one in heap) if not is_out(one)), key=lambda one: one.start)
        gains = [self._gain(one.terms, covered, one.likely) for one in left]
        at = gains.index(max(gains)) if gains else 0
        if not gains or gains[at] < _LEAST * self._mean:
            return None
        heap[:] = [self._weighed(one, 0) for one in (*left[:at], *left[at + 1 :])]
        return left[at]


def bodies(seed: int) -> str:
    """Return a body of sections, paragraphs and lists in which each word comes now and then."""
    random = Random(seed)

    def sentence() -> str:
        return " ".join(random.choices(WORDS + OTHERS * 2, k=random.randint(1, 14))).capitalize() + random.choice(".:!")

    def block() -> str:
        if random.random() < 0.2:
            return "\n".join(f"- {sentence()}" for _ in range(random.randint(1, 4)))
        # Of a long one a run is a small part.
        return random.choice(" \n").join(sentence() for _ in range(random.choice((1, 2, 3, 4, 40))))

    def section() -> str:
        level, heading = "#" * random.randint(1, 3), random.choice(("Decision", "Context", "Tests", "Door and key"))
        return "\n\n".join((f"{level} {heading}", *(block() for _ in range(random.randint(0, 4)))))

    return "\n\n".join(section() for _ in range(random.randint(1, 5)))


@pytest.mark.parametrize("new", [False, True])
def test_passages_are_those_of_a_search_through_all_runs(new: bool) -> None:
    several = 0
    for seed in range(BODIES):
        body, random = bodies(seed), Random(seed)
        weights = {word: random.choice((0.3, 1.0, 2.5)) for word in WORDS[1:]}
        lead = list(islice(sentences_in(body, 0, len(body)), seed % 3))
        room = random.choice((120, 400, 2000))
        quick, plain = (of(body, sections_of(body), finder(WORDS), weights) for of in (Passages, Plain))
        whole = plain.best(lead, room, new=new)
        assert quick.best(lead, room, new=new) == whole
        assert size_of(whole) <= room
        several += whole.count("…") > 1
        for enough in (0, 200):
            # With what parts it from a lead.
            part = quick.best(lead, room, new=new, enough=enough)
            assert part == whole if size_of(f"\n\n{part}") <= enough else size_of(f"\n\n{whole}") > enough
    assert several > BODIES // 4


def test_run_goes_on_to_the_last_that_it_counts_where_there_is_room() -> None:
    counted = "A key has two parts. The first is the head. Behind a neck as long as it must be, the second is the bit."
    body = f"{counted} It is of brass.\n\nThe second is no part."
    for room, told in ((400, counted), (100, "A key has two parts. The first is the head.")):
        assert Passages(body, sections_of(body), finder(("key", "head")), {}).best((), room) == f"… {told}"


@pytest.mark.parametrize("after", ["\n" * 50_000 + "x", f"\n\n{'=' * 50_000}x"], ids=["blank", "rule"])
def test_what_follows_an_announcement_is_read_in_linear_time(after: str) -> None:
    body = f"A key is of brass:{after}"
    assert size_of(Passages(body, sections_of(body), finder(("key",)), {}).best((), 400)) <= 400


def test_words_of_a_section_of_many_paragraphs_are_joined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[int] = []
    monkeypatch.setattr(passages, "or_", lambda one, other: joined.append(other) or one | other)
    body = "A key of brass.\n\n" * 200
    assert "A key of brass." in Passages(body, sections_of(body), finder(("key",)), {}).best((), 400)
    assert len(joined) < 10 * 200


def test_of_thousands_of_places_to_begin_some_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    whole = Passages._run
    monkeypatch.setattr(passages, "_MOST_BEGUN", 50)
    monkeypatch.setattr(Passages, "_run", lambda *given: begun.append(1) or whole(*given))
    body = " ".join(f"The {WORDS[at % 4]} {at} is new." for at in range(400))
    assert "The lock 0 is new." in Passages(body, sections_of(body), finder(WORDS), {}).best((), 400)
    assert len(begun) <= 50


def test_of_a_long_paragraph_what_holds_less_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    whole = Passages._run
    monkeypatch.setattr(Passages, "_run", lambda *given: begun.append(1) or whole(*given))
    body = " ".join([*(f"The lock {at} is of the hub." for at in range(400)), "A key has a door."])
    assert "A key has a door." in Passages(body, sections_of(body), finder(WORDS), {}).best((), 200)
    assert len(begun) < 40
