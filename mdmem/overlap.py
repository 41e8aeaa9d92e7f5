"""Where a project's entry covers the subject of a shared one, so that an override must be declared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mdmem.entry.model import Entry, EntryType, Wing
from mdmem.similarity import jaccard, words_of

# entry-model: from .55 two entries of one type may overlap.
MAY_OVERLAP = 0.55
_Key = tuple[EntryType, str]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A project's entry, the shared one whose subject it covers, and what shows it."""

    project: Entry
    shared: Entry
    why: str


def undeclared_overlaps(entries: Iterable[Entry], wings: Mapping[str, Wing]) -> Iterator[Overlap]:
    """Yield the pairs of one type, project and shared, that cover one subject without `overrides`, by address.

    Two entries cover one subject when they bear the same entry-id or their titles share at least .55 of their words.
    Only shared wings that the project reads count.
    """
    listed = sorted(entries, key=lambda entry: entry.address)
    shared = [entry for entry in listed if wings[entry.wing].is_shared]
    frequency = Counter(word for entry in shared for word in words_of(entry.title))
    by_key: dict[_Key, list[Entry]] = {}
    for entry in shared:
        for key in _keys(entry, frequency):
            by_key.setdefault(key, []).append(entry)
    for entry in listed:
        if not wings[entry.wing].is_shared:
            near = {other.address: other for key in _keys(entry, frequency) for other in by_key.get(key, ())}
            yield from _overlaps_of(entry, near, wings[entry.wing])


def _keys(entry: Entry, frequency: Mapping[str, int]) -> Iterator[_Key]:
    """Yield the entry-id and the rarest words of a title, as many as make two titles that overlap share one of them.

    Titles that share .55 of their words share one of these (prefix filtering, Chaudhuri et al., ICDE 2006); by all
    words, every title with «use» would be compared with every other.
    """
    words = sorted(words_of(entry.title), key=lambda word: (frequency.get(word, 0), word))
    # The words that may differ, and one more; the small difference guards against .55 having no exact float.
    kept = len(words) - math.ceil(MAY_OVERLAP * len(words) - 1e-9) + 1
    yield from ((entry.type, word) for word in words[:kept])
    yield entry.type, f"/{_entry_id(entry)}"


def _overlaps_of(entry: Entry, near: Mapping[str, Entry], wing: Wing) -> Iterator[Overlap]:
    for address in sorted(near):
        other = near[address]
        if address in entry.overrides or address in (*entry.see, *entry.conflicts_with):
            continue
        if wing.shared_wings is not None and other.wing not in wing.shared_wings:
            continue
        why = _why(entry, other)
        if why:
            yield Overlap(entry, other, why)


def _why(entry: Entry, other: Entry) -> str:
    if _entry_id(entry) == _entry_id(other):
        return "both bear the same entry-id"
    share = jaccard(words_of(entry.title), words_of(other.title))
    return f"their titles share {share:.0%} of their words" if share >= MAY_OVERLAP else ""


def _entry_id(entry: Entry) -> str:
    return entry.address.rsplit("/", 1)[-1]
