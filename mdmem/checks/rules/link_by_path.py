"""A link names the path of a file where an address belongs.

An address is the path from the root without `.md`. Paths relative to the entry break when it moves, and other tools
compare addresses as they are written. Markdown links in the body are paths and stay so.

Fails:

    see: [../rules/retry.md]

Fix: write the address, as in `see: [app/rules/retry]`; the finding names it.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_link, with_reference
from mdmem.checks.paths import is_path_like
from mdmem.model.finding import Finding, Severity

CODE = "link-by-path"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that is written as a path and leads to an entry."""
    for link in case.distinct_links:
        if link.target is not None and is_path_like(link.written):
            message = f"`{link.written}` is a path; the address is `{link.target}`"
            help_ = f"write `{link.target}`"
            shown = case.on_entry(CODE, link.entry, message, help_, field=link.field, item=link.item)
            yield with_link(shown, case, link, link.target)
    for found in case.references:
        if found.path is None and found.target is not None and is_path_like(found.link.target):
            message = f"`{found.link.target}` is a path; the address is `{found.target}`"
            at = {"offset": found.link.offset, "width": found.link.width}
            shown = case.in_body(CODE, found.address, message, f"write `{found.target}`", **at)
            yield with_reference(shown, case, found, found.target)
