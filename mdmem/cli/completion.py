"""What the shell completes: wings, rooms and addresses, from the names of files alone, and closed sets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click


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
    """Return the addresses that begin with what is typed."""
    return sorted(address for parts in _names(context) if (address := "/".join(parts)).startswith(incomplete))


def complete_type(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the types that begin with what is typed, in order of authority."""
    from mdmem.entry.model import EntryType

    return [kind.value for kind in EntryType if kind.startswith(incomplete)]


def complete_status(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the statuses that begin with what is typed."""
    from mdmem.entry.model import Status

    return [status.value for status in Status if status.startswith(incomplete)]


def complete_field(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the fields that begin with what is typed."""
    from mdmem.entry.fields import FIELDS

    return [field.name for field in FIELDS if field.name.startswith(incomplete)]


def complete_code(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the checks that begin with what is typed."""
    from mdmem.checks.registry import CODES

    return [code for code in CODES if code.startswith(incomplete)]


def _names(context: click.Context) -> Iterator[list[str]]:
    from mdmem.errors import MdmemError
    from mdmem.workspace.location import locate

    typed = context.params.get("root") or (context.parent.params.get("root") if context.parent else None)
    try:
        root = locate(typed, os.environ, Path.cwd()).root
    except MdmemError:
        return
    for path in root.glob("*/*/*.md"):
        parts = path.relative_to(root).with_suffix("").parts
        # A shell prints what it completes, and no name that holds an escape sequence can be typed.
        is_shown = all(part.isprintable() and not part.startswith(".") for part in parts)
        if path.name != "README.md" and is_shown:
            yield list(parts)
