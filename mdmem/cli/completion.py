"""Shell completion of wings, rooms and addresses, which are read from file names, and of names from fixed lists."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from mdmem.errors import MdmemError
from mdmem.model.entry import EntryType, Status

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def complete_wing(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a wing."""
    return sorted({parts[0] for parts in _names(context) if parts[0].startswith(incomplete)})


def complete_room(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a room."""
    return sorted({parts[1] for parts in _names(context) if parts[1].startswith(incomplete)})


def complete_place(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete `wing/room/`."""
    return sorted({place for parts in _names(context) if (place := f"{parts[0]}/{parts[1]}/").startswith(incomplete)})


def complete_address(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete an address, or a short one (`room/entry-id` or `entry-id`) if no full address matches."""
    known = list(_names(context))
    for kept in (3, 2, 1):
        found = sorted(address for parts in known if (address := "/".join(parts[-kept:])).startswith(incomplete))
        if found:
            return found
    return []


def complete_file(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the path of a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_folder(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the path of a folder."""
    return [CompletionItem(incomplete, type="dir")]


def _one_of(get_names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer for names from a fixed list, which is read when it is needed."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [str(name) for name in get_names() if name.startswith(incomplete)]

    return complete


def _codes() -> Iterable[str]:
    from mdmem.checks.check import get_checks

    return get_checks()


complete_type = _one_of(lambda: EntryType)
complete_status = _one_of(lambda: Status)
complete_code = _one_of(_codes)


def _names(context: click.Context) -> Iterator[list[str]]:
    """Yield wing, room and entry-id of each entry, from the file names in the memory."""
    from mdmem.store.workspace.location import locate

    typed = context.params.get("root") or (context.parent.params.get("root") if context.parent else None)
    try:
        root = locate(typed, os.environ, Path.cwd()).root
    except MdmemError:
        return
    for path in root.glob("*/*/*.md"):
        parts = path.relative_to(root).with_suffix("").parts
        # The shell prints completions unescaped, so names with control characters are left out.
        if path.name != "README.md" and all(part.isprintable() and not part.startswith(".") for part in parts):
            yield list(parts)
