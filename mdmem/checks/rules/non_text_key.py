"""A key is a list or a mapping, not a word.

A field is looked up by its name. A link in brackets before a colon, or a mark of a template, makes a key without a
name.

Fails:

    [see]: app/rules/use-utc

Fix: write the key as one word, as in `see: app/rules/use-utc`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "non-text-key"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each key that is a list or a mapping."""
    yield from case.loaded(CODE)
