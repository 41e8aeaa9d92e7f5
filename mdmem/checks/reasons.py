"""Whether an entry says why: in `reason`, or in words of its body."""

from __future__ import annotations

import re

from mdmem.catalog import Catalog
from mdmem.checks.wording import reasons_begin
from mdmem.entry.model import Entry

_CAUSE = re.compile(
    r"\b(?:because|since|so\s+that|therefore|instead\s+of|rather\s+than|no\s+longer|due\s+to|in\s+favou?r\s+of"
    r"|replac\w+|supersed\w+)\b",
    re.IGNORECASE,
)


def gives_reason(entry: Entry, catalog: Catalog) -> bool:
    """Say whether an entry holds a reason, or one that could not be read."""
    if entry.reason or "reason" in entry.unread:
        return True
    body = catalog.body(entry.address)
    if "Rationale:" in body or "because" in body:
        return True
    return _CAUSE.search(body) is not None or reasons_begin(body) is not None
