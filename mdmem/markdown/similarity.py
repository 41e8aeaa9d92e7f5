"""Measure how similar two texts are: a signal for people, never a verdict."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.entry import Entry, Wing

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> frozenset[str]:
    """Return the set of NFKC case-folded words of a text."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words that two sets have in common, 0 to 1; 0 for two empty ones (Jaccard 1901)."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0


# The contract of the entry model: from .55 two entries of one type may overlap.
MAY_OVERLAP = 0.55

# Hundreds of entries about one subject are a series; the first of them are enough to see it.
_COMPARED = 500
_REPORTED = 20


class Overlap(Struct, frozen=True):
    """An entry of a project and a shared entry about the same subject, with the reason."""

    project: Entry
    shared: Entry
    why: str


class _Title(Struct, frozen=True):
    entry: Entry
    entry_id: str
    words: frozenset[str]


def undeclared_overlaps(entries: Iterable[Entry], wings: Mapping[str, Wing]) -> Iterator[Overlap]:
    """Yield the pairs of one type, project and shared, about one subject without `overrides`, by address.

    Two entries are about one subject when they have the same entry-id, or their titles share at least .55 of their
    words. Only shared wings that the project reads count. Each entry is compared with at most 500 shared ones, and
    20 pairs are yielded for it; the last then says that there may be more.
    """
    titles = [
        _Title(entry, entry.address.rsplit("/", 1)[-1], words_of(entry.title))
        for entry in sorted(entries, key=lambda entry: entry.address)
    ]
    shared = [title for title in titles if wings[title.entry.wing].is_shared]
    if not shared:
        return
    frequency = Counter(word for title in shared for word in title.words)
    by_key: dict[tuple[str, str], list[_Title]] = defaultdict(list)
    for title in shared:
        for key in _keys(title, frequency):
            by_key[key].append(title)
    for title in titles:
        if not wings[title.entry.wing].is_shared:
            candidates = (other for key in _keys(title, frequency) for other in by_key.get(key, ()))
            yield from _overlaps_of(title, candidates, wings[title.entry.wing].shared_wings)


def _keys(title: _Title, frequency: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the entry-id and the rarest words: titles that share .55 of their words have one of these in common.

    This is prefix filtering (Chaudhuri et al., ICDE 2006); by all words, titles with «use» would all be compared.
    """
    ordered = sorted(title.words, key=lambda word: (frequency.get(word, 0), word))
    # The words that may differ, and one more; the small difference guards against .55 having no exact float.
    prefix = len(ordered) - math.ceil(MAY_OVERLAP * len(ordered) - 1e-9) + 1
    yield title.entry.type, f"/{title.entry_id}"
    yield from ((title.entry.type, word) for word in ordered[:prefix])


def _overlaps_of(title: _Title, candidates: Iterator[_Title], wings: Sequence[str] | None) -> Iterator[Overlap]:
    entry = title.entry
    declared = {*entry.overrides, *entry.amends, *entry.see, *entry.contradicts}
    found = []
    # An entry that shares several keys comes several times.
    for address, other in {one.entry.address: one for one in islice(candidates, _COMPARED)}.items():
        if address in declared or (wings is not None and other.entry.wing not in wings):
            continue
        share = jaccard(title.words, other.words)
        if title.entry_id == other.entry_id:
            found.append(Overlap(entry, other.entry, "both have the same entry-id"))
        elif share >= MAY_OVERLAP:
            found.append(Overlap(entry, other.entry, f"their titles share {share:.0%} of their words"))
    found.sort(key=lambda overlap: overlap.shared.address)
    is_cut = len(found) > _REPORTED or next(candidates, None) is not None
    found = found[:_REPORTED]
    if is_cut and len(found) == _REPORTED:
        found[-1] = replace(found[-1], why=f"{found[-1].why}; more are not listed")
    yield from found
