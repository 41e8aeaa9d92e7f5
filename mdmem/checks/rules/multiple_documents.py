"""The front matter holds more than one YAML document.

A line that begins with `--- ` starts another document, and readers disagree about which of them counts.

Fails:

    ---
    type: decision
    status: active
    --- # added by the importer
    owner: navigation-team
    ---

Fix: remove the line, so that all fields stand in one document.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "multiple-documents"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter that holds a second YAML document."""
    yield from case.loaded(CODE)
