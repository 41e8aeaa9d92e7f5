"""Shell completion of wings, rooms and addresses, which are read from file names, and of names from fixed lists."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from mdmem.errors import MdmemError
from mdmem.model.entry import EntryType, Status


def address(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete an address, or a short one (`room/entry-id` or `entry-id`) if no full address matches."""
    known = list(_names(context))
    for kept in (3, 2, 1):
        found = sorted(address for parts in known if (address := "/".join(parts[-kept:])).startswith(incomplete))
        if found:
            return found
    return []


def _path_of(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a completer that lets the shell complete the path of a file or of a folder (`dir`)."""
    return lambda _, __, incomplete: [CompletionItem(incomplete, type=kind)]


file, folder = _path_of("file"), _path_of("dir")


def _one_of(get_names: Callable[[click.Context], Iterable[str]]) -> Callable[..., list[str]]:
    """Return a completer for names that are read when it is needed."""
    return lambda context, _, incomplete: [str(name) for name in get_names(context) if name.startswith(incomplete)]


wing = _one_of(lambda context: sorted({one[0] for one in _names(context)}))
room = _one_of(lambda context: sorted({one[1] for one in _names(context)}))
place = _one_of(lambda context: sorted({f"{one[0]}/{one[1]}/" for one in _names(context)}))
type_ = _one_of(lambda _: EntryType)
status = _one_of(lambda _: Status)
code = _one_of(lambda _: import_module("mdmem.checks.check").get_checks())


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
