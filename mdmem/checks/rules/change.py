"""Checks that compare a change or a merge with the tree before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from shlex import quote

from msgspec.structs import replace

from mdmem.checks.case import Case, Merge, at_path, written_in
from mdmem.checks.check import check
from mdmem.checks.engine import has_ended
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.record import grouped
from mdmem.store.catalog.changes import Changed, first_difference
from mdmem.store.git.history import PathConflict


@check("deleted-in-force", Severity.ERROR)
def deleted_in_force(case: Case) -> Iterator[Finding]:
    """The change deletes a current entry.

    Readers find neither the rule nor why it no longer applies. Drafts, deprecated and superseded entries may be
    deleted, and an entry may move (at least half of its text is at a new address in the same change).

    Fails:
        git rm app/rules/use-utc.md     (status: active in the base)

    Fix: restore the file, and end the entry with `mdmem deprecate` or `mdmem supersede`.
    """
    if case.base is None:
        return
    # If the manifest of a wing is missing, its entries still exist, but are not read.
    orphans = frozenset(case.orphans)
    for entry in case.changes.gone:
        if entry.path not in orphans and case.base.catalog.lineage.is_current(entry.address):
            message = f"the {entry.type} `{entry.address}` was {entry.status} in {case.base.name}, and its file is gone"
            # `git commit -a` commits the deletion, but not the new file of an entry that moved.
            name, facts = entry.path.rpartition("/")[2], case.facts
            left = [path for path in (facts.not_added if facts else ()) if path.rpartition("/")[2] == name]
            help_ = f"if it moved, {facts.add_hint(left[0])}; otherwise " if facts and len(left) == 1 else ""
            help_ += f"restore the file, then use `mdmem deprecate {quote(entry.address)} --reason TEXT`"
            help_ += f" or `mdmem supersede {quote(entry.address)} --title TEXT --body TEXT --reason TEXT`"
            yield Finding("", message, Place(entry.path), help_, entry.address)


@check("frozen-text-changed", Severity.ERROR)
def frozen_text_changed(case: Case) -> Iterator[Finding]:
    """The text or title of a current invariant or decision changed, but its `version` did not.

    People approved the old words. Spaces at the ends of lines, and links that follow a moved entry, may change. A new
    or changed `editorial_at` marks a correction. The finding is an error for invariants, a warning for decisions.

    Fails:
        base:    Times are stored in UTC.
        now:     Times are stored in local time.      (status: active, version: 1 in both)

    Fix: undo it and run `mdmem supersede`. Or increase `version` if it is the same rule in better words; for a
    corrected slip, run `mdmem edit --editorial`.
    """
    for one in case.changes.changed:
        if not one.before.type.is_rule or one.is_corrected or (one.keeps_text and one.keeps_title):
            continue
        was_current = case.base is not None and case.base.catalog.lineage.is_current(one.before.address)
        if not was_current or not case.is_current(one.after.address):
            continue
        is_unread = "version" in (*one.before.unread, *one.after.unread)
        if is_unread or (one.after.version is not None and one.after.version > (one.before.version or 0)):
            continue
        address, version = one.after.address, (one.before.version or 1) + 1
        what = "title" if one.keeps_text else "text"
        message = f"the {what} of a current {one.before.type} changed, and its `version` did not"
        help_ = f"supersede it instead, with `mdmem supersede {quote(address)} --title TEXT --body TEXT --reason TEXT`"
        help_ += f", or write `version: {version}`; for a corrected slip run `mdmem edit --editorial {quote(address)}`"
        place = case.place(address, "title") if one.keeps_text else _first_reworded(case, one)
        level = Severity.ERROR if one.before.type is EntryType.INVARIANT else Severity.WARNING
        yield Finding("", message, place, help_, address, severity=level)


def _first_reworded(case: Case, one: Changed) -> Place:
    line, text = first_difference(one.body_before, one.body_after)
    return Place(one.after.path, case.catalog.document(one.after.path).body_line + line, 1, len(text))


# A new entry may be under review already, since its review may begin before the commit that adds the entry.
_NEW = (Status.DRAFT, Status.ACTIVE, Status.UNDER_REVIEW)
_ALLOWED: Mapping[Status, tuple[Status, ...]] = {
    Status.DRAFT: (Status.ACTIVE, Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.ACTIVE: (Status.UNDER_REVIEW, Status.DEPRECATED),
    Status.UNDER_REVIEW: (Status.ACTIVE, Status.DEPRECATED),
    Status.DEPRECATED: (Status.ACTIVE,),
}
_ASKS_REASON = {(Status.DRAFT, Status.DEPRECATED): "deprecated_reason", (Status.DEPRECATED, Status.ACTIVE): "reason"}


@check("illegal-transition", Severity.ERROR)
def illegal_transition(case: Case) -> Iterator[Finding]:
    """The status of an entry changed in a way that is not allowed.

    - A new entry starts as draft, active or under_review, or with a successor or a reason as deprecated.
    - A draft becomes active, under_review, or (with a reason or a successor) deprecated.
    - Active and under_review change into each other, or into deprecated.
    - A deprecated entry becomes active again with a new `reason`.

    Fails:
        base:    status: active
        now:     status: draft

    Fix: write a status that the finding allows, or add the reason that it asks for.
    """
    for entry in case.changes.added:
        # A new entry may be deprecated if it was imported, or added and superseded on the same branch.
        is_record = entry.status is Status.DEPRECATED and _says_why_it_ended(case, entry)
        if entry.status not in _NEW and not is_record:
            message, help_ = f"a new entry starts as `{entry.status}`", f"start it as {_listed(_NEW)}"
            yield case.on_entry(entry, message, help_, field="status")
    for one in case.changes.changed:
        was, now = one.before.status, one.after.status
        if was is not now and now not in _ALLOWED[was]:
            message, help_ = f"`{was}` became `{now}`", f"keep `{was}`, or write {_listed(_ALLOWED[was])}"
            yield case.on_entry(one.after, message, help_, field="status")
        elif (was, now) in _ASKS_REASON and {"reason", "deprecated_reason"}.isdisjoint(one.after.unread):
            # `reason` must be new, since the old one may say why the entry was deprecated.
            is_new = bool(one.after.reason) and one.after.reason != one.before.reason
            if _says_why_it_ended(case, one.after) if now is Status.DEPRECATED else is_new:
                continue
            message = f"`{was}` became `{now}` without a new reason"
            help_ = f"add `{_ASKS_REASON[was, now]}` that says why, or keep `{was}`"
            yield case.on_entry(one.after, message, help_, field="status")


def _says_why_it_ended(case: Case, entry: Entry) -> bool:
    # Any successor counts here, since other checks report a wrong one.
    return bool(entry.why_ended or entry.superseded_by) or entry.address in case.catalog.lineage.successors


def _listed(statuses: tuple[Status, ...]) -> str:
    *most, last = (f"`{status}`" for status in statuses)
    return f"{', '.join(most)} or {last}" if most else last


_OFFSET = re.compile(r"Z|[+-]\d\d:?\d\d")


@check("fixed-field-changed", Severity.ERROR)
def fixed_field_changed(case: Case) -> Iterator[Finding]:
    """The change alters the `created_at` or the `type` of an entry.

    `created_at` tells which rule is older, and the type is its authority. Adding the UTC offset to a time is allowed.

    Fails:
        base:    created_at: 2026-03-05    type: invariant
        now:     created_at: 2026-11-20    type: note

    Fix: restore both. A day of review belongs in `verified_at`; for another type, run `mdmem supersede --type TYPE`.
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
            message, help_ = f"the type was `{kind}` and is `{new}`", f"restore `type: {kind}`; to make it a {new}, run"
            help_ += (
                f" `mdmem supersede {quote(one.after.address)} --type {new} --title TEXT --body TEXT --reason TEXT`"
            )
            yield case.on_entry(one.after, message, help_, field="type", former="type-changed")


@check("activated-by-agent", Severity.ERROR)
def activated_by_agent(case: Case) -> Iterator[Finding]:
    """An agent's entry became active without a person's approval, although `agent_status` makes such entries drafts.

    Fails:
        type: decision
        status: active          (draft in the base, or not there)
        agent: claude           (and no `approved_by`, or `approved_by: claude`)

    Fix: write `status: draft` and let a person run `mdmem approve`, which writes `approved_by`.
    """
    for entry, agent in _activated_by_agents(case):
        help_ = f"write `status: draft`, then let a person run `mdmem approve {quote(entry.address)}`"
        how = "only its agent approved it" if entry.approved_by else "no person approved it"
        message = f"became {entry.status}, and {how}: `agent` is `{agent}`"
        yield case.on_entry(entry, message, help_, field="status")


def _activated_by_agents(case: Case) -> Iterator[tuple[Entry, str]]:
    """Yield each entry that became active though agents may only draft it, by the settings before, with its agent."""
    settings = case.base.settings if case.base and case.base.catalog.entries else case.settings
    for was, entry in case.changes.activated():
        agent = entry.agent or (was.agent if was else None)
        if agent is None or settings.agent_status.get(entry.type) is not Status.DRAFT:
            continue
        if "approved_by" in entry.unread or (entry.approved_by and not names_the_same(entry.approved_by, agent)):
            continue
        yield entry, agent


_IDENTITY = re.compile(r"\s*(?P<name>[^<>]*?)\s*<(?P<email>[^<>]+)>\s*\Z")


def names_the_same(*persons: str) -> bool:
    """Return whether two texts mean the same person, ignoring case; of two `Name <email>`, the emails count."""
    # Long runs of blanks would take the pattern a time that grows with the cube of their length.
    found = [_IDENTITY.match(" ".join(text.split())) for text in persons]
    both = [match.groups() if match else (text,) for match, text in zip(found, persons, strict=True)]
    one, other = ([part.strip().casefold() for part in parts if part or len(parts) == 1] for parts in both)
    if len(one) > 1 and len(other) > 1:
        return one[-1] == other[-1]
    return not set(one).isdisjoint(other)


@check("approved-by-nobody", Severity.WARNING)
def approved_by_nobody(case: Case) -> Iterator[Finding]:
    """An invariant or decision became active without the approval of an owner of its wing.

    The name in `approved_by`, or else `owner`, must be one of the wing's `owners`: the same text, name or email.

    Fails:
        app/README.md             owners: [Till Team <till@example.org>]
        app/rules/use-utc.md      status: active     (and neither `approved_by` nor `owner` names that team)

    Fix: let an owner of the wing run `mdmem approve`, or add the person who approved the entry to the wing's `owners`.
    """
    agents = {entry.address for entry, _ in _activated_by_agents(case)}
    for _, entry in case.changes.activated():
        owners = case.catalog.wings[entry.wing].owners
        # An invalid manifest may list more owners than were read.
        if not owners or f"{entry.wing}/README.md" in case.faulty_manifests or entry.address in agents:
            continue
        if not entry.type.is_rule or not {"approved_by", "owner"}.isdisjoint(entry.unread):
            continue
        person = entry.approved_by or entry.owner
        if person is not None and any(names_the_same(person, owner) for owner in owners):
            continue
        named = "approved_by" if entry.approved_by else "owner" if entry.owner else "status"
        found = f", and `{named}` is `{person}`, no owner of `{entry.wing}`"
        message = f"became {entry.status}{found if person else ' with neither `approved_by` nor `owner`'}"
        help_ = f"let {' or '.join(f'`{owner}`' for owner in owners)} run `mdmem approve {quote(entry.address)}`"
        yield case.on_entry(entry, message, help_, field=named)


@check("superseded-entry-edited", Severity.WARNING)
def superseded_entry_edited(case: Case) -> Iterator[Finding]:
    """The change alters the text of an entry that was already deprecated or superseded.

    Links, status, dates, reasons and `ignore` may change. A new or changed `editorial_at` marks a correction.

    Fails:
        base:    status: deprecated    Calls are retried once.
        now:     status: deprecated    Calls are retried twice.

    Fix: undo the change, and write it in the current entry.
    """
    base = case.base.catalog if case.base else case.catalog
    found = [(one, "the entry was", "change") for one in case.changes.changed if has_ended(base, one.before.address)]
    for side in case.merged:
        for one in replace(case, base=side).changes.changed:
            was, now = one.before.address, one.after.address
            if has_ended(side.catalog, was) and has_ended(case.catalog, now) and not has_ended(base, was):
                found.append((one, f"in {side.name}, the entry is", "merge"))
    for one, where, how in found:
        fields = (*(() if one.keeps_title else ("title",)), *one.altered())
        if one.is_corrected or (one.keeps_text and not fields):
            continue
        what = ", ".join([*(() if one.keeps_text else ("the text",)), *(f"`{name}`" for name in fields)])
        address = one.after.address
        current = " and ".join(f"`{head}`" for head in case.catalog.lineage.heads(address) if head != address)
        help_ = f"undo the change{f', and write it in {current}' if current else ''}"
        place = case.place(address, fields[0]) if one.keeps_text else _first_reworded(case, one)
        yield Finding("", f"{where} no longer current, and the {how} alters {what}", place, help_, address)


def _at_two_addresses(case: Case) -> Iterator[Finding]:
    """Yield a finding for each entry that a merge keeps twice, because each side has it at another address.

    Usually both sides moved it. Two new entries with the same bytes look the same, so they are reported, too.
    """
    if case.base is None or not case.merged:
        return
    sides = [one.catalog.addresses for one in (case.base, *case.merged)]
    digests = case.catalog.file_digests.items()
    for some in grouped((digest, path.removesuffix(".md")) for path, digest in digests).values():
        if len(some) == 2 and all(len(side & set(some)) == 1 for side in sides):
            other, address = sorted(some)
            message = f"each side of the merge has this entry at another address, so it is also at `{other}`"
            help_ = "run `mdmem resolve` before `git add`, or remove one of them and correct the links to it"
            yield at_path(f"{address}.md", message, help_)


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


def _story(merge: Merge, conflict: PathConflict) -> str:
    if not conflict.moves:
        return _STORIES.get(conflict.kind, f"git reports `{conflict.kind}`")
    old, *new = conflict.moves
    new.remove(conflict.path)
    parts = [path.split("/") for path in (old, conflict.path, *new)]
    # If a wing or room was moved, all its files have the same story.
    while min(map(len, parts)) > 1 and len({one[-1] for one in parts}) == 1:
        parts = [one[:-1] for one in parts]
    moved, here, there = map("/".join, parts)
    return f"{merge.ours.name} moves `{moved}` to `{here}`, and {merge.theirs.name} moves it to `{there}`"


@check("merge-conflict", Severity.ERROR)
def merge_conflict(case: Case) -> Iterator[Finding]:
    """The merge has a conflict in a file, between two successors of one entry, or between two entries at one address.

    Git may not report the last two kinds: both rules then count as current, or links lead to the other side's rule.

    Fails:
        ours:      app/rules/a.md    supersedes: [app/rules/old]
        theirs:    app/rules/b.md    supersedes: [app/rules/old]

    Fix: merge the other branch into yours and run `mdmem resolve`, so that the decision is reviewed. If two entries
    have one address, rename one with `mdmem mv` before the merge, or remove it. If both sides moved one entry, keep
    it at one address.
    """
    merge = case.merge
    if merge is None:
        yield from _at_two_addresses(case)
        return
    forked = merge.forked()
    for old, (ours, theirs) in forked.items():
        named = [" and ".join(f"`{address}`" for address in some) for some in (ours, theirs)]
        message = f"superseded by {named[0]} in {merge.ours.name}, and by {named[1]} in {merge.theirs.name}"
        help_ = f"merge {merge.theirs.name} into {merge.ours.name}, then `mdmem resolve` shows the choices"
        place = case.place(old, "superseded_by") if old in case.catalog.entries else Place(f"{old}.md")
        other = case.link_place(ours[0], "supersedes", old) if ours[0] in case.catalog.entries else None
        yield Finding("", message, place, help_, old, other, former="merge-two-successors")
    here, there = merge.ours.catalog, merge.theirs.catalog
    added = (here.addresses & there.addresses) - merge.ancestor.catalog.addresses
    collided = sorted(one for one in added if here.document(f"{one}.md").data != there.document(f"{one}.md").data)
    for address in collided:
        message = f"{merge.ours.name} and {merge.theirs.name} each add another entry at this address"
        help_ = f"move one of them, as with `mdmem mv {quote(address)} {quote(address)}-2`, or withdraw it"
        yield at_path(f"{address}.md", message, help_, former="merge-address-collision")
    # A file that both sides moved is reported once, where the change has it.
    mine = {file.path for file in (*here.files, *here.others)}
    conflicts = [one for one in merge.conflicts if not one.moves or one.path in mine.intersection(one.moves[1:])]
    kinds = grouped((one.path, _story(merge, one)) for one in conflicts)
    for path in sorted(kinds.keys() - {f"{address}.md" for address in (*forked, *collided)}):
        stories = " and ".join(sorted({*kinds[path]}))
        message = f"cannot be merged into {merge.theirs.name}: {stories}"
        help_ = f"merge {merge.theirs.name} into {merge.ours.name}, resolve the file, then check again"
        yield at_path(path, message, help_)
