"""What the shell completes: wings, rooms and addresses, from the names of files alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click


def complete_wing(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the wings that begin with what is typed."""
    return sorted({parts[0] for parts in _names() if parts[0].startswith(incomplete)})


def complete_room(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the rooms that begin with what is typed."""
    return sorted({parts[1] for parts in _names() if parts[1].startswith(incomplete)})


def complete_address(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the addresses that begin with what is typed."""
    return sorted(address for parts in _names() if (address := "/".join(parts)).startswith(incomplete))


def _names() -> Iterator[list[str]]:
    from mdmem.errors import MdmemError
    from mdmem.workspace.location import locate

    try:
        root = locate(None, os.environ, Path.cwd()).root
    except MdmemError:
        return
    for path in root.glob("*/*/*.md"):
        parts = path.relative_to(root).with_suffix("").parts
        if path.name != "README.md" and not any(part.startswith(".") for part in parts):
            yield list(parts)
