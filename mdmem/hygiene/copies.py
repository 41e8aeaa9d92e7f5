"""Entries of a project that repeat a shared rule instead of overriding it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from mdmem.entry.model import Entry, EntryType, Wing
from mdmem.finding import Finding, Place
from mdmem.hygiene.likeness import near_ones, numbered
from mdmem.similarity import words_once

CODE = "copy-of-shared"
# Entry-model: from .86 one entry says what another says.
COPY_FROM = 0.86


def copies(
    current: Iterable[Entry], wings: Mapping[str, Wing], text: Mapping[str, str], *, held: Collection[str]
) -> Iterator[Finding]:
    """Yield one finding for each held project entry that repeats one of its type from a shared wing it reads.

    What they say is compared, without their titles; an entry that names the other in `overrides` is no copy.
    """
    by_type: dict[EntryType, list[Entry]] = {}
    for entry in current:
        by_type.setdefault(entry.type, []).append(entry)
    for entries in by_type.values():
        shared = frozenset(entry.address for entry in entries if wings[entry.wing].is_shared)
        if shared and len(shared) < len(entries):
            yield from _copies_of(shared, {entry.address: entry for entry in entries}, wings, text, held=held)


def _copies_of(
    shared: Collection[str],
    entries: Mapping[str, Entry],
    wings: Mapping[str, Wing],
    text: Mapping[str, str],
    *,
    held: Collection[str],
) -> Iterator[Finding]:
    compared = [address for address in entries if address in shared or address in held]
    texts = numbered((address, words_once(text.get(address, ""))) for address in compared)
    for address, found in near_ones(texts, shared, share=COPY_FROM).items():
        entry = entries[address]
        read = wings[entry.wing].shared_wings
        for near in found:
            other = entries[near.name]
            if other.address not in entry.overrides and (read is None or other.wing in read):
                yield _finding(entry, other, near.share)
                break


def _finding(entry: Entry, shared: Entry, share: float) -> Finding:
    message = f"repeats the shared `{shared.address}`: they share {share:.0%} of their words"
    reason = f"repeats {shared.address}"
    help_ = f"type `mdmem deprecate {entry.address} --reason '{reason}'`, or add `overrides: {shared.address}`"
    return Finding(CODE, message, Place(entry.path), help_, entry.address, other=Place(shared.path))
