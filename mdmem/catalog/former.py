"""What the files of a tree meant together when somebody looked last, as a file of the cache keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog.addresses import is_entry_place
from mdmem.catalog.content import CACHE_VERSION, read_dates
from mdmem.catalog.interpret import LoadedFile
from mdmem.digests import identity_of, unlike
from mdmem.entry.model import Entry, Wing
from mdmem.entry.stored_entries import PackedEntries, StoredEntries
from mdmem.finding import Finding
from mdmem.lineage import KnownChains, Lineage
from mdmem.record import UNPACKABLE, Raw, StoredRecord, as_raw, unpack_one
from mdmem.state import read_packed, write_packed
from mdmem.tree import TreeFile

if TYPE_CHECKING:
    from mdmem.catalog.model import Catalog

NAME = "former"
# The number is raised whenever chains are told otherwise.
_VERSION = f"{CACHE_VERSION} former 5"


# Of most memories nothing is wrong, and what a finding is made of need not be told.
_NONE = Raw()


class _Faults(StoredRecord, frozen=True):
    """What is wrong, and with which files."""

    broken: dict[str, LoadedFile]
    findings: list[Finding]


class Former(StoredRecord, frozen=True, gc=True, dict=True):
    """The entries in the order of their files, with the sizes of their bodies, and what a catalog is made of beside.

    `as_written` are the entries of which a link may depend on which other files are there; `digests` those of all files
    that were read, of which `identity` tells, `closed` the paths of the others; `wings` are stated in manifests, by
    path, None by prose, each with its digest in `manifests`.
    """

    packed: PackedEntries
    body_sizes: list[int]
    as_written: list[Entry]
    digests: Raw
    identity: str
    closed: list[str]
    wings: dict[str, Wing | None]
    manifests: dict[str, str]
    chains: KnownChains
    faults: Raw = _NONE
    one_end_suffices: bool | frozenset[str] = False

    @cached_property
    def entries(self) -> StoredEntries:
        """Return the entries by address; raises ValueError where their columns do not fit."""
        return self.packed.read()

    @cached_property
    def file_digests(self) -> Mapping[str, str]:
        """Return the digests of the files by path; of those that are as `identity` says nobody asks."""
        return unpack_one(self.digests, dict[str, str]) or {}

    def unlike(self, digests: Mapping[str, str]) -> Sequence[str]:
        """Return the paths at which files have another digest, or are not there, found once for all who ask."""
        found: tuple[Mapping[str, str], Sequence[str]] | None = vars(self).get("_unlike")
        if found is None or found[0] is not digests:
            found = vars(self)["_unlike"] = digests, list(unlike(self.file_digests, digests))
        return found[1]

    def forget_unlike(self) -> None:
        """Forget them: some of the digests are others by now."""
        vars(self).pop("_unlike", None)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """Return the sizes by address."""
        return dict(zip(self.entries, self.body_sizes, strict=True))

    @cached_property
    def short(self) -> Mapping[str, Entry]:
        """Return the entries as written by address."""
        return {entry.address: entry for entry in self.as_written}

    @cached_property
    def files(self) -> Sequence[TreeFile]:
        """Return the files that were not read."""
        return [TreeFile(path) for path in self.closed]

    @cached_property
    def broken(self) -> Mapping[str, LoadedFile]:
        """Return what holds no entry, by path."""
        return self._faults.broken if self._faults is not None else {}

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Return what is wrong."""
        return self._faults.findings if self._faults is not None else []

    @cached_property
    def _faults(self) -> _Faults | None:
        return unpack_one(self.faults, _Faults) if self.faults else None

    @property
    def is_told(self) -> bool:
        """Say whether what is wrong can be read."""
        return not self.faults or self._faults is not None

    @cached_property
    def lineage(self) -> Lineage:
        """Return the supersession graph of the entries."""
        return Lineage(self.entries, self.one_end_suffices, self.chains)


def read_former(path: Path) -> dict[str, Former] | None:
    """Return what a file of the cache keeps, by `NAME`; empty where it could not be kept, None where it is not read."""
    found = read_packed(path, _VERSION, dict[str, Former])
    if found is None or not all(map(_is_sound, found.values())):
        return None
    for former in found.values():
        former.entries.file = path
    return found


def _is_sound(former: Former) -> bool:
    try:
        fits = len(former.body_sizes) == len(former.entries)
    except ValueError:
        return False
    return fits and former.is_told and read_dates(former.as_written, former.wings.values())


def write_former(path: Path, catalog: Catalog, wings: Mapping[str, Wing | None]) -> None:
    """Keep what a catalog of all files holds, and what its manifests state; nothing where a text has no UTF-8."""
    digests = catalog.file_digests
    faults = _Faults(dict(catalog.broken), [one for one in catalog.findings if is_entry_place(one.place.path)])
    try:
        packed, stated = PackedEntries.of(catalog.entries, catalog.adjacency.citing), as_raw(digests)
    except UNPACKABLE:
        write_packed(path, _VERSION, {})
        return
    former = Former(
        packed,
        list(map(catalog.sizes.__getitem__, catalog.entries)),
        list(catalog.short.values()),
        stated,
        identity_of(digests),
        [file.path for file in catalog.files if file.path not in digests],
        dict(wings),
        {path: digests[path] for path in wings if path in digests},
        catalog.lineage.chains,
        as_raw(faults) if faults.broken or faults.findings else _NONE,
        catalog.one_end_suffices is True,
    )
    write_packed(path, _VERSION, {NAME: former})
