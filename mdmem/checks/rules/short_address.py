"""A link is written short: `room/entry-id` or `entry-id` instead of the full address.

It is understood all the same. Other tools read the files too, and `git grep` for an address finds only what is written
in full; a short one also changes its meaning when its entry moves.

Fails:

    see: [index-as-key]

Fix: write `wing/room/entry-id`; the finding names it.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_link, with_reference
from mdmem.checks.paths import is_path_like
from mdmem.model.finding import Finding, Severity

CODE = "short-address"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each short link, in front matters and in bodies."""
    for link in case.distinct_links:
        if link.target is not None and link.target != link.written and not is_path_like(link.written):
            message = f"`{link.written}` is short for `{link.target}`"
            help_ = f"write `{link.target}`"
            shown = case.on_entry(CODE, link.entry, message, help_, field=link.field, item=link.item)
            yield with_link(shown, case, link, link.target)
    for found in case.references:
        written = found.link.target
        if found.path is None and found.target is not None and found.target != written and not is_path_like(written):
            message = f"`{written}` is short for `{found.target}`"
            at = {"offset": found.link.offset, "width": found.link.width}
            shown = case.in_body(CODE, found.address, message, f"write `{found.target}`", **at)
            yield with_reference(shown, case, found, found.target)
