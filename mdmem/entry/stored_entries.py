"""The entries of a memory as a file of the cache keeps them: in columns of what is asked of all, and one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from functools import cached_property
from itertools import chain, compress, count, repeat
from operator import attrgetter, is_
from pathlib import Path
from zlib import crc32

from mdmem.entry.model import DATE_FIELDS, Entry, EntryType, Status, parse_moment
from mdmem.errors import GoneError
from mdmem.record import Raw, StoredRecord, as_raw, read_texts, unpack_one

_KINDS: tuple[EntryType | Status, ...] = (*EntryType, *Status)
_CODES = {one: at for at, one in enumerate(_KINDS)}
_TYPES, _STATUSES = (bytes(map(_CODES.__getitem__, kinds)) for kinds in (EntryType, Status))
_TYPE, _STATUS = attrgetter("type"), attrgetter("status")
# What few entries have, and all are asked for.
_RARE = (
    "supersedes",
    "superseded_by",
    "overrides",
    "contradicts",
    "amends",
    "applies_to",
    "expires_at",
    "relevance_score",
)
_NOTHING = (None, ())
# So many parts are the links in, of which an answer asks for a few.
_PARTS = 256


class PackedEntries(StoredRecord, frozen=True):
    """Entries as a file keeps them: by address in columns, those that have something in a rare field, and links in.

    `dated` are the fields of dates that any of them has, `awaited` the addresses without an entry that are said to
    supersede one or to be superseded.
    """

    addresses: list[str]
    entries: Raw
    types: bytes
    statuses: bytes
    having: dict[str, list[str]]
    citing: list[Raw]
    dated: list[str]
    awaited: list[str]

    @classmethod
    def of(cls, entries: Mapping[str, Entry], citing: Mapping[str, Sequence[str]]) -> PackedEntries:
        """Return entries as they are kept, with those that cite each address."""
        parts: list[dict[str, Sequence[str]]] = [{} for _ in range(_PARTS)]
        for address, others in citing.items():
            parts[_part_of(address)][address] = others
        every = list(entries.values())
        return cls(
            list(entries),
            as_raw(every),
            bytes(map(_CODES.__getitem__, map(_TYPE, every))),
            bytes(map(_CODES.__getitem__, map(_STATUS, every))),
            {name: [one.address for one in every if getattr(one, name) not in _NOTHING] for name in _RARE},
            list(map(as_raw, parts)),
            [name for name in DATE_FIELDS if any(map(attrgetter(name), every))],
            sorted({link for one in every for link in _on_chains(one) if link not in entries}),
        )

    def read(self) -> StoredEntries:
        """Return the entries; raises ValueError where columns do not fit."""
        found = dict.fromkeys(self.addresses)
        lengths = {len(found), len(self.addresses), len(self.types), len(self.statuses)}
        fits = len(lengths) == 1 and self.having.keys() == set(_RARE) and len(self.citing) == _PARTS
        fits = fits and set(self.dated) <= set(DATE_FIELDS)
        fits = fits and not (self.types.translate(None, _TYPES) or self.statuses.translate(None, _STATUSES))
        if not (fits and all(map(found.__contains__, chain.from_iterable(self.having.values())))):
            raise ValueError
        return StoredEntries(self, found)


class StoredEntries(Mapping[str, Entry]):
    """Entries by address in the order of their files, each read when it is asked for, or all at once.

    Whoever asks twice has the same one. What is no entry, in a file that is whole, raises GoneError, and the file goes.
    """

    file: Path | None = None

    def __init__(self, packed: PackedEntries, addresses: dict[str, None]) -> None:
        """Take what is kept, and of it the addresses."""
        self._packed, self._addresses = packed, addresses
        self._read: dict[str, Entry] = {}
        self._whole: dict[str, Entry] | None = None
        self._others: Set[str] = frozenset()
        self._added: Mapping[str, Entry] = {}

    def __getitem__(self, address: str) -> Entry:
        """Return one entry."""
        try:
            return self._read[address]
        except KeyError:
            if address not in self._addresses:
                raise
        row = self._rows.get(address)
        entry = unpack_one(row, Entry) if row is not None else None
        return self._read.setdefault(address, self._dated([entry] if entry is not None else [], [address])[0])

    @cached_property
    def _rows(self) -> Mapping[str, Raw]:
        return dict(zip(self._packed.addresses, unpack_one(self._packed.entries, list[Raw]) or (), strict=False))

    def _dated(self, entries: list[Entry], addresses: list[str]) -> list[Entry]:
        try:
            read_texts(entries, self._packed.dated, parse_moment)
        except ValueError:
            entries = []
        if [one.address for one in entries] != addresses:
            if self.file is not None:
                self.file.unlink(missing_ok=True)
            raise GoneError("what was kept of the entries could not be read, and is forgotten; ask again")
        return entries

    def whole(self) -> dict[str, Entry]:
        """Return all entries, those that were read already among them."""
        if self._whole is None:
            addresses = self._packed.addresses
            entries = self._dated(unpack_one(self._packed.entries, list[Entry]) or [], addresses)
            self._whole = dict(zip(addresses, map(self._read.setdefault, addresses, entries), strict=True))
            if self._added:
                self._whole = dict(zip(self._addresses, map(self._read.__getitem__, self._addresses), strict=True))
            self._read = self._whole
            vars(self).pop("_rows", None)
        return self._whole

    def with_others(self, new: Mapping[str, Entry]) -> StoredEntries | None:
        """Return these with other entries at some addresses, or more; None where that makes others of the links in."""
        there = new.keys() & self._addresses.keys()
        if self._whole is not None or not all(cited(self[one]) == cited(new[one]) for one in there):
            return None
        addresses, added = list(self._addresses), {one: new[one] for one in new if one not in there}
        types, statuses = bytearray(self._packed.types), bytearray(self._packed.statuses)
        for one in added:
            place = bisect_left(addresses, _in_files(one), key=_in_files)
            addresses.insert(place, one)
            types.insert(place, 0)
            statuses.insert(place, 0)
        for place in compress(count(), map(new.__contains__, addresses)):
            entry = new[addresses[place]]
            types[place], statuses[place] = _CODES[entry.type], _CODES[entry.status]
        found = StoredEntries(self._packed, dict.fromkeys(addresses) if added else self._addresses)
        found._packed = self._packed.with_changes(
            types=bytes(types),
            statuses=bytes(statuses),
            having={name: found._having_with(new, name) for name in _RARE},
            awaited=[*self._packed.awaited, *chain.from_iterable(map(_on_chains, new.values()))],
        )
        found.file, found._read, found._others = self.file, {**self._read, **new}, self._others | new.keys()
        found._added = {one: found._read[one] for one in (*self._added, *added)}
        vars(found)["_rows"] = self._rows
        return found

    def is_apart(self, address: str) -> bool:
        """Say whether an entry was added that is on no chain, and completes none."""
        return (entry := self._added.get(address)) is not None and not (
            any(_on_chains(entry)) or address in self._packed.awaited
        )

    def unlike(self, before: StoredEntries) -> list[str] | None:
        """Return the addresses at which others stand than in these before; None where both were not kept as one."""
        if self._packed.entries is not before._packed.entries:
            return None
        return sorted(one for one in self._others | before._others if self.get(one) is not before.get(one))

    def _having_with(self, new: Mapping[str, Entry], name: str) -> list[str]:
        before = self._packed.having[name]
        after = {one for one in before if one not in new}
        after.update(address for address, entry in new.items() if getattr(entry, name) not in _NOTHING)
        return before if after == set(before) else list(filter(after.__contains__, self._addresses))

    def __iter__(self) -> Iterator[str]:
        """Yield the addresses."""
        return iter(self._addresses)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._addresses)

    def __contains__(self, address: object) -> bool:
        """Say whether there is an entry at an address."""
        return address in self._addresses

    def keys(self) -> KeysView[str]:
        """Return the addresses."""
        return self._addresses.keys()

    def values(self) -> ValuesView[Entry]:
        """Return all entries."""
        return self.whole().values()

    def items(self) -> ItemsView[str, Entry]:
        """Return all entries with their addresses."""
        return self.whole().items()

    def of(self, kind: EntryType | Status) -> Iterator[str]:
        """Return the addresses of the entries of a type or a status; no step is Python's."""
        column = self._packed.types if isinstance(kind, EntryType) else self._packed.statuses
        return compress(self._addresses, column.translate(_ONLY[_CODES[kind]]))

    def having(self, name: str) -> list[Entry]:
        """Return the entries that have something in a field."""
        return list(map(self.__getitem__, self._packed.having[name]))

    def citing(self) -> Mapping[str, Sequence[str]]:
        """Return what links each address by `see`."""
        more: dict[str, list[str]] = {}
        for address, entry in self._added.items():
            for target in cited(entry):
                more.setdefault(target, []).append(address)
        return _Citing(self._packed.citing, more)


class _Citing(Mapping[str, Sequence[str]]):
    def __init__(self, packed: list[Raw], more: Mapping[str, list[str]]) -> None:
        self._packed, self._more = packed, more
        self._parts: dict[int, dict[str, list[str]]] = {}

    def _part(self, number: int) -> dict[str, list[str]]:
        if number not in self._parts:
            self._parts[number] = unpack_one(self._packed[number], dict[str, list[str]]) or {}
        return self._parts[number]

    def __getitem__(self, address: str) -> Sequence[str]:
        known = self._part(_part_of(address))
        if address not in self._more:
            return known[address]
        return sorted((*known.get(address, ()), *self._more[address]), key=_in_files)

    def __iter__(self) -> Iterator[str]:
        for number in range(_PARTS):
            yield from self._part(number)
        yield from (one for one in self._more if one not in self._part(_part_of(one)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def cited(entry: Entry) -> tuple[str, ...]:
    """Return what an entry links by `see`, as a field or as a relation."""
    more = [one.to for one in entry.relations if one.type.casefold() == "see"] if entry.relations else ()
    return (*entry.see, *more)


def _on_chains(entry: Entry) -> tuple[str, ...]:
    return (*entry.supersedes, *entry.superseded_by)


def _in_files(address: str) -> str:
    """Return what an entry stands by among others."""
    return f"{address}.md"


def of_kind(entries: Mapping[str, Entry], kind: EntryType | Status) -> Iterable[str]:
    """Return the addresses of the entries of a type or a status, in their order."""
    if isinstance(entries, StoredEntries):
        return entries.of(kind)
    get = _TYPE if isinstance(kind, EntryType) else _STATUS
    return compress(entries, map(is_, map(get, entries.values()), repeat(kind)))


def having(entries: Mapping[str, Entry], name: str) -> list[Entry]:
    """Return the entries that have something in a field that few have, in their order."""
    if isinstance(entries, StoredEntries):
        return entries.having(name)
    every = entries.values()
    return [entry for entry, value in zip(every, map(attrgetter(name), every), strict=True) if value not in _NOTHING]


def _part_of(address: str) -> int:
    return crc32(address.encode("utf-8", "surrogateescape")) % _PARTS


_ONLY = [bytes(map(at.__eq__, range(256))) for at in range(len(_CODES))]
