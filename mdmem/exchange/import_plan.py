"""Plan an import: settle what the records say about one another, and compose the files of their entries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

from msgspec import Struct, field

from mdmem.checks.rules.change import APPROVED_TYPES
from mdmem.exchange.body import cuts_to_make, write_body
from mdmem.exchange.intake import ImportRequest, ImportRow, Intake, Outcome
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, Guess, Sureness
from mdmem.exchange.references import References, known_by
from mdmem.exchange.source import in_project
from mdmem.markdown.scalars import scalar
from mdmem.model.entry import Entry, Status, title_of
from mdmem.model.fields import FIELDS
from mdmem.model.kinds import Kind
from mdmem.model.origin import KEY, Origin, content_digest
from mdmem.store.git.history import first_days
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.edit import CodePaths

_ORDER = {field.name: number for number, field in enumerate(FIELDS)}
_MOMENTS = frozenset(field.name for field in FIELDS if field.kind is Kind.MOMENT)
_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}


class ImportPlan(Struct, frozen=True):
    """The rows in the order of their files, the changes, and the contents of the files that are taken in.

    `on_code` are the rules whose text mentions files of the project, with globs for these.
    """

    rows: tuple[ImportRow, ...]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    on_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Settled(Struct, frozen=True):
    """The links of one record by field, the claims that could not be resolved, and messages about these.

    `reasons` describe the parts of other records that it changes.
    """

    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

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


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return what an import writes; raises UsageError for an unusable place, path or person."""
    intake = Intake(workspace, request)
    composer = _Composer(workspace, request, intake)
    written = [composer.entry(address) for address in intake.records]
    order = {one.path: number for number, one in enumerate(intake.found)}
    rows = sorted((*intake.rows, *(row for _, row in written)), key=lambda row: order[row.path])
    whole = [Change(path, path, None, content) for path, content in intake.files.items()]
    addresses = [*(path.removesuffix(".md") for path in intake.files), *intake.records]
    actions = tuple(WriteAction(Verb.IMPORT, address) for address in addresses)
    change_set = ChangeSet((*whole, *(change for change, _ in written)), actions=actions, is_proved=True)
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
            if len(meant) != 1 or meant[0] == address:
                _lose(settled[address], claim, meant, address)
            elif claim.kind in _PASSIVE:
                _settle_passive(settled, claim, address, meant[0], entries.get(meant[0]))
            else:
                settled[address].add(claim.kind.value, meant[0], claim.qualifier)
    for older, newer in in_part:
        # The older record says that only a part of it was superseded.
        if newer in settled:
            settled[newer].drop("supersedes", older)
    for address, own in settled.items():
        # The record's own statement outweighs that of another which says it changes a part.
        for newer in own.links.get("superseded_by", ()):
            if newer in settled:
                settled[newer].drop("amends", address)
        for old in own.links.get("supersedes", ()):
            has_ended = old in records and records[old].status is Status.DEPRECATED
            if has_ended and "superseded_by" not in settled[old].links:
                settled[old].add("superseded_by", address)
    return settled


def _lose(one: Settled, claim: Claim, meant: tuple[str, ...], address: str) -> None:
    why = "is not an imported record"
    if meant == (address,):
        why = "is the record itself"
    elif meant:
        why = f"may be {' or '.join(meant)}"
    one.lost.append(claim)
    if not claim.is_in_text:
        one.said.append(f"{claim.kind.value.replace('_', ' ')} `{claim.target}`, which {why}")


def _settle_passive(settled: dict[str, Settled], claim: Claim, address: str, other: str, there: Entry | None) -> None:
    if claim.kind is ClaimKind.SUPERSEDED_BY:
        settled[address].add("superseded_by", other)
    if other in settled and there is None:
        settled[other].add(_PASSIVE[claim.kind], address, claim.qualifier)
    elif claim.kind is ClaimKind.AMENDED_BY and (there is None or address not in there.amends):
        settled[address].lost.append(claim)
        settled[address].said.append(f"amended by {other}, which is in the memory already without that link")


class _Composer:
    """Compose the file of each record's entry, with its links settled against all others."""

    def __init__(self, workspace: Workspace, request: ImportRequest, intake: Intake) -> None:
        self._location, self._person, self._intake = workspace.location, request.approved_by, intake
        own = (known_by(one, address) for address, one in intake.records.items() if not one.part)
        self._references = References([*own, *intake.known])
        entries = workspace.catalog.entries
        self._settled = settle({**intake.before, **intake.records}, self._references, entries)
        self._created = _created_days(workspace, intake.records)
        known = {one: entries[one].created_at for one in intake.before if one in entries}
        self._days = {one: day.isoformat() for one, day in known.items() if day is not None}
        self._days |= {address: day for address, (day, _) in self._created.items()}

    def entry(self, address: str) -> tuple[Change, ImportRow]:
        """Return the change that writes an entry, and its row."""
        record, settled, path = self._intake.records[address], self._settled[address], f"{address}.md"
        cuts = list(cuts_to_make(record.cuts, settled.lost))
        place = partial(in_project, self._location)
        body, said = write_body(record, path, self._references, place=place, cuts=cuts)
        if not body.strip():
            # Everything may be in the title.
            body, said = write_body(record, path, self._references, place=place, cuts=())
        _, created_guess = self._created[address]
        ended, ended_guess = self._ended(address)
        guesses = dict(record.guesses)
        if created_guess is not None:
            guesses["created_at"] = created_guess
        if ended_guess is not None and "deprecated_at" not in record.fields:
            guesses["deprecated_at"] = ended_guess
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
            said=(*record.said, *settled.said, *said),
        )
        text = _compose(self._fields(address, ended), body, newline=record.source.newline)
        return Change(path, path, None, text.encode()), row

    def _ended(self, address: str) -> tuple[str | None, Guess | None]:
        """Return the day on which a record ended, and how it was guessed.

        It is the stated day, else that of the first successor; a record that was never accepted ended on its own day.
        """
        record = self._intake.records[address]
        if record.status is not Status.DEPRECATED:
            return None, None
        if record.ended_on is not None:
            return record.ended_on, None
        successors = self._settled[address].links.get("superseded_by", ())
        if found := [self._days[one] for one in successors if one in self._days]:
            return min(found), Guess("the day of its successor", Sureness.LIKELY)
        return (
            (self._days[address], Guess("the day of its record", Sureness.LIKELY))
            if record.is_refused
            else (None, None)
        )

    def _fields(self, address: str, ended: str | None) -> dict[str, str | tuple[str, ...]]:
        record, settled = self._intake.records[address], self._settled[address]
        fields: dict[str, str | tuple[str, ...]] = {
            "deprecated_at": ended or "",
            **record.fields,
            "type": record.type.value,
            "status": record.status.value,
            "created_at": self._days[address],
            "title": " ".join(record.title.split()) or title_of(address),
            **{name: tuple(links) for name, links in settled.links.items()},
            KEY: str(Origin(record.source.path, record.part, content_digest(record.content))),
        }
        if settled.reasons:
            fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *settled.reasons)))
        # With several successors, these words show that the split is intended.
        if record.status is Status.DEPRECATED and len(settled.links.get("superseded_by", ())) != 1:
            fields.setdefault("deprecated_reason", f"its record says: {record.ended_as or record.status.value}")
        if self._person is not None and record.status is Status.ACTIVE and record.type in APPROVED_TYPES:
            fields["approved_by"] = self._person
        return fields


def _created_days(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, Guess | None]]:
    """Return the day of each record: its own, else that of the file's first commit, else today."""
    undated = sorted({one.source.path for one in records.values() if one.created_at is None})
    repository = workspace.location.repository
    days = first_days(repository, undated) if repository is not None and undated else {}
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


def _compose(fields: Mapping[str, str | tuple[str, ...]], body: str, *, newline: str) -> str:
    """Return a file with its fields in the order of their table, unknown ones last."""
    names = sorted((name for name in fields if fields[name]), key=lambda name: _ORDER.get(name, len(_ORDER)))
    lines = [f"{name}: {_value(name, fields[name])}" for name in names]
    return newline.join(["---", *lines, "---", "", body])


def _value(name: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    return value if name in _MOMENTS or (name.startswith("x-") and _is_nested(value)) else scalar(value)


def _is_nested(value: str) -> bool:
    """Say whether an unknown key had a list or a mapping."""
    try:
        return value[:1] in ("[", "{") and isinstance(json.loads(value), (list, dict))
    except (ValueError, RecursionError):
        return False
