"""New and reworded entries that say nearly what another one says already."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from mdmem.change.comparison import Comparison
from mdmem.change.review_model import NearEntry, Rewording
from mdmem.markdown.similarity import SUPERSEDES_FROM, words_once
from mdmem.model.entry import LINK_FIELDS, Status

# An entry that is like many is one of a series; the nearest are enough to see it.
_NEAREST = 3
# In a memory of copies all are alike: the nearest are looked for among so many.
_ENOUGH = 50


def near_entries(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[NearEntry, ...]:
    """Return the pairs of one type that share .70 of the words of title and text, and do not name one another.

    One of the two is new or reworded and the other binds or is a draft, too; by authority, the nearest first.
    """
    entries = comparison.after.catalog.entries
    fresh = {*(one.address for one in comparison.changes.added), *comparison.begun}
    fresh |= {one.entry.address for one in reworded if one.title or one.body}
    live = {
        address: entry
        for address, entry in entries.items()
        if address in comparison.binds or entry.status is Status.DRAFT
    }
    asked = sorted(fresh & live.keys())
    types = {live[address].type for address in asked}
    similar = _SimilarTexts({address: words for address, words in _texts(comparison, asked) if words})
    texts = _texts(comparison, (address for address, entry in live.items() if entry.type in types))
    pairs = similar.pairs(texts)
    found = [near for address, share, other in pairs if (near := _near(comparison, address, other, share))]
    return tuple(sorted(_nearest(found), key=_rank))


def _texts(comparison: Comparison, addresses: Iterable[str]) -> Iterator[tuple[str, frozenset[str]]]:
    entries = comparison.after.catalog.entries
    for address, body in comparison.bodies(addresses).items():
        yield address, words_once(f"{entries[address].title}\n{body}")


def _near(comparison: Comparison, address: str, other: str, share: float) -> NearEntry | None:
    entries = comparison.after.catalog.entries
    one, two = entries[address], entries[other]
    is_named = any(other in one.links(name) or address in two.links(name) for name in LINK_FIELDS)
    if one.type is not two.type or is_named:
        return None
    return NearEntry(comparison.after.ref(address), comparison.after.ref(other), round(share, 2))


def _nearest(found: Iterable[NearEntry]) -> Iterator[NearEntry]:
    """Yield each pair once, and of each entry's only the nearest."""
    told: set[frozenset[str]] = set()
    number: Counter[str] = Counter()
    for near in sorted(found, key=_rank):
        pair = frozenset((near.entry.address, near.other.address))
        if pair not in told and number[near.entry.address] < _NEAREST:
            told.add(pair)
            number[near.entry.address] += 1
            yield near


def _rank(near: NearEntry) -> tuple[int, float, str, str]:
    return near.entry.type.rank, -near.share, near.entry.address, near.other.address


class _SimilarTexts(Struct, frozen=True, dict=True):
    """Some texts, compared with many others."""

    asked: Mapping[str, frozenset[str]]

    def pairs(self, texts: Iterable[tuple[str, frozenset[str]]]) -> Iterator[tuple[str, float, str]]:
        """Yield each text that was asked for with each that shares enough of its words, and how much they share.

        Of very many like one, the first that `texts` has.
        """
        # Of thousands of texts only the words that are asked about are held.
        held = [(name, words & self._words, len(words)) for name, words in texts] if self.asked else []
        by_word = self._by_rare_word(Counter(word for _, words, _ in held for word in words))
        found: Counter[str] = Counter()
        for other, words, size in held:
            for address in {name for word in words & by_word.keys() for name in by_word[word]} - {other}:
                share = _share(self.asked[address], words, size)
                if share >= SUPERSEDES_FROM:
                    yield address, share, other
                    found[address] += 1
                    if found[address] == _ENOUGH:
                        for word in self.asked[address] & by_word.keys():
                            by_word[word].discard(address)

    def _by_rare_word(self, frequency: Mapping[str, int]) -> Mapping[str, set[str]]:
        """Return the asked texts by their rarest words, as many as a text near to them cannot miss all.

        What shares .70 of all words holds .70 of the asked ones (prefix filtering, Chaudhuri et al., ICDE 2006).
        """
        found: dict[str, set[str]] = {}
        for address, words in self.asked.items():
            ordered = sorted(words, key=lambda word: (frequency.get(word, 0), word))
            # The small difference guards against .70 having no exact float.
            for word in ordered[: len(ordered) - math.ceil(SUPERSEDES_FROM * len(ordered) - 1e-9) + 1]:
                found.setdefault(word, set()).add(address)
        return found

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset().union(*self.asked.values())


def _share(one: frozenset[str], held: frozenset[str], size: int) -> float:
    """Return the share of common words of a text and another one of a size, of which the asked words are held."""
    if not SUPERSEDES_FROM * len(one) <= size <= len(one) / SUPERSEDES_FROM:
        return 0.0
    common = len(one & held)
    return common / (len(one) + size - common)
