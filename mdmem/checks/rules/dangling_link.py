"""A link of a front matter leads to no entry.

Whoever follows it, person or agent, misses the rule it stood for, and a supersession that leads nowhere hides what is
in force now. The finding says what happened to the address: never there, moved, deleted in which commit, ignored by
git, or not added yet. A link to an address that can be told, written short or as a path, is not dangling, and neither
is what replaced an entry, or what it replaced, where that plainly lies outside: a URL, or a document by its number such
as `RFC 6120`.

Fails:

    see: [react/anti-patterns/indx-as-key]

Fix: write the address that was meant; the nearest ones are named. Where an entry was renamed, `git grep OLD-ADDRESS`
lists the entries that still name it.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.checks.case import Case, Link
from mdmem.checks.fixes.links import with_link
from mdmem.checks.missing_targets import MissingTarget
from mdmem.model.finding import Finding, Severity

CODE = "dangling-link"
SEVERITY = Severity.ERROR
_SUPERSESSION = ("supersedes", "superseded_by")
_URL_HELP = "move it into the body, or into an `x-` field; a link field holds addresses of entries"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each link that leads nowhere, with what became of the address."""
    missing = MissingTarget(case)
    for link in case.distinct_links:
        if link.target is None and not (
            link.field in _SUPERSESSION and missing.is_outside(link.written, link.entry.address)
        ):
            fate = missing.fate(link.written, link.entry.address)
            is_url = "://" in link.written
            message = f"`{link.field}` names `{link.written}`, which {'is a URL, no address' if is_url else fate.story}"
            help_ = _URL_HELP if is_url else fate.help(_other_ends(case, link))
            shown = case.on_entry(CODE, link.entry, message, help_, field=link.field, item=link.item)
            if link.field in _SUPERSESSION:
                # It hides what binds now, and so weighs as much on an entry that ended.
                shown = replace(shown, severity=SEVERITY)
            yield with_link(shown, case, link, fate.certain) if fate.certain else shown


def _other_ends(case: Case, link: Link) -> tuple[str, ...]:
    """Return the entries that name this one from the other end of a supersession, and that this one does not name."""
    lineage = case.catalog.lineage
    ends = {"superseded_by": lineage.successors, "supersedes": lineage.predecessors}.get(link.field, {})
    named = link.entry.links(link.field)
    return tuple(end for end in ends.get(link.entry.address, ()) if end not in named)
