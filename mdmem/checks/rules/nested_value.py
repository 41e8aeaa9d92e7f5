"""A value nests where plain text belongs.

Fields are text, or lists of text, so that every tool reads the same from them. Only `relations`, `ignore` and keys
that begin with `x-` may nest. A title from a template, as in `{{ title }}`, is a mapping too.

Fails:

    owner:
      team: navigation
      lead: ada

Fix: write plain text, as in `owner: navigation`, or put the structure under a key of your own, as in `x-owner:`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "nested-value"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each value that nests where plain text belongs."""
    yield from case.loaded(CODE)
