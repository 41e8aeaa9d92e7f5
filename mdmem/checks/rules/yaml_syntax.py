"""The front matter is no YAML.

The usual causes are a colon and a blank inside a value, a value that begins with `@`, `*`, `%` or a backtick, a tab,
and a quote that is not closed. The entry cannot be read until it is mended.

Fails:

    title: Retries: three at most
    applies_to: **/*.py

Fix: put the value in quotes, as in `title: "Retries: three at most"`.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import loaded_with_fixes
from mdmem.checks.fixes.front_matter import with_syntax_fix
from mdmem.model.finding import Finding, Severity

CODE = "yaml-syntax"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each front matter that is no YAML, at the cause."""
    yield from loaded_with_fixes(case, CODE, with_syntax_fix)
