"""Plan an import: settle what the records say about one another, and compose the files of their entries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

from msgspec import Struct, field

from mdmem.checks.rules.change import APPROVED_TYPES
from mdmem.exchange.intake import ImportRequest, ImportRow, Intake, Outcome
from mdmem.exchange.links import References, cuts_to_make, number_of, write_body
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, Guess, Sureness
from mdmem.exchange.source import in_project
from mdmem.markdown.scalars import scalar
from mdmem.model.entry import Entry, Kind, Status, title_of
from mdmem.model.fields import FIELDS
from mdmem.model.origin import KEY, Origin, content_digest
from mdmem.store.git.history import first_days
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.edit import CodePaths

_ORDER = {field.name: number for number, field in enumerate(FIELDS)}
_MOMENTS = frozenset(field.name for field in FIELDS if field.kind is Kind.MOMENT)
_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}
_Fields = dict[str, str | tuple[str, ...]]


class ImportPlan(Struct, frozen=True):
    """The rows in the order of their files, the changes, and the contents of the files that are taken in.

    `on_code` are the rules whose text mentions files of the project, with globs for these.
    """

    rows: tuple[ImportRow, ...]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    on_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return the plan of an import; raises UsageError for an unusable place, path or person."""
    intake = Intake(workspace, request)
    entries, references = workspace.catalog.entries, References()
    for address, record in intake.records.items():
        if not record.part:
            link = str(record.fields.get("x-permalink", ""))
            names = (record.title, record.name, link, link.rpartition("/")[2])
            references.add(address, record.source.path, names, record.number)
    for (path, part), (address, _) in intake.origins.items():
        if not part and address in entries:
            number = number_of(path.rpartition("/")[2])
            references.add(address, path, (entries[address].title,), number)
    settled = settle({**intake.before, **intake.records}, references, entries)
    created = _created_days(workspace, intake.records)
    known = {one: entries[one].created_at for one in intake.before if one in entries}
    days = {one: day.isoformat() for one, day in known.items() if day is not None}
    days |= {address: day for address, (day, _) in created.items()}
    changes = [Change(path, path, None, content) for path, content in intake.files.items()]
    rows = list(intake.rows)
    for address, record in intake.records.items():
        own, path = settled[address], f"{address}.md"
        body, messages = _body(workspace, record, path, references, own)
        ended, ended_guess = _ended(record, days[address], [days[one] for one in own.successors if one in days])
        fields = _fields(record, own, ended)
        fields |= {"created_at": days[address], "title": " ".join(record.title.split()) or title_of(address)}
        if request.approved_by and record.status is Status.ACTIVE and record.type in APPROVED_TYPES:
            fields["approved_by"] = request.approved_by
        changes.append(Change(path, path, None, _compose(fields, body, newline=record.source.newline).encode()))
        guesses = {"created_at": created[address][1], "deprecated_at": ended_guess}
        row = ImportRow(
            path=record.source.path,
            part=record.part,
            outcome=Outcome.IMPORTED,
            dialect=record.dialect,
            address=address,
            type=record.type,
            status=record.status,
            title=record.title or title_of(address),
            stated=record.stated,
            guesses={**record.guesses, **{name: guess for name, guess in guesses.items() if guess is not None}},
            messages=(*record.messages, *own.messages, *messages),
        )
        rows.append(row)
    order = {one.path: number for number, one in enumerate(intake.found)}
    rows.sort(key=lambda row: order[row.path])
    actions = tuple(WriteAction(Verb.IMPORT, change.path.removesuffix(".md")) for change in changes)
    change_set = ChangeSet(tuple(changes), actions=actions, is_proved=True)
    return ImportPlan(tuple(rows), change_set, intake.contents, intake.remarks, _files_mentioned(workspace, intake))


def _files_mentioned(workspace: Workspace, intake: Intake) -> dict[str, tuple[str, ...]]:
    """Return the files that rules without `applies_to` mention.

    They are only suggested: as `applies_to` they would hide a rule at all other files.
    """
    rules = {
        address: one
        for address, one in intake.records.items()
        if one.type.is_rule and one.status is not Status.DEPRECATED and not one.fields.get("applies_to")
    }
    if not rules:
        return {}
    code = CodePaths(workspace)
    return {address: globs for address, one in rules.items() if (globs := code.globs_in(one.body))}


class Settled(Struct, frozen=True):
    """The links of one record by field, the claims that could not be resolved, and messages about these.

    `reasons` describe the parts of other records that it changes.
    """

    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    @property
    def successors(self) -> list[str]:
        """Return the records that supersede this one."""
        return self.links.get("superseded_by", [])

    def add(self, name: str, address: str, qualifier: str = "") -> None:
        """Add a link to a field, and the words on the part that is meant, each once."""
        links = self.links.setdefault(name, [])
        if address not in links:
            links.append(address)
        if qualifier and qualifier not in self.reasons:
            self.reasons.append(qualifier)

    def drop(self, name: str, address: str) -> None:
        """Remove a link from a field."""
        if address in self.links.get(name, ()):
            self.links[name].remove(address)


def settle(
    records: Mapping[str, ForeignRecord], references: References, entries: Mapping[str, Entry]
) -> dict[str, Settled]:
    """Return the links of each record, by address; existing `entries` are not changed.

    A record with a claim on its successor gets both ends of the link. A record that claims to supersede another gets
    its own end, and the other end only if the other record says that it ended.
    """
    settled = {address: Settled() for address in records}
    in_part: list[tuple[str, str]] = []
    for address, record in records.items():
        for claim in record.claims:
            meant = references.meant(claim, record.source.folder)
            if claim.kind is ClaimKind.AMENDED_BY:
                in_part += ((address, newer) for newer in meant)
            _settle_claim(settled, address, claim, meant, entries)
    for older, newer in in_part:
        # The older record says that only a part of it was superseded.
        if newer in settled:
            settled[newer].drop("supersedes", older)
    for address, own in settled.items():
        # The record's own statement outweighs that of another which says it changes a part.
        for newer in own.successors:
            if newer in settled:
                settled[newer].drop("amends", address)
        for old in own.links.get("supersedes", ()):
            if old in records and records[old].status is Status.DEPRECATED and not settled[old].successors:
                settled[old].add("superseded_by", address)
    return settled


def _settle_claim(
    settled: dict[str, Settled],
    address: str,
    claim: Claim,
    meant: tuple[str, ...],
    entries: Mapping[str, Entry],
) -> None:
    """Add a claim of a record to its links, or to those of the record that it means."""
    own = settled[address]
    if len(meant) != 1 or meant[0] == address:
        own.lost.append(claim)
        if not claim.is_in_text:
            why = f"may be {' or '.join(meant)}" if meant else "is not an imported record"
            why = "is the record itself" if meant == (address,) else why
            own.messages.append(f"{claim.kind.value.replace('_', ' ')} `{claim.target}`, which {why}")
        return
    (other,) = meant
    if claim.kind not in _PASSIVE:
        own.add(claim.kind.value, other, claim.qualifier)
        return
    if claim.kind is ClaimKind.SUPERSEDED_BY:
        own.add("superseded_by", other)
    if other in settled and other not in entries:
        settled[other].add(_PASSIVE[claim.kind], address, claim.qualifier)
    elif claim.kind is ClaimKind.AMENDED_BY and (other not in entries or address not in entries[other].amends):
        own.lost.append(claim)
        own.messages.append(f"amended by {other}, which is in the memory already without that link")


def _body(
    workspace: Workspace, record: ForeignRecord, path: str, references: References, settled: Settled
) -> tuple[str, tuple[str, ...]]:
    """Return the body of an entry, and messages about links that lead nowhere."""
    write = partial(write_body, record, path, references, place=partial(in_project, workspace.location))
    body, messages = write(cuts=list(cuts_to_make(record.cuts, settled.lost)))
    # Everything may be in the title.
    return (body, messages) if body.strip() else write(cuts=())


def _created_days(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, Guess | None]]:
    """Return the day of each record: its own, else that of the file's first commit, else today."""
    undated = sorted({one.source.path for one in records.values() if one.created_at is None})
    repository = workspace.location.repository
    folders = sorted({path.rpartition("/")[0] or path for path in undated})
    days = first_days(repository, folders) if repository is not None else {}
    found: dict[str, tuple[str, Guess | None]] = {}
    for address, record in records.items():
        day = days.get(record.source.path)
        if record.created_at is not None:
            found[address] = (record.created_at, None)
        elif day is not None:
            day = min(day, record.ended_on) if record.ended_on is not None else day
            found[address] = (day, Guess("the file's first commit", Sureness.LIKELY))
        else:
            found[address] = (workspace.today.isoformat(), Guess("no date is stated", Sureness.GUESS))
    return found


def _ended(record: ForeignRecord, created: str, later: list[str]) -> tuple[str, Guess | None]:
    """Return the day on which a record ended, and how it was guessed; `later` are the days of its successors.

    A record that was never accepted ended on its own day.
    """
    stated = str(record.fields.get("deprecated_at", ""))
    if record.status is not Status.DEPRECATED or stated or record.ended_on is not None:
        return stated or record.ended_on or "", None
    if later:
        return min(later), Guess("the day of its successor", Sureness.LIKELY)
    return (created, Guess("the day of its record", Sureness.LIKELY)) if record.is_refused else ("", None)


def _fields(record: ForeignRecord, settled: Settled, ended: str) -> _Fields:
    fields: _Fields = {
        **record.fields,
        "deprecated_at": ended,
        "type": record.type.value,
        "status": record.status.value,
        **{name: tuple(links) for name, links in settled.links.items()},
        KEY: str(Origin(record.source.path, record.part, content_digest(record.content))),
    }
    if settled.reasons:
        fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *settled.reasons)))
    # With several successors, these words show that the split is intended.
    if record.status is Status.DEPRECATED and len(settled.successors) != 1:
        fields.setdefault("deprecated_reason", f"its record says: {record.ended_as or record.status.value}")
    return fields


def _compose(fields: _Fields, body: str, *, newline: str) -> str:
    """Return a file with its fields in the order of their table, unknown ones last."""
    names = sorted((name for name in fields if fields[name]), key=lambda name: _ORDER.get(name, len(_ORDER)))
    lines = [f"{name}: {_value(name, fields[name])}" for name in names]
    return newline.join(["---", *lines, "---", "", body])


def _value(name: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    return value if name in _MOMENTS or (name.startswith("x-") and _is_nested(value)) else scalar(value)


def _is_nested(value: str) -> bool:
    """Return whether an unknown key had a list or a mapping."""
    try:
        return value[:1] in ("[", "{") and isinstance(json.loads(value), (list, dict))
    except (ValueError, RecursionError):
        return False
