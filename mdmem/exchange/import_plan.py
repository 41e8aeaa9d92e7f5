"""What an import would write: every source that is there, the entries it becomes, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from mdmem.authoring.approve import stands_behind
from mdmem.authoring.change_set import Change, ChangeSet
from mdmem.authoring.message import Verb, WriteAction
from mdmem.checks.rules.approved_by_nobody import APPROVED_TYPES
from mdmem.entry.model import EntryType, Status, title_of
from mdmem.entry.origin import KEY, Origin, content_digest, origin_in
from mdmem.exchange import instructions
from mdmem.exchange.body import carried, rewritten
from mdmem.exchange.composition import composed
from mdmem.exchange.destination import Destination
from mdmem.exchange.dialects import DIALECTS, dialect_of
from mdmem.exchange.record import ForeignRecord, Guess, Sureness
from mdmem.exchange.references import References, known_by, known_from
from mdmem.exchange.settlement import Settled, ended_at, settle
from mdmem.exchange.source import Found, UnfitError, foreign, found_here, found_in, in_project, read_source
from mdmem.git.history import first_days
from mdmem.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """One source, or a part of one, and what became of it; an address only where there is an entry."""

    path: str
    outcome: Outcome
    part: str = ""
    dialect: str = ""
    address: str | None = None
    type: EntryType | None = None
    status: Status | None = None
    title: str = ""
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """All rows in the order of their files, what is written, and the contents of the files that were taken in."""

    rows: tuple[ImportRow, ...]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return what an import writes; raises UsageError for a place, a path or a person that is none."""
    reading = _Reading(workspace, request)
    writing = _Writing(workspace, request, reading)
    written = [writing.entry(address) for address in reading.records]
    order = {one.path: number for number, one in enumerate(reading.found)}
    rows = sorted((*reading.rows, *(row for _, row in written)), key=lambda row: order[row.path])
    actions = tuple(WriteAction(Verb.IMPORT, address) for address in reading.records)
    change_set = ChangeSet(tuple(change for change, _ in written), actions=actions, tells_faults=True)
    return ImportPlan(tuple(rows), change_set, reading.contents, reading.remarks)


class _Reading:
    """What was read of all sources: records by address, those that were imported before, and rows for the rest."""

    def __init__(self, workspace: Workspace, request: ImportRequest) -> None:
        location = workspace.location
        base = location.base
        found = found_in(base, workspace.cwd, request.paths) if request.paths else found_here(base, location.repository)
        self.found = foreign(found, workspace)
        self.records: dict[str, ForeignRecord] = {}
        self.rows: list[ImportRow] = []
        self.contents: dict[str, bytes] = {}
        self.dialects: dict[str, str] = {}
        self._destination = Destination(workspace, request.place)
        self._origins = dict(_origins(workspace))
        self.known = [
            known_from(address, path, workspace.catalog.entries[address].title)
            for (path, part), (address, _) in self._origins.items()
            if not part and address in workspace.catalog.entries
        ]
        for one in self.found:
            self._take(workspace, request, one)
        wings = sorted({address.split("/")[0] for address in self.records}) if request.approved_by else ()
        said = (stands_behind(workspace.catalog, workspace.settings, one, request.approved_by or "") for one in wings)
        self.remarks = tuple(dict.fromkeys(remark for remarks in said for remark in remarks))

    def _take(self, workspace: Workspace, request: ImportRequest, found: Found) -> None:
        try:
            source = read_source(workspace.location.base, found)
        except UnfitError as error:
            self.rows.append(ImportRow(path=found.path, outcome=Outcome.SKIPPED, said=(str(error),)))
            return
        dialect = DIALECTS[request.dialect] if request.dialect is not None else dialect_of(source)
        records = list(dialect.read(source))
        if not records and request.paths:
            said = ("holds nothing but what mdmem wrote, or takes in from other files",)
            self.rows.append(ImportRow(path=found.path, outcome=Outcome.SKIPPED, dialect=dialect.NAME, said=said))
        taken = [self._take_record(one, dialect.NAME) for one in records]
        # Agents read their instructions where they are.
        if taken and all(taken) and dialect is not instructions:
            self.contents[source.path] = source.data

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


def _origins(workspace: Workspace) -> Iterator[tuple[tuple[str, str], tuple[str, Origin]]]:
    paths = [f"{address}.md" for address in workspace.catalog.addresses]
    for path, content in workspace.tree.read(paths):
        if isinstance(content, bytes) and KEY.encode() in content:
            origin = origin_in(content.decode("utf-8", "replace"))
            if origin is not None:
                yield (origin.path, origin.part), (path.removesuffix(".md"), origin)


def _created(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, dict[str, Guess]]]:
    """Return the day of each record, and what was guessed: its own, else its file's first commit, else today."""
    undated = sorted({one.source.path for one in records.values() if one.created_at is None})
    repository = workspace.location.repository
    days = first_days(repository, undated) if repository is not None and undated else {}
    found: dict[str, tuple[str, dict[str, Guess]]] = {}
    for address, record in records.items():
        day = days.get(record.source.path)
        if record.created_at is not None:
            found[address] = (record.created_at, {})
        elif day is not None:
            found[address] = (day, {"created_at": Guess("the file's first commit", Sureness.LIKELY)})
        else:
            found[address] = (workspace.today.isoformat(), {"created_at": Guess("no date is stated", Sureness.GUESS)})
    return found


class _Writing:
    """Writes the text of each record's entry, its links settled against all others."""

    def __init__(self, workspace: Workspace, request: ImportRequest, reading: _Reading) -> None:
        self._location, self._person, self._reading = workspace.location, request.approved_by, reading
        own = (known_by(one, address) for address, one in reading.records.items() if not one.part)
        self._references = References([*own, *reading.known])
        self._settled = settle(reading.records, self._references)
        self._created = _created(workspace, reading.records)
        self._days = {address: day for address, (day, _) in self._created.items()}

    def entry(self, address: str) -> tuple[Change, ImportRow]:
        """Return what writes an entry, and the row that tells of it."""
        record, settled, path = self._reading.records[address], self._settled[address], f"{address}.md"
        cuts = list(carried(record, settled.lost))
        body = rewritten(record, path, self._references, place=partial(in_project, self._location), cuts=cuts)
        guesses = {**record.guesses, **self._created[address][1]}
        ended = ended_at(record, settled, self._days)
        if ended is not None and "deprecated_at" not in record.fields:
            guesses["deprecated_at"] = Guess("the day of what took its place", Sureness.LIKELY)
        row = ImportRow(
            path=record.source.path,
            part=record.part,
            outcome=Outcome.IMPORTED,
            dialect=self._reading.dialects[address],
            address=address,
            type=record.type,
            status=record.status,
            title=record.title or title_of(address),
            guesses=guesses,
            said=(*record.said, *settled.said, *body.said),
        )
        text = composed(self._fields(address, settled, ended), body.text, newline=record.source.newline)
        return Change(path, path, None, text.encode()), row

    def _fields(self, address: str, settled: Settled, ended: str | None) -> dict[str, str | tuple[str, ...]]:
        record = self._reading.records[address]
        is_ended = record.status is Status.DEPRECATED
        fields: dict[str, str | tuple[str, ...]] = {
            "deprecated_at": ended or "",
            **record.fields,
            "type": record.type.value,
            "status": record.status.value,
            "created_at": self._days[address],
            "title": " ".join(record.title.split()) or title_of(address),
            **{name: tuple(links) for name, links in settled.links.items()},
            KEY: str(Origin(record.source.path, record.part, content_digest(content_of(record)))),
        }
        if is_ended and "superseded_by" not in settled.links:
            fields.setdefault("deprecated_reason", f"its record says: {record.ended_as or record.status.value}")
        if self._person is not None and record.status is Status.ACTIVE and record.type in APPROVED_TYPES:
            fields["approved_by"] = self._person
        return fields
