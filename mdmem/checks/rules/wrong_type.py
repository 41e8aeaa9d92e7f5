"""A value is not of the kind its field holds.

A value that cannot be read is left out of the entry, so `confidence: high` ranks nothing and a list under `owner`
names nobody, while a reader of the file believes that both count. A list field with a single value may be written as
a plain value.

Fails:

    version: two
    confidence: 80%
    owner: [web-team, api-team]

Fix: write a whole number from 1, a number from 0 to 1, one text; or rename the key to `x-...` to keep the value as it
is.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import field_at, fields_of, loaded_with_fixes, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import replace_item, set_fields
from mdmem.model.entry import kind_of
from mdmem.model.finding import Finding, Severity

CODE = "wrong-type"
SEVERITY = Severity.ERROR
# Our globs are read as git reads these.
_GLOB = ":(glob)"
_NESTING = frozenset({"ignore", "relations"})
_SHARE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(%)?", re.ASCII)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each value, or item of a list, that its field cannot hold."""
    yield from loaded_with_fixes(case, CODE, _converted)


def _converted(document: Document, finding: Finding) -> Finding:
    """Write a value in the form its field wants, where that says the same."""
    found = field_at(document, finding.place)
    name, item = found or ("", 0)
    value = fields_of(document).get(name)
    if isinstance(value, list) and name == "applies_to":
        glob = str(value[item]).removeprefix(_GLOB)
        return with_fix(finding, f"Write `{glob}`", replace_item, document, name, item, glob) if glob else finding
    meant = _meant(name, value)
    return with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant}) if meant else finding


def _meant(name: str, value: object) -> str | None:
    if name in _NESTING:
        return None
    if isinstance(value, list) and len(value) == 1 and kind_of(value[0]) == "value" and value[0]:
        # A list of one is that one.
        return str(value[0])
    if not isinstance(value, str):
        return None
    if name == "applies_to":
        return value.removeprefix(_GLOB) or None
    share = _SHARE.fullmatch(value) if name in ("confidence", "relevance_score") else None
    if share is None:
        return None
    number = float(share[1].replace(",", ".")) / (100 if share[2] else 1)
    return f"{number:.6g}" if number <= 1 else None
