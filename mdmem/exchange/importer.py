"""Import records: plan the entries, write them, remove or replace the old files, and check the result."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes
from mdmem.checks.engine import run_checks
from mdmem.checks.fixes import relative
from mdmem.checks.run import CheckRequest, check_all
from mdmem.disk import read_regular
from mdmem.errors import GitError, UsageError, reason_of
from mdmem.exchange.record import (
    IMPORTED_STATUS,
    RECORD_KINDS,
    WHOLE,
    Claim,
    ClaimKind,
    Cut,
    ForeignRecord,
    Guess,
    Outcome,
    kind_of,
    number_of,
    with_whole_labels,
    without_number,
)
from mdmem.exchange.sources import ImportPlan, ImportRequest, prefix_of
from mdmem.markdown.parse import body_links, image_links, without_code
from mdmem.model.entry import Entry, Status, title_of
from mdmem.model.fields import ORIGIN, Origin, content_digest
from mdmem.model.finding import Finding, Severity
from mdmem.record import grouped
from mdmem.store.git.commit import stage_paths
from mdmem.store.git.history import first_days
from mdmem.store.git.status import list_tracked
from mdmem.store.state.files import leads_away, write_whole
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.records import entry_text
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan of an import, the result of the write, and the findings about the new entries.

    `gone` are old files that were moved, `left` the folders of copied files, `unapproved` counts unapproved rules.
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

    Raises UsageError if the place, a path or the person cannot be used, and the errors of `write`.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer needs --move")
    plans: list[tuple[ImportPlan, ChangeSet]] = []

    def change_set(fresh: Workspace) -> ChangeSet:
        plans.append(plan_import(fresh, request))
        return plans[-1][1]

    gone: list[str] = []
    # A move writes the new files first. After an interruption both exist, and the same command completes the move.
    commit = False if request.moves else options.commit
    written = write(workspace, change_set, WriteOptions(is_dry=options.is_dry, commit=commit))
    plan, planned = plans[-1]
    remarks = list(plan.remarks)
    if request.moves:
        gone, tracked, kept = _move(workspace, plan, leaves_pointer=request.leaves_pointer, is_dry=options.is_dry)
        remarks += kept
        if gone and not request.leaves_pointer:
            remarks.append("files that mention the old places stay as they are; --pointer leaves a line there instead")
        if not options.is_dry:
            written = commit_files(workspace, planned, written, also=tracked, commit=options.commit)
    # The findings of `mdmem check` in or about the new entries. A dry run lacks those that need git.
    found: Sequence[Finding] = ()
    if written.changes and written.is_dry:
        case = Case(catalog_after(workspace, written.changes), workspace.settings, workspace.today)
        found = run_checks(case, chosen_codes(workspace.settings))
    elif written.changes:
        found = check_all(workspace.reread(), CheckRequest(with_uncommitted=True)).findings
    imported = [row for row in plan.rows if row.outcome is Outcome.IMPORTED]
    new = {f"{row.address}.md" for row in imported}
    found = [one for one in found if one.place.path in new or (one.other is not None and one.other.path in new)]
    rules = [row for row in imported if row.type is not None and row.type.is_rule and row.dialect != WHOLE]
    return ImportReport(
        plan=plan,
        written=written,
        errors=tuple(one for one in found if one.severity is Severity.ERROR),
        warnings=tuple(one for one in found if one.severity is Severity.WARNING),
        gone=tuple(gone),
        left=() if request.moves else tuple(dict.fromkeys(posixpath.dirname(path) or "." for path in plan.contents)),
        unapproved=sum(row.status is Status.ACTIVE for row in rules) if request.approved_by is None else 0,
        remarks=tuple(remarks),
    )


def _move(
    workspace: Workspace, plan: ImportPlan, *, leaves_pointer: bool, is_dry: bool
) -> tuple[list[str], list[str], list[str]]:
    """Remove or replace the old files that did not change, and stage the move in git.

    Return these files, those of them that git tracked, and a message about each file that stays.
    """
    base, repository, prefix = workspace.location.base, workspace.location.repository, prefix_of(workspace.location)
    # The path and title of each new entry, by the path of the old file.
    rows = ((row, row.address) for row in plan.rows if row.address is not None)
    places = grouped((row.path, (f"{prefix}{address}.md", row.title or address)) for row, address in rows)
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
            why = reason_of(error)
        if why is None:
            gone.append(path)
        else:
            messages.append(f"{path} is not moved: {why}; run the same command again to move it")
    if repository is None or is_dry or not gone:
        return gone, [], messages
    tracked = list_tracked(repository)
    old = [path for path in gone if path in tracked]
    # A file that cannot be staged is still written to disk.
    with suppress(GitError):
        stage_paths(repository, [*old, *(place for path in gone for place, _ in places[path])])
    return gone, old, messages


_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}


def plan_import(workspace: Workspace, request: ImportRequest) -> tuple[ImportPlan, ChangeSet]:
    """Return the read sources and the changes. Raises UsageError if the place, a path or the person cannot be used."""
    plan = ImportPlan(workspace, request)
    records, entries, references = plan.records, workspace.catalog.entries, References()
    for address, record in records.items():
        if not record.part:
            link = str(record.fields.get("x-permalink", ""))
            names = (record.title, record.name, link, link.rpartition("/")[2])
            references.add(address, record.path, names, record.number, record.source.home)
    for (path, part), (address, _) in plan.origins.items():
        if not part and address in entries:
            home = plan.earlier[address].source.home if address in plan.earlier else ""
            references.add(address, path, (entries[address].title,), home=home)
    link_records({**plan.earlier, **records}, references, entries)
    moments = {one: entries[one].created_at for one in plan.earlier if one in entries}
    _set_dates(workspace, records, {one: day.isoformat() for one, day in moments.items() if day is not None})
    files = dict(plan.files)
    for address, record in records.items():
        plain = without_number(address.rpartition("/")[2]) if record.source.is_in_records else ""
        record.title = record.title or title_of(plain) or title_of(address)
        write = partial(write_body, record, references, prefix=prefix_of(workspace.location))
        lost = set(record.lost)
        body, messages = write(cuts=[cut for cut in record.cuts if lost.isdisjoint(cut.claims)])
        # If nothing is left, the body had only a title. Keep it.
        body, messages = (body, messages) if body.strip() else write(cuts=())
        record.messages += messages
        # Relations that a front matter states stay there if they become no links.
        kept = grouped(record.stated[claim] for claim in record.lost if claim in record.stated)
        fields = {
            **record.fields,
            **{key: ", ".join(dict.fromkeys(values)) for key, values in kept.items()},
            "type": record.type.value,
            "status": record.status.value,
            **{name: tuple(links) for name, links in record.links.items()},
            "created_at": str(record.created_at),
            "title": " ".join(record.title.split()),
            ORIGIN: str(Origin(record.path, record.part, content_digest(record.content))),
        }
        if record.reasons:
            fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *record.reasons)))
        # A reason shows that several successors are intended, and mentions one that is not accepted.
        drafts = [one for one in record.successors if (entries.get(one) or records[one]).status is Status.DRAFT]
        if record.status is Status.DEPRECATED and (drafts or len(record.successors) != 1):
            by = [claim.target for claim in record.stated if claim.kind is ClaimKind.SUPERSEDED_BY]
            stated = f"superseded by {', '.join(by)}" if by else record.parsed_status.text or record.status.value
            fields.setdefault("deprecated_reason", f"{IMPORTED_STATUS}{stated}")
        if request.approved_by and record.status is Status.ACTIVE and record.type.is_rule:
            fields["approved_by"] = request.approved_by
        front = entry_text(fields, "").replace("\n", record.source.newline)
        files[f"{address}.md"] = f"{front}{record.source.newline}{body}".encode()
    order = {one.path: number for number, one in enumerate(plan.found)}
    plan.rows = sorted([*plan.rows, *records.values()], key=lambda row: order[row.path])
    changes = (*plan.manifests.values(), *(Change(path, path, None, content) for path, content in files.items()))
    actions = tuple(WriteAction(Verb.IMPORT, path.removesuffix(".md")) for path in files)
    return plan, ChangeSet(changes, actions=actions, is_checked=True)


def link_records(records: Mapping[str, ForeignRecord], references: References, entries: Mapping[str, Entry]) -> None:
    """Turn the relations that records state into links between addresses. Existing `entries` are not changed.

    If only the newer record states a supersession, only that record gets the link, unless the older is deprecated.
    """
    in_part: list[tuple[str, str]] = []
    for address, record in records.items():
        for claim in record.claims:
            found = references.resolve(claim, record.path)
            if claim.kind is ClaimKind.AMENDED_BY:
                in_part += ((address, newer) for newer in found)
            if len(found) != 1 or found[0] == address:
                record.lost.append(claim)
                if not claim.is_in_text:
                    why = f"may be {' or '.join(found)}" if found else "is not an imported record"
                    why = "is the record itself" if found == (address,) else why
                    record.messages.append(f"{claim.kind.value.replace('_', ' ')} `{claim.target}`, which {why}")
                continue
            (other,) = found
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


def _set_dates(workspace: Workspace, records: Mapping[str, ForeignRecord], known: Mapping[str, str]) -> None:
    """Set the missing dates of the records; `known` are the dates of existing entries by address.

    A record without a date gets that of the file's first commit, or else today, but none later than its end. A record
    that was deprecated ended on the day of its status, or else with its successor. If it was never accepted, it ended
    on its own day.
    """
    undated = [one for one in records.values() if one.created_at is None]
    repository = workspace.location.repository
    # Ask for whole folders, because git follows a rename only if it sees the old path, too.
    folders = sorted({one.path.rpartition("/")[0] or one.path for one in undated})
    commits = first_days(repository, folders) if repository is not None and undated else {}
    days = {**known, **{address: one.created_at for address, one in records.items() if one.created_at is not None}}
    for record in undated:
        first = commits.get(record.path)
        ended = record.parsed_status.day if record.status is Status.DEPRECATED else None
        ends = [ended] if ended is not None else [days[one] for one in record.successors if one in days]
        record.created_at = first or workspace.today.isoformat()
        why = Guess("the file's first commit") if first is not None else Guess("no date is stated", "a guess")
        if min(ends, default=record.created_at) < record.created_at:
            record.created_at = min(ends)
            why = Guess("the date of its successor" if ended is None else "the date of its status")
        record.guesses["created_at"] = why
    days |= {address: str(one.created_at) for address, one in records.items()}
    for record in records.values():
        if record.status is not Status.DEPRECATED or record.fields.get("deprecated_at"):
            continue
        later = [days[one] for one in record.successors if one in days]
        ended, reason = record.parsed_status.day, ""
        if ended is None and later:
            ended, reason = max(min(later), str(record.created_at)), "the date of its successor"
        elif ended is None and record.parsed_status.is_refused:
            ended, reason = str(record.created_at), "the date of the record"
        record.fields |= {"deprecated_at": ended} if ended else {}
        record.guesses |= {"deprecated_at": Guess(reason)} if reason else {}


# A number, and before it the kind of the record. Words such as `decision` say no kind.
_NUMBER = re.compile(
    r"(?:(?P<kind>[a-z]{2,10})[\s_#:.-]*)??(?:(?:no|nr|number|decisions?|records?)[\s_#:.-]*){0,4}#?0*(?P<number>\d{1,6})\Z",
    re.IGNORECASE,
)


class _Numbered(Struct, frozen=True):
    """A record in the index: its address, and the folder of its source with the kind that the file's name states."""

    address: str
    folder: str
    kind: str


class References:
    """An index of records by path, number, slug and title. `by_path` maps the path of each source to the address."""

    def __init__(self) -> None:
        """Create an empty index."""
        self.by_path: dict[str, str] = {}
        self._by_name: dict[str, list[_Numbered]] = {}
        self._by_number: dict[tuple[str, int], list[_Numbered]] = {}
        self._by_slug: dict[str, list[_Numbered]] = {}
        # For each folder, the imported folder that it is in, and the numbers of each kind.
        self._homes: dict[str, str] = {}
        self._numbers = defaultdict[tuple[str, str], set[int]](set)

    def add(self, address: str, path: str, names: Iterable[str], number: int | None = None, home: str = "") -> None:
        """Add a record by its source, the names that other records may use for it, and the number of its title."""
        stem, folder = PurePosixPath(path).stem, posixpath.dirname(path)
        kind, in_name = number_of(stem) or ("", number)
        one = _Numbered(address, folder, kind)
        self.by_path.setdefault(path, address)
        self._homes |= {folder: home} if home else {}
        if slug := _slug(stem):
            self._by_slug.setdefault(slug, []).append(one)
        for name in {_normalized(name) for name in (*names, stem) if name}:
            self._by_name.setdefault(name, []).append(one)
        if in_name is not None:
            self._numbers[folder, kind].add(in_name)
            for each in (kind,) if kind else _kinds_in(folder):
                self._by_number.setdefault((each, in_name), []).append(one)

    def find(self, name: str, path: str) -> tuple[str, ...]:
        """Return the addresses that a name, slug or number in the file `path` may mean.

        Records in the same folder take precedence, then those of other folders with the same series of numbers. A
        number without a kind means only these.
        """
        folder, number = posixpath.dirname(path), _NUMBER.match(name.strip())
        own = (number_of(PurePosixPath(path).stem) or ("",))[0]
        groups = [self._by_name.get(_normalized(name), [])]
        if number is not None:
            kinds = ((kind_of(number["kind"]),),) if number["kind"] else ((own,), _kinds_in(folder))
            value = int(number["number"])
            groups += [[one for kind in each for one in self._by_number.get((kind, value), ())] for each in kinds]
        for group in groups:
            near = [one for one in group if one.folder == folder]
            near = near or [one for one in group if self._is_same_series(one, folder, own)]
            if near or (group and (number is None or number["kind"])):
                return tuple(dict.fromkeys(one.address for one in near or group))
        return ()

    def _is_same_series(self, one: _Numbered, folder: str, kind: str) -> bool:
        """Return whether two folders share a series of numbers: both are of one import, and no number is in both."""
        home, numbers = self._homes.get(folder), self._numbers[folder, kind]
        is_of_import = home is not None and home == self._homes.get(one.folder)
        return is_of_import and one.kind == kind and numbers.isdisjoint(self._numbers[one.folder, kind])

    def resolve(self, claim: Claim, path: str) -> tuple[str, ...]:
        """Return the addresses that a claim in the file `path` may mean. If there is only one, it is certain."""
        folder, target = posixpath.dirname(path), claim.target
        if not claim.is_path:
            # A front matter may have a path from the top of the project, without an ending.
            there = self.by_path.get(f"{target.strip('/')}.md")
            return (there,) if there is not None else self.find(target, path)
        path = posixpath.normpath(posixpath.join(folder, target.lstrip("/") if folder == "" else target))
        address = self.by_path.get(path) or self.by_path.get(f"{path}.md") or self.by_path.get(target.lstrip("/"))
        if address:
            return (address,)
        stem, place = PurePosixPath(path).stem, posixpath.dirname(path)
        # A record may get another number, or another title and with it another name, but seldom both.
        renumbered = self._by_slug.get(_slug(stem), ())
        number = number_of(stem)
        found = self.find(stem, path) or tuple(one.address for one in renumbered if one.folder == place)
        return found or (self.find(str(number[1]), path) if number is not None else ())


def _kinds_in(folder: str) -> tuple[str, ...]:
    """Return the kinds of the records in a folder whose names have only a number. Its name may say the kind."""
    kind = kind_of(re.split(r"[\W_]+", folder)[-1])
    return (kind,) if kind in RECORD_KINDS else (kind, *RECORD_KINDS)


def _slug(stem: str) -> str:
    """Return the letters of a file's name without its number: tools put different marks into one title."""
    return re.sub(r"[\W_]+", "", without_number(stem)).casefold()


def _normalized(name: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", name.casefold()).split())


# Stands for a part that was cut. No text that was read from a file contains a lone surrogate.
_CUT = "\udfff"
# A cut paragraph takes the blank lines after it along.
_CUT_BELOW_BLANK = re.compile(rf"(\A|\n[ \t]*\r?\n)(?:{_CUT}(?:[ \t]*\r?\n)*)+")
# Blanks inside of brackets are assumed to be fewer than this.
_NEAR = 1000
_SHOWN_WORDS = re.compile(r"[ \t]*\|")


def write_body(
    record: ForeignRecord, references: References, *, prefix: str, cuts: Collection[Cut]
) -> tuple[str, tuple[str, ...]]:
    """Return the body for a record's entry, without the `cuts` and with new links, and messages about broken links.

    `prefix` is the path of the memory from the top of the project.
    """
    prose, folder = with_whole_labels(without_code(record.body)), record.source.folder
    # Start and end of a part of the body, its new text, and a message or an empty text.
    edits = [(cut.start, cut.end, _CUT, "") for cut in cuts]
    for link in (*body_links(prose), *image_links(prose)):
        end = link.offset + link.width
        text = written = record.body[link.offset : end]
        message = ""
        if link.is_path and link.target and not link.target.startswith("/"):
            target = posixpath.normpath(posixpath.join(folder, link.target))
            if target == ".." or target.startswith("../"):
                message = f"`{written}` leads out of the project, and is unchanged"
            else:
                address = references.by_path.get(target)
                new = f"{prefix}{address}.md" if address else target
                text = relative(new, f"{prefix}{record.address}.md", written)
        # Without `[[` directly before it, the text is a list inside a list, or a footnote.
        elif not link.is_path and record.body[max(0, link.offset - _NEAR) : link.offset].rstrip(" \t").endswith("[["):
            found = references.find(link.target, record.path)
            if len(found) == 1:
                # The old text stays as the words to show.
                text = found[0] if _SHOWN_WORDS.match(record.body, end) else f"{found[0]}|{link.target}"
            elif not link.target.isdigit():
                why = f"may mean {' or '.join(found)}" if found else "matches no imported record"
                message = f"`[[{link.target}]]` {why}, and is unchanged"
        edits.append((link.offset, end, text, message))
    parts: list[str] = []
    messages: dict[str, None] = {}
    at = 0
    for start, end, text, message in sorted(edits, key=lambda edit: edit[0]):
        if start >= at:
            parts += (record.body[at:start], text)
            at = end
            messages |= {message: None} if message else {}
    body = _CUT_BELOW_BLANK.sub(r"\1", "".join([*parts, record.body[at:]])).replace(_CUT, "")
    return re.sub(r"\A(?:[ \t]*\r?\n)+", "", body), tuple(messages)
