"""The front matter uses a YAML tag.

A tag tells some readers to build an object, and others to run code. Here every value is text, so a tag means nothing;
and a value that begins with `!` loses its first word.

Fails:

    version: !!int "3"
    title: !important read this first

Fix: remove the tag, or put the value in quotes where `!` belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "custom-tag"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each YAML tag."""
    yield from case.loaded(CODE)
