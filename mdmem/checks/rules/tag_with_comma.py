"""One tag holds a comma.

Without brackets `web, views` is a single text, so that whoever filters by `web` or by `views` misses the entry.

Fails:

    tags: web, views

Fix: write a list, as in `tags: [web, views]`.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case, written_links
from mdmem.checks.fixes.base import with_fix
from mdmem.markdown.patch import set_fields
from mdmem.model.finding import Finding, Severity

CODE = "tag-with-comma"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each tag that is several, separated by commas."""
    for entry, _ in case.entries:
        joined = next((tag for tag in entry.tags if len(_parts(tag)) > 1), None)
        if joined is None:
            continue
        document = case.catalog.document(entry.path)
        written = written_links(document, "tags")
        meant = list(dict.fromkeys(part for tag in written for part in _parts(tag)))
        listed = f"tags: [{', '.join(meant)}]"
        item = written.index(joined) if joined in written else 0
        shown = case.on_entry(CODE, entry, f"`{joined}` is one tag", f"write `{listed}`", field="tags", item=item)
        yield with_fix(shown, f"Write `{listed}`", set_fields, document, {"tags": meant})


def _parts(tag: str) -> list[str]:
    return [part.strip() for part in tag.split(",") if part.strip()]
