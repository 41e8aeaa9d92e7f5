"""Which of the files that were read are records of a folder of decisions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mdmem.exchange import adr_tools, instructions, madr
from mdmem.exchange.decision import status_section
from mdmem.exchange.record import SourceFile
from mdmem.exchange.references import number_of
from mdmem.markdown.headings import sections_of

# As few digits begin the name of a chapter, too.
_DIGITS = 3


def marked(sources: Sequence[SourceFile], *, is_named: bool) -> list[SourceFile]:
    """Return the sources, each with whether it is a record of a folder of decisions.

    A folder that was named is one where half of its files are written or numbered so. Where most are numbered, a page
    without a number is a record only if it is written as one.
    """
    folders: dict[str, list[SourceFile]] = {}
    for one in sources:
        if not instructions.fits(one):
            folders.setdefault(posixpath.dirname(one.path), []).append(one)
    inside = {one.path for ones in folders.values() for one in _records_of(ones, is_named=is_named)}
    return [replace(one, is_in_records=one.path in inside) for one in sources]


def _records_of(ones: Sequence[SourceFile], *, is_named: bool) -> Iterator[SourceFile]:
    likely = sum(1 for one in ones if _is_numbered(one) or _is_written_so(one))
    if not (ones[0].is_in_records or (is_named and 2 * likely >= len(ones))):
        return
    has_numbers = 2 * sum(map(_is_numbered, ones)) > len(ones)
    yield from (one for one in ones if not has_numbers or _is_numbered(one) or _is_written_so(one))


def _is_numbered(source: SourceFile) -> bool:
    has_digits = sum(map(str.isdigit, source.stem[:12])) >= _DIGITS
    return number_of(source.stem) is not None if source.stem[:1].isalpha() else has_digits


def _is_written_so(source: SourceFile) -> bool:
    sections = sections_of(source.body)
    return (
        madr.fits(source) or adr_tools.fits(source) or status_section(sections) is not None or "status" in source.fields
    )
