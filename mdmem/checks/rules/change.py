"""Checks of a change or a merge, against the tree that it starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime

from mdmem.checks.approvals import activated_by_agents, names_the_same
from mdmem.checks.case import Case
from mdmem.checks.check import check
from mdmem.checks.paths import at_path
from mdmem.checks.prose import first_reworded
from mdmem.checks.severity import is_over
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.changes import Changed


@check("deleted-in-force", Severity.ERROR)
def deleted_in_force(case: Case) -> Iterator[Finding]:
    """An entry that was in force is gone.

    Who relied on the rule finds neither the rule nor why it ended. A rule ends by its status, and its file stays as
    history. An entry of which half of the body stands at a new address in the same change has moved, as git knows a
    renamed file; its other words are judged as an edit, and a draft or an ended entry may go.

    Fails:

        git rm app/rules/use-utc.md     (status: active in the base)

    Fix: bring the file back, and end the entry with `mdmem deprecate` or `mdmem supersede`.
    """
    if case.base is None:
        return
    # Where a manifest was taken away, the entries are there and count as none.
    orphans = frozenset(case.orphans)
    for entry in case.changes.gone:
        if entry.path not in orphans and case.base.catalog.lineage.is_current(entry.address):
            message = f"the {entry.type} `{entry.address}` was {entry.status} in {case.base.name}, and its file is gone"
            ways = (
                f"`mdmem deprecate {entry.address} --reason TEXT` or "
                f"`mdmem supersede {entry.address} --title TEXT --reason TEXT`"
            )
            help_ = f"bring the file back, then end it with {ways}"
            yield Finding("deleted-in-force", message, Place(entry.path), help_, entry.address)


_SEVERITIES = {EntryType.INVARIANT: Severity.ERROR, EntryType.DECISION: Severity.WARNING}


@check("frozen-text-changed", Severity.ERROR)
def frozen_text_changed(case: Case) -> Iterator[Finding]:
    """The text of an invariant, or (a warning) of a decision, in force changed as if it had always said so.

    Others approved the old words and rely on them. A rule that changes gets a successor or a higher `version`, so that
    everybody sees it. The title counts as text, too: lists and packs show it for the rule. Blanks at the ends of lines
    do not count, nor do links that follow an entry to its new address. A first or changed `editorial_at` says that the
    change corrects the words and leaves the rule. An error for invariants, a warning for decisions.

    Fails:

        base:    Times are stored in UTC.
        now:     Times are stored in local time.      (status: active, version: 1 in both)

    Fix: take the change back and write a successor with `mdmem supersede`; raise `version` if it is the same rule, told
    better; `mdmem edit --editorial` adds `editorial_at: YYYY-MM-DD` if only a slip was corrected.
    """
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
        yield Finding("frozen-text-changed", message, place, help_, one.after.address, severity=severity)


def _was_and_is_current(case: Case, one: Changed) -> bool:
    was = case.base is not None and case.base.catalog.lineage.is_current(one.before.address)
    return was and case.is_current(one.after.address)


def _has_new_version(one: Changed) -> bool:
    if "version" in (*one.before.unread, *one.after.unread):
        return True
    return one.after.version is not None and one.after.version > (one.before.version or 0)


def _article(kind: EntryType) -> str:
    return f"an {kind}" if kind is EntryType.INVARIANT else f"a {kind}"


# Of an entry that is new, or was a draft, a review may begin before the commit that brings it.
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
    """A status changed in a way that skips a step of an entry's life.

    The status decides what binds. A new entry is a draft, active or under review, or a record of what ended, with its
    successor or its reason; a draft becomes active, is doubted as soon as it is active, or is deprecated with a reason;
    active and under_review change into each other, and both into deprecated; what is deprecated becomes active again
    with a new `reason`. For a draft, a successor is reason enough. Everything else hides that a rule was, or was not,
    in force.

    Fails:

        base:    status: active
        now:     status: draft

    Fix: write the status that the entry may have, named in the finding, or add the reason that is asked for.
    """
    for entry in case.changes.added:
        if entry.status not in _NEW and not _is_record(case, entry):
            yield _transition_finding(
                case, entry, f"a new entry starts as `{entry.status}`", f"start it as {_listed(_NEW)}"
            )
    for one in case.changes.changed:
        was, now = one.before.status, one.after.status
        if was is now:
            continue
        if now not in _ALLOWED[was]:
            message, help_ = f"`{was}` became `{now}`", f"keep `{was}`, or write {_listed(_ALLOWED[was])}"
            yield _transition_finding(case, one.after, message, help_)
        elif (was, now) in _ASKS_REASON and not _has_reason(case, one):
            asked = _ASKS_REASON[was, now]
            help_ = f"add `{asked}` that says why, or keep `{was}`"
            yield _transition_finding(case, one.after, f"`{was}` became `{now}` without a new reason", help_)


def _is_record(case: Case, entry: Entry) -> bool:
    """Say whether an entry came with its end told: imported, or added and superseded on one branch."""
    return entry.status is Status.DEPRECATED and _says_why_it_ended(case, entry)


def _says_why_it_ended(case: Case, entry: Entry) -> bool:
    # That its successor is no good one is another check's finding.
    return bool(entry.why_ended or entry.superseded_by) or entry.address in case.catalog.lineage.successors


def _has_reason(case: Case, one: Changed) -> bool:
    entry = one.after
    if {"reason", "deprecated_reason"}.intersection(entry.unread):
        return True
    if entry.status is Status.DEPRECATED:
        return _says_why_it_ended(case, entry)
    # Why it ended, read from `reason` too, does not say why it holds again.
    return bool(entry.reason) and entry.reason != one.before.reason


def _transition_finding(case: Case, entry: Entry, message: str, help_: str) -> Finding:
    return case.on_entry("illegal-transition", entry, message, help_, field="status")


def _listed(statuses: tuple[Status, ...]) -> str:
    *most, last = (f"`{status}`" for status in statuses)
    return f"{', '.join(most)} or {last}" if most else last


@check("created-at-changed", Severity.ERROR)
def created_at_changed(case: Case) -> Iterator[Finding]:
    """The day an entry was created is another one than in the base.

    `created_at` orders entries and tells which of two rules is the older; it is a fact that no later change alters.
    Adding the offset to a time that had none is no other moment.

    Fails:

        base:    created_at: 2026-03-05
        now:     created_at: 2026-11-20

    Fix: write the old date again. For a new rule write a new entry; for a fresh look at an old one, `verified_at`.
    """
    for one in case.changes.changed:
        was, now = one.before.created_at, one.after.created_at
        if was is None or now is None or was == now or _gained_offset(was, now):
            continue
        message = f"`created_at` was {was.isoformat()} and is {now.isoformat()}"
        help_ = f"write `created_at: {was.isoformat()}` again"
        yield case.on_entry("created-at-changed", one.after, message, help_, field="created_at")


def _gained_offset(was: date, now: date) -> bool:
    if not isinstance(was, datetime) or not isinstance(now, datetime) or was.tzinfo is not None:
        return False
    return now.replace(tzinfo=None) == was


@check("type-changed", Severity.ERROR)
def type_changed(case: Case) -> Iterator[Finding]:
    """An entry changed its type.

    The type is the entry's authority: an invariant that becomes a note no longer binds, a note that becomes an
    invariant was never approved as one, and the history of both reads as if they had always been so.

    Fails:

        base:    type: invariant
        now:     type: note

    Fix: write the old type again, and a new entry of the other type that supersedes this one, with `mdmem supersede`.
    """
    for one in case.changes.changed:
        was, now = one.before.type, one.after.type
        if was is not now:
            put = f"`mdmem supersede {one.after.address} --type {now} --title TEXT --reason TEXT`"
            help_ = f"write `type: {was}` again; {put} replaces it by a new {now} if that is what it became"
            yield case.on_entry("type-changed", one.after, f"the type was `{was}` and is `{now}`", help_, field="type")


@check("activated-by-agent", Severity.ERROR)
def activated_by_agent(case: Case) -> Iterator[Finding]:
    """An agent's entry became active without a person's approval.

    What an agent writes of this type is a draft until a person approves it: `[governance] agent_status` says so. An
    approval by the agent itself is none.

    Fails:

        type: decision
        status: active          (draft in the base, or not there)
        agent: claude           (and no `approved_by`, or `approved_by: claude`)

    Fix: write `status: draft` and let a person run `mdmem approve`, which writes `approved_by`.
    """
    for entry, agent in activated_by_agents(case):
        how = "only its agent approved it" if entry.approved_by else "no person approved it"
        help_ = f"write `status: draft`, then let a person run `mdmem approve {entry.address}`"
        message = f"became {entry.status}, and {how}: `agent` is `{agent}`"
        yield case.on_entry("activated-by-agent", entry, message, help_, field="status")


# What binds others waits for an owner.
APPROVED_TYPES = frozenset({EntryType.INVARIANT, EntryType.DECISION})
_APPROVAL_FIELDS = frozenset({"approved_by", "owner"})


@check("approved-by-nobody", Severity.WARNING)
def approved_by_nobody(case: Case) -> Iterator[Finding]:
    """A rule became binding, and none of the wing's owners stands behind it.

    Owners answer for what binds in their wing. Whoever `approved_by` names, else `owner`, has to be one of them: the
    same text, or the name or the email of git's form, case ignored. A wing without owners has its own finding.

    Fails:

        app/README.md             owners: [Till Team <till@example.org>]
        app/rules/use-utc.md      status: active     (and neither `approved_by` nor `owner` names that team)

    Fix: let an owner of the wing run `mdmem approve`, or add who approved it to `owners` in the wing's README.md.
    """
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")}
    agents = {entry.address for entry, _ in activated_by_agents(case)}
    for _, entry in case.changes.activated():
        owners = case.catalog.wings[entry.wing].owners
        # A manifest that cannot be read may name more of them.
        if not owners or f"{entry.wing}/README.md" in faulty or entry.address in agents:
            continue
        if (
            entry.type in APPROVED_TYPES
            and not _APPROVAL_FIELDS.intersection(entry.unread)
            and not _is_owned(entry, owners)
        ):
            yield _approval_finding(case, entry, owners)


def _is_owned(entry: Entry, owners: tuple[str, ...]) -> bool:
    person = entry.approved_by or entry.owner
    return person is not None and any(names_the_same(person, owner) for owner in owners)


def _approval_finding(case: Case, entry: Entry, owners: tuple[str, ...]) -> Finding:
    named = "approved_by" if entry.approved_by else "owner"
    person = entry.approved_by or entry.owner
    found = f"`{named}` is `{person}`, no owner of `{entry.wing}`" if person else "neither `approved_by` nor `owner`"
    listed = " or ".join(f"`{owner}`" for owner in owners)
    help_ = f"let {listed} run `mdmem approve {entry.address}`"
    message = f"became {entry.status}, and {found}" if person else f"became {entry.status} with {found}"
    return case.on_entry("approved-by-nobody", entry, message, help_, field=named if person else "status")


@check("superseded-entry-edited", Severity.WARNING)
def superseded_entry_edited(case: Case) -> Iterator[Finding]:
    """An entry that had ended says something else than when it ended.

    Ended entries are the record of what held, and why it was replaced; readers follow a chain back to them. Links,
    status, dates, reasons and `ignore` may change, and a changed `editorial_at` lets a corrected slip through.

    Fails:

        base:    status: deprecated    Calls are retried once.
        now:     status: deprecated    Calls are retried twice.

    Fix: take the change back, and write it in the entry that is in force.
    """
    base = case.base.catalog if case.base else case.catalog
    for one in case.changes.changed:
        fields = (*(() if one.keeps_title else ("title",)), *one.altered())
        if one.is_corrected or not is_over(base, one.before.address) or (one.keeps_text and not fields):
            continue
        what = ", ".join([*(() if one.keeps_text else ("the text",)), *(f"`{name}`" for name in fields)])
        heads = case.catalog.lineage.heads(one.after.address)
        current = " and ".join(f"`{head}`" for head in heads if head != one.after.address)
        help_ = f"take the change back{f', and write it in {current}' if current else ''}"
        place = (
            case.catalog.place(one.after.address, fields[0]) if one.keeps_text else first_reworded(case.catalog, one)
        )
        yield Finding(
            "superseded-entry-edited", f"it had ended, and the change alters {what}", place, help_, one.after.address
        )


@check("merge-two-successors", Severity.ERROR)
def merge_two_successors(case: Case) -> Iterator[Finding]:
    """Each side of a merge supersedes the same entry by another one.

    Both branches are right by themselves, and after the merge two rules count as the one in force. Where each side
    wrote both ends, git shows a conflict in the old file; where one wrote only its own, it merges without a word.

    Fails:

        ours:      app/rules/a.md    supersedes: [app/rules/old]
        theirs:    app/rules/b.md    supersedes: [app/rules/old]

    Fix: merge the other branch into yours, then let `mdmem resolve` put one of the two behind the other, or give it up.
    """
    if case.merge is None:
        return
    for old, (ours, theirs) in case.merge.forked().items():
        message = (
            f"superseded by {_listed_successors(ours)} in {case.merge.ours.name}, "
            f"and by {_listed_successors(theirs)} in {case.merge.theirs.name}"
        )
        help_ = (
            f"merge {case.merge.theirs.name.partition(' (')[0]} here, then `mdmem resolve` shows what can be decided"
        )
        is_read = old in case.catalog.entries
        place = case.catalog.place(old, "superseded_by") if is_read else Place(f"{old}.md")
        other = case.link_place(ours[0], "supersedes", old) if ours[0] in case.catalog.entries else None
        yield Finding("merge-two-successors", message, place, help_, old, other)


def _listed_successors(addresses: tuple[str, ...]) -> str:
    return " and ".join(f"`{address}`" for address in addresses)


@check("merge-address-collision", Severity.ERROR)
def merge_address_collision(case: Case) -> Iterator[Finding]:
    """Both sides of a merge add an entry at the same address, and the two differ.

    An address is the name that links use. Keeping both texts under one name is no merge: what was linked to on one side
    means the other side's rule from then on.

    Fails:

        ours:      app/rules/retry.md    Calls are retried once.
        theirs:    app/rules/retry.md    Calls are retried five times.

    Fix: move one of the two with `mdmem mv` before the merge, or withdraw it.
    """
    if case.merge is None:
        return
    for address in case.merge.collided():
        message = f"{case.merge.ours.name} and {case.merge.theirs.name} each add another entry at this address"
        help_ = f"move one of them, as with `mdmem mv {address} {address}-2`, or withdraw it"
        yield Finding("merge-address-collision", message, Place(f"{address}.md"), help_, address)


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


@check("merge-conflict", Severity.ERROR)
def merge_conflict(case: Case) -> Iterator[Finding]:
    """git cannot merge a file of the memory.

    The merge would stop, or leave both sides in one file. Who resolves it decides what binds; that belongs in the
    branch, where it is reviewed, and not in a hurry at the merge. Two successors and two entries at one address have
    their own findings.

    Fails:

        ours:      Sessions end after 10 minutes.
        theirs:    Sessions end after 60 minutes.     (in the same line of app/rules/sessions.md)

    Fix: merge the other branch into yours, resolve the file, and run the check again.
    """
    if case.merge is None:
        return
    explained = {f"{address}.md" for address in (*case.merge.forked(), *case.merge.collided())}
    kinds: dict[str, set[str]] = {}
    for conflict in case.merge.conflicts:
        kinds.setdefault(conflict.path, set()).add(conflict.kind)
    for path in sorted(kinds.keys() - explained):
        stories = " and ".join(sorted(_STORIES.get(kind, f"git reports `{kind}`") for kind in kinds[path]))
        message = f"cannot be merged into {case.merge.theirs.name}: {stories}"
        help_ = f"merge {case.merge.theirs.name} into {case.merge.ours.name}, resolve the file, then check again"
        yield at_path("merge-conflict", path, message, help_)
