"""Resolve the names that users type: full or short addresses, paths, folders as `wing/room/`, decision numbers."""

from __future__ import annotations

import difflib
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from mdmem.errors import NotFoundError, UsageError
from mdmem.model.fields import ORIGIN, Origin, origin_in
from mdmem.model.text import first_of, shell_word
from mdmem.record import grouped
from mdmem.store.catalog.addresses import by_number, number_in
from mdmem.store.git.history import list_deletions
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, resolve_scope, unknown_name
from mdmem.store.workspace.workspace import Workspace

# The number of entries that an error message lists.
_LISTED = 5
_NO_FILTERS = Filters()
# The end of the name of a file that is no entry.
_CODE = re.compile(r"\.(?!md\Z)[A-Za-z]\w*\Z")


def resolve_names(workspace: Workspace, names: Sequence[str], wings: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the addresses that names mean, without duplicates; a folder with a slash at its end means all its entries.

    Of entries in several wings, a short name means the one in the first of `wings`, or in the active wing. Raises
    NotFoundError that suggests similar addresses, and UsageError if a name is ambiguous or a wing does not exist.
    """
    filters = Filters(wings=tuple(wings))
    if wings:
        resolve_scope(workspace.catalog, workspace.settings, filters)
    return tuple(dict.fromkeys(address for name in names for address in _resolve(workspace, name, filters)))


def resolve_name(workspace: Workspace, name: str) -> str:
    """Return the one address that a name means; raises NotFoundError, and UsageError if it means several entries."""
    return _only(name, _resolve(workspace, name))


def resolve_full(workspace: Workspace, name: str, *, field: str) -> str:
    """Return the full address in an agent's `field`. Raises UsageError if it is short, NotFoundError if unknown."""
    plain = from_root(workspace, name)
    if plain in workspace.catalog.entries:
        return plain
    meant = first_of(_resolve(workspace, name), _LISTED)
    raise UsageError(f"write one full address (wing/room/entry-id) in `{field}`; `{name}` matches {meant}")


def _only(name: str, found: Sequence[str]) -> str:
    if len(found) > 1:
        raise UsageError(f"`{name}` means {len(found)} entries: {first_of(found, _LISTED)}; write one of them in full")
    return found[0]


def _resolve(workspace: Workspace, name: str, filters: Filters = _NO_FILTERS) -> tuple[str, ...]:
    entries, broken = workspace.catalog.entries, workspace.catalog.broken
    plain = from_root(workspace, name)
    if plain in entries:
        return (plain,)
    if f"{plain}.md" in broken:
        raise _unreadable(workspace, f"{plain}.md")
    below = tuple(address for address in entries if address.startswith(f"{plain}/"))
    if below and name.endswith("/"):
        return below
    ends = [address for address in entries if address.endswith(f"/{plain}")]
    if ends:
        return (_only(name, _in_active_wing(workspace, ends, filters)),)
    unread = next((path for path in broken if path.endswith(f"/{plain}.md")), None)
    if unread is not None:
        raise _unreadable(workspace, unread)
    if below:
        kind = "room" if "/" in plain else "wing"
        hint = f"write one of its entries ({first_of(below, _LISTED)}), or `{plain}/` for all of them"
        raise NotFoundError(f"`{name}` is a {kind}; {hint}")
    if name.endswith("/"):
        folders = [f"{one}/" for one in (*workspace.catalog.wings, *workspace.catalog.derived.rooms)]
        is_there = f"{plain}/" in folders or any(path.startswith(f"{plain}/") for path in broken)
        missing = f"there is no readable entry in `{name}`"
        raise NotFoundError(missing if is_there else unknown_name("wing or room", name, folders))
    base, here = workspace.location.base, Path(os.path.abspath(workspace.cwd / name))  # noqa: PTH100  # follow no link
    paths = {posixpath.normpath(name), *([here.relative_to(base).as_posix()] if here.is_relative_to(base) else [])}
    origins = iter_origins(workspace, entries) if "." in name else ()
    found = [address for address, one in origins if one.path in paths] or find_by_handle(workspace, plain, filters)
    if found:
        address = _only(name, found)
        if address not in entries:
            raise _unreadable(workspace, f"{address}.md")
        return (address,)
    raise NotFoundError(f"there is no entry `{name}`{_explain_missing(workspace, name, plain)}")


def find_by_handle(workspace: Workspace, plain: str, filters: Filters = _NO_FILTERS) -> list[str]:
    """Return the addresses that a handle means: a number such as `4` or `ADR-4`, or the beginning of an entry-id.

    If several match, return those in the working directory's room, else in the active wing, else all. Entries that
    cannot be read are found, too.
    """
    location = workspace.location
    folder, _, wanted = plain.rpartition("/")
    broken = [path.removesuffix(".md") for path in workspace.catalog.broken]
    known = [one for one in (*workspace.catalog.entries, *broken) if not folder or f"/{folder}/" in f"/{one}"]
    number = number_in(wanted)
    found = by_number(known).get(number or "", [])
    if not found and number is not None:
        # A record that was renamed since its import is still found by the number of the old file.
        origins = iter_origins(workspace, known)
        found = [one for one, origin in origins if number in by_number([origin.path.removesuffix(".md")])]
    if not found:
        found = [one for one in known if one.rpartition("/")[2].startswith(f"{wanted.rstrip('-')}-")]
        # If a deleted entry had exactly this name, the name does not mean a longer one that begins with it.
        under = location.prefix
        tracked = workspace.tracked_files() if found and workspace.snapshot.is_working_tree else ()
        there = (path.removeprefix(under) for path in tracked if path.startswith(under))
        if found and _files_called(workspace, plain, (*_moves(workspace), *there)):
            found = []
    cwd = workspace.cwd.resolve()
    room = cwd.relative_to(location.root).as_posix() if cwd.is_relative_to(location.root) else ""
    return [one for one in found if one.rpartition("/")[0] == room] or _in_active_wing(workspace, found, filters)


def _files_called(workspace: Workspace, name: str, paths: Iterable[str]) -> list[str]:
    """Return those of the paths that a short or full name means and the caller may see."""
    meant = (path for path in paths if path == f"{name}.md" or path.endswith(f"/{name}.md"))
    return [path for path in meant if workspace.access.sees(path)]


def iter_origins(workspace: Workspace, addresses: Iterable[str]) -> Iterator[tuple[str, Origin]]:
    """Yield each imported entry with its origin: the path, and perhaps the part, of the file that it came from."""
    for path, content in workspace.tree.read([f"{address}.md" for address in addresses]):
        if isinstance(content, bytes) and ORIGIN.encode() in content:
            origin = origin_in(content.decode("utf-8", "replace"))
            if origin is not None:
                yield path.removesuffix(".md"), origin


def _explain_missing(workspace: Workspace, typed: str, name: str) -> str:
    """Return a hint on a missing entry: its new address if it moved, or that it was deleted, and similar addresses."""
    moves, ends = _moves(workspace), set[str]()
    old = _files_called(workspace, name, moves)
    for start in old:
        passed, path = set[str](), start
        while path in moves and path not in passed:
            passed.add(path)
            path = moves[path]
        ends.add(path.removesuffix(".md"))
    if len(ends) == 1 and not ends.isdisjoint(workspace.catalog.entries):
        return f"; it moved to {ends.pop()}"
    if old:
        log = f"mdmem log {shell_word(old[0].removesuffix('.md'))}"
        return f"; it was moved or deleted, and `{log}` tells more{_nearest(workspace, name)}"
    if _CODE.search(typed):
        rules = workspace.location.command(f"retrieve --path {shell_word(typed)}")
        return f"; `{rules}` shows the rules for a file"
    return _nearest(workspace, name)


def _moves(workspace: Workspace) -> dict[str, str]:
    """Return the files below the root that git knows as moved or deleted, each with its new path, empty if deleted."""
    location, revision, prefix = workspace.location, workspace.snapshot.revision, workspace.location.prefix
    if location.repository is None:
        return {}
    gone = list_deletions(location.repository, location.under, revisions=() if revision is None else (revision,))
    moves = ((old.removeprefix(prefix), (new or "").removeprefix(prefix)) for old, (_, new) in gone.items())
    # A file that moved into a hidden wing counts as deleted.
    return {old: new if workspace.access.sees(new) else "" for old, new in moves}


def _unreadable(workspace: Workspace, path: str) -> NotFoundError:
    finding = workspace.catalog.broken[path].findings[0]
    fault = f"line {finding.place.line}: {finding.message}; {finding.help}"
    return NotFoundError(f"{path.removesuffix('.md')} is there but cannot be read: {fault}")


def refuse_unread_below(workspace: Workspace, folder: str) -> None:
    """Raise NotFoundError if an entry in a folder cannot be read."""
    start = f"{from_root(workspace, folder)}/"
    for path in workspace.catalog.broken:
        if path.startswith(start):
            raise _unreadable(workspace, path)


def _in_active_wing(workspace: Workspace, addresses: list[str], filters: Filters) -> list[str]:
    """Return only the addresses in the active wing if a short name means entries in several wings."""
    if len(addresses) < 2:
        return addresses
    try:
        active = resolve_scope(workspace.catalog, workspace.settings, filters).wing
    except AmbiguousWingError:
        return addresses
    return [address for address in addresses if address.startswith(f"{active}/")] or addresses


def from_root(workspace: Workspace, name: str) -> str:
    """Return an address, or a path from the working directory or the repository's top, from the root without `.md`."""
    root = workspace.location.root
    # Windows writes paths with backslashes, and no address contains one.
    name = name.replace("\\", "/")
    if name.endswith(".md") or Path(name).is_absolute() or name.startswith("."):
        # No file can have a name for which `resolve` raises an error.
        with suppress(OSError, ValueError, RuntimeError):
            path = (workspace.cwd / name).resolve()
            # A deeper path comes from an address that was typed in a directory inside the root.
            if path.is_relative_to(root) and len(path.relative_to(root).parts) <= len(("wing", "room", "entry-id")):
                name = path.relative_to(root).as_posix()
    return name.removeprefix(workspace.location.prefix).removesuffix(".md").strip("/")


def from_here(workspace: Workspace) -> Callable[[str], str]:
    """Return a function that turns a path from the root into a path that works in the working directory."""
    root, cwd, repository = workspace.location.root, workspace.cwd, workspace.location.repository
    is_inside = repository is not None and cwd.is_relative_to(repository.top)

    def show(path: str) -> str:
        whole = root / path
        return Path(os.path.relpath(whole, cwd)).as_posix() if is_inside or whole.is_relative_to(cwd) else str(whole)

    return show


def _nearest(workspace: Workspace, name: str) -> str:
    """Return a hint with addresses whose entry-id begins with a name, contains its words, or is similar to it."""
    wanted = name.rsplit("/", 1)[-1]
    by_id = grouped((address.rsplit("/", 1)[-1], address) for address in workspace.catalog.entries)
    near = [one for one in by_id if wanted and one.startswith(wanted)]
    near = near or [one for one in by_id if wanted and f"-{wanted}-" in f"-{one}-"]
    near = near or difflib.get_close_matches(wanted, by_id, n=3, cutoff=0.5)
    close = [address for one in near for address in by_id[one]]
    if close:
        return f"; did you mean {' or '.join(close[:3])}?"
    return f"; `{workspace.location.command('list')}` lists the current ones"
