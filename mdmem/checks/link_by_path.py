"""A link names the path of a file where an address belongs.

An address is the path from the root without `.md`. Paths relative to the entry break when it moves, and other tools
compare addresses as they are written. Markdown links in the body are paths and stay so.

Fails:

    see: [../rules/retry.md]

Fix: write the address, as in `see: [app/rules/retry]`; the finding names it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.distinct_links import distinct_links, is_path_like
from mdmem.finding import Finding, Severity

CODE = "link-by-path"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that is written as a path and leads to an entry."""
    for link in distinct_links(case):
        if link.target is not None and is_path_like(link.written):
            message = f"`{link.written}` is a path; the address is `{link.target}`"
            yield case.on_entry(CODE, link.entry, message, f"write `{link.target}`", field=link.field, item=link.item)
    for found in case.references:
        if found.path is None and found.target is not None and is_path_like(found.link.target):
            message = f"`{found.link.target}` is a path; the address is `{found.target}`"
            place = {"offset": found.link.offset, "width": found.link.width}
            yield case.in_body(CODE, found.address, message, f"write `{found.target}`", **place)
