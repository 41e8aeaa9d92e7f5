"""Where a project's entry covers the subject of a shared one, so that an override must be declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mdmem.entry.model import Entry, Wing
from mdmem.similarity import jaccard, words_of

# entry-model: from .55 two entries of one type may overlap.
MAY_OVERLAP = 0.55


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
    by_word: dict[str, list[Entry]] = {}
    for entry in shared:
        for word in words_of(entry.title) | {f"/{_entry_id(entry)}"}:
            by_word.setdefault(word, []).append(entry)
    for entry in listed:
        if not wings[entry.wing].is_shared:
            yield from _overlaps_of(entry, by_word, wings[entry.wing])


def _overlaps_of(entry: Entry, by_word: Mapping[str, list[Entry]], wing: Wing) -> Iterator[Overlap]:
    near = {one.address: one for word in words_of(entry.title) | {f"/{_entry_id(entry)}"} for one in by_word.get(word, ())}
    for address in sorted(near):
        other = near[address]
        if other.type is not entry.type or address in entry.overrides or address in (*entry.see, *entry.conflicts_with):
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
