"""Checks of supersessions: both ends of a link, and the chain that the links make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from mdmem.checks.case import Case, Link, written_links
from mdmem.checks.check import check
from mdmem.checks.fixes.base import ending, is_imported, is_in_part, may_end, reviving, unlinking, with_choice, with_fix
from mdmem.checks.fixes.links import with_link
from mdmem.markdown.patch import add_items, replace_item, set_fields
from mdmem.model.entry import Entry, EntryType, Status, day_of, instant_of
from mdmem.model.finding import Edit, Finding, Severity
from mdmem.store.catalog.links import Edge, EdgeKind

_ADD = "Add `{}` to `{}.md`"


@check("supersession-one-sided", Severity.ERROR)
def supersession_one_sided(case: Case) -> Iterator[Finding]:
    """Only one end of a supersession names the other.

    Both ends are stored, so that two branches which each supersede the same entry collide visibly in git, and so that a
    reader of the old file sees that it ended. While only the new entry says so, it is a claim: the old one stays in
    force, and answers show both. A draft that names an old entry is no fault: the old one stays as it is until the
    draft is approved. An end that cannot be read is not called silent.

    Fails:

        app/rules/new.md    status: active    supersedes: [app/rules/old]
        app/rules/old.md    status: active

    Fix: write the missing end. A missing `superseded_by` goes into the old entry with `status: deprecated` and
    `deprecated_at`; a missing `supersedes` may also mean that the old entry names the wrong one. `mdmem check --fix`
    adds the missing end to an old entry that has ended, or whose successor is just being written, but to none in force
    that was imported or is itself new; `--unsafe-fixes` ends any in force, and adds the missing end to a new entry.
    Where a reason or a line about the supersession says "in part", "partly" or "(… only)", no fix ends the old entry:
    write `amends` instead.
    """
    for edge in case.edges:
        if edge.kind is EdgeKind.MISSING_BACK:
            yield _missing_back(case, edge)
        elif edge.kind is EdgeKind.MISSING_FORWARD:
            message = f"superseded by `{edge.new}`, whose `supersedes` does not name this entry"
            help_ = f"add `supersedes: [{edge.old}]` to `{edge.new}.md`, or name the right successor here"
            place = case.link_place(edge.old, "superseded_by", edge.new)
            other = case.catalog.place(edge.new, "supersedes")
            shown = Finding("supersession-one-sided", message, place, help_, edge.old, other=other)
            document = case.catalog.document(f"{edge.new}.md")
            yield with_choice(shown, _ADD.format("supersedes", edge.new), add_items, document, "supersedes", [edge.old])


def _missing_back(case: Case, edge: Edge) -> Finding:
    message = f"supersedes `{edge.old}`, whose `superseded_by` does not name this entry"
    help_ = f"type `mdmem supersede {edge.old} --by {edge.new} --reason TEXT`"
    if not case.catalog.lineage.heads(edge.new):
        # Ending the old entry in favour of one that ended too would leave nothing in force.
        help_ = f"remove it from `supersedes` if this entry never took over; else {help_}"
    place = case.link_place(edge.new, "supersedes", edge.old)
    shown = Finding(
        "supersession-one-sided", message, place, help_, edge.new, other=case.catalog.place(edge.old, "superseded_by")
    )
    if not case.catalog.lineage.heads(edge.new):
        return shown
    new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
    if old.is_in_force and is_in_part(case, edge.old, edge.new):
        help_ = f"write `amends: [{edge.old}]` in place of `supersedes` if a part of it still holds; else {help_}"
        return replace(shown, help=help_)
    # An entry of less authority ends one of more only if a person says so.
    is_sure = new.type.rank <= old.type.rank
    is_sure = is_sure and may_end(case, edge.old, named_by=edge.new, field="supersedes", target=edge.old)
    add = with_fix if is_sure else with_choice
    ends = (", which ends it, for what replaces it is new" if is_sure else ", which ends it") if old.is_in_force else ""
    found = add(shown, _ADD.format("superseded_by", edge.old) + ends, _end, case, edge)
    if found.fix is None or not is_sure:
        return found
    return replace(found, help=f"to give the reason, too, {help_}")


def _end(case: Case, edge: Edge) -> tuple[Edit, ...]:
    """Write the missing end, with what makes the old entry an ended one."""
    old = case.catalog.entries[edge.old]
    return set_fields(case.catalog.document(old.path), ending(old, case, edge.new))


@check("supersession-mismatch", Severity.ERROR)
def supersession_mismatch(case: Case) -> Iterator[Finding]:
    """An entry names one successor while another claims to supersede it.

    Each file is fine by itself and every link leads somewhere, yet readers of the old entry are sent to the wrong one.
    Where two entries claim the old one, it is `two-successors` instead.

    Fails:

        app/rules/new.md    supersedes: [app/rules/old]
        app/rules/old.md    superseded_by: [app/rules/other]

    Fix: write the true successor in the old entry, or remove the claim from the other.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    mismatched = (edge for edge in case.edges if edge.kind is EdgeKind.MISMATCH)
    for old, group in groupby(mismatched, key=lambda edge: edge.old):
        edges = tuple(group)
        named = [edge.new for edge in edges if edge.by_old]
        claimant = next(edge.new for edge in edges if not edge.by_old)
        listed = ", ".join(f"`{address}`" for address in named)
        message = f"`superseded_by` names {listed}, but `{claimant}` supersedes this entry"
        help_ = f"write `superseded_by: [{claimant}]`, or remove `{old}` from `supersedes` in `{claimant}.md`"
        other = case.link_place(claimant, "supersedes", old)
        shown = Finding(
            "supersession-mismatch", message, case.link_place(old, "superseded_by", named[0]), help_, old, other=other
        )
        document, title = case.catalog.document(f"{old}.md"), f"Name `{claimant}` as the successor"
        if len(case.catalog.entries[old].superseded_by) == 1:
            yield with_choice(shown, title, replace_item, document, "superseded_by", 0, claimant)
        else:
            yield with_choice(shown, title, set_fields, document, {"superseded_by": [claimant]})


@check("superseded-but-active", Severity.ERROR)
def superseded_but_active(case: Case) -> Iterator[Finding]:
    """An entry is superseded by its links and in force by its status.

    Readers who look at the status alone follow the old rule. Retrieval goes by the links and returns the successor.

    Fails:

        status: active
        superseded_by: [app/rules/new]

    Fix: write `status: deprecated` and `deprecated_at: YYYY-MM-DD` in the old entry. `mdmem check --fix` does it where
    the link to the successor is just being written into an entry that was there before and was not imported,
    `--unsafe-fixes` anywhere but where only a part was superseded.
    """
    unflipped = (edge for edge in case.edges if edge.kind is EdgeKind.BUT_ACTIVE)
    for old, group in groupby(unflipped, key=lambda edge: edge.old):
        entry, successors = case.catalog.entries[old], [edge.new for edge in group]
        listed = " and ".join(f"`{address}`" for address in successors)
        help_ = "write `status: deprecated` and `deprecated_at`"
        if old in case.catalog.lineage.heads(old):
            # Its successors ended too: flipping it would leave nothing in force.
            help_ = f"remove the links on both ends if this entry is in force again, else {help_}"
        message = f"superseded by {listed}, yet its status is `{entry.status}`"
        other = case.link_place(successors[0], "supersedes", old)
        shown = Finding("superseded-but-active", message, case.catalog.place(old, "status"), help_, old, other=other)
        if old in case.catalog.lineage.heads(old):
            yield shown
        else:
            if any(is_in_part(case, old, new) for new in successors):
                yield shown
                continue
            document = case.catalog.document(entry.path)
            is_sure = all(may_end(case, old, named_by=old, field="superseded_by", target=new) for new in successors)
            add = with_fix if is_sure else with_choice
            yield add(shown, "Write `status: deprecated`, which ends it", set_fields, document, ending(entry, case))


_CAUSES = frozenset({"superseded_by", "reason", "deprecated_reason"})


@check("deprecated-without-successor-or-reason", Severity.ERROR)
def deprecated_without_successor_or_reason(case: Case) -> Iterator[Finding]:
    """An entry ended, and nothing says why or what holds instead.

    Who finds it cannot tell whether the rule was wrong, was replaced, or was dropped by mistake, so it comes back.

    Fails:

        status: deprecated
        deprecated_at: 2026-05-04

    Fix: add `superseded_by` with the successor, and this entry to the successor's `supersedes`; or add
    `deprecated_reason`.
    """
    for entry in case.catalog.entries.values():
        if entry.status is Status.DEPRECATED and not entry.why_ended and _is_alone(case, entry):
            help_ = "add `superseded_by` with the successor, or `deprecated_reason`"
            message = "deprecated without a successor or a reason"
            yield case.on_entry("deprecated-without-successor-or-reason", entry, message, help_, field="status")


def _is_alone(case: Case, entry: Entry) -> bool:
    if entry.superseded_by or entry.address in case.catalog.lineage.successors or not _CAUSES.isdisjoint(entry.unread):
        return False
    # A placeholder is no successor, and has its own finding.
    return not written_links(case.catalog.document(entry.path), "superseded_by")


@check("superseded-by-draft", Severity.ERROR)
def superseded_by_draft(case: Case) -> Iterator[Finding]:
    """An entry was ended in favour of a draft.

    A draft changes nothing: until somebody approves it, the old rule should hold, and with the old one ended nothing
    does. An entry that gives a reason of its own for its end, or that another entry in force replaced, may name a
    draft.

    Fails:

        app/rules/new.md    status: draft         supersedes: [app/rules/old]
        app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]

    Fix: run `mdmem approve` for the draft. Until then write `status: active` in the old entry, and
    remove `superseded_by` and `deprecated_at` from it.
    `mdmem check --unsafe-fixes` does it where the end is just being written, and was not imported.
    """
    for edge in case.edges:
        if edge.kind is not EdgeKind.BY_DRAFT:
            continue
        if case.catalog.entries[edge.old].status is Status.DEPRECATED:
            message = f"deprecated in favour of `{edge.new}`, which is still a draft"
            help_ = f"run `mdmem approve {edge.new}`, or write `status: active` here without `superseded_by`"
        else:
            message = f"names `{edge.new}` as successor, which is still a draft"
            help_ = f"remove `superseded_by`; `mdmem approve {edge.new}` writes it in its time"
        place = case.link_place(edge.old, "superseded_by", edge.new)
        shown = Finding(
            "superseded-by-draft", message, place, help_, edge.old, other=case.catalog.place(edge.new, "status")
        )
        is_end_imported = case.catalog.entries[edge.old].status is Status.DEPRECATED and is_imported(case, edge.old)
        title = "Keep the old entry in force"
        yield shown if is_end_imported else with_choice(shown, title, reviving, case, edge.old, edge.new)


@check("superseded-by-dead", Severity.ERROR)
def superseded_by_dead(case: Case) -> Iterator[Finding]:
    """An entry was superseded by one that had already ended.

    Two branches make this: one ends the new rule, the other puts it in the place of the old. Nothing is in force then,
    and nobody decided so. A successor that ended later is `chain-without-head`, a deleted one `dangling-link`.

    Fails:

        app/rules/new.md    status: deprecated    deprecated_at: 2026-03-01    deprecated_reason: withdrawn
        app/rules/old.md    status: deprecated    deprecated_at: 2026-05-01    superseded_by: [app/rules/new]

    Fix: name the entry that holds instead, or take the old one back into force and remove the links on both ends.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for edge in case.edges:
        ended = case.catalog.entries[edge.new].deprecated_at if edge.kind is EdgeKind.BY_DEAD else None
        if ended is not None:
            message = f"superseded by `{edge.new}`, which had already ended on {day_of(ended)}"
            help_ = "name the entry that holds instead, or remove the links on both ends and write `status: active`"
            place = case.link_place(edge.old, "superseded_by", edge.new)
            other = case.catalog.place(edge.new, "deprecated_at")
            shown = Finding("superseded-by-dead", message, place, help_, edge.old, other=other)
            yield with_choice(shown, "Take the old entry back into force", _undo, case, edge.old, edge.new)


def _undo(case: Case, old: str, new: str) -> list[Edit]:
    """Remove the links on both ends, the claim last: with it alone, the old entry is still superseded."""
    return [*reviving(case, old, new), *unlinking(case, new, "supersedes", old)]


@check("supersession-cycle", Severity.ERROR)
def supersession_cycle(case: Case) -> Iterator[Finding]:
    """Entries supersede one another in a circle.

    Each entry of the circle is superseded by what it supersedes, so nothing tells which one binds. Retrieval shows them
    all, marked as contradictory, until somebody breaks the circle. Only supersession links count: `see` may go round.

    Fails:

        a.md    supersedes: [wing/room/b]
        b.md    supersedes: [wing/room/a]

    Fix: remove the link that points from the newer rule back to the older one, on both ends.
    """
    for cycle in case.catalog.lineage.cycles:
        entry = case.catalog.entries[cycle[0]]
        field = "supersedes" if entry.supersedes else "superseded_by"
        loop = " → ".join(f"`{address}`" for address in (*cycle, cycle[0]))
        message = f"{len(cycle)} entries supersede one another: {loop}"
        help_ = "remove the link from the newer entry back to the older one"
        yield case.on_entry("supersession-cycle", entry, message, help_, field=field)


@check("two-successors", Severity.ERROR)
def two_successors(case: Case) -> Iterator[Finding]:
    """Two entries supersede the same one.

    Two branches that each replace a rule merge into this, and both new rules then count as the one in force. A split
    into several rules is legal when the old entry names all of them and gives a `reason`, or `deprecated_reason`, for
    the split.

    Fails:

        app/rules/a.md      supersedes: [app/rules/old]
        app/rules/b.md      supersedes: [app/rules/old]
        app/rules/old.md    superseded_by: [app/rules/a, app/rules/b]

    Fix: keep one and remove the link from the other, or let one of the two supersede the other; for a split, name all
    in `superseded_by` and say why. `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    # Of these, merge-two-successors knows which side wrote which.
    known = case.merge.forked() if case.merge else {}
    doubled = (edge for edge in case.edges if edge.kind is EdgeKind.TWO_SUCCESSORS and edge.old not in known)
    for old, group in groupby(doubled, key=lambda edge: edge.old):
        edges = tuple(group)
        successors = [edge.new for edge in edges]
        listed = ", ".join(f"`{address}`" for address in successors)
        message = f"{len(successors)} entries supersede it: {listed}"
        claim = next((edge for edge in reversed(edges) if edge.by_new), None)
        other = case.link_place(claim.new, "supersedes", old) if claim else None
        place = case.catalog.place(old, "superseded_by")
        needless = _needless(case, successors)
        shown = Finding("two-successors", message, place, _help(old, needless), old, other=other)
        if needless is None:
            yield shown
        else:
            yield with_choice(shown, f"Remove the link to `{needless[0]}`", _cut, case, old, needless[0])


def _needless(case: Case, successors: list[str]) -> tuple[str, str] | None:
    """Return the successor that supersedes another one of them, with that one."""
    for new in successors:
        through = sorted(case.catalog.lineage.ancestors(new).intersection(successors))
        if through:
            return new, through[0]
    return None


def _help(old: str, needless: tuple[str, str] | None) -> str:
    if needless:
        new, through = needless
        return f"remove `{old}` from `supersedes` in `{new}.md`: it supersedes `{through}`, and that is enough"
    return f"remove `{old}` from `supersedes` of all but one; for a split, name all of them here and add `reason`"


def _cut(case: Case, old: str, new: str) -> list[Edit]:
    return [*unlinking(case, new, "supersedes", old), *unlinking(case, old, "superseded_by", new)]


@check("supersedes-superseded", Severity.INFO)
def supersedes_superseded(case: Case) -> Iterator[Finding]:
    """An entry supersedes one that another entry had superseded before, so that the history forks.

    In a chain each entry supersedes the one before it, and that is all right. A fork means that the new entry was
    written without the newest rule in view. It is shown for drafts, which fork it once approved, and for declared
    splits.

    Fails:

        app/rules/b.md    supersedes: [app/rules/a]                    (in force)
        app/rules/c.md    supersedes: [app/rules/a]    status: draft

    Fix: supersede the head of the chain, which the finding names.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for edge in case.edges:
        earlier = _earlier(case, edge) if edge.kind.is_consistent else None
        if earlier is None:
            continue
        heads = [head for head in case.catalog.lineage.heads(edge.old) if head != edge.new] or [earlier]
        help_ = f"supersede {' or '.join(f'`{head}`' for head in heads)} instead, unless the split is meant"
        message = f"supersedes `{edge.old}`, which `{earlier}` already supersedes"
        place = case.link_place(edge.new, "supersedes", edge.old)
        other = case.link_place(edge.old, "superseded_by", earlier)
        shown = Finding("supersedes-superseded", message, place, help_, edge.new, other=other)
        # A head that descends from this entry would make a circle of the two.
        is_free = len(heads) == 1 and heads[0] not in case.catalog.lineage.descendants(edge.new)
        link = _link(case, edge) if is_free else None
        yield with_link(shown, case, link, heads[0], is_safe=False) if link else shown


def _link(case: Case, edge: Edge) -> Link | None:
    """Return the link of a draft; a split that the old entry declares is meant."""
    if edge.by_old:
        return None
    links = (link for link in case.links if link.entry.address == edge.new and link.field == "supersedes")
    return next((link for link in links if link.target == edge.old), None)


def _earlier(case: Case, edge: Edge) -> str | None:
    """Return the first other successor that came before this one and that this one does not supersede in turn."""
    entries = case.catalog.entries
    this = entries[edge.new]
    others = (entries[address] for address in case.catalog.lineage.successors.get(edge.old, ()) if address != edge.new)
    before = [other for other in others if _order(other) < _order(this) and other.address not in this.supersedes]
    return min(before, key=_order).address if before else None


def _order(entry: Entry) -> tuple[bool, float, str]:
    created = instant_of(entry.created_at).timestamp() if entry.created_at else 0.0
    return entry.status is Status.DRAFT, created, entry.address


@check("chain-without-head", Severity.WARNING)
def chain_without_head(case: Case) -> Iterator[Finding]:
    """A chain of supersessions ends with an entry that is itself no longer in force.

    Every link is right, and yet nothing on the subject holds now. That may be meant; the finding makes it visible.
    Where the last entry does not even say why it ended, that is reported instead.

    Fails:

        app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]
        app/rules/new.md    status: deprecated    deprecated_reason: the service was shut down

    Fix: write the entry that holds now with `supersedes: [app/rules/new]`, and name it under `superseded_by` in the
    last one. Or keep the gap and say so in the last one: `ignore: {chain-without-head: the subject is gone}`.
    """
    lineage, entries = case.catalog.lineage, case.catalog.entries
    seen: set[str] = set()
    for edge in case.edges:
        last = edge.new
        if edge.kind is not EdgeKind.SOUND or last in seen or lineage.heads(edge.old) or last in lineage.successors:
            continue
        if entries[last].superseded_by or not entries[last].why_ended or "superseded_by" in entries[last].unread:
            continue
        seen.add(last)
        message = f"ended, and nothing in force replaces it or `{edge.old}`, which it superseded"
        why = "`ignore: {chain-without-head: <why the gap is meant>}`"
        help_ = f"add `superseded_by` with the entry that holds now, or {why}"
        other = case.link_place(edge.old, "superseded_by", last)
        yield Finding("chain-without-head", message, case.catalog.place(last, "status"), help_, last, other=other)


@check("supersession-across-types", Severity.WARNING)
def supersession_across_types(case: Case) -> Iterator[Finding]:
    """An entry of lower authority supersedes one of higher.

    The order is invariant, decision, pattern, note. A decision in the place of an invariant takes away a rule that was
    not to be violated, and nothing but the type tells. Raising authority, a note that becomes a decision, is fine.

    Fails:

        app/rules/new.md    type: decision     supersedes: [app/rules/old]
        app/rules/old.md    type: invariant

    Fix: give the new entry the type of the old one, or say that the drop is meant:
    `ignore: {supersession-across-types: why}`.
    """
    for edge in case.edges:
        new, old = case.catalog.entries.get(edge.new), case.catalog.entries.get(edge.old)
        if not edge.kind.is_consistent or new is None or old is None or new.type.rank <= old.type.rank:
            continue
        severity = Severity.ERROR if old.type is EntryType.INVARIANT else Severity.WARNING
        message = f"a {new.type} supersedes the {old.type} `{old.address}`"
        help_ = f"write `type: {old.type}`, or add `ignore: {{supersession-across-types: <why it may weigh less>}}`"
        place, other = case.catalog.place(new.address, "type"), case.catalog.place(old.address, "type")
        yield Finding("supersession-across-types", message, place, help_, new.address, other=other, severity=severity)


@check("supersession-across-wings", Severity.ERROR)
def supersession_across_wings(case: Case) -> Iterator[Finding]:
    """An entry supersedes one of another wing.

    A shared rule binds other projects too, so a project cannot end it: it overrides the rule for itself. Neither can
    one project end another's. Only promotion crosses wings: a shared entry that supersedes a project's.

    Fails:

        shop/forms/controlled.md       supersedes: [react/forms/uncontrolled]     (react is shared)

    Fix: write the address under `overrides` with a `reason`, and remove the supersession links on both ends.
    """
    for edge in case.edges:
        if edge.kind is not EdgeKind.ACROSS_WINGS:
            continue
        new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
        is_shared = case.catalog.wings[old.wing].is_shared
        help_ = "supersede it from within its own wing, or promote the new rule to a shared wing"
        if is_shared and not case.catalog.wings[new.wing].is_shared:
            help_ = f"write `overrides: {old.address}` with a `reason`, and remove the supersession links on both ends"
        kind = "shared" if is_shared else "project"
        forward, back = (
            case.link_place(new.address, "supersedes", old.address),
            case.link_place(old.address, "superseded_by", new.address),
        )
        if edge.by_new:
            message = f"supersedes `{old.address}` of the {kind} wing `{old.wing}`"
            yield Finding("supersession-across-wings", message, forward, help_, new.address, other=back)
        else:
            message = f"superseded by `{new.address}` of another wing"
            yield Finding("supersession-across-wings", message, back, help_, old.address, other=forward)


@check("successor-older", Severity.WARNING)
def successor_older(case: Case) -> Iterator[Finding]:
    """An entry supersedes one that was created after it.

    Either a date is wrong or the link points the wrong way, and then the older rule is taken for the one in force.

    Fails:

        app/rules/new.md    created_at: 2026-03-01    supersedes: [app/rules/old]
        app/rules/old.md    created_at: 2026-05-01

    Fix: correct `created_at`, or turn the link round on both ends.
    """
    for edge in case.edges:
        new, old = case.catalog.entries.get(edge.new), case.catalog.entries.get(edge.old)
        if not edge.kind.is_consistent or not new or not old or not new.created_at or not old.created_at:
            continue
        if day_of(new.created_at) < day_of(old.created_at):
            first, later = day_of(new.created_at), day_of(old.created_at)
            message = f"created on {first}, but supersedes `{old.address}`, created on {later}"
            help_ = "correct `created_at`, or turn the link round on both ends"
            place, other = case.catalog.place(new.address, "created_at"), case.catalog.place(old.address, "created_at")
            yield Finding("successor-older", message, place, help_, new.address, other=other)


@check("supersession-reason-missing", Severity.WARNING)
def supersession_reason_missing(case: Case) -> Iterator[Finding]:
    """An entry supersedes another and does not say why.

    The reason belongs in the new entry: the old one only points to it. Without it, nobody can tell later whether the
    change still makes sense. `reason` counts, and so does a body that gives one, for instance after `Rationale:`.

    Fails:

        supersedes: [app/rules/retry-twice]

        Retry five times.

    Fix: add `reason:` with what was wrong or has changed.
    """
    consistent = sorted((edge.new, edge.old) for edge in case.edges if edge.kind.is_consistent)
    for address, group in groupby(consistent, key=lambda ends: ends[0]):
        entry, olds = case.catalog.entries[address], [old for _, old in group]
        if case.gives_reason(entry):
            continue
        types = {entry.type, *(case.catalog.entries[old].type for old in olds)}
        severity = Severity.ERROR if EntryType.INVARIANT in types else Severity.WARNING
        message = f"nothing says why it supersedes {', '.join(f'`{old}`' for old in olds)}"
        place, other = (
            case.link_place(address, "supersedes", olds[0]),
            case.link_place(olds[0], "superseded_by", address),
        )
        yield Finding(
            "supersession-reason-missing",
            message,
            place,
            "add `reason:` with what has changed",
            address,
            other=other,
            severity=severity,
        )
