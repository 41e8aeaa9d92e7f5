"""Checks of supersessions: the links in the two entries, and the chains that the links form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from shlex import quote

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.check import check, codes_of
from mdmem.checks.fixes import (
    deprecation_edits,
    is_imported,
    is_in_part,
    link_removals,
    may_deprecate,
    reactivation_edits,
    supersede_command,
    with_fix,
    with_link,
)
from mdmem.markdown.patch import add_items, set_fields
from mdmem.model.entry import Entry, EntryType, Status, day_of, instant_of
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.links import Edge, EdgeKind


def _edges(case: Case, kind: EdgeKind) -> Iterator[Edge]:
    return (edge for edge in case.edges if edge.kind is kind)


def _by_old(case: Case, kind: EdgeKind) -> Iterator[tuple[str, list[Edge]]]:
    for old, edges in groupby(_edges(case, kind), key=lambda edge: edge.old):
        yield old, list(edges)


def _consistent(case: Case) -> Iterator[tuple[Edge, Entry, Entry]]:
    """Yield the edges on which both entries agree, each with the new and the old entry."""
    for edge in case.edges:
        if edge.kind in (EdgeKind.SOUND, EdgeKind.PENDING, EdgeKind.BUT_ACTIVE):
            yield edge, case.catalog.entries[edge.new], case.catalog.entries[edge.old]


def _at_new(case: Case, edge: Edge) -> Place:
    return case.link_place(edge.new, "supersedes", edge.old)


def _at_old(case: Case, edge: Edge) -> Place:
    return case.link_place(edge.old, "superseded_by", edge.new)


def _wrong_order(new: Entry, old: Entry) -> str:
    """Return a message if an entry was created before the one that it supersedes, or an empty text."""
    first, later = (one.created_at and day_of(one.created_at) for one in (new, old))
    is_wrong = first and later and first < later
    return f"created on {first}, but supersedes `{old.address}`, created on {later}" if is_wrong else ""


def _faults(case: Case, new: Entry, old: Entry) -> frozenset[str]:
    """Return the codes of the checks that would report a supersession if both entries listed each other."""
    found = {
        successor_older.code: bool(_wrong_order(new, old)),
        supersession_across_types.code: new.type.rank > old.type.rank,
        # The reason is looked up only for an entry that lists another one.
        supersession_reason_missing.code: old.address in new.supersedes and not case.gives_reason(new),
        supersedes_superseded.code: _earlier_successor(case, new, old.address) is not None,
    }
    enabled = codes_of(case.settings, new.path) - dict(new.ignore).keys()
    return enabled.intersection(code for code, is_found in found.items() if is_found)


def _named(addresses: Sequence[str], joined: str = ", ") -> str:
    return joined.join(f"`{address}`" for address in addresses)


@check("supersession-one-sided", Severity.ERROR)
def supersession_one_sided(case: Case) -> Iterator[Finding]:
    """A supersession is one-sided: only one of the two entries lists the other.

    The new entry has `supersedes`, and the old one `superseded_by`. Without both, the old entry stays current, and git
    reports no conflict if two branches supersede it. A draft may list an old entry before it is approved.

    Fails:
        app/rules/new.md    status: active    supersedes: [app/rules/old]
        app/rules/old.md    status: active

    Fix: add the missing link with `mdmem supersede OLD --by NEW --reason TEXT`, or correct the wrong one. `mdmem check
    --fix` adds a missing `superseded_by` if the successor has at least the authority of the old entry, and the old
    entry is not current, or this change added the link to an entry that is neither new nor imported, and no other
    current entry links to it. `--unsafe-fixes` adds the others, unless another check would then report the link. If
    only a part was superseded, write `amends`.
    """
    for edge in _edges(case, EdgeKind.MISSING_BACK):
        yield _missing_back(case, edge)
    for edge in _edges(case, EdgeKind.MISSING_FORWARD):
        message = f"superseded by `{edge.new}`, whose `supersedes` does not list this entry"
        help_ = f"add `supersedes: [{edge.old}]` to `{edge.new}.md`, or write the right successor here"
        other, document = case.place(edge.new, "supersedes"), case.catalog.document(f"{edge.new}.md")
        found = Finding("", message, _at_old(case, edge), help_, edge.old, other)
        title = f"Add `supersedes` to `{edge.new}.md`"
        fixed = with_fix(found, title, add_items, document, "supersedes", [edge.old], is_safe=False)
        yield found if _faults(case, *(case.catalog.entries[one] for one in (edge.new, edge.old))) else fixed
    for old, edges in _by_old(case, EdgeKind.MISMATCH):
        named = [edge.new for edge in edges if edge.by_old]
        claimant = next(edge.new for edge in edges if not edge.by_old)
        message = f"`superseded_by` lists {_named(named)}, but `{claimant}` supersedes this entry"
        help_ = f"write `superseded_by: [{claimant}]`, or remove `{old}` from `supersedes` in `{claimant}.md`"
        place, other = case.link_place(old, "superseded_by", named[0]), case.link_place(claimant, "supersedes", old)
        found = Finding("", message, place, help_, old, other, former="supersession-mismatch")
        document, title = case.catalog.document(f"{old}.md"), f"Write `{claimant}` as the successor"
        yield with_fix(found, title, set_fields, document, {"superseded_by": [claimant]}, is_safe=False)


def _missing_back(case: Case, edge: Edge) -> Finding:
    new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
    message = f"supersedes `{edge.old}`, whose `superseded_by` does not list this entry"
    command = f"type `{supersede_command(quote(edge.old), new)}`"
    help_ = command if edge.new not in case.catalog.lineage.successors else f"add `superseded_by` to `{edge.old}.md`"
    other = case.place(edge.old, "superseded_by")
    found = Finding("", message, _at_new(case, edge), help_, edge.new, other)
    if not case.catalog.lineage.heads(edge.new):
        # Offer no fix if the new entry has no current end, since then neither entry would be current.
        return replace(found, help=f"remove it from `supersedes` if this entry never took over; else {help_}")
    if old.is_in_force and is_in_part(case, edge.old, edge.new):
        amends = f"write `amends: [{edge.old}]` in place of `supersedes` if a part of it still applies"
        return replace(found, help=f"{amends}; else {help_}")
    # Offer no fix that would cause another finding, since it would be left out.
    faults = _faults(case, new, old)
    if successor_older.code in faults:
        dates = "this entry was created first: remove the link, or correct `created_at`"
        return replace(found, help=f"{dates}, then {help_}")
    if supersession_across_types.code in faults:
        return replace(found, help=f"write `type: {old.type}` into this entry, then {help_}")
    if faults or (old.is_in_force and case.catalog.derived.amended_by(edge.old)):
        return found
    # A person must decide if the new entry has less authority, or if the links of other current entries must change.
    linking = (one for one in case.linking.get(edge.old, ()) if one != edge.new) if old.is_in_force else ()
    is_safe = new.type.rank <= old.type.rank and not any(map(case.catalog.lineage.is_current, linking))
    is_safe = is_safe and may_deprecate(case, edge.old, named_by=edge.new, field="supersedes", target=edge.old)
    title = f"Add `superseded_by` to `{edge.old}.md`{', which deprecates it' if old.is_in_force else ''}"
    if is_safe:
        found = replace(found, help="" if new.reason or help_ != command else f"to give the reason, too, {help_}")
    return with_fix(found, title, deprecation_edits, case, old, edge.new, is_safe=is_safe)


@check("superseded-but-active", Severity.ERROR)
def superseded_but_active(case: Case) -> Iterator[Finding]:
    """Both entries of a supersession list each other, but the old one is not deprecated.

    Answers contain the successor, but people who read only the status follow the old rule.

    Fails:
        status: active
        superseded_by: [app/rules/new]

    Fix: write `status: deprecated` and `deprecated_at: YYYY-MM-DD` in the old entry. `--fix` does it if the current
    change added the link, and the old entry is neither new nor imported. `--unsafe-fixes` does it, unless a text says
    that only a part was superseded.
    """
    for old, edges in _by_old(case, EdgeKind.BUT_ACTIVE):
        entry, successors = case.catalog.entries[old], [edge.new for edge in edges]
        message = f"superseded by {_named(successors, ' and ')}, yet its status is `{entry.status}`"
        help_ = "write `status: deprecated` and `deprecated_at`"
        is_head = old in case.catalog.lineage.heads(old)
        if is_head:
            # The successors are not current either, so deprecating this entry would leave no current entry.
            help_ = f"remove the links in both files if this entry is current again, else {help_}"
        found = case.on_entry(entry, message, help_, field="status", other=_at_new(case, edges[0]))
        if not is_head and not any(is_in_part(case, old, new) for new in successors):
            title, link = "Write `status: deprecated`", {"named_by": old, "field": "superseded_by"}
            is_safe = all(may_deprecate(case, old, **link, target=new) for new in successors)
            found = with_fix(found, title, deprecation_edits, case, entry, is_safe=is_safe)
        yield found


@check("deprecated-without-successor-or-reason", Severity.ERROR)
def deprecated_without_successor_or_reason(case: Case) -> Iterator[Finding]:
    """An entry is deprecated without a successor or a reason, so somebody may write the same rule again.

    Fails:
        status: deprecated     (with `deprecated_at` alone)

    Fix: add `superseded_by`, and this entry to the successor's `supersedes`; or add `deprecated_reason`.
    """
    for entry in case.catalog.entries.values():
        if entry.status is not Status.DEPRECATED or entry.why_ended:
            continue
        if not {"superseded_by", "reason", "deprecated_reason"}.isdisjoint(entry.unread):
            continue
        # Another check reports a placeholder in `superseded_by`.
        is_named = any(one.field == "superseded_by" for one in case.file_facts(entry.path).links)
        if not (is_named or entry.address in case.catalog.lineage.successors):
            help_ = "add `superseded_by` with the successor, or `deprecated_reason`"
            yield case.on_entry(entry, "deprecated without a successor or a reason", help_, field="status")


@check("successor-not-current", Severity.ERROR)
def successor_not_current(case: Case) -> Iterator[Finding]:
    """An entry lists a successor that is still a draft, or that was deprecated before the entry itself.

    The old entry may list a draft if it has its own reason, or another, current successor.

    Fails:
        app/rules/new.md    status: draft         supersedes: [app/rules/old]
        app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]

    Fix: run `mdmem approve` for the draft, list the current entry instead, or write `status: active` in the old entry
    and remove `superseded_by` and `deprecated_at`.
    """
    for edge in _edges(case, EdgeKind.BY_DRAFT):
        is_deprecated = case.catalog.entries[edge.old].status is Status.DEPRECATED
        message = f"lists the successor `{edge.new}`, which is still a draft"
        help_ = f"remove `superseded_by`: `mdmem approve {quote(edge.new)}` adds it with the approval"
        if is_deprecated:
            message = f"deprecated in favour of `{edge.new}`, which is still a draft"
            help_ = f"run `mdmem approve {quote(edge.new)}`, or write `status: active` here without `superseded_by`"
        other = case.place(edge.new, "status")
        found = Finding("", message, _at_old(case, edge), help_, edge.old, other, former="superseded-by-draft")
        if not (is_deprecated and is_imported(case, edge.old)):
            title = "Keep the old entry active"
            found = with_fix(found, title, reactivation_edits, case, edge.old, edge.new, is_safe=False)
        yield found
    for edge in _edges(case, EdgeKind.BY_DEAD):
        ended = case.catalog.entries[edge.new].deprecated_at
        if ended is not None:
            message = f"superseded by `{edge.new}`, which was deprecated before, on {day_of(ended)}"
            help_ = "list the current entry instead, or remove the links in both files and write `status: active`"
            other = case.place(edge.new, "deprecated_at")
            found = Finding("", message, _at_old(case, edge), help_, edge.old, other, former="superseded-by-dead")
            # The new entry's link alone would still supersede the old entry.
            title, link = "Make the old entry active again", (edge.new, "supersedes", edge.old)
            yield with_fix(found, title, reactivation_edits, case, edge.old, edge.new, link, is_safe=False)


@check("supersession-cycle", Severity.ERROR)
def supersession_cycle(case: Case) -> Iterator[Finding]:
    """Entries supersede one another in a circle.

    Answers contain all of them, marked as contradictory. Only supersession links count; `see` links may form a circle.

    Fails:
        a.md    supersedes: [wing/room/b]
        b.md    supersedes: [wing/room/a]

    Fix: remove the link from the newer rule back to the older one, in both entries.
    """
    for cycle in case.catalog.lineage.cycles:
        entry = case.catalog.entries[cycle[0]]
        message = f"{len(cycle)} entries supersede one another: {_named((*cycle, cycle[0]), ' → ')}"
        help_ = "remove the link from the newer entry back to the older one"
        yield case.on_entry(entry, message, help_, field="supersedes" if entry.supersedes else "superseded_by")


@check("two-successors", Severity.ERROR)
def two_successors(case: Case) -> Iterator[Finding]:
    """Two entries supersede the same entry.

    A merge of two branches that each replace a rule causes this, and both new rules count as current. A split is fine
    if the old entry lists all of them and gives a `reason` or `deprecated_reason`.

    Fails:
        app/rules/a.md      supersedes: [app/rules/old]
        app/rules/b.md      supersedes: [app/rules/old]

    Fix: keep one and remove the link from the other, or let one of the two supersede the other. For a split, list all
    in `superseded_by` and give the reason. `mdmem check --unsafe-fixes` does this if one answer is likely.
    """
    # In a merge, `merge-conflict` reports these, because it knows which side wrote which entry.
    known = case.merge.forked() if case.merge else {}
    for old, edges in _by_old(case, EdgeKind.TWO_SUCCESSORS):
        if old in known:
            continue
        successors = [edge.new for edge in edges]
        stated = [edge for edge in edges if edge.by_new]
        # A successor that supersedes another successor in the list, with that one.
        ancestors = case.catalog.lineage.ancestors
        pairs = ((new, one) for new in successors for one in sorted(ancestors(new).intersection(successors)))
        needless, through = next(pairs, ("", ""))
        help_ = f"remove `{old}` from `supersedes` of all but one; for a split, list all of them here and add `reason`"
        if needless:
            help_ = f"remove `{old}` from `supersedes` in `{needless}.md`: it supersedes `{through}`, which is enough"
        message = f"{len(successors)} entries supersede it: {_named(successors)}"
        other = _at_new(case, stated[-1]) if stated else None
        found = case.on_entry(case.catalog.entries[old], message, help_, field="superseded_by", other=other)
        # Of more than two, several would still be left. A link from only one side may need one from the other side.
        last = next((edge for edge in edges if edge.new == through and edge.by_new), None) if len(edges) == 2 else None
        entries = case.catalog.entries
        if last and (last.by_old or not _faults(case, entries[through], entries[old])):
            links = (needless, "supersedes", old), (old, "superseded_by", needless)
            found = with_fix(found, f"Remove the link to `{needless}`", link_removals, case, *links, is_safe=False)
        yield found


@check("supersedes-superseded", Severity.INFO)
def supersedes_superseded(case: Case) -> Iterator[Finding]:
    """An entry supersedes an entry that another one already superseded.

    The author probably did not see the newest rule. Entries that are themselves deprecated or superseded are ignored.

    Fails:
        app/rules/b.md    supersedes: [app/rules/a]                    (current)
        app/rules/c.md    supersedes: [app/rules/a]    status: draft

    Fix: supersede the entry in the message. `mdmem check --unsafe-fixes` does this if one answer is likely.
    """
    for edge, this, _ in _consistent(case):
        if this.status is Status.DEPRECATED or edge.new in case.catalog.lineage.successors:
            continue
        first = _earlier_successor(case, this, edge.old)
        if first is None:
            continue
        earlier = first.address
        heads = [head for head in case.catalog.lineage.heads(edge.old) if head != edge.new] or [earlier]
        message = f"supersedes `{edge.old}`, which `{earlier}` already supersedes"
        help_ = f"supersede {_named(heads, ' or ')} instead, unless the split is meant"
        other = case.link_place(edge.old, "superseded_by", earlier)
        found = Finding("", message, _at_new(case, edge), help_, edge.new, other)
        # Offer no fix if the current end descends from this entry, since the two would supersede each other.
        is_free = len(heads) == 1 and heads[0] not in case.catalog.lineage.descendants(edge.new) and not edge.by_old
        links = (one for one in case.links_of(edge.new) if one.field == "supersedes" and one.target == edge.old)
        link = next(links, None) if is_free else None
        yield with_link(found, case, link, heads[0], is_safe=False) if link else found


def _earlier_successor(case: Case, this: Entry, old: str) -> Entry | None:
    """Return the oldest other successor of an entry that is older than this one and is not superseded by it."""
    successors = (case.catalog.entries[one] for one in case.catalog.lineage.successors.get(old, ()))
    others = (one for one in successors if one is not this and one.address not in this.supersedes)
    return min((one for one in others if _order(one) < _order(this)), key=_order, default=None)


def _order(entry: Entry) -> tuple[bool, float, str]:
    created = instant_of(entry.created_at).timestamp() if entry.created_at else 0.0
    return entry.status is Status.DRAFT, created, entry.address


@check("chain-without-head", Severity.WARNING)
def chain_without_head(case: Case) -> Iterator[Finding]:
    """A chain of supersessions ends with an entry that is not current, so no rule on the subject applies now.

    That may be intended. If the last entry does not say why it was deprecated, another check reports that instead.

    Fails:
        app/rules/old.md    status: deprecated    superseded_by: [app/rules/new]
        app/rules/new.md    status: deprecated    deprecated_reason: the service was shut down

    Fix: write the entry that applies now with `supersedes: [app/rules/new]`, and list it in `superseded_by` there. Or
    keep the gap and say so in the last entry: `ignore: {chain-without-head: the subject is gone}`.
    """
    lineage, entries = case.catalog.lineage, case.catalog.entries
    seen: set[str] = set()
    for edge in _edges(case, EdgeKind.SOUND):
        last = entries[edge.new]
        if last.address in seen or lineage.heads(edge.old) or last.address in lineage.successors:
            continue
        if last.superseded_by or not last.why_ended or "superseded_by" in last.unread:
            continue
        seen.add(last.address)
        message = f"not current, and no current entry replaces it or `{edge.old}`, which it superseded"
        help_ = "add `superseded_by` with the current entry, or `ignore: {chain-without-head: <why the gap is meant>}`"
        yield case.on_entry(last, message, help_, field="status", other=_at_old(case, edge))


@check("supersession-across-types", Severity.WARNING)
def supersession_across_types(case: Case) -> Iterator[Finding]:
    """An entry supersedes one of higher authority.

    The order of authority is invariant, decision, pattern, note. If an invariant is replaced, the finding is an error.

    Fails:
        app/rules/new.md    type: decision     supersedes: [app/rules/old]
        app/rules/old.md    type: invariant

    Fix: give the new entry the type of the old one, or say why: `ignore: {supersession-across-types: REASON}`.
    """
    for _, new, old in _consistent(case):
        if new.type.rank > old.type.rank:
            severity = Severity.ERROR if old.type is EntryType.INVARIANT else Severity.WARNING
            message = f"a {new.type} supersedes the {old.type} `{old.address}`"
            help_ = f"write `type: {old.type}`, or add `ignore: {{supersession-across-types: <why it may weigh less>}}`"
            other = case.place(old.address, "type")
            yield case.on_entry(new, message, help_, field="type", other=other, severity=severity)


@check("supersession-across-wings", Severity.ERROR)
def supersession_across_wings(case: Case) -> Iterator[Finding]:
    """An entry supersedes an entry of another wing.

    A project may supersede neither a shared rule nor another project's rule, but it can override a shared rule for
    itself. A shared entry may supersede a project's entry, when the rule becomes a rule for all projects.

    Fails:
        shop/forms/controlled.md       supersedes: [react/forms/uncontrolled]     (react is shared)

    Fix: write the address under `overrides` with a `reason`, and remove the supersession links in both entries.
    """
    for edge in _edges(case, EdgeKind.ACROSS_WINGS):
        new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
        is_shared = case.catalog.wings[old.wing].is_shared
        help_ = "supersede it from within its own wing, or promote the new rule to a shared wing"
        if is_shared and not case.catalog.wings[new.wing].is_shared:
            help_ = f"write `overrides: {old.address}` with a `reason`, and remove the supersession links on both ends"
        forward, back = _at_new(case, edge), _at_old(case, edge)
        if edge.by_new:
            message = f"supersedes `{old.address}` of the {'shared' if is_shared else 'project'} wing `{old.wing}`"
            yield Finding("", message, forward, help_, new.address, back)
        else:
            message = f"superseded by `{new.address}` of another wing"
            yield Finding("", message, back, help_, old.address, forward)


@check("successor-older", Severity.WARNING)
def successor_older(case: Case) -> Iterator[Finding]:
    """An entry supersedes one that was created after it.

    Either a date is wrong, or the link points the wrong way, so that the older rule is taken for the current one.

    Fails:
        app/rules/new.md    created_at: 2026-03-01    supersedes: [app/rules/old]
        app/rules/old.md    created_at: 2026-05-01

    Fix: correct `created_at`, or reverse the link in both entries.
    """
    for _, new, old in _consistent(case):
        if message := _wrong_order(new, old):
            help_ = "correct `created_at`, or reverse the link in both files"
            other = case.place(old.address, "created_at")
            yield case.on_entry(new, message, help_, field="created_at", other=other)


@check("supersession-reason-missing", Severity.WARNING)
def supersession_reason_missing(case: Case) -> Iterator[Finding]:
    """An entry supersedes another one without a reason.

    The reason belongs in the new entry, in `reason` or in the body. The same words count as for `rationale-missing`,
    and so do words such as "replaces". For an invariant the finding is an error.

    Fails:
        supersedes: [app/rules/retry-twice]     (and the body is `Retry five times.`)

    Fix: add `reason:` that says what was wrong or has changed.
    """
    consistent = sorted((edge.new, edge.old) for edge, _, _ in _consistent(case))
    for address, group in groupby(consistent, key=lambda ends: ends[0]):
        entry, olds = case.catalog.entries[address], [old for _, old in group]
        if case.gives_reason(entry):
            continue
        types = {entry.type, *(case.catalog.entries[old].type for old in olds)}
        severity = Severity.ERROR if EntryType.INVARIANT in types else Severity.WARNING
        message, help_ = f"nothing says why it supersedes {_named(olds)}", "add `reason:` with what has changed"
        place = case.link_place(address, "supersedes", olds[0])
        other = case.link_place(olds[0], "superseded_by", address)
        yield Finding("", message, place, help_, address, other, severity)
