"""From what a user types to addresses: full or short ones, paths of files, folders with a slash."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from mdmem.errors import NotFoundError, UsageError
from mdmem.git.history import list_deletions, list_staged_deletions
from mdmem.workspace.scope import AmbiguousWingError, Filters, resolve_scope
from mdmem.workspace.workspace import Workspace


def resolve_names(workspace: Workspace, names: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses that names mean, each once, in their order.

    Raises NotFoundError with the nearest addresses and UsageError for a name that means several.
    """
    return tuple(dict.fromkeys(address for name in names for address in _resolve(workspace, name)))


def _resolve(workspace: Workspace, name: str) -> tuple[str, ...]:
    entries = workspace.catalog.entries
    plain = from_root(workspace, name)
    if plain in entries:
        return (plain,)
    if f"{plain}.md" in workspace.catalog.broken:
        raise _unread(workspace, f"{plain}.md")
    if name.endswith("/"):
        below = tuple(address for address in entries if address.startswith(f"{plain}/"))
        if below:
            return below
    ends = [address for address in entries if address.endswith(f"/{plain}")]
    nearby = _in_active_wing(workspace, ends)
    if len(nearby) == 1:
        return (nearby[0],)
    if ends:
        raise UsageError(f"`{name}` means several entries: {', '.join(ends[:8])}; write one of them in full")
    closed = [path for path in workspace.catalog.broken if path.endswith(f"/{plain}.md")]
    if closed:
        raise _unread(workspace, closed[0])
    path = workspace.cwd / name
    if path.is_file() and not path.resolve().is_relative_to(workspace.location.root):
        raise NotFoundError(f"`{name}` is no entry; `mdmem retrieve --path {name}` tells what binds it")
    raise NotFoundError(f"there is no entry `{name}`{_fate(workspace, plain) or _nearest(workspace, plain)}")


def _fate(workspace: Workspace, name: str) -> str:
    """Say where an entry that git knows went from an address, or that it was deleted; nothing of any other name."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return ""
    revision = workspace.snapshot.revision
    gone = list_deletions(repository, under, revisions=() if revision is None else (revision,))
    if revision is None:
        gone |= list_staged_deletions(repository, under)
    prefix = f"{under}/" if under else ""
    went = {old.removeprefix(prefix): (new or "").removeprefix(prefix) for old, (_, new) in gone.items()}
    seen = [path for path in went if path.endswith(f"/{name}.md") or path == f"{name}.md"]
    if len(seen) != 1 or not workspace.access.sees(seen[0]):
        return ""
    passed, path = {seen[0]}, went[seen[0]]
    while path in went and path not in passed:
        passed.add(path)
        path = went[path]
    old, new = (one.removesuffix(".md") for one in (seen[0], path))
    if new in workspace.catalog.entries:
        return f"; it moved to {new}"
    return "" if new else f"; it was deleted, and `mdmem log {old}` tells when"


def _unread(workspace: Workspace, path: str) -> NotFoundError:
    finding = workspace.catalog.broken[path].findings[0]
    address = path.removesuffix(".md")
    return NotFoundError(
        f"{address} is there but cannot be read: line {finding.place.line}: {finding.message}; {finding.help}"
    )


def refuse_unread_below(workspace: Workspace, folder: str) -> None:
    """Raise NotFoundError where an entry in a folder cannot be read: what it is, nobody can say."""
    start = f"{from_root(workspace, folder)}/"
    for path in workspace.catalog.broken:
        if path.startswith(start):
            raise _unread(workspace, path)


def _in_active_wing(workspace: Workspace, addresses: list[str]) -> list[str]:
    """Prefer the active wing where a short name means an entry in several."""
    if len(addresses) < 2:
        return addresses
    try:
        active = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    except AmbiguousWingError:
        return addresses
    own = [address for address in addresses if address.startswith(f"{active}/")]
    return own or addresses


def from_root(workspace: Workspace, name: str) -> str:
    """Return a name as counted from the root: a path from here or from the repository's top is accepted, too."""
    root = workspace.location.root
    if name.endswith(".md") or Path(name).is_absolute() or name.startswith("."):
        path = (workspace.cwd / name).resolve()
        if path.is_relative_to(root) and len(path.relative_to(root).parts) <= _DEPTH:
            name = path.relative_to(root).as_posix()
    prefix = f"{workspace.location.under}/" if workspace.location.under else ""
    if prefix and name.startswith(prefix):
        name = name.removeprefix(prefix)
    return name.removesuffix(".md").strip("/")


def from_here(workspace: Workspace) -> Callable[[str], str]:
    """Return what turns a path of the root into one that git and the shell take where the user stands."""
    root, cwd, repository = workspace.location.root, workspace.cwd, workspace.location.repository
    is_inside = repository is not None and cwd.is_relative_to(repository.top)

    def show(path: str) -> str:
        whole = root / path
        return Path(os.path.relpath(whole, cwd)).as_posix() if is_inside or whole.is_relative_to(cwd) else str(whole)

    return show


# `wing/room/entry-id`: what lies deeper is no path of an entry, but an address typed from inside the root.
_DEPTH = 3


def _nearest(workspace: Workspace, name: str) -> str:
    """Name the addresses whose entry-id begins with a name, as a record's number, has its words, or looks like it."""
    import difflib

    wanted = name.rsplit("/", 1)[-1]
    by_id: dict[str, list[str]] = {}
    for address in workspace.catalog.entries:
        by_id.setdefault(address.rsplit("/", 1)[-1], []).append(address)
    begun = [one for one in by_id if wanted and one.startswith(wanted)]
    held = begun or [one for one in by_id if wanted and f"-{wanted}-" in f"-{one}-"]
    near = held or difflib.get_close_matches(wanted, by_id, n=3, cutoff=0.5)
    close = [address for one in near for address in by_id[one]]
    return (
        f"; did you mean {' or '.join(close[:3])}?"
        if close
        else f"; `{workspace.location.command('list')}` names those in force"
    )


def resolve_name(workspace: Workspace, name: str) -> str:
    """Return the address that a name means; raises NotFoundError and UsageError."""
    return resolve_names(workspace, [name])[0]
