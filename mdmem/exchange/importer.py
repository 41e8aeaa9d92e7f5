"""Import records: plan the entries, write them, remove or replace the old files, and check the result."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes
from mdmem.checks.engine import run_checks
from mdmem.checks.run import CheckRequest, check_all
from mdmem.disk import read_regular
from mdmem.errors import GitError, UsageError
from mdmem.exchange.intake import ImportRequest, Intake, in_project
from mdmem.exchange.links import References, number_of, write_body
from mdmem.exchange.record import ClaimKind, ForeignRecord, Guess, ImportRow, Outcome
from mdmem.markdown.front_matter import scalar
from mdmem.model.entry import Entry, Kind, Status, title_of
from mdmem.model.fields import FIELDS, ORIGIN, Origin, content_digest
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.history import first_days
from mdmem.store.git.status import list_tracked, search_lines
from mdmem.store.state.files import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.supersede import join_addresses
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write

# The number of patterns that fit on a command line.
_AT_ONCE = 200
_MOST_LINES = 100_000
# A file name that is shorter also occurs in texts by accident.
_SHORT = 8


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan of an import, the result of the write, and the findings about the new entries.

    `gone` are the old files that were moved. `left` are the folders of the old files if the import was only a copy.
    `unapproved` counts the active rules that nobody approved.
    """

    plan: ImportPlan
    written: WriteResult
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unapproved: int = 0
    remarks: tuple[str, ...] = ()


def import_records(workspace: Workspace, request: ImportRequest, options: WriteOptions) -> ImportReport:
    """Import records. No existing entry is overwritten. A file that cannot be imported is listed with the reason.

    Raises UsageError and the errors of `write`. Nothing was written in that case.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer is about the files that --move moves; use both, or neither")
    plan = plan_import(workspace, request)

    def change_set(fresh: Workspace) -> ChangeSet:
        nonlocal plan
        plan = plan_import(fresh, request) if fresh is not workspace else plan
        return plan.change_set

    gone: list[str] = []
    # A move writes the new files first. After an interruption both exist, and the same command completes the move.
    commit = False if request.moves else options.commit
    written = write(workspace, change_set, WriteOptions(is_dry=options.is_dry, commit=commit))
    remarks = list(plan.remarks)
    if request.moves:
        mentions = [] if request.leaves_pointer else _mentions(workspace, plan)
        gone, tracked, kept = _move(workspace, plan, leaves_pointer=request.leaves_pointer, is_dry=options.is_dry)
        remarks += [*kept, *mentions]
        if not options.is_dry:
            written = commit_files(workspace, plan.change_set, written, also=tracked, commit=options.commit)
    found = _findings(workspace, plan, written)
    return ImportReport(
        plan=plan,
        written=written,
        errors=tuple(one for one in found if one.severity is Severity.ERROR),
        warnings=tuple(one for one in found if one.severity is Severity.WARNING),
        gone=tuple(gone),
        left=() if request.moves else tuple(dict.fromkeys(posixpath.dirname(path) or "." for path in plan.contents)),
        unapproved=sum(row.is_new_rule for row in plan.rows) if request.approved_by is None else 0,
        remarks=tuple(remarks),
    )


def _findings(workspace: Workspace, plan: ImportPlan, written: WriteResult) -> list[Finding]:
    """Return the findings of `mdmem check` in or about the new entries. A dry run lacks the findings that need git."""
    if not written.changes:
        return []
    if written.is_dry:
        case = Case(catalog_after(workspace, written.changes), workspace.settings, workspace.today)
        found: Sequence[Finding] = run_checks(case, chosen_codes(workspace.settings))
    else:
        found = check_all(workspace.reread(), CheckRequest(with_uncommitted=True)).findings
    new = {f"{row.address}.md" for row in plan.rows if row.outcome is Outcome.IMPORTED}
    return [one for one in found if one.place.path in new or (one.other is not None and one.other.path in new)]


def _move(
    workspace: Workspace, plan: ImportPlan, *, leaves_pointer: bool, is_dry: bool
) -> tuple[list[str], list[str], list[str]]:
    """Remove or replace the old files that did not change, and stage the move in git.

    Return these files, those of them that git tracked, and a message about each file that stays.
    """
    base, repository = workspace.location.base, workspace.location.repository
    # The path and title of each new entry, by the path of the old file.
    places: dict[str, list[tuple[str, str]]] = {}
    for row in plan.rows:
        if row.address is not None:
            place = in_project(workspace.location, f"{row.address}.md")
            places.setdefault(row.path, []).append((place, row.title or row.address))
    gone, messages = [], []
    for path, content in plan.contents.items():
        why = None
        try:
            if leads_away(base, path):
                why = "a symbolic link is on the way"
            elif read_regular(base / path, follow=False) != content:
                why = "it changed during the import"
            elif not is_dry and leaves_pointer:
                folder = posixpath.dirname(path) or "."
                links = [f"[{title}](<{posixpath.relpath(place, folder)}>)" for place, title in places[path]]
                write_whole(base / path, f"Moved to {', '.join(links)}.\n".encode())
            elif not is_dry:
                (base / path).unlink()
                folders = (base / path).parents
                for empty in folders[: folders.index(base)]:
                    if not any(empty.iterdir()):
                        empty.rmdir()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
        if why is None:
            gone.append(path)
        else:
            messages.append(f"{path} stays: {why}; run the same command again to move it")
    if repository is None or is_dry or not gone:
        return gone, [], messages
    tracked = list_tracked(repository)
    old = [path for path in gone if path in tracked]
    # A file that cannot be staged is still written to disk.
    with suppress(GitError):
        stage_paths(repository, [*old, *(place for path in gone for place, _ in places[path])])
    return gone, old, messages


def _mentions(workspace: Workspace, plan: ImportPlan) -> list[str]:
    """Return a message about the files of the repository that mention the old paths."""
    location, paths = workspace.location, list(plan.contents)
    if location.repository is None or not paths:
        return []
    own = [location.under] if location.under else []
    found: dict[str, int] = {}
    for start in range(0, len(paths), _AT_ONCE):
        words = []
        for path in paths[start : start + _AT_ONCE]:
            # A short file name counts only together with its folder.
            stem = posixpath.splitext(posixpath.basename(path))[0]
            words.append(stem if "-" in stem and len(stem) > _SHORT else "/".join(path.split("/")[-2:]))
        for path, line, _ in search_lines(location.repository, words, _MOST_LINES, without=own):
            if path not in plan.contents:
                found.setdefault(path, line)
    if not found:
        return []
    files = "1 file mentions" if len(found) == 1 else f"{len(found)} files mention"
    places = join_addresses([f"{path}:{line}" for path, line in sorted(found.items())])
    return [f"{files} moved records: {places}; --pointer leaves a line in each old place that leads to the new one"]


_ORDER = {field.name: number for number, field in enumerate(FIELDS)}
_MOMENTS = frozenset(field.name for field in FIELDS if field.kind is Kind.MOMENT)
_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}
_Fields = dict[str, str | tuple[str, ...]]


class ImportPlan(Struct, frozen=True):
    """The plan of an import: a row for each file, in order, the changes, and the contents of the imported files."""

    rows: Sequence[ImportRow]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return the plan of an import. Raises UsageError if the place, a path or the person cannot be used."""
    intake = Intake(workspace, request)
    records, entries, references = intake.records, workspace.catalog.entries, References()
    for address, record in records.items():
        if not record.part:
            link = str(record.fields.get("x-permalink", ""))
            names = (record.title, record.name, link, link.rpartition("/")[2])
            references.add(address, record.path, names, record.number)
    for (path, part), (address, _) in intake.origins.items():
        if not part and address in entries:
            references.add(address, path, (entries[address].title,), number_of(path.rpartition("/")[2]))
    settle({**intake.before, **records}, references, entries)
    known = {one: entries[one].created_at for one in intake.before if one in entries}
    days = {one: moment.isoformat() for one, moment in known.items() if moment is not None}
    days |= {address: one.created_at for address, one in records.items() if one.created_at is not None}
    _date(workspace, records, days)
    days |= {address: str(one.created_at) for address, one in records.items()}
    files = dict(intake.files)
    for address, record in records.items():
        record.title = record.title or title_of(address)
        write = partial(write_body, record, references, place=partial(in_project, workspace.location))
        lost = set(record.lost)
        body, messages = write(cuts=[cut for cut in record.cuts if lost.isdisjoint(cut.claims)])
        # If nothing is left, the body had only a title. Keep it.
        body, messages = (body, messages) if body.strip() else write(cuts=())
        record.messages += messages
        fields = {
            **record.fields,
            "deprecated_at": _ended(record, [day for one in record.successors if (day := days.get(one))]),
            "type": record.type.value,
            "status": record.status.value,
            **{name: tuple(links) for name, links in record.links.items()},
            "created_at": str(record.created_at),
            "title": " ".join(record.title.split()),
            ORIGIN: str(Origin(record.path, record.part, content_digest(record.content))),
        }
        if record.reasons:
            fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *record.reasons)))
        # A reason shows that several successors are intended.
        if record.status is Status.DEPRECATED and len(record.successors) != 1:
            fields.setdefault(
                "deprecated_reason", f"status of the imported record: {record.reading.text or record.status.value}"
            )
        if request.approved_by and record.status is Status.ACTIVE and record.type.is_rule:
            fields["approved_by"] = request.approved_by
        files[f"{address}.md"] = _compose(fields, body, newline=record.source.newline).encode()
    order = {one.path: number for number, one in enumerate(intake.found)}
    rows = sorted([*intake.rows, *records.values()], key=lambda row: order[row.path])
    changes = tuple(Change(path, path, None, content) for path, content in files.items())
    actions = tuple(WriteAction(Verb.IMPORT, path.removesuffix(".md")) for path in files)
    return ImportPlan(rows, ChangeSet(changes, actions=actions, is_proved=True), intake.contents, intake.remarks)


def settle(records: Mapping[str, ForeignRecord], references: References, entries: Mapping[str, Entry]) -> None:
    """Turn the claims of records into links between addresses. Existing `entries` are not changed.

    If a record states its successor, both records get the link. If a record states that it supersedes another record,
    only this record gets the link. The other record gets it only if it is deprecated and states no successor itself.
    """
    in_part: list[tuple[str, str]] = []
    for address, record in records.items():
        for claim in record.claims:
            meant = references.meant(claim, record.source.folder)
            if claim.kind is ClaimKind.AMENDED_BY:
                in_part += ((address, newer) for newer in meant)
            if len(meant) != 1 or meant[0] == address:
                record.lost.append(claim)
                if not claim.is_in_text:
                    why = f"may be {' or '.join(meant)}" if meant else "is not an imported record"
                    why = "is the record itself" if meant == (address,) else why
                    record.messages.append(f"{claim.kind.value.replace('_', ' ')} `{claim.target}`, which {why}")
                continue
            (other,) = meant
            if claim.kind not in _PASSIVE:
                record.link(claim.kind.value, other, claim.qualifier)
                continue
            if claim.kind is ClaimKind.SUPERSEDED_BY:
                record.link("superseded_by", other)
            if other in records and other not in entries:
                records[other].link(_PASSIVE[claim.kind], address, claim.qualifier)
            elif claim.kind is ClaimKind.AMENDED_BY and (other not in entries or address not in entries[other].amends):
                record.lost.append(claim)
                record.messages.append(f"amended by {other}, which is in the memory already without that link")
    for older, newer in in_part:
        # The older record says that only a part of it was superseded, so this is not a supersession.
        if newer in records:
            records[newer].links.get("supersedes", {}).pop(older, None)
    for address, record in records.items():
        # The older record says that it was superseded. That outweighs a newer record that says it changes only a part.
        for newer in record.successors:
            if newer in records:
                records[newer].links.get("amends", {}).pop(address, None)
        for old in record.links.get("supersedes", ()):
            if old in records and records[old].status is Status.DEPRECATED and not records[old].successors:
                records[old].link("superseded_by", address)


def _date(workspace: Workspace, records: Mapping[str, ForeignRecord], stated: Mapping[str, str]) -> None:
    """Set the date of each record without one to that of the file's first commit, or else to today.

    It is not later than the end of the record, which may be the date that a successor has in `stated`.
    """
    undated = [one for one in records.values() if one.created_at is None]
    repository = workspace.location.repository
    # Ask for whole folders, because git follows a rename only if it sees the old path, too.
    folders = sorted({one.path.rpartition("/")[0] or one.path for one in undated})
    days = first_days(repository, folders) if repository is not None and undated else {}
    for record in undated:
        day = days.get(record.path)
        later = [stated[one] for one in record.successors if one in stated]
        ended = record.reading.day if record.status is Status.DEPRECATED else None
        ends = [ended] if ended is not None else later
        record.created_at = min([day or workspace.today.isoformat(), *ends])
        if day is None:
            record.guesses["created_at"] = Guess("no date is stated", "a guess")
        else:
            record.guesses["created_at"] = Guess("the file's first commit")


def _ended(record: ForeignRecord, later: list[str]) -> str:
    """Return the day on which a record was deprecated, or an empty text. `later` are the days of its successors.

    For a record that was never accepted, it is the date of the record.
    """
    stated = str(record.fields.get("deprecated_at", ""))
    if record.status is not Status.DEPRECATED or stated:
        return stated
    if record.reading.day is not None:
        return record.reading.day
    if later:
        record.guesses["deprecated_at"] = Guess("the date of its successor")
        return min(later)
    if record.reading.is_refused:
        record.guesses["deprecated_at"] = Guess("the date of the record")
    return str(record.created_at) if record.reading.is_refused else ""


def _compose(fields: _Fields, body: str, *, newline: str) -> str:
    """Return a file with its fields in mdmem's order. Unknown fields come last."""
    lines = []
    for name in sorted((name for name in fields if fields[name]), key=lambda name: _ORDER.get(name, len(_ORDER))):
        value = fields[name]
        if isinstance(value, tuple):
            text = f"[{', '.join(map(scalar, value))}]"
        else:
            text = value if name in _MOMENTS else scalar(value)
            # The value of an unknown key may have been a list or a mapping.
            if name.startswith("x-") and value[:1] in ("[", "{"):
                with suppress(ValueError, RecursionError):
                    text = value if isinstance(json.loads(value), (list, dict)) else text
        lines.append(f"{name}: {text}")
    return newline.join(["---", *lines, "---", "", body])
