"""What the shell completes: wings, rooms and addresses, from the names of files alone, and closed sets."""

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

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from mdmem.store.workspace.location import Location
    from mdmem.store.workspace.workspace import Workspace


def complete_wing(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the wings that begin with what is typed."""
    return sorted({parts[0] for parts in _names(context) if parts[0].startswith(incomplete)})


def complete_room(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the rooms that begin with what is typed."""
    return sorted({parts[1] for parts in _names(context) if parts[1].startswith(incomplete)})


def complete_place(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the rooms, with their wing, that begin with what is typed."""
    return sorted({place for parts in _names(context) if (place := f"{parts[0]}/{parts[1]}/").startswith(incomplete)})


def complete_address(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses that begin with what is typed; where none does, the short ones."""
    return _addresses(_names(context), incomplete)


def complete_in_force(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses of what has not ended that begin with what is typed."""
    return _addresses(_names(context, passed=lambda status: status != "deprecated"), incomplete)


def complete_draft(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses of drafts that begin with what is typed."""
    return _addresses(_names(context, passed=lambda status: status == "draft"), incomplete)


def complete_conflict(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses that a merge left to be decided and that begin with what is typed."""
    from mdmem.change.conflicts import find_conflicts

    try:
        workspace = _workspace(context)
        found = find_conflicts(workspace).found if workspace is not None else ()
    except MdmemError:
        return []
    return _addresses((one.path.removesuffix(".md").split("/") for one in found), incomplete)


def values_of(name: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return what completes the values that entries give a field."""

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
    """Return the addresses that begin with what is typed, and leave the files to the shell, which knows them best."""
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
    """Leave the files to the shell, which knows them best."""
    return [CompletionItem(incomplete, type="file")]


def complete_folder(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave the folders to the shell, which knows them best."""
    return [CompletionItem(incomplete, type="dir")]


def complete_revision(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the branches and tags that begin with what is typed, behind the dots of a span too."""
    from mdmem.store.git.discovery import find_repository
    from mdmem.store.git.status import list_names

    before, dots, begun = incomplete.rpartition("...") if "..." in incomplete else incomplete.rpartition("..")
    try:
        repository = find_repository(Path.cwd())
        names = list_names(repository) if repository is not None else ()
    except MdmemError:
        return []
    return [f"{before}{dots}{name}" for name in names if name.startswith(begun) and name.isprintable()]


def complete_type(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the types that begin with what is typed, in order of authority."""
    from mdmem.model.entry import EntryType

    return [kind.value for kind in EntryType if kind.startswith(incomplete)]


def complete_status(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the statuses that begin with what is typed."""
    from mdmem.model.entry import Status

    return [status.value for status in Status if status.startswith(incomplete)]


def complete_field(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the fields that begin with what is typed."""
    from mdmem.model.fields import FIELDS

    return [field.name for field in FIELDS if field.name.startswith(incomplete)]


def complete_code(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the checks that begin with what is typed."""
    from mdmem.checks.check import get_checks

    return [code for code in get_checks() if code.startswith(incomplete)]


def _names(context: click.Context, *, passed: Callable[[str], bool] | None = None) -> Iterator[list[str]]:
    """Yield wing, room and id of each entry, of those only whose status passes where that is asked."""
    location = _location(context)
    if location is None:
        return
    root = location.root
    for path in root.glob("*/*/*.md"):
        parts = path.relative_to(root).with_suffix("").parts
        # A shell prints what it completes, and no name that holds an escape sequence can be typed.
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
    # What is completed depends on no day.
    return Workspace(location=location, environment=os.environ, cwd=Path.cwd(), today=date.min) if location else None


# Where a front matter says its status; a key further down is left to the command.
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
