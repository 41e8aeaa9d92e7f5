"""Records of MADR, in all its versions: facts in a list below the title, or in a front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.exchange.decision import decision_record, fact_lines
from mdmem.exchange.record import ForeignRecord, SourceFile
from mdmem.markdown.headings import sections_of

NAME = "madr"
_HEADINGS = re.compile(
    r"context and problem statement|considered (?:options|alternatives)|decision (?:outcome|drivers)"
    r"|pros and cons of the (?:options|alternatives)"
)
_KEYS = frozenset({"deciders", "decision-makers", "decision_makers", "consulted", "informed"})


def fits(source: SourceFile) -> bool:
    """Say whether a file has the headings, the facts or the keys of the template."""
    sections = sections_of(source.body)
    has_headings = any(_HEADINGS.match(one.name) for one in sections)
    is_listed = any(line.key.lower() == "status" for line in fact_lines(sections))
    return has_headings or is_listed or not _KEYS.isdisjoint(source.fields)


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the record."""
    yield decision_record(source)
