"""Measure how similar texts are, without comparing every pair. The result is a hint for people, not a decision."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil

from msgspec import Struct

from mdmem.model.entry import Entry, Wing

_WORD = re.compile(r"[^\W_]+")
# Tolerance for rounding errors of floats.
_NEARLY = 1e-9
# Limits for a memory full of copies, where all texts are similar: comparisons and stored pairs for each text.
_COMPARED, _ENOUGH = 500, 50


def words_of(text: str) -> frozenset[str]:
    """Return the set of NFKC case-folded words of a text."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words that two sets have in common, from 0 to 1 (Jaccard 1901). Two empty sets share 0."""
    common = len(first & second)
    union = len(first) + len(second) - common
    return common / union if union else 0.0


class NearPair(Struct, frozen=True):
    """Two texts, by name, and the share of words that they have in common."""

    a: str
    b: str
    share: float


def near_pairs(
    texts: Iterable[tuple[str, frozenset[str]]], *, share: float, among: Collection[str] | None = None
) -> list[NearPair]:
    """Return the pairs of texts that share at least `share` of their words. Sort by similarity, then by name.

    With `among`, exactly one text of each pair has one of these names. A text is compared with at most 500 others, and
    at most 50 pairs are returned for it. Two such texts also share one of their rarest words (prefix filtering,
    Chaudhuri et al., ICDE 2006), so only texts with a common rare word are compared.
    """
    words_of = {name: words for name, words in texts if words}
    frequency = Counter(word for words in words_of.values() for word in words)
    indexed: defaultdict[str, list[str]] = defaultdict(list)
    found: list[NearPair] = []
    # Each text is compared with the texts that are indexed so far, so the texts to index come first.
    for name in sorted(words_of, key=lambda one: among is not None and one not in among):
        words = words_of[name]
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        rare = rarest[: len(words) - ceil(share * len(words) - _NEARLY) + 1]
        if among is None or name not in among:
            # If one text is much larger, it has too many other words to be similar.
            fit = range(ceil(share * len(words) - _NEARLY), int(len(words) / share + _NEARLY) + 1)
            others = islice((one for one in _with_any(rare, indexed) if len(words_of[one]) in fit), _COMPARED)
            pairs = (NearPair(min(name, one), max(name, one), jaccard(words, words_of[one])) for one in others)
            found += islice((pair for pair in pairs if pair.share >= share - _NEARLY), _ENOUGH)
        if among is None or name in among:
            for word in rare:
                indexed[word].append(name)
    return sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b))


def _with_any(words: Iterable[str], indexed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield each indexed text that contains at least one of the words. Yield no text twice."""
    seen: set[str] = set()
    for word in words:
        for name in indexed.get(word, ()):
            if name not in seen:
                seen.add(name)
                yield name


def near_groups(texts: Iterable[tuple[str, frozenset[str]]], *, above: float) -> list[tuple[str, ...]]:
    """Return the names of similar texts in sorted groups, connected by pairs that share over `above` of their words."""
    groups: dict[str, set[str]] = {}
    for pair in near_pairs(texts, share=above):
        if pair.share > above + _NEARLY:
            small, large = sorted((groups.setdefault(name, {name}) for name in (pair.a, pair.b)), key=len)
            if small is not large:
                large |= small
                groups.update(dict.fromkeys(small, large))
    distinct = {id(group): group for group in groups.values()}.values()
    return sorted(tuple(sorted(group)) for group in distinct)


# The contract of the entry model says that two entries of one type may overlap from .55 on.
MAY_OVERLAP = 0.55
# Hundreds of entries about one subject are a series. Reporting the first few is enough.
_REPORTED = 20


def undeclared_overlaps(entries: Iterable[Entry], wings: Mapping[str, Wing]) -> Iterator[tuple[Entry, Entry, str]]:
    """Yield pairs of similar entries, one of a project and one shared, that do not link to each other, with the reason.

    Entries are similar if they have the same type, and either the same entry-id or titles that share at least .55 of
    their words. At most 20 pairs are yielded for an entry; the reason of the last pair then says that more are omitted.
    """
    by_address = {one.address: one for one in entries}
    shared = {address for address, one in by_address.items() if wings[one.wing].is_shared}
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for type_ in {by_address[address].type for address in shared}:
        titles = {address: words_of(one.title) for address, one in by_address.items() if one.type is type_}
        for pair in near_pairs(titles.items(), share=MAY_OVERLAP, among=shared):
            project, other = (pair.b, pair.a) if pair.a in shared else (pair.a, pair.b)
            found[project][other] = f"their titles share {pair.share:.0%} of their words"
    same_id: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for address in shared:
        same_id[by_address[address].type, address.rsplit("/", 1)[-1]].append(address)
    for address in by_address.keys() - shared if shared else ():
        for other in same_id.get((by_address[address].type, address.rsplit("/", 1)[-1]), ()):
            found[address][other] = "both have the same entry-id"
    for address in sorted(found):
        entry = by_address[address]
        declared = {*entry.overrides, *entry.amends, *entry.see, *entry.contradicts}
        read = wings[entry.wing].shared_wings
        overlaps = [
            (entry, by_address[other], why)
            for other, why in sorted(found[address].items())
            if other not in declared and (read is None or by_address[other].wing in read)
        ]
        if len(overlaps) > _REPORTED:
            _, last, why = overlaps[_REPORTED - 1]
            overlaps[_REPORTED - 1 :] = [(entry, last, f"{why}; more are not listed")]
        yield from overlaps
