"""The text of an invariant, or (a warning) of a decision, in force changed as if it had always said so.

Others approved the old words and rely on them. A rule that changes gets a successor or a higher `version`, so that
everybody sees it. The title counts as text, too: lists and packs show it for the rule. Blanks at the ends of lines do
not count, nor do links that follow an entry to its new address. A first or changed `editorial_at` says that the change
corrects the words and leaves the rule. An error for invariants, a warning for decisions.

Fails:

    base:    Times are stored in UTC.
    now:     Times are stored in local time.      (status: active, version: 1 in both)

Fix: take the change back and write a successor with `mdmem supersede`; raise `version` if it is the same rule, told
better; `mdmem edit --editorial` adds `editorial_at: YYYY-MM-DD` if only a slip was corrected.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import first_reworded
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.changes import Changed

CODE = "frozen-text-changed"
SEVERITY = Severity.ERROR
_SEVERITIES = {EntryType.INVARIANT: Severity.ERROR, EntryType.DECISION: Severity.WARNING}


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each binding entry with other words, at the first line that changed, else at the title."""
    for one in case.changes.changed:
        severity = _SEVERITIES.get(one.before.type)
        if severity is None or not _was_and_is_current(case, one) or one.is_corrected or _has_new_version(one):
            continue
        if one.keeps_text and one.keeps_title:
            continue
        what = "title" if one.keeps_text else "text"
        message = f"the {what} of {_article(one.before.type)} in force changed, and its `version` did not"
        version = (one.before.version or 1) + 1
        slip = f"for a corrected slip run `mdmem edit --editorial {one.after.address}`"
        put = f"`mdmem supersede {one.after.address} --title TEXT --reason TEXT`"
        help_ = f"supersede it instead, with {put}, or write `version: {version}`; {slip}"
        place = case.catalog.place(one.after.address, "title") if one.keeps_text else first_reworded(case.catalog, one)
        yield Finding(CODE, message, place, help_, one.after.address, severity=severity)


def _was_and_is_current(case: Case, one: Changed) -> bool:
    was = case.base is not None and case.base.catalog.lineage.is_current(one.before.address)
    return was and case.is_current(one.after.address)


def _has_new_version(one: Changed) -> bool:
    if "version" in (*one.before.unread, *one.after.unread):
        return True
    return one.after.version is not None and one.after.version > (one.before.version or 0)


def _article(kind: EntryType) -> str:
    return f"an {kind}" if kind is EntryType.INVARIANT else f"a {kind}"
