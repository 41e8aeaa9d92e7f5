"""What history says of one entry: its commits, what each changed in meaning, and which last set each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import NotFoundError
from mdmem.markdown.parse import Document, first_heading, parse_document
from mdmem.model.entry import title_of
from mdmem.model.lineage import Stance
from mdmem.model.origin import KEY, origin_in, read_origin
from mdmem.store.git import Repository, read_blobs
from mdmem.store.git.history import Commit, FileRevision, file_changes, history
from mdmem.store.git.merge import is_shallow
from mdmem.store.git.process import UnknownRevisionError
from mdmem.store.workspace.addresses import from_root, resolve_name
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.visibility import visible_commits
from mdmem.store.workspace.workspace import Workspace

BODY = "body"
# In this order; a field that is not named comes behind, and the rest of them share one line.
_LINKS = ("supersedes", "superseded_by", "amends", "overrides", "conflicts_with")
_TOLD = ("type", "status", "title", *_LINKS, "applies_to")
_SILENT = frozenset({"deprecated_at"})


class HistoryStep(Struct, frozen=True, kw_only=True):
    """One commit of an entry's history, and what it changed, a line each."""

    change: FileRevision
    lines: tuple[str, ...]


class LogReport(Struct, frozen=True, kw_only=True):
    """The history of an entry, newest first; `is_cut`: the history ends where a shallow clone cut it off.

    `stance` says that the file on disk is another one, where it is.
    """

    address: str
    steps: tuple[HistoryStep, ...]
    is_cut: bool = False
    stance: Stance | None = None


class FieldBlame(Struct, frozen=True, kw_only=True):
    """One field of an entry, or its body, with the commit that last set it; None for one that no commit holds."""

    name: str
    value: str
    change: FileRevision | None


class BlameReport(Struct, frozen=True, kw_only=True):
    """The fields of an entry in the file's order, then its body."""

    address: str
    fields: tuple[FieldBlame, ...]
    is_cut: bool = False


class _Version(Struct, frozen=True):
    change: FileRevision
    before: Document | None
    after: Document | None


def log(workspace: Workspace, name: str) -> LogReport:
    """Return the history of an entry, through its moves; one that is gone has one, too, by its full address.

    Raises NotFoundError for what never was an entry, and GitError outside git.
    """
    repository = workspace.location.get_repository()
    address, versions = _history(workspace, repository, name)
    stance = view_of(workspace).checkout.catalog.stance(address) if address in workspace.catalog.entries else None
    steps = tuple(HistoryStep(change=one.change, lines=tuple(_told(workspace, one))) for one in versions)
    return LogReport(address=address, steps=steps, is_cut=_is_cut(repository, versions), stance=stance)


def recent_changes(workspace: Workspace, limit: int) -> list[Commit]:
    """Return the last commits that changed entries, the newest first, each with the addresses that it changed.

    Raises GitError outside git.
    """
    under = f"{workspace.location.under}/" if workspace.location.under else ""
    found: list[Commit] = []
    repository = workspace.location.get_repository()
    for commit in history(repository, [workspace.location.under or "."], until=workspace.snapshot.revision):
        paths = (path.removeprefix(under) for path in commit.paths)
        entries = sorted(
            path.removesuffix(".md")
            for path in paths
            if path.count("/") == 2
            and path.endswith(".md")
            and not path.startswith(".")
            and not path.endswith("/README.md")
            and workspace.access.sees(path)
        )
        if entries:
            found.append(replace(commit, paths=tuple(entries)))
        if len(found) == limit:
            break
    return visible_commits(workspace, found)


def blame(workspace: Workspace, name: str) -> BlameReport:
    """Return which commit last set each field of an entry and its body, through its moves.

    A field that was only written in another way was not set. Raises what `log` raises.
    """
    repository = workspace.location.get_repository()
    address = resolve_name(workspace, name)
    document = workspace.catalog.document(f"{address}.md")
    _, versions = _history(workspace, repository, address)
    shown = workspace.catalog.shown_fields(document)
    found = [
        FieldBlame(name=name, value=_text(value), change=_last_set(versions, name, _value(document, name)))
        for name, value in shown.items()
    ]
    body = FieldBlame(name=BODY, value="", change=_last_set(versions, BODY, document.body.strip()))
    return BlameReport(address=address, fields=(*found, body), is_cut=_is_cut(repository, versions))


def _history(workspace: Workspace, repository: Repository, name: str) -> tuple[str, list[_Version]]:
    try:
        address = resolve_name(workspace, name)
    except NotFoundError:
        address = from_root(workspace, name)
        versions = _versions(workspace, repository, address) if workspace.access.sees(f"{address}.md") else []
        if not versions:
            raise
        return address, versions
    return address, _versions(workspace, repository, address)


def _versions(workspace: Workspace, repository: Repository, address: str) -> list[_Version]:
    under = workspace.location.under
    path = f"{under}/{address}.md" if under else f"{address}.md"
    changes = _visible(workspace, file_changes(repository, path, until=workspace.snapshot.revision))
    changes += _before_import(workspace, repository, changes)
    blobs = dict.fromkeys(blob for one in changes for blob in (one.before, one.after) if blob is not None)
    contents = dict(read_blobs(repository, list(blobs)))

    def document(blob: str | None) -> Document | None:
        content = contents.get(blob) if blob is not None else None
        found = parse_document(f"{address}.md", content) if content is not None else None
        return found if found is not None and found.fields is not None else None

    return [_Version(one, document(one.before), document(one.after)) for one in changes]


def _before_import(workspace: Workspace, repository: Repository, changes: Sequence[FileRevision]) -> list[FileRevision]:
    """Return the history of the file that an entry was imported from, where git does not tell it as a move."""
    first = changes[-1] if changes else None
    if first is None or first.before is not None or first.after is None or workspace.access.is_narrow:
        return []
    content = dict(read_blobs(repository, [first.after]))[first.after]
    origin = origin_in((content or b"").decode("utf-8", "replace"))
    if origin is None:
        return []
    try:
        return list(file_changes(repository, origin.path, until=f"{first.commit}^1"))
    except UnknownRevisionError:
        return []


def _visible(workspace: Workspace, changes: Sequence[FileRevision]) -> list[FileRevision]:
    """Return the changes as far as the caller may see them: a file that came from a hidden wing begins where it came.

    Of a commit that did something to such a wing, or names one, the subject is left out.
    """
    if not workspace.access.is_narrow:
        return list(changes)
    seen: list[FileRevision] = []
    for one in changes:
        if one.moved_from is not None and not workspace.access.sees(_from_root(workspace, one.moved_from)):
            seen.append(replace(one, before=None, moved_from=None))
            break
        went = one.moved_to is not None and not workspace.access.sees(_from_root(workspace, one.moved_to))
        seen.append(replace(one, moved_to=None) if went else one)
    commits = visible_commits(workspace, [Commit(one.commit, one.author, one.when, one.subject) for one in seen])
    return [replace(one, subject=commit.subject) for one, commit in zip(seen, commits, strict=True)]


def _from_root(workspace: Workspace, path: str) -> str:
    return path.removeprefix(f"{workspace.location.under}/") if workspace.location.under else path


def _is_of_root(workspace: Workspace, path: str) -> bool:
    """Say whether a path, from the repository's top, lies below the root; else an entry came from there."""
    return not workspace.location.under or path.startswith(f"{workspace.location.under}/")


def _is_cut(repository: Repository, versions: list[_Version]) -> bool:
    return is_shallow(repository) and (not versions or versions[-1].change.before is None)


def _last_set(versions: list[_Version], name: str, now: Any) -> FileRevision | None:
    """Return the newest change that made a field what it is now; None where it is not so in any commit."""
    found: FileRevision | None = None
    for version in versions:
        if version.after is None or _value(version.after, name) != now:
            return found
        found = version.change
        if version.before is None or _value(version.before, name) != now:
            return found
    return found


def _value(document: Document, name: str) -> Any:
    fields: Mapping[str, Any] = document.fields or {}
    return document.body.strip() if name == BODY else fields.get(name)


def _told(workspace: Workspace, version: _Version) -> Iterator[str]:
    """Yield what one commit changed, as far as the caller may see it."""
    change, before, after = version.change, version.before, version.after
    if not _is_of_root(workspace, change.path):
        yield f"{'written as' if change.before is None else 'changed in'} {change.path}"
        return
    if change.moved_from is not None and not _is_of_root(workspace, change.moved_from):
        # What it was before was no entry.
        change, before = replace(change, before=None, moved_from=None), None
    if change.moved_from is not None:
        yield f"moved from {_from_root(workspace, change.moved_from).removesuffix('.md')}"
    if after is None:
        yield _ending(workspace, change)
        return
    fields, body = workspace.catalog.shown_fields(after), after.body.strip()
    if before is None and change.before is not None:
        yield "can be read again"
        return
    if before is None:
        yield f"created as {fields.get('status', 'no status')} {fields.get('type', 'entry')}: {_title(fields, after)}"
        yield from (f"{name}: {_text(fields[name])}" for name in _TOLD[3:] if fields.get(name))
        if (origin := read_origin(fields.get(KEY))) is not None:
            yield f"imported from {origin.path}"
        return
    yield from _changed(workspace.catalog.shown_fields(before), fields)
    if before.body.strip() != body:
        yield f"text: {_words(before.body, body)}"


def _ending(workspace: Workspace, change: FileRevision) -> str:
    if change.after is not None:
        return "cannot be read"
    to = _from_root(workspace, change.moved_to or "")
    return f"moved to {to.removesuffix('.md')}" if to and workspace.access.sees(to) else "deleted"


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    names = list(dict.fromkeys((*before, *after)))
    differing = [name for name in names if before.get(name) != after.get(name)]
    for name in (one for one in _TOLD if one in differing):
        yield f"{name}: {_text(before.get(name)) or 'none'} → {_text(after.get(name)) or 'none'}{_by(name, after)}"
    rest = [name for name in differing if name not in _TOLD and name not in _SILENT]
    if rest:
        yield "; ".join(f"{name}: {_text(after.get(name)) or 'taken out'}" for name in rest)


def _by(name: str, after: Mapping[str, Any]) -> str:
    is_approval = name == "status" and after.get("status") == "active" and after.get("approved_by")
    return f", by {after['approved_by']}" if is_approval else ""


def _title(fields: Mapping[str, Any], document: Document) -> str:
    return str(fields.get("title") or first_heading(document.body) or title_of(document.path.removesuffix(".md")))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


def _words(before: str, after: str) -> str:
    """Count the words that were put in and taken out."""
    old, new = before.split(), after.split()
    kept = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=len(old) > _LONG).get_matching_blocks())
    if kept == len(old) == len(new):
        return "laid out anew"
    fresh = len(new) - kept
    return f"{fresh} {'word' if fresh == 1 else 'words'} put in, {len(old) - kept} taken out"


# difflib takes time that grows with the product of both lengths.
_LONG = 2_000
