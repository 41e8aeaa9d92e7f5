"""From what a user types to addresses: full or short ones, paths of files, folders with a slash, numbers of records."""

from __future__ import annotations

import difflib
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mdmem.errors import NotFoundError, UsageError
from mdmem.model.origin import KEY, Origin, origin_in
from mdmem.store.git.history import list_deletions, list_staged_deletions
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

# `4`, `0004`, `ADR-4`, `ADR 4`, and the ids that begin with such a number; more digits are a day's.
_NUMBER = re.compile(r"(?:adr[-_ ]?)?0*([0-9]{1,6})\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:adr-)?0*([0-9]{1,6})(?:-|\Z)", re.IGNORECASE)
# Entries that a refusal lists.
_LISTED = 5


def resolve_names(workspace: Workspace, names: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses that names mean, each once, in their order; a folder with a slash means all below it.

    Raises NotFoundError with the nearest addresses and UsageError for another name that means several.
    """
    return tuple(dict.fromkeys(address for name in names for address in _resolve(workspace, name)))


def resolve_name(workspace: Workspace, name: str) -> str:
    """Return the one address that a name means; raises NotFoundError, and UsageError where it means several."""
    return _only(name, _resolve(workspace, name))


def resolve_full(workspace: Workspace, name: str, *, field: str) -> str:
    """Return the address that a field of an agent's write states in full.

    Raises NotFoundError, and UsageError for a shorter name: nobody would see which entry it was taken for.
    """
    plain = from_root(workspace, name)
    if plain in workspace.catalog.entries:
        return plain
    meant = _listed(_resolve(workspace, name))
    raise UsageError(f"`{field}` takes one address in full, as wing/room/entry-id; `{name}` may mean {meant}")


def _only(name: str, found: Sequence[str]) -> str:
    if len(found) > 1:
        raise UsageError(f"`{name}` means {len(found)} entries: {_listed(found)}; write one of them in full")
    return found[0]


def _listed(addresses: Sequence[str]) -> str:
    more = len(addresses) - _LISTED
    return ", ".join(addresses[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _resolve(workspace: Workspace, name: str) -> tuple[str, ...]:
    entries = workspace.catalog.entries
    plain = from_root(workspace, name)
    if plain in entries:
        return (plain,)
    if f"{plain}.md" in workspace.catalog.broken:
        raise _unread(workspace, f"{plain}.md")
    below = tuple(address for address in entries if address.startswith(f"{plain}/"))
    if below and name.endswith("/"):
        return below
    ends = [address for address in entries if address.endswith(f"/{plain}")]
    if ends:
        return (_only(name, _in_active_wing(workspace, ends)),)
    closed = [path for path in workspace.catalog.broken if path.endswith(f"/{plain}.md")]
    if closed:
        raise _unread(workspace, closed[0])
    if below:
        kind = "room" if "/" in plain else "wing"
        whole = f"`{plain}/` means all {len(below)}" if len(below) > 1 else f"`{plain}/` means that"
        raise NotFoundError(f"`{name}` is a {kind}, with {_listed(below)}; {whole}")
    handled = [] if name.endswith("/") else _by_origin(workspace, name) or find_by_handle(workspace, plain)
    if handled:
        address = _only(name, handled)
        if address not in entries:
            raise _unread(workspace, f"{address}.md")
        return (address,)
    path = workspace.cwd / name
    if path.is_file() and not path.resolve().is_relative_to(workspace.location.root):
        raise NotFoundError(f"`{name}` is no entry; `mdmem retrieve --path {name}` tells what binds it")
    raise NotFoundError(f"there is no entry `{name}`{_fate(workspace, plain) or _nearest(workspace, plain)}")


def find_by_handle(workspace: Workspace, plain: str) -> list[str]:
    """Return the addresses whose entry-id bears a number, or begins with a name and a hyphen, in the nearest place."""
    folder, _, wanted = plain.rpartition("/")
    broken = [path.removesuffix(".md") for path in workspace.catalog.broken]
    known = [one for one in (*workspace.catalog.entries, *broken) if not folder or f"/{folder}/" in f"/{one}"]
    by_id = {one: one.rpartition("/")[2] for one in known}
    if number := _NUMBER.match(wanted):
        numbers = {one: _NUMBERED.match(id_) for one, id_ in by_id.items()}
        found = [one for one, its in numbers.items() if its and its[1] == number[1]]
    else:
        begun = f"{wanted.rstrip('-')}-"
        found = [one for one, id_ in by_id.items() if id_.startswith(begun)]
        found = [] if found and _was_entry(workspace, plain) else found
    here = _room_here(workspace)
    return [one for one in found if one.rpartition("/")[0] == here] or _in_active_wing(workspace, found)


def _was_entry(workspace: Workspace, name: str) -> bool:
    """Say whether a file of that name is gone: who names it means no other whose name goes on."""
    under = f"{workspace.location.under}/" if workspace.location.under else ""
    tracked = workspace.tracked_files() if workspace.snapshot.is_working_tree else ()
    known = (path.removeprefix(under) for path in tracked if path.startswith(under))
    return bool(_called(workspace, name, (*_deleted(workspace), *known)))


def _called(workspace: Workspace, name: str, paths: Iterable[str]) -> list[str]:
    """Return those of some paths that a name, short or in full, is of, as far as the caller may see them."""
    meant = (path for path in paths if path == f"{name}.md" or path.endswith(f"/{name}.md"))
    return [path for path in meant if workspace.access.sees(path)]


def _room_here(workspace: Workspace) -> str:
    """Return the room that the working folder is, as `wing/room`; empty where it is none."""
    root, cwd = workspace.location.root, workspace.cwd.resolve()
    return cwd.relative_to(root).as_posix() if cwd.is_relative_to(root) else ""


def _by_origin(workspace: Workspace, name: str) -> list[str]:
    """Return the addresses of the entries that were imported from a path, or from a part of it as `AGENTS.md#part`."""
    if "." not in name:
        return []
    base, (path, _, part) = workspace.location.base, name.partition("#")
    here = Path(os.path.abspath(workspace.cwd / path))  # noqa: PTH100  # a name that no file can have is none
    paths = {posixpath.normpath(path), *([here.relative_to(base).as_posix()] if here.is_relative_to(base) else [])}
    found = iter_origins(workspace, workspace.catalog.entries)
    return [address for address, one in found if one.path in paths and part in ("", one.part)]


def iter_origins(workspace: Workspace, addresses: Iterable[str]) -> Iterator[tuple[str, Origin]]:
    """Yield each of some addresses whose file states where it was imported from, with that."""
    for path, content in workspace.tree.read([f"{address}.md" for address in addresses]):
        if isinstance(content, bytes) and KEY.encode() in content:
            origin = origin_in(content.decode("utf-8", "replace"))
            if origin is not None:
                yield path.removesuffix(".md"), origin


def _fate(workspace: Workspace, name: str) -> str:
    """Say where an entry that git knows went from an address, or that it was deleted; nothing of any other name."""
    went = _deleted(workspace)
    seen = _called(workspace, name, went)
    if len(seen) != 1:
        return ""
    passed, path = {seen[0]}, went[seen[0]]
    while path in went and path not in passed:
        passed.add(path)
        path = went[path]
    old, new = (one.removesuffix(".md") for one in (seen[0], path))
    if new in workspace.catalog.entries:
        return f"; it moved to {new}"
    return "" if new else f"; it was deleted, and `mdmem log {old}` tells when"


def _deleted(workspace: Workspace) -> Mapping[str, str]:
    """Return the files below the root that git knows as deleted or moved, with where each went; empty for nowhere."""
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return {}
    revision = workspace.snapshot.revision
    gone = list_deletions(repository, under, revisions=() if revision is None else (revision,))
    if revision is None:
        gone |= list_staged_deletions(repository, under)
    prefix = f"{under}/" if under else ""
    return {old.removeprefix(prefix): (new or "").removeprefix(prefix) for old, (_, new) in gone.items()}


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
