"""Checks of a change or a merge, against the tree that it starts from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mdmem.checks.case import Case, Merge, at_path, written_in
from mdmem.checks.check import check
from mdmem.checks.engine import has_ended
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.changes import Changed, first_difference


@check("deleted-in-force", Severity.ERROR)
def deleted_in_force(case: Case) -> Iterator[Finding]:
    """The change deletes a current entry.

    Whoever relied on the rule finds neither the rule nor why it ended. A rule ends by its status, and its file stays as
    history. An entry has moved if half of its body is at a new address in the same change. Drafts and ended entries may
    be deleted.

    Fails:

        git rm app/rules/use-utc.md     (status: active in the base)

    Fix: bring the file back, and end the entry with `mdmem deprecate` or `mdmem supersede`.
    """
    if case.base is None:
        return
    # Without their manifest the entries are there and count as none.
    orphans = frozenset(case.orphans)
    for entry in case.changes.gone:
        if entry.path not in orphans and case.base.catalog.lineage.is_current(entry.address):
            message = f"the {entry.type} `{entry.address}` was {entry.status} in {case.base.name}, and its file is gone"
            supersede = f"`mdmem supersede {entry.address} --title TEXT --reason TEXT`"
            ways = f"`mdmem deprecate {entry.address} --reason TEXT` or {supersede}"
            help_ = f"bring the file back, then end it with {ways}"
            yield Finding("", message, Place(entry.path), help_, entry.address)


_SEVERITIES = {EntryType.INVARIANT: Severity.ERROR, EntryType.DECISION: Severity.WARNING}


@check("frozen-text-changed", Severity.ERROR)
def frozen_text_changed(case: Case) -> Iterator[Finding]:
    """The text or title of a current invariant or decision changed, but its `version` did not.

    Others approved the old words and rely on them, so a changed rule needs a successor or a higher `version`. Blanks at
    the ends of lines do not count, nor do links that follow a moved entry. A new or changed `editorial_at` says that
    the change corrects the words and keeps the rule. It is an error for invariants, a warning for decisions.

    Fails:

        base:    Times are stored in UTC.
        now:     Times are stored in local time.      (status: active, version: 1 in both)

    Fix: take the change back and write a successor with `mdmem supersede`; raise `version` if it is the same rule in
    better words; `mdmem edit --editorial` adds `editorial_at: YYYY-MM-DD` if only a slip was corrected.
    """
    for one in case.changes.changed:
        severity = _SEVERITIES.get(one.before.type)
        if severity is None or not _was_and_is_current(case, one) or one.is_corrected or _has_new_version(one):
            continue
        if one.keeps_text and one.keeps_title:
            continue
        address, version = one.after.address, (one.before.version or 1) + 1
        what = "title" if one.keeps_text else "text"
        message = f"the {what} of a current {one.before.type} changed, and its `version` did not"
        slip = f"for a corrected slip run `mdmem edit --editorial {address}`"
        put = f"`mdmem supersede {address} --title TEXT --reason TEXT`"
        help_ = f"supersede it instead, with {put}, or write `version: {version}`; {slip}"
        place = case.catalog.place(address, "title") if one.keeps_text else _first_reworded(case, one)
        yield Finding("", message, place, help_, address, severity=severity)


def _first_reworded(case: Case, one: Changed) -> Place:
    """Return the first line of an entry's body that is different than before."""
    line, text = first_difference(one.body_before, one.body_after)
    return Place(one.after.path, case.catalog.document(one.after.path).body_line + line, 1, len(text))


def _was_and_is_current(case: Case, one: Changed) -> bool:
    was = case.base is not None and case.base.catalog.lineage.is_current(one.before.address)
    return was and case.is_current(one.after.address)


def _has_new_version(one: Changed) -> bool:
    if "version" in (*one.before.unread, *one.after.unread):
        return True
    return one.after.version is not None and one.after.version > (one.before.version or 0)


# The review of an entry that is new, or was a draft, may begin before the commit that brings it.
_NEW = (Status.DRAFT, Status.ACTIVE, Status.UNDER_REVIEW)
_ALLOWED: Mapping[Status, tuple[Status, ...]] = {
    Status.DRAFT: (Status.ACTIVE, Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.ACTIVE: (Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.UNDER_REVIEW: (Status.ACTIVE, Status.DEPRECATED),
    Status.DEPRECATED: (Status.ACTIVE,),
}
_ASKS_REASON = {
    (Status.DRAFT, Status.DEPRECATED): "deprecated_reason",
    (Status.DEPRECATED, Status.ACTIVE): "reason",
}


@check("illegal-transition", Severity.ERROR)
def illegal_transition(case: Case) -> Iterator[Finding]:
    """The status of an entry changed in a way that is not allowed.

    A new entry is a draft, active or under review; it may be deprecated with its successor or reason, as an imported
    record. A draft becomes active or under review, or deprecated with a reason or a successor. Active and under_review
    change into each other and into deprecated. A deprecated entry becomes active again with a new `reason`.

    Fails:

        base:    status: active
        now:     status: draft

    Fix: write a status that the finding allows, or add the reason that it asks for.
    """
    for entry in case.changes.added:
        # A record was imported, or added and superseded on one branch.
        is_record = entry.status is Status.DEPRECATED and _says_why_it_ended(case, entry)
        if entry.status not in _NEW and not is_record:
            message, help_ = f"a new entry starts as `{entry.status}`", f"start it as {_listed(_NEW)}"
            yield case.on_entry(entry, message, help_, field="status")
    for one in case.changes.changed:
        was, now = one.before.status, one.after.status
        if was is not now and now not in _ALLOWED[was]:
            message, help_ = f"`{was}` became `{now}`", f"keep `{was}`, or write {_listed(_ALLOWED[was])}"
            yield case.on_entry(one.after, message, help_, field="status")
        elif (was, now) in _ASKS_REASON and not _has_reason(case, one):
            message = f"`{was}` became `{now}` without a new reason"
            help_ = f"add `{_ASKS_REASON[was, now]}` that says why, or keep `{was}`"
            yield case.on_entry(one.after, message, help_, field="status")


def _says_why_it_ended(case: Case, entry: Entry) -> bool:
    # Another check reports a successor that does not fit.
    return bool(entry.why_ended or entry.superseded_by) or entry.address in case.catalog.lineage.successors


def _has_reason(case: Case, one: Changed) -> bool:
    entry = one.after
    if {"reason", "deprecated_reason"}.intersection(entry.unread):
        return True
    if entry.status is Status.DEPRECATED:
        return _says_why_it_ended(case, entry)
    # The reason for the end, which `reason` may contain, is no reason for the new start.
    return bool(entry.reason) and entry.reason != one.before.reason


def _listed(statuses: tuple[Status, ...]) -> str:
    *most, last = (f"`{status}`" for status in statuses)
    return f"{', '.join(most)} or {last}" if most else last


_OFFSET = re.compile(r"Z|[+-]\d\d:?\d\d")


@check("fixed-field-changed", Severity.ERROR, aliases=("created-at-changed", "type-changed"))
def fixed_field_changed(case: Case) -> Iterator[Finding]:
    """The change alters the `created_at` or the `type` of an entry.

    The date tells which of two rules is older, and no later change alters that fact. Adding the offset to a time is
    fine. The type is the entry's authority: an invariant that becomes a note no longer applies, and nobody approved a
    note that becomes an invariant.

    Fails:

        base:    created_at: 2026-03-05    type: invariant
        now:     created_at: 2026-11-20    type: note

    Fix: write the old date and type again. Use `verified_at` if you verified an old rule; write a new entry of another
    type that supersedes this one with `mdmem supersede`.
    """
    for one in case.changes.changed:
        was, now = one.before.created_at, one.after.created_at
        if case.base is not None and was is not None and now is not None and was != now:
            before = written_in(case.base.catalog, one.before, "created_at")
            after = written_in(case.catalog, one.after, "created_at")
            gained_offset = "T" in before and _OFFSET.fullmatch(after.removeprefix(before))
            if not gained_offset:
                message, help_ = f"`created_at` was {before} and is {after}", f"write `created_at: {before}` again"
                yield case.on_entry(one.after, message, help_, field="created_at", former="created-at-changed")
        kind, new = one.before.type, one.after.type
        if kind is not new:
            put = f"`mdmem supersede {one.after.address} --type {new} --title TEXT --reason TEXT`"
            message = f"the type was `{kind}` and is `{new}`"
            help_ = f"restore `type: {kind}`; to make it a {new}, supersede it by a new entry: {put}"
            yield case.on_entry(one.after, message, help_, field="type", former="type-changed")


@check("activated-by-agent", Severity.ERROR)
def activated_by_agent(case: Case) -> Iterator[Finding]:
    """An agent's entry became active without a person's approval.

    With `[governance] agent_status` the settings say that entries of this type stay drafts until a person approves
    them. An agent cannot approve its own entry.

    Fails:

        type: decision
        status: active          (draft in the base, or not there)
        agent: claude           (and no `approved_by`, or `approved_by: claude`)

    Fix: write `status: draft` and let a person run `mdmem approve`, which writes `approved_by`.
    """
    for entry, agent in _activated_by_agents(case):
        how = "only its agent approved it" if entry.approved_by else "no person approved it"
        help_ = f"write `status: draft`, then let a person run `mdmem approve {entry.address}`"
        message = f"became {entry.status}, and {how}: `agent` is `{agent}`"
        yield case.on_entry(entry, message, help_, field="status")


def _activated_by_agents(case: Case) -> Iterator[tuple[Entry, str]]:
    """Yield each entry that only its agent made active, though agents only draft its type, with the agent.

    An agent that the change removes from the entry wrote it all the same, and if the change itself allows agents more,
    that does not count yet.
    """
    settings = case.base.settings if case.base and case.base.catalog.entries else case.settings
    for was, entry in case.changes.activated():
        agent = entry.agent or (was.agent if was else None)
        if agent is None or settings.agent_status.get(entry.type) is not Status.DRAFT:
            continue
        if "approved_by" in entry.unread or (entry.approved_by and not names_the_same(entry.approved_by, agent)):
            continue
        yield entry, agent


_IDENTITY = re.compile(r"\s*(?P<name>[^<>]*?)\s*<(?P<email>[^<>]+)>\s*\Z")


def names_the_same(one: str, other: str) -> bool:
    """Return whether two texts name the same person or team, case ignored.

    Of two in git's form `Name <email>` the email decides.
    """
    parts, others = _identity(one), _identity(other)
    if len(parts) > 1 and len(others) > 1:
        return parts[-1] == others[-1]
    return not set(parts).isdisjoint(others)


def _identity(text: str) -> tuple[str, ...]:
    """Return the name and the email of git's form, or the text itself."""
    found = _IDENTITY.match(text)
    parts = (found["name"], found["email"]) if found else (text,)
    return tuple(part.strip().casefold() for part in parts if part or found is None)


# A rule for others waits for an owner.
APPROVED_TYPES = frozenset({EntryType.INVARIANT, EntryType.DECISION})
_APPROVAL_FIELDS = frozenset({"approved_by", "owner"})


@check("approved-by-nobody", Severity.WARNING)
def approved_by_nobody(case: Case) -> Iterator[Finding]:
    """An invariant or decision became active without the approval of an owner of its wing.

    The name in `approved_by`, else in `owner`, must be one of the `owners` in the wing's README.md: the same text, or
    the name or the email of `Name <email>`, in capital or small letters. `wing-without-owner` reports a wing without
    owners.

    Fails:

        app/README.md             owners: [Till Team <till@example.org>]
        app/rules/use-utc.md      status: active     (and neither `approved_by` nor `owner` names that team)

    Fix: let an owner of the wing run `mdmem approve`, or add whoever approved it to `owners` in the wing's README.md.
    """
    agents = {entry.address for entry, _ in _activated_by_agents(case)}
    for _, entry in case.changes.activated():
        owners = case.catalog.wings[entry.wing].owners
        # A manifest that cannot be read may name more of them.
        if not owners or f"{entry.wing}/README.md" in case.faulty_manifests or entry.address in agents:
            continue
        if entry.type not in APPROVED_TYPES or _APPROVAL_FIELDS.intersection(entry.unread):
            continue
        person = entry.approved_by or entry.owner
        if person is not None and any(names_the_same(person, owner) for owner in owners):
            continue
        named = "approved_by" if entry.approved_by else "owner" if entry.owner else "status"
        found = f", and `{named}` is `{person}`, no owner of `{entry.wing}`"
        message = f"became {entry.status}{found if person else ' with neither `approved_by` nor `owner`'}"
        help_ = f"let {' or '.join(f'`{owner}`' for owner in owners)} run `mdmem approve {entry.address}`"
        yield case.on_entry(entry, message, help_, field=named)


@check("superseded-entry-edited", Severity.WARNING)
def superseded_entry_edited(case: Case) -> Iterator[Finding]:
    """The change alters the text of an entry that had ended.

    Ended entries are the record of former rules, and readers follow a chain of supersessions back to them. Links,
    status, dates, reasons and `ignore` may change. A changed `editorial_at` says that only a slip was corrected.

    Fails:

        base:    status: deprecated    Calls are retried once.
        now:     status: deprecated    Calls are retried twice.

    Fix: take the change back, and write it in the current entry.
    """
    base = case.base.catalog if case.base else case.catalog
    for one in case.changes.changed:
        fields = (*(() if one.keeps_title else ("title",)), *one.altered())
        if one.is_corrected or not has_ended(base, one.before.address) or (one.keeps_text and not fields):
            continue
        what = ", ".join([*(() if one.keeps_text else ("the text",)), *(f"`{name}`" for name in fields)])
        address = one.after.address
        current = " and ".join(f"`{head}`" for head in case.catalog.lineage.heads(address) if head != address)
        help_ = f"take the change back{f', and write it in {current}' if current else ''}"
        place = case.catalog.place(address, fields[0]) if one.keeps_text else _first_reworded(case, one)
        yield Finding("", f"the entry had ended, and the change alters {what}", place, help_, address)


_STORIES = {
    "content": "both sides change the same lines",
    "contents": "both sides change the same lines",
    "add/add": "both sides add it with different content",
    "modify/delete": "one side changes it, the other deletes it",
    "rename/delete": "one side moves it, the other deletes it",
    "rename/rename": "the sides move it to different places",
    "rename/add": "one side moves a file here, the other adds one",
    "file/directory": "it is a file on one side and a folder on the other",
    "distinct types": "it is a file on one side and a link or submodule on the other",
}


_COLLISIONS = ("merge-two-successors", "merge-address-collision")


@check("merge-conflict", Severity.ERROR, aliases=_COLLISIONS)
def merge_conflict(case: Case) -> Iterator[Finding]:
    """A merge has a conflict in a file, between two successors of one entry, or between two entries at one address.

    If git cannot merge a file, the merge would stop. If each side supersedes the same entry by another one, git may
    merge that without a word, and two rules count as current. If both sides add an entry at the same address, links
    lead to the other side's rule. Whoever resolves it decides which rule applies, so resolve it in the branch, where it
    is reviewed.

    Fails:

        ours:      app/rules/a.md    supersedes: [app/rules/old]
        theirs:    app/rules/b.md    supersedes: [app/rules/old]

    Fix: merge the other branch into yours and run `mdmem resolve`; move one of two entries with `mdmem mv` before the
    merge, or withdraw it.
    """
    merge = case.merge
    if merge is None:
        return
    forked, collided = merge.forked(), list(merge.collided())
    for old, (ours, theirs) in forked.items():
        named = [" and ".join(f"`{address}`" for address in some) for some in (ours, theirs)]
        message = f"superseded by {named[0]} in {merge.ours.name}, and by {named[1]} in {merge.theirs.name}"
        help_ = f"merge {merge.theirs.name.partition(' (')[0]} here, then `mdmem resolve` shows what can be decided"
        place = case.catalog.place(old, "superseded_by") if old in case.catalog.entries else Place(f"{old}.md")
        other = case.link_place(ours[0], "supersedes", old) if ours[0] in case.catalog.entries else None
        yield Finding("merge-two-successors", message, place, help_, old, other)
    for address in collided:
        message = f"{merge.ours.name} and {merge.theirs.name} each add another entry at this address"
        help_ = f"move one of them, as with `mdmem mv {address} {address}-2`, or withdraw it"
        yield Finding("merge-address-collision", message, Place(f"{address}.md"), help_, address)
    yield from _in_files(merge, {f"{address}.md" for address in (*forked, *collided)})


def _in_files(merge: Merge, explained: set[str]) -> Iterator[Finding]:
    kinds: dict[str, set[str]] = {}
    for conflict in merge.conflicts:
        kinds.setdefault(conflict.path, set()).add(conflict.kind)
    for path in sorted(kinds.keys() - explained):
        stories = " and ".join(sorted(_STORIES.get(kind, f"git reports `{kind}`") for kind in kinds[path]))
        message = f"cannot be merged into {merge.theirs.name}: {stories}"
        help_ = f"merge {merge.theirs.name} into {merge.ours.name}, resolve the file, then check again"
        yield at_path(path, message, help_)
