"""New and reworded entries that say nearly what another one says already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mdmem.dedup import SUPERSEDES_FROM
from mdmem.entry.model import LINK_FIELDS, Entry, Status
from mdmem.hygiene.likeness import Text, numbered
from mdmem.review.comparison import Comparison
from mdmem.review.model import Near, Rewording
from mdmem.similarity import words_once

# An entry that is like many is one of a series; the nearest are enough to see it.
_NEAREST = 3


def near_entries(comparison: Comparison, reworded: Sequence[Rewording]) -> tuple[Near, ...]:
    """Return the pairs of one type that share .70 of the words of title and text, and do not name one another.

    One of the two is new or reworded and the other binds or is a draft, too; by authority, the nearest first.
    """
    entries = comparison.after.catalog.entries
    fresh = {*(one.address for one in comparison.changes.added), *comparison.begun}
    fresh |= {one.entry.address for one in reworded if one.title or one.body}
    live = {address: entries[address] for address in entries if _counts(comparison, entries[address])}
    asked = sorted(fresh & live.keys())
    types = {live[address].type for address in asked}
    texts = {text.name: text for text in _texts(comparison, (one for one in live.values() if one.type in types))}
    found = [near for address in asked for near in _near_to(comparison, texts, live, address)]
    once = {frozenset((near.entry.address, near.other.address)): near for near in reversed(found)}
    return tuple(sorted(once.values(), key=lambda near: (near.entry.type.rank, -near.share, near.entry.address)))


def _counts(comparison: Comparison, entry: Entry) -> bool:
    return entry.address in comparison.binds or entry.status is Status.DRAFT


def _texts(comparison: Comparison, entries: Iterable[Entry]) -> list[Text]:
    titles = {entry.address: entry.title for entry in entries}
    bodies = comparison.after.catalog.bodies(tuple(titles)) if titles else ()
    return numbered((address, words_once(f"{titles[address]}\n{body}")) for address, body, _ in bodies)


def _near_to(
    comparison: Comparison, texts: Mapping[str, Text], live: Mapping[str, Entry], address: str
) -> Iterator[Near]:
    text, entry = texts.get(address), live[address]
    if text is None:
        return
    most, least = len(text.words) / SUPERSEDES_FROM, len(text.words) * SUPERSEDES_FROM
    found = [
        (share, other.name)
        for other in texts.values()
        if least <= len(other.words) <= most
        and other.name != address
        and text.may_share(other, SUPERSEDES_FROM)
        and (share := text.share(other)) >= SUPERSEDES_FROM
        and live[other.name].type is entry.type
    ]
    unnamed = [(share, name) for share, name in found if not _name_one_another(entry, live[name])]
    for share, name in sorted(unnamed, key=lambda pair: (-pair[0], pair[1]))[:_NEAREST]:
        yield Near(comparison.after.ref(address), comparison.after.ref(name), round(share, 2))


def _name_one_another(one: Entry, other: Entry) -> bool:
    return any(other.address in one.links(name) or one.address in other.links(name) for name in LINK_FIELDS)
