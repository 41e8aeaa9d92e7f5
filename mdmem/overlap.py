"""Where a project's entry covers the subject of a shared one, so that an override must be declared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from mdmem.entry.model import Entry, EntryType, Wing
from mdmem.similarity import jaccard, words_of

# entry-model: from .55 two entries of one type may overlap.
MAY_OVERLAP = 0.55

# Hundreds of entries about one subject are a series; the first of them are enough to see it.
_COMPARED = 500
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Overlap:
    """A project's entry, the shared one whose subject it covers, and what shows it."""

    project: Entry
    shared: Entry
    why: str


def undeclared_overlaps(entries: Iterable[Entry], wings: Mapping[str, Wing]) -> Iterator[Overlap]:
    """Yield the pairs of one type, project and shared, that cover one subject without `overrides`, by address.

    Two entries cover one subject when they bear the same entry-id or their titles share at least .55 of their words.
    Only shared wings that the project reads count. Of one entry, 500 shared ones are looked at, those of its entry-id
    and of its rarest words first, and 20 pairs are yielded; the last then says that there may be more.
    """
    ordered = sorted(entries, key=lambda entry: entry.address)
    shared = [_subject(entry) for entry in ordered if wings[entry.wing].is_shared]
    if not shared:
        return
    frequency = Counter(word for subject in shared for word in subject.words)
    by_key: dict[tuple[EntryType, str], list[_Subject]] = {}
    for subject in shared:
        for key in subject.keys(frequency):
            by_key.setdefault(key, []).append(subject)
    for entry in ordered:
        wing = wings[entry.wing]
        if not wing.is_shared:
            subject = _subject(entry)
            sharing = (other for key in subject.keys(frequency) for other in by_key.get(key, ()))
            yield from _overlaps_of(subject, sharing, wing)


@dataclass(frozen=True, slots=True)
class _Subject:
    """An entry, its entry-id, and the words of its title."""

    entry: Entry
    entry_id: str
    words: frozenset[str]

    def keys(self, frequency: Mapping[str, int]) -> Iterator[tuple[EntryType, str]]:
        """Yield the entry-id and the rarest words, as many as make two titles that overlap share one of them.

        Titles that share .55 of their words share one of these (prefix filtering, Chaudhuri et al., ICDE 2006); by
        all words, every title with «use» would be compared with every other.
        """
        ordered = sorted(self.words, key=lambda word: (frequency.get(word, 0), word))
        # The words that may differ, and one more; the small difference guards against .55 having no exact float.
        kept = len(ordered) - math.ceil(MAY_OVERLAP * len(ordered) - 1e-9) + 1
        yield self.entry.type, f"/{self.entry_id}"
        yield from ((self.entry.type, word) for word in ordered[:kept])


def _subject(entry: Entry) -> _Subject:
    return _Subject(entry, entry.address.rsplit("/", 1)[-1], words_of(entry.title))


def _overlaps_of(subject: _Subject, sharing: Iterator[_Subject], wing: Wing) -> Iterator[Overlap]:
    entry = subject.entry
    declared = {*entry.overrides, *entry.see, *entry.conflicts_with}
    # One that shares several keys comes several times.
    near = {other.entry.address: other for other in islice(sharing, _COMPARED)}
    read = (other for other in near.values() if wing.shared_wings is None or other.entry.wing in wing.shared_wings)
    undeclared = (other for other in read if other.entry.address not in declared)
    found = [Overlap(entry, other.entry, why) for other in undeclared if (why := _why(subject, other))]
    found.sort(key=lambda overlap: overlap.shared.address)
    is_cut = len(found) > _NAMED or next(sharing, None) is not None
    yield from found[: _NAMED - 1]
    for last in found[_NAMED - 1 : _NAMED]:
        yield replace(last, why=f"{last.why}; more like it are not named") if is_cut else last


def _why(subject: _Subject, other: _Subject) -> str:
    if subject.entry_id == other.entry_id:
        return "both bear the same entry-id"
    share = jaccard(subject.words, other.words)
    return f"their titles share {share:.0%} of their words" if share >= MAY_OVERLAP else ""
