"""What an import takes in: every file that is there, as records with addresses, or as a row that says why not.

The dialects that are read, the most telling first, and which of them a file is written in.

Which of the files that were read are records of a folder of decisions.

Where an imported record goes: the wing and the room that are meant, and an entry-id that keeps its number.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.exchange import adr_tools, basic_memory, instructions, log4brains, madr, markdown
from mdmem.exchange.decision import status_section
from mdmem.exchange.markers import exported_from, without_marks
from mdmem.exchange.memory_document import NAME as WHOLE
from mdmem.exchange.memory_document import DocumentFile, is_document, read_document
from mdmem.exchange.record import ForeignRecord, Guess, SourceFile
from mdmem.exchange.references import known_from, number_of
from mdmem.exchange.source import UnfitError, foreign, found_here, found_in, original_of, read_bytes, read_source
from mdmem.markdown.headings import sections_of
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import EntryType, Status
from mdmem.store.catalog import interpret
from mdmem.store.catalog.addresses import well_formed
from mdmem.store.workspace.addresses import iter_origins
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.approve import stands_behind
from mdmem.write.create import place_of, require_names, require_wing


class Destination:
    """Gives each record its address, each address once."""

    def __init__(self, workspace: Workspace, place: str | None) -> None:
        """Take the place that was typed: a wing, a room, or both; raises UsageError for one that is none."""
        self._workspace, self._place = workspace, place.strip("/") if place is not None else None
        self._rooms = {type_: self._room(type_) for type_ in EntryType}
        self._taken = {file.path.lower(): file.path.removesuffix(".md") for file in workspace.tree.files()}
        self._given: dict[str, str] = {}

    def _room(self, type_: EntryType) -> str:
        place = place_of(self._workspace, type_, self._place)
        parts = place.split("/")
        if len(parts) != 2:
            raise UsageError(f"`{place}` is no place for records; write WING, or WING/ROOM")
        require_names(parts)
        require_wing(self._workspace, place)
        return place

    def address(self, record: ForeignRecord) -> str:
        """Return the address of a record; raises UnfitError where there is none for it."""
        place = self._rooms[record.type]
        # Where a client looks for a file is no subject of the note.
        if (
            record.source.room
            and not record.part
            and (self._place is None or self._place in self._workspace.catalog.wings)
        ):
            place = f"{place.split('/')[0]}/{record.source.room}"
        name = well_formed("entry", record.name)
        if name is None:
            raise UnfitError("has a name of which no entry-id can be made; rename it")
        address = f"{place}/{name}"
        if (other := self._given.get(address.lower())) is not None and "/" not in (self._place or ""):
            # Each part of a project counts its records from one.
            room = well_formed("room", record.source.folder.replace("/", "-"))
            is_apart = room is not None and posixpath.dirname(other) != record.source.folder and not record.part
            address = f"{place.split('/')[0]}/{room}/{name}" if is_apart else address
        self._refuse(address)
        self._given[address.lower()] = record.source.path
        return address

    def _refuse(self, address: str) -> None:
        try:
            require_names(address.split("/"))
        except UsageError as error:
            raise UnfitError(f"would be `{address}`: {error}") from error
        if (other := self._given.get(address.lower())) is not None:
            raise UnfitError(f"would be `{address}`, as `{other}` is; rename one of them")
        if (there := self._taken.get(f"{address}.md".lower())) is not None:
            raise UnfitError(f"would be `{address}`, and `{there}` is there already; nothing is overwritten")
        if (folder := _unwritable(self._workspace.location.root, address)) is not None:
            raise UnfitError(f"would be `{address}`, and nobody may write into `{folder}`")


def _unwritable(root: Path, address: str) -> str | None:
    """Return the folder that keeps an address from being written, None where none does."""
    folder = (root / address).parent
    while not folder.exists() and folder != root:
        folder = folder.parent
    is_open = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return None if is_open else folder.relative_to(root).as_posix()


# As few digits begin the name of a chapter, too.
_DIGITS = 3


def marked(sources: Sequence[SourceFile], *, is_named: bool) -> list[SourceFile]:
    """Return the sources, each with whether it is a record of a folder of decisions.

    A folder that was named is one where half of its files are written or numbered so. Where most are numbered, a page
    without a number is a record only if it is written as one.
    """
    folders: dict[str, list[SourceFile]] = {}
    for one in sources:
        if not instructions.fits(one):
            folders.setdefault(posixpath.dirname(one.path), []).append(one)
    inside = {one.path for ones in folders.values() for one in _records_of(ones, is_named=is_named)}
    return [replace(one, is_in_records=one.path in inside) for one in sources]


def _records_of(ones: Sequence[SourceFile], *, is_named: bool) -> Iterator[SourceFile]:
    likely = sum(1 for one in ones if _is_numbered(one) or _is_written_so(one))
    if not (ones[0].is_in_records or (is_named and 2 * likely >= len(ones))):
        return
    has_numbers = 2 * sum(map(_is_numbered, ones)) > len(ones)
    yield from (one for one in ones if not has_numbers or _is_numbered(one) or _is_written_so(one))


def _is_numbered(source: SourceFile) -> bool:
    has_digits = sum(map(str.isdigit, source.stem[:12])) >= _DIGITS
    return number_of(source.stem) is not None if source.stem[:1].isalpha() else has_digits


def _is_written_so(source: SourceFile) -> bool:
    sections = sections_of(source.body)
    return (
        madr.fits(source) or adr_tools.fits(source) or status_section(sections) is not None or "status" in source.fields
    )


class Dialect(Protocol):
    """What a module of a dialect has."""

    NAME: str

    def fits(self, source: SourceFile) -> bool:
        """Say whether a file is written so."""

    def read(self, source: SourceFile) -> Iterable[ForeignRecord]:
        """Return the records that a file holds."""


_ALL: tuple[Dialect, ...] = (instructions, basic_memory, log4brains, madr, adr_tools, markdown)
DIALECTS: Mapping[str, Dialect] = {one.NAME: one for one in _ALL}


def dialect_of(source: SourceFile) -> Dialect:
    """Return the first dialect that fits a file; plain Markdown fits every one."""
    return next(one for one in _ALL if one.fits(source))


class ImportRequest(Struct, frozen=True, kw_only=True):
    """What is to be imported: files and folders, or what is usually there, from one dialect or from each file's own.

    `place` is the wing or the room that it goes to; `approved_by` stands behind what was accepted already. With
    `moves` the old files go, and with `leaves_pointer` a line stays in their place.
    """

    paths: tuple[str, ...] = ()
    dialect: str | None = None
    place: str | None = None
    approved_by: str | None = None
    moves: bool = False
    leaves_pointer: bool = False


class Outcome(StrEnum):
    """What became of a source, or of a part of one."""

    IMPORTED = "imported"
    UNCHANGED = "imported before"
    CHANGED = "changed since it was imported"
    SKIPPED = "skipped"


class ImportRow(Struct, frozen=True, kw_only=True):
    """One source, or a part of one, and what became of it; an address only where there is an entry.

    `stated` are the words in which it states its status.
    """

    path: str
    outcome: Outcome
    part: str = ""
    dialect: str = ""
    address: str | None = None
    type: EntryType | None = None
    status: Status | None = None
    title: str = ""
    stated: str = ""
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    said: tuple[str, ...] = ()

    @property
    def puts_in_force(self) -> bool:
        """Say whether a rule that another tool's record holds is in force from now on."""
        is_rule = self.type is not None and self.type.is_rule and self.status is Status.ACTIVE
        return is_rule and self.outcome is Outcome.IMPORTED and self.dialect != WHOLE


class Intake:
    """What was read of all sources: records by address, files of a whole memory, and rows for the rest.

    `contents` are the sources of which all is, or will be, in the memory; `known` is what was imported before, and
    `before` are the records of it that were read again: what they say of new ones counts.
    """

    def __init__(self, workspace: Workspace, request: ImportRequest) -> None:
        """Read all that is asked for; raises UsageError for a place, a path or a person that is none."""
        location = workspace.location
        self._workspace, self._request = workspace, request
        named = found_in(location.base, workspace.cwd, request.paths) if request.paths else None
        found = foreign(found_here(location.base, location.repository) if named is None else named, workspace)
        self.records: dict[str, ForeignRecord] = {}
        self.before: dict[str, ForeignRecord] = {}
        self.files: dict[str, bytes] = {}
        self.rows: list[ImportRow] = []
        self.contents: dict[str, bytes] = {}
        self.dialects: dict[str, str] = {}
        known = iter_origins(workspace, workspace.catalog.addresses)
        self._origins = {(one.path, one.part): (address, one) for address, one in known}
        # An original that was moved into the memory is no longer beside its translation.
        imported = {path for path, _ in self._origins}
        translations = [one.path for one in found if one.is_translation or original_of(one.path) in imported]
        self.found = [one for one in found if one.path not in translations]
        self.known = [
            known_from(address, path, workspace.catalog.entries[address].title)
            for (path, part), (address, _) in self._origins.items()
            if not part and address in workspace.catalog.entries
        ]
        for source in marked(list(self._sources()), is_named=bool(request.paths)):
            try:
                self._take(source)
            except UnfitError as error:
                self.rows.append(ImportRow(path=source.path, outcome=Outcome.SKIPPED, said=(str(error),)))
        wings = sorted({address.split("/")[0] for address in self.records}) if request.approved_by else ()
        said = (stands_behind(workspace.catalog, workspace.settings, one, request.approved_by or "") for one in wings)
        self.remarks = tuple(dict.fromkeys(remark for remarks in said for remark in remarks))
        if translations:
            some = f"{len(translations)} translation{'s' if translations[1:] else ''}"
            self.remarks += (f"{some} left out, such as {translations[0]} beside its original",)

    @cached_property
    def _destination(self) -> Destination:
        return Destination(self._workspace, self._request.place)

    def _sources(self) -> Iterator[SourceFile]:
        """Yield the files that can be read as Markdown; a whole memory is taken at once."""
        base = self._workspace.location.base
        for one in self.found:
            try:
                if is_document(one.path):
                    held = read_document(read_bytes(base, one.path))
                    self.rows += [self._take_file(one.path, file) for file in held]
                else:
                    yield read_source(base, one)
            except UnfitError as error:
                self.rows.append(ImportRow(path=one.path, outcome=Outcome.SKIPPED, said=(str(error),)))

    def _take(self, source: SourceFile) -> None:
        dialect = DIALECTS[self._request.dialect] if self._request.dialect is not None else dialect_of(source)
        if dialect is not instructions:
            self._refuse_own(source)
            source = replace(source, body=without_marks(source.body))
        records = list(dialect.read(source))
        if not records and self._request.paths:
            raise UnfitError("holds nothing but what mdmem wrote, or takes in from other files")
        taken = [self._take_record(one, dialect.NAME) for one in records]
        # Agents read their instructions where they are.
        if taken and all(taken) and dialect is not instructions:
            self.contents[source.path] = source.data

    def _refuse_own(self, source: SourceFile) -> None:
        address = exported_from(source.body)
        if address is not None and address in self._workspace.catalog.addresses:
            raise UnfitError(f"is what mdmem exported of {address}")

    def _take_file(self, source: str, held: DocumentFile) -> ImportRow:
        """Keep a file of a whole memory as it was; nothing that is there is overwritten."""
        address = held.path.removesuffix(".md")
        row = ImportRow(path=source, part=address, outcome=Outcome.SKIPPED, dialect=WHOLE)
        if held.fault is not None:
            return replace(row, said=(held.fault,))
        place = self._workspace.location.root / held.path
        if not place.exists():
            self.files[held.path] = held.content
            entry = interpret(parse_document(held.path, held.content)).entry if address.count("/") == 2 else None
            if entry is not None:
                row = replace(row, type=entry.type, status=entry.status, title=entry.title)
            return replace(row, outcome=Outcome.IMPORTED, address=address)
        if self._workspace.bytes_of(held.path) == held.content:
            return replace(row, outcome=Outcome.UNCHANGED, address=address)
        return replace(row, said=(f"`{address}` is there already and says something else; nothing is overwritten",))

    def _take_record(self, record: ForeignRecord, dialect: str) -> bool:
        """Keep a record, or a row that says why not; return whether its entry is or will be there."""
        source = record.source
        row = ImportRow(path=source.path, part=record.part, outcome=Outcome.SKIPPED, dialect=dialect)
        before = self._origins.get((source.path, record.part))
        if before is not None:
            address, origin = before
            is_same = origin.is_of(content_of(record))
            outcome = Outcome.UNCHANGED if is_same else Outcome.CHANGED
            self.rows.append(replace(row, outcome=outcome, address=address))
            self.before[address] = record
            return is_same
        try:
            address = self._destination.address(record)
        except UnfitError as error:
            self.rows.append(replace(row, said=(str(error),)))
            return False
        self.records[address] = record
        self.dialects[address] = dialect
        return True


def content_of(record: ForeignRecord) -> bytes:
    """Return the bytes by which it is told whether a source changed: its own, or those of its part."""
    return record.body.encode() if record.part else record.source.data
