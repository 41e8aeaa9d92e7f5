"""Complete wings, rooms and addresses from the names of files, and names from fixed lists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from mdmem.errors import MdmemError
from mdmem.model.entry import EntryType, Status
from mdmem.model.fields import FIELDS

if TYPE_CHECKING:
    from mdmem.store.workspace.location import Location
    from mdmem.store.workspace.workspace import Workspace


Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_wing(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a wing."""
    return sorted({parts[0] for parts in _names(context) if parts[0].startswith(incomplete)})


def complete_room(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a room."""
    return sorted({parts[1] for parts in _names(context) if parts[1].startswith(incomplete)})


def complete_place(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a room with its wing."""
    return sorted({place for parts in _names(context) if (place := f"{parts[0]}/{parts[1]}/").startswith(incomplete)})


def complete_address(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete an address; if none begins so, a short one."""
    return _addresses(_names(context), incomplete)


def complete_active(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the address of an entry that is not deprecated."""
    return _addresses(_names(context, passed=lambda status: status != "deprecated"), incomplete)


def complete_draft(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the address of a draft."""
    return _addresses(_names(context, passed=lambda status: status == "draft"), incomplete)


def complete_conflict(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the address of a conflict that a merge left."""
    from mdmem.change.conflicts import find_conflicts

    try:
        workspace = _workspace(context)
        found = find_conflicts(workspace).found if workspace is not None else ()
    except MdmemError:
        return []
    return _addresses((one.path.removesuffix(".md").split("/") for one in found), incomplete)


def values_of(name: str) -> Completer:
    """Return a completer of the values of a field in the entries."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        try:
            workspace = _workspace(context)
            entries = workspace.catalog.entries.values() if workspace is not None else ()
        except MdmemError:
            return []
        stated = (getattr(entry, name) or () for entry in entries)
        values = {one for value in stated for one in ((value,) if isinstance(value, str) else value)}
        return sorted(one for one in values if one.startswith(incomplete) and one.isprintable())

    return complete


def complete_path(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete an address; the shell completes files."""
    found = _addresses(_names(context), incomplete)
    return [CompletionItem(incomplete, type="file"), *map(CompletionItem, found)]


def _addresses(names: Iterable[list[str]], incomplete: str) -> list[str]:
    known = list(names)
    for kept in (3, 2, 1):
        found = sorted(address for parts in known if (address := "/".join(parts[-kept:])).startswith(incomplete))
        if found:
            return found
    return []


def complete_code_path(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_folder(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete a folder."""
    return [CompletionItem(incomplete, type="dir")]


def complete_revision(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete a branch or a tag, also after the dots of a range."""
    from mdmem.store.git.discovery import find_repository
    from mdmem.store.git.status import list_names

    before, dots, begun = incomplete.rpartition("...") if "..." in incomplete else incomplete.rpartition("..")
    try:
        repository = find_repository(Path.cwd())
        names = list_names(repository) if repository is not None else ()
    except MdmemError:
        return []
    return [f"{before}{dots}{name}" for name in names if name.startswith(begun) and name.isprintable()]


def _one_of(get_names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer of names from a fixed list."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [str(name) for name in get_names() if name.startswith(incomplete)]

    return complete


def _codes() -> Iterable[str]:
    from mdmem.checks.check import get_checks

    return get_checks()


complete_type = _one_of(lambda: EntryType)
complete_status = _one_of(lambda: Status)
complete_field = _one_of(lambda: [field.name for field in FIELDS])
complete_code = _one_of(_codes)


def _names(context: click.Context, *, passed: Callable[[str], bool] | None = None) -> Iterator[list[str]]:
    """Yield wing, room and id of each entry whose status passes, from the names of the files."""
    location = _location(context)
    if location is None:
        return
    root = location.root
    for path in root.glob("*/*/*.md"):
        parts = path.relative_to(root).with_suffix("").parts
        # A shell prints what it completes, so no name with an escape sequence may be among it.
        is_shown = all(part.isprintable() and not part.startswith(".") for part in parts)
        if path.name != "README.md" and is_shown and (passed is None or passed(_status(path))):
            yield list(parts)


def _location(context: click.Context) -> Location | None:
    from mdmem.store.workspace.location import locate

    typed = context.params.get("root") or (context.parent.params.get("root") if context.parent else None)
    try:
        return locate(typed, os.environ, Path.cwd())
    except MdmemError:
        return None


def _workspace(context: click.Context) -> Workspace | None:
    from mdmem.store.workspace.workspace import Workspace

    location = _location(context)
    # No completion depends on the day.
    return Workspace(location=location, environment=os.environ, cwd=Path.cwd(), today=date.min) if location else None


# A status further down in the file is not found; the command itself reads all of it.
_HEAD_BYTES = 2_048
_STATUS = re.compile(rb"^status:[ \t]*['\"]?(\w+)", re.MULTILINE)


def _status(path: Path) -> str:
    try:
        # A pipe, or a link to a terminal, would keep the shell waiting.
        if not S_ISREG(path.lstat().st_mode):
            return ""
        with path.open("rb") as file:
            found = _STATUS.search(file.read(_HEAD_BYTES))
    except OSError:
        return ""
    return found[1].decode("ascii", "replace") if found else ""
