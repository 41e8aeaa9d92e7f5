"""Records of adr-tools, and of all who write as Nygard did: a date below the title, a section on the status."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.exchange.decision import decision_record, status_section
from mdmem.exchange.record import ForeignRecord, SourceFile
from mdmem.markdown.headings import sections_of

NAME = "adr-tools"


def fits(source: SourceFile) -> bool:
    """Say whether a file has a section on the status and one on the context or the decision."""
    sections = sections_of(source.body)
    return status_section(sections) is not None and any(one.name in ("context", "decision") for one in sections)


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the record."""
    yield decision_record(source)
