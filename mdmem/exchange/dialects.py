"""The dialects that are read, the most telling first, and which of them a file is written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from mdmem.exchange import adr_tools, basic_memory, instructions, log4brains, madr, markdown
from mdmem.exchange.record import ForeignRecord, SourceFile


class Dialect(Protocol):
    """What a module of a dialect has."""

    NAME: str

    def fits(self, source: SourceFile) -> bool:
        """Say whether a file is written so."""

    def read(self, source: SourceFile) -> Iterable[ForeignRecord]:
        """Return the records that a file holds."""


_ALL: tuple[Dialect, ...] = (instructions, basic_memory, log4brains, madr, adr_tools, markdown)
DIALECTS: Mapping[str, Dialect] = {one.NAME: one for one in _ALL}


def dialect_of(source: SourceFile) -> Dialect:
    """Return the first dialect that fits a file; plain Markdown fits every one."""
    return next(one for one in _ALL if one.fits(source))
