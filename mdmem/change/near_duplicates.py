"""Which texts are nearly the same, among thousands, without comparing each with each.

Two sets that differ in d words, cut into d + 1 parts by one rule, have a part in common (PartEnum, Arasu et al.,
VLDB 2006). Unrelated texts hardly ever have one, so that few pairs are looked at, and none is missed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count, islice
from math import ceil
from operator import xor

from msgspec import Struct

# Guards against a share that no float holds exactly.
_NEARLY = 1e-9
_BITS = 256
_BIT = tuple(1 << number for number in range(_BITS))
# An odd factor keeps numbers apart and spreads their bits, so that the sum of a part tells it from others.
_ODD, _WIDTH = 0x9E3779B97F4A7C15, 60
# In a memory of copies all are alike: so many are looked at for the nearest.
_ENOUGH = 50
# Of 630 records of which most follow one template, 4,017 pairs share half of their words, and 35 half of their own; at
# any least number from 10 to 100 it is 31 to 39, and few things that are one have ten copies.
_TEMPLATE_LEAST, _TEMPLATE_SHARE = 10, 0.05


class NumberedText(Struct, frozen=True, eq=False):
    """The words of one text, as numbers.

    In `parity` each word turns one bit: two texts differ in at least as many words as their bits differ.
    """

    name: str
    words: frozenset[int]
    parity: int

    def share(self, other: NumberedText) -> float:
        """Return the share of words that two texts have in common, 0 to 1 (Jaccard 1901)."""
        common = len(self.words & other.words)
        return common / (len(self.words) + len(other.words) - common)

    def may_share(self, other: NumberedText, share: float) -> bool:
        """Say whether two texts may have a share of their words in common, at a tenth of the cost of knowing it."""
        differing = _differing(len(self.words) + len(other.words), share)
        return (self.parity ^ other.parity).bit_count() <= differing


def numbered(texts: Iterable[tuple[str, frozenset[str]]]) -> list[NumberedText]:
    """Return texts by name for comparison, those without a word left out; each set may be given and forgotten."""
    numbers: defaultdict[str, int] = defaultdict(map(_spread, count(1)).__next__)
    held = ((name, frozenset(map(numbers.__getitem__, words))) for name, words in texts)
    return [NumberedText(name, words, _parity(words)) for name, words in held if words]


def _spread(number: int) -> int:
    return number * _ODD % (1 << _WIDTH)


def _parity(words: Iterable[int]) -> int:
    return reduce(xor, (_BIT[word % _BITS] for word in words), 0)


def without_template(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts, by name, without the lines that a twentieth of them have, and ten at least.

    Such lines are headings and prompts of what the texts were made from, and say nothing about two of them.
    """
    held = Counter(line for text in texts.values() for line in {line.strip() for line in text.splitlines()})
    least = max(_TEMPLATE_LEAST, ceil(_TEMPLATE_SHARE * len(texts)))
    common = frozenset(line for line, times in held.items() if times >= least)
    return {
        name: "\n".join(line for line in text.splitlines() if line.strip() not in common)
        for name, text in texts.items()
    }


def alike(texts: Iterable[NumberedText], *, above: float) -> list[tuple[str, ...]]:
    """Return the groups of texts that a chain of pairs links, each pair sharing more than `above` of its words.

    Names are sorted within a group, and groups by their first name.
    """
    named: defaultdict[frozenset[int], list[str]] = defaultdict(list)
    different = []
    for text in texts:
        if text.words not in named:
            different.append(text)
        named[text.words].append(text.name)
    groups = [[place] for place in range(len(different))]
    for meeting in _meetings(different, above):
        _join_near(meeting, different, groups, above)
    distinct = {id(group): group for group in groups}.values()
    found = ([name for place in group for name in named[different[place].words]] for group in distinct)
    return sorted(tuple(sorted(names)) for names in found if len(names) > 1)


def _join_near(meeting: Sequence[int], texts: Sequence[NumberedText], groups: list[list[int]], above: float) -> None:
    for number, one in enumerate(meeting):
        for other in meeting[:number]:
            # Where all are alike, the first one spares the rest.
            if groups[one] is groups[other] or not texts[one].may_share(texts[other], above):
                continue
            if texts[one].share(texts[other]) > above + _NEARLY:
                _join(groups, groups[one], groups[other])


def _join(groups: list[list[int]], one: list[int], other: list[int]) -> None:
    """Make two groups one, moving the members of the smaller."""
    small, large = sorted((one, other), key=len)
    large += small
    for place in small:
        groups[place] = large


class SimilarPair(Struct, frozen=True):
    """A text that is near to the one asked about, and the share of their words that they have in common."""

    name: str
    share: float


def near_ones(texts: Sequence[NumberedText], among: Collection[str], *, share: float) -> dict[str, list[SimilarPair]]:
    """Return for each text that is near to some of those `among` them, these, the nearest first; of very many, some.

    Near are two texts from a share of common words on. Those `among` them are not compared with one another.
    """
    found: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for meeting in _meetings(texts, share):
        wanted = [place for place in meeting if texts[place].name in among]
        for asking in meeting if wanted else ():
            known = found[asking] if texts[asking].name not in among else {}
            if texts[asking].name not in among and len(known) < _ENOUGH:
                known |= {
                    place: texts[asking].share(texts[place])
                    for place in wanted
                    if place not in known and texts[asking].may_share(texts[place], share)
                }
    nearest = {texts[asking].name: _nearest(texts, known, share) for asking, known in found.items()}
    return {name: near for name, near in sorted(nearest.items()) if near}


def _nearest(texts: Sequence[NumberedText], known: dict[int, float], share: float) -> list[SimilarPair]:
    near = [SimilarPair(texts[place].name, said) for place, said in known.items() if said >= share - _NEARLY]
    return sorted(near, key=lambda one: (-one.share, one.name))


def _meetings(texts: Sequence[NumberedText], share: float) -> Iterator[list[int]]:
    """Yield the places of texts that have a part in common; any two that share enough of their words meet."""
    sizes = _sizes(max((len(text.words) for text in texts), default=0), share)
    members: defaultdict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        level = bisect_left(sizes, len(text.words))
        # A text that is near is of the same level or of one beside it.
        members[level].append(place)
        members[level + 1].append(place)
    for level, places in sorted(members.items()):
        number = int(_differing(2 * sizes[level], share)) + 1
        cut = [_parts(texts[place].words, number) for place in places] if len(places) > 1 else []
        for column in zip(*cut, strict=True):
            meetings: defaultdict[int, list[int]] = defaultdict(list)
            for place, part in zip(places, column, strict=True):
                meetings[part].append(place)
            yield from (meeting for meeting in meetings.values() if len(meeting) > 1)


def _sizes(largest: int, share: float) -> list[int]:
    """Return the largest size of each level, one level more than needed; no text is near to one two levels away."""
    sizes = [0]
    while len(sizes) < 2 or sizes[-2] < largest:
        sizes.append(int((sizes[-1] + 1) / share + _NEARLY))
    return sizes


def _differing(both: int, share: float) -> float:
    """Return in how many words two texts of so many together differ at most that have a share in common."""
    return both * (1 - share) / (1 + share) + _NEARLY


def _parts(words: Iterable[int], number: int) -> list[int]:
    """Return what tells the parts of a set from those of others."""
    parts = [0] * number
    for word in words:
        parts[word % number] ^= word
    return parts


class NearPair(Struct, frozen=True):
    """Two texts, by name, and the share of their words that they have in common."""

    a: str
    b: str
    share: float


def near_pairs(texts: Sequence[NumberedText], *, share: float) -> list[NearPair]:
    """Return the pairs of texts from a share of common words on, the nearest first, then by name; of many some.

    Two that share so much have one of their rarest words in common (prefix filtering, Chaudhuri et al., ICDE 2006).
    Parts, as `alike` cuts, are of a few words each where the share is small, and unrelated texts meet in many.
    """
    frequency = Counter(word for text in texts for word in text.words)
    # A word of one text alone is common to none; the rest are bits of a number, which is fifty times as fast as a set.
    bits = {word: bit for bit, (word, times) in enumerate(frequency.most_common()) if times > 1}
    masks = [_mask(bits[word] for word in text.words if word in bits) for text in texts]
    held: defaultdict[int, set[int]] = defaultdict(set)
    found = list[NearPair]()
    for place, text in enumerate(texts):
        rarest = sorted(text.words, key=lambda word: (frequency[word], word))
        rarest = rarest[: len(rarest) - ceil(share * len(rarest) - _NEARLY) + 1]
        near = _near_before(texts, masks, place, set().union(*(held[word] for word in rarest if word in held)), share)
        found += islice(near, _ENOUGH)
        for word in rarest:
            if word in bits:
                held[word].add(place)
    return sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b))


def _near_before(
    texts: Sequence[NumberedText], masks: Sequence[int], place: int, others: Iterable[int], share: float
) -> Iterator[NearPair]:
    text, mask = texts[place], masks[place]
    for other in others:
        common, both = (mask & masks[other]).bit_count(), len(text.words) + len(texts[other].words)
        if common >= share * (both - common) - _NEARLY:
            a, b = sorted((text.name, texts[other].name))
            yield NearPair(a, b, common / (both - common))


def _mask(bits: Iterable[int]) -> int:
    held = bytearray()
    for bit in bits:
        if bit >> 3 >= len(held):
            held.extend(bytes((bit >> 3) + 1 - len(held)))
        held[bit >> 3] |= 1 << (bit & 7)
    return int.from_bytes(held, "little")
