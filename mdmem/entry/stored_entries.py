"""The entries of a memory as a file of the cache keeps them: in columns of what is asked of all, and one by one."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from functools import cached_property
from itertools import chain, compress, repeat
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
_RARE = ("overrides", "conflicts_with", "amends", "applies_to", "expires_at", "relevance_score")
_NOTHING = (None, ())
# So many parts are the links in, of which an answer asks for a few.
_PARTS = 256


class PackedEntries(StoredRecord, frozen=True):
    """Entries as a file keeps them: by address in columns, those that have something in a rare field, and links in.

    `dated` are the fields of dates that any of them has.
    """

    addresses: list[str]
    entries: Raw
    types: bytes
    statuses: bytes
    having: dict[str, list[str]]
    citing: list[Raw]
    dated: list[str]

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
        return dict(zip(self._addresses, unpack_one(self._packed.entries, list[Raw]) or (), strict=False))

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
            addresses = list(self._addresses)
            entries = self._dated(unpack_one(self._packed.entries, list[Entry]) or [], addresses)
            self._whole = dict(zip(addresses, map(self._read.setdefault, addresses, entries), strict=True))
            self._read = self._whole
            vars(self).pop("_rows", None)
        return self._whole

    def with_others(self, new: Mapping[str, Entry]) -> StoredEntries | None:
        """Return these with other entries at some of their addresses; None where that makes other links in."""
        is_alike = self._whole is None and new.keys() <= self._addresses.keys()
        if not (is_alike and all(self[address].see == entry.see for address, entry in new.items())):
            return None
        types, statuses = bytearray(self._packed.types), bytearray(self._packed.statuses)
        for place, address in enumerate(self._addresses):
            if address in new:
                types[place], statuses[place] = _CODES[new[address].type], _CODES[new[address].status]
        having = {name: self._having_with(new, name) for name in _RARE}
        packed = self._packed.with_changes(types=bytes(types), statuses=bytes(statuses), having=having)
        found = StoredEntries(packed, self._addresses)
        found.file, found._read, found._others = self.file, {**self._read, **new}, self._others | new.keys()
        vars(found)["_rows"] = self._rows
        return found

    def unlike(self, before: StoredEntries) -> list[str] | None:
        """Return the addresses at which others stand than in these before; None where both were not kept as one."""
        if self._packed.entries is not before._packed.entries:
            return None
        return sorted(one for one in self._others | before._others if self[one] is not before[one])

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
        return _Citing(self._packed.citing)


class _Citing(Mapping[str, Sequence[str]]):
    def __init__(self, packed: list[Raw]) -> None:
        self._packed = packed
        self._parts: dict[int, dict[str, list[str]]] = {}

    def _part(self, number: int) -> dict[str, list[str]]:
        if number not in self._parts:
            self._parts[number] = unpack_one(self._packed[number], dict[str, list[str]]) or {}
        return self._parts[number]

    def __getitem__(self, address: str) -> Sequence[str]:
        return self._part(_part_of(address))[address]

    def __iter__(self) -> Iterator[str]:
        for number in range(_PARTS):
            yield from self._part(number)

    def __len__(self) -> int:
        return sum(len(self._part(number)) for number in range(_PARTS))


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
