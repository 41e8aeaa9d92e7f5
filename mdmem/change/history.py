"""Read the history of an entry: its commits, the commit that last set each field, and its chain of supersessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import NotFoundError
from mdmem.markdown.parse import Document, first_heading, parse_document
from mdmem.model.entry import Entry, Status, title_of
from mdmem.model.fields import ORIGIN, origin_in, read_origin
from mdmem.model.lineage import BranchState
from mdmem.record import grouped
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.git.history import Commit, FileRevision, file_changes, history, is_shallow
from mdmem.store.git.process import Repository, UnknownRevisionError, read_blobs, resolve
from mdmem.store.workspace.addresses import from_root, resolve_name
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.visibility import visible_commits
from mdmem.store.workspace.workspace import Workspace

BODY = "body"
# The log also shows these fields for a new entry.
_RELATIONS = ("supersedes", "superseded_by", "amends", "overrides", "conflicts_with", "applies_to")


class HistoryStep(Struct, frozen=True, kw_only=True):
    """One commit in the history of an entry, with one line for each thing that the commit changed."""

    change: FileRevision
    lines: tuple[str, ...]


class LogReport(Struct, frozen=True, kw_only=True):
    """The history of an entry: its commits, newest first, or for each field and the body the commit that last set it.

    `is_cut` says that a shallow clone lacks the beginning. `branch_state` compares the file on disk with the default
    branch; it is None for an entry that is deleted or cannot be parsed.
    """

    address: str
    steps: tuple[HistoryStep, ...] = ()
    fields: tuple[FieldBlame, ...] = ()
    is_cut: bool = False
    branch_state: BranchState | None = None


class FieldBlame(Struct, frozen=True, kw_only=True):
    """A field of an entry, or the body, with the commit that last set the value (None if it is not committed)."""

    name: str
    value: str
    change: FileRevision | None


class _Version(Struct, frozen=True):
    """A commit in an entry's history, with the file before and after the commit (None if the file is unreadable)."""

    change: FileRevision
    before: Document | None
    after: Document | None


def log(workspace: Workspace, name: str) -> LogReport:
    """Return the history of an entry, also from before a move; raises NotFoundError, and GitError outside git."""
    repository = workspace.location.get_repository()
    try:
        address = resolve_name(workspace, name)
        versions = _versions(workspace, repository, address)
    except NotFoundError:
        address = from_root(workspace, name)
        versions = _versions(workspace, repository, address) if workspace.access.sees(f"{address}.md") else []
        if not versions:
            raise
    state = view_of(workspace).checkout.catalog.branch_state(address) if address in workspace.catalog.entries else None
    steps = tuple(HistoryStep(change=one.change, lines=tuple(_describe(workspace, one))) for one in versions)
    return LogReport(address=address, steps=steps, is_cut=_is_cut(repository, versions), branch_state=state)


def recent_changes(workspace: Workspace, limit: int) -> list[Commit]:
    """Return the last `limit` commits that changed entries, newest first; raises GitError outside git."""
    found: list[Commit] = []
    repository, under = workspace.location.get_repository(), workspace.location.under or "."
    prefix = workspace.location.prefix
    for commit in history(repository, [under], until=workspace.snapshot.revision):
        entries = [
            one._replace(path=path.removesuffix(".md"))
            for one in commit.changes
            if is_entry_place(path := one.path.removeprefix(prefix)) and path[0] != "." and workspace.access.sees(path)
        ]
        if entries:
            found.append(replace(commit, changes=tuple(sorted(entries, key=lambda one: one.path))))
        if len(found) == limit:
            break
    return visible_commits(workspace, found)


def blame(workspace: Workspace, name: str) -> LogReport:
    """Return the commit, also from before a move, that last set each field and the body; raises the errors of `log`."""
    repository = workspace.location.get_repository()
    address = resolve_name(workspace, name)
    document = workspace.catalog.document(f"{address}.md")
    versions, fields = _versions(workspace, repository, address), list[FieldBlame]()
    for field, value in {**workspace.catalog.shown_fields(document), BODY: None}.items():
        now, found = _value(document, field), None
        for version in versions:
            if version.after is None or _value(version.after, field) != now:
                break
            found = version.change
            if version.before is None or _value(version.before, field) != now:
                break
        fields.append(FieldBlame(name=field, value=_text(value), change=found))
    return LogReport(address=address, fields=tuple(fields), is_cut=_is_cut(repository, versions))


def _value(document: Document, name: str) -> Any:
    fields: Mapping[str, Any] = document.fields or {}
    return document.body.strip() if name == BODY else fields.get(name)


def _versions(workspace: Workspace, repository: Repository, address: str) -> list[_Version]:
    """Return the commits of an entry, newest first, and those of the original file of an imported entry.

    A caller with hidden wings gets no subjects, and nothing from before a move out of a hidden wing.
    """
    access, prefix, changes = workspace.access, workspace.location.prefix, list[FileRevision]()
    for one in file_changes(repository, f"{prefix}{address}.md", until=workspace.snapshot.revision):
        to, old = one.moved_to, one.moved_from
        to = to if to is not None and access.sees(to.removeprefix(prefix)) else None
        changes.append(replace(one, subject="", moved_to=to) if access.is_narrow else one)
        if old is not None and not access.sees(old.removeprefix(prefix)):
            changes[-1] = replace(changes[-1], before=None, moved_from=None)
            break
    first = changes[-1] if changes and not access.is_narrow else None
    if first is not None and first.before is None and first.after is not None:
        # Git does not show the import as a move.
        ((_, content),) = read_blobs(repository, [first.after])
        origin = origin_in((content or b"").decode("utf-8", "replace"))
        with suppress(UnknownRevisionError):
            changes += file_changes(repository, origin.path, until=f"{first.commit}^1") if origin is not None else ()
    blobs = dict.fromkeys(blob for one in changes for blob in (one.before, one.after) if blob is not None)
    contents = dict(read_blobs(repository, list(blobs)))

    def document(blob: str | None) -> Document | None:
        content = contents.get(blob) if blob is not None else None
        found = parse_document(f"{address}.md", content) if content is not None else None
        return found if found is not None and found.fields is not None else None

    return [_Version(one, document(one.before), document(one.after)) for one in changes]


def _is_cut(repository: Repository, versions: Sequence[_Version]) -> bool:
    return is_shallow(repository) and (not versions or versions[-1].change.before is None)


def _describe(workspace: Workspace, version: _Version) -> Iterator[str]:
    change, before, after, prefix = version.change, version.before, version.after, workspace.location.prefix
    if not change.path.startswith(prefix):
        yield f"{'written as' if change.before is None else 'changed in'} {change.path}"
        return
    if change.moved_from is not None and change.moved_from.startswith(prefix):
        yield f"moved from {change.moved_from.removeprefix(prefix).removesuffix('.md')}"
    elif change.moved_from is not None:
        # Before this commit the file was not an entry.
        change, before = replace(change, before=None), None
    if after is None and change.after is not None:
        yield "cannot be read"
    elif after is None:
        to = (change.moved_to or "").removeprefix(prefix)
        yield f"moved to {to.removesuffix('.md')}" if to else "deleted"
    elif before is not None:
        old, new = workspace.catalog.shown_fields(before), workspace.catalog.shown_fields(after)
        for name in dict.fromkeys((*old, *new)):
            # A new status implies `deprecated_at`, so that field has no line.
            if old.get(name) != new.get(name) and name != "deprecated_at":
                yield f"{name}: {_text(old.get(name)) or 'none'} → {_text(new.get(name)) or 'none'}"
        if before.body.strip() != after.body.strip():
            yield "new line breaks in the text" if before.body.split() == after.body.split() else "text changed"
    elif change.before is not None:
        yield "can be read again"
    else:
        fields = workspace.catalog.shown_fields(after)
        title = fields.get("title") or first_heading(after.body) or title_of(after.path.removesuffix(".md"))
        yield f"created as {fields.get('status', 'no status')} {fields.get('type', 'entry')}: {title}"
        yield from (f"{name}: {_text(fields[name])}" for name in _RELATIONS if fields.get(name))
        if (origin := read_origin(fields.get(ORIGIN))) is not None:
            yield f"imported from {origin.path}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


class ChainLink(Struct, frozen=True, kw_only=True):
    """An entry of a chain, its commits, and the entries it superseded (`claims`: the old entry does not say so)."""

    entry: Entry
    current: bool
    replaced: tuple[str, ...]
    claims: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()


class OtherSuccessor(Struct, frozen=True):
    """An entry outside the chain that superseded the entry `old`, which an entry of the chain superseded, too."""

    old: str
    entry: Entry
    is_current: bool


class WhyReport(Struct, frozen=True, kw_only=True):
    """The chain of supersessions that contains an entry, oldest first, its current ends (`heads`), and related entries.

    `unread` are successors that cannot be parsed. `drafts` are drafts that would supersede the entry. `claimed_by` are
    entries that list it in `supersedes`, while it does not list them. `others` are outside the chain and supersede an
    entry of the chain.
    """

    address: str
    chain: tuple[ChainLink, ...]
    heads: tuple[str, ...]
    contradictory: bool
    draft: bool = False
    unread: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    claimed_by: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()
    others: tuple[OtherSuccessor, ...] = ()


def why(workspace: Workspace, name: str) -> WhyReport:
    """Return the chain of supersessions that contains an entry, with the commits of each file. Raises NotFoundError."""
    address, catalog = resolve_name(workspace, name), workspace.catalog
    entries, lineage = catalog.entries, catalog.lineage
    entry, members = entries[address], lineage.chain(address)
    commits: dict[str, list[Commit]] = {}
    if (repository := workspace.location.repository) is not None:
        paths = {f"{workspace.location.prefix}{member}.md": member for member in members}
        revision = workspace.snapshot.revision
        until = resolve(repository, revision) if revision is not None else None
        for commit in visible_commits(workspace, history(repository, list(paths), until=until)):
            for path in paths.keys() & set(commit.paths):
                commits.setdefault(paths[path], []).append(commit)
    claims = grouped((claimant, old) for old in members for claimant in lineage.claimants_of(old))
    claimed = sorted({old for olds in claims.values() for old in olds})
    pairs = ((old, other) for old in claimed for other in lineage.successors.get(old, ()) if other not in members)
    successors = (one for member in members for one in entries[member].superseded_by)
    claiming = (one for one, other in entries.items() if address in other.supersedes)
    overriding = (one for one, other in entries.items() if address in other.overrides)
    contradicted = {*entry.contradicts, *(one for one, other in entries.items() if address in other.contradicts)}
    return WhyReport(
        address=address,
        chain=tuple(
            ChainLink(
                entry=entries[member],
                current=lineage.is_current(member),
                replaced=lineage.predecessors.get(member, ()),
                claims=tuple(claims.get(member, ())),
                commits=tuple(commits.get(member, ())),
            )
            for member in members
        ),
        heads=lineage.heads(address),
        draft=entry.status is Status.DRAFT,
        contradictory=address in lineage.contradictory,
        unread=tuple(one for one in successors if f"{one}.md" in catalog.broken),
        drafts=tuple(one for one in claiming if entries[one].status is Status.DRAFT),
        overrides=entry.overrides,
        overridden_by=tuple(filter(lineage.is_current, overriding)),
        conflicts=tuple(sorted(filter(lineage.is_current, contradicted))),
        claimed_by=lineage.claimed_by(address),
        amends=catalog.derived.amends(address),
        amended_by=catalog.derived.amended_by(address),
        others=tuple(OtherSuccessor(old, entries[other], lineage.is_current(other)) for old, other in pairs),
    )
