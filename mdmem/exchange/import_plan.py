"""What an import would write: every source that is there, the entries it becomes, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import Struct, field

from mdmem.checks.rules.change import APPROVED_TYPES
from mdmem.exchange.body import carried, rewritten
from mdmem.exchange.composition import composed
from mdmem.exchange.intake import ImportRequest, ImportRow, Intake, Outcome, content_of
from mdmem.exchange.record import ForeignRecord, Guess, Sureness
from mdmem.exchange.references import References, known_by
from mdmem.exchange.settlement import Settled, ended_at, settle
from mdmem.exchange.source import in_project
from mdmem.model.entry import KEY, Origin, Status, content_digest, title_of
from mdmem.store.git.history import first_days
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.code_paths import CodePaths
from mdmem.write.message import Verb, WriteAction


class ImportPlan(Struct, frozen=True):
    """All rows in the order of their files, what is written, and the contents of the files that were taken in.

    `on_code` are the rules whose text mentions files of the project, with those as globs.
    """

    rows: tuple[ImportRow, ...]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    on_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return what an import writes; raises UsageError for a place, a path or a person that is none."""
    intake = Intake(workspace, request)
    writing = _Writing(workspace, request, intake)
    written = [writing.entry(address) for address in intake.records]
    order = {one.path: number for number, one in enumerate(intake.found)}
    rows = sorted((*intake.rows, *(row for _, row in written)), key=lambda row: order[row.path])
    whole = [Change(path, path, None, content) for path, content in intake.files.items()]
    addresses = [*(path.removesuffix(".md") for path in intake.files), *intake.records]
    actions = tuple(WriteAction(Verb.IMPORT, address) for address in addresses)
    change_set = ChangeSet((*whole, *(change for change, _ in written)), actions=actions, tells_faults=True)
    return ImportPlan(tuple(rows), change_set, intake.contents, intake.remarks, _on_code(workspace, intake.records))


def _on_code(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, ...]]:
    """Return the files that rules mention which do not say where they apply.

    Nothing is set by itself: that would keep a rule from the code that its text does not mention.
    """
    rules = {
        address: one
        for address, one in records.items()
        if one.type.is_rule and one.status is not Status.DEPRECATED and not one.fields.get("applies_to")
    }
    code = CodePaths(workspace) if rules else None
    found = {address: code.globs_in(one.body) for address, one in rules.items()} if code is not None else {}
    return {address: globs for address, globs in found.items() if globs}


def _created(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, dict[str, Guess]]]:
    """Return the day of each record, and what was guessed: its own, else its file's first commit, else today."""
    undated = sorted({one.source.path for one in records.values() if one.created_at is None})
    repository = workspace.location.repository
    days = first_days(repository, undated) if repository is not None and undated else {}
    found: dict[str, tuple[str, dict[str, Guess]]] = {}
    for address, record in records.items():
        day = days.get(record.source.path)
        if day is not None and record.ended_on is not None:
            day = min(day, record.ended_on)
        if record.created_at is not None:
            found[address] = (record.created_at, {})
        elif day is not None:
            found[address] = (day, {"created_at": Guess("the file's first commit", Sureness.LIKELY)})
        else:
            found[address] = (workspace.today.isoformat(), {"created_at": Guess("no date is stated", Sureness.GUESS)})
    return found


class _Writing:
    """Writes the text of each record's entry, its links settled against all others."""

    def __init__(self, workspace: Workspace, request: ImportRequest, intake: Intake) -> None:
        self._location, self._person, self._intake = workspace.location, request.approved_by, intake
        own = (known_by(one, address) for address, one in intake.records.items() if not one.part)
        self._references = References([*own, *intake.known])
        entries = workspace.catalog.entries
        self._settled = settle({**intake.before, **intake.records}, self._references, entries)
        self._created = _created(workspace, intake.records)
        known = {one: entries[one].created_at for one in intake.before if one in entries}
        self._days = {one: day.isoformat() for one, day in known.items() if day is not None}
        self._days |= {address: day for address, (day, _) in self._created.items()}

    def entry(self, address: str) -> tuple[Change, ImportRow]:
        """Return what writes an entry, and the row that tells of it."""
        record, settled, path = self._intake.records[address], self._settled[address], f"{address}.md"
        cuts = list(carried(record.cuts, settled.lost))
        place = partial(in_project, self._location)
        body = rewritten(record, path, self._references, place=place, cuts=cuts)
        if not body.text.strip():
            # A record may say it all in its title.
            body = rewritten(record, path, self._references, place=place, cuts=())
        guesses = {**record.guesses, **self._created[address][1]}
        ended, guess = ended_at(address, record, settled, self._days)
        if guess is not None and "deprecated_at" not in record.fields:
            guesses["deprecated_at"] = guess
        row = ImportRow(
            path=record.source.path,
            part=record.part,
            outcome=Outcome.IMPORTED,
            dialect=self._intake.dialects[address],
            address=address,
            type=record.type,
            status=record.status,
            title=record.title or title_of(address),
            stated=record.stated,
            guesses=guesses,
            said=(*record.said, *settled.said, *body.said),
        )
        text = composed(self._fields(address, settled, ended), body.text, newline=record.source.newline)
        return Change(path, path, None, text.encode()), row

    def _fields(self, address: str, settled: Settled, ended: str | None) -> dict[str, str | tuple[str, ...]]:
        record = self._intake.records[address]
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
        if settled.reasons:
            fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *settled.reasons)))
        # Of one that several replace, its own words show that it was split on purpose.
        if is_ended and len(settled.links.get("superseded_by", ())) != 1:
            fields.setdefault("deprecated_reason", f"its record says: {record.ended_as or record.status.value}")
        if self._person is not None and record.status is Status.ACTIVE and record.type in APPROVED_TYPES:
            fields["approved_by"] = self._person
        return fields
