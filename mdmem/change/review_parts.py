"""Compare two trees of a memory, and find the parts of a review: each kind of change in meaning between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from msgspec import Struct

from mdmem.ask.contradictions import contradictions_among
from mdmem.ask.excerpt import rule_of
from mdmem.change.review_model import (
    AMENDS,
    CLAIMS,
    Belief,
    ContradictionChange,
    Counts,
    Covered,
    Dependent,
    FieldChange,
    FieldEdit,
    Move,
    Proposed,
    Ref,
    RelationChange,
    ReviewReport,
    Rewording,
    Span,
    Transition,
    Unread,
)
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_checks
from mdmem.markdown.parse import rationale_span, without_code
from mdmem.model.entry import Entry, Relation, Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import any_match
from mdmem.store.catalog.changes import BINDING_FIELDS, Changed
from mdmem.store.catalog.links import references_in
from mdmem.store.catalog.model import Catalog

# A rationale may be a page long, so only its beginning is shown.
_LONGEST_REASON = 300
_ILLEGAL = ("illegal-transition", "deleted-in-force")
_STATUS_CODES = (*_ILLEGAL, "approved-by-nobody", "activated-by-agent")
_FILES_NAMED = 5
_PROPOSING_FIELDS = ("supersedes", "amends", "overrides")
_REFERRING_FIELDS = ("amends", "overrides", "conflicts_with", "see", "produced")


# The time of difflib grows with the product of both lengths.
_LONG = 2_000
_TOKEN = re.compile(r"\n[ \t]*\n\s*|\S+")
_PARAGRAPH = "\n\n"
_BINDING = ("type", "focus", "expires_at", "overrides", "conflicts_with", *BINDING_FIELDS)
# Other parts of a review already show these fields.
_SHOWN_ELSEWHERE = frozenset({"address", "title", "status", "supersedes", "superseded_by", "unread", *_BINDING})
_NAMES = Entry.__struct_fields__
_OF_A_TRANSITION = frozenset({"deprecated_at", "deprecated_reason", "reason", "approved_by"})
_OF_A_TEXT = frozenset({"version", "editorial_at"})
_FROZEN_CODES = ("frozen-text-changed", "superseded-entry-edited", "fixed-field-changed")


class TreeSide(Base, frozen=True):
    """One of the two compared trees."""

    @property
    def current(self) -> frozenset[str]:
        """Return the addresses of the current entries."""
        return self.catalog.lineage.current

    def ref(self, address: str) -> Ref:
        """Return a reference to the entry at an address in this tree."""
        return self.ref_of(self.catalog.entries[address])

    def ref_of(self, entry: Entry) -> Ref:
        """Return a reference to an entry, with the owners from this tree."""
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return Ref(entry.address, entry.type, entry.status, entry.title, owners)

    def may_have(self, address: str) -> bool:
        """Return whether an unreadable file or folder may contain the entry at an address."""
        if f"{address}.md" in self.catalog.broken:
            return True
        return address not in self.catalog.entries and any(
            address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in self.catalog.closed
        )


class Comparison(Struct, frozen=True, dict=True):
    """Two trees of a memory, and the case of the second one. Only the files that differ are read."""

    before: TreeSide
    after: TreeSide
    case: Case

    @cached_property
    def moves(self) -> Mapping[str, str]:
        """Return the moved entries as a mapping from old to new address."""
        pairs = ((one.before.address, one.after.address) for one in self.case.changes.changed)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def no_ops(self) -> tuple[str, ...]:
        """Return the addresses whose files differ although the meaning of the entry is the same."""
        changed = {one.after.address for one in self.case.changes.changed}
        there = self.before.catalog.digests.keys() & self.after.catalog.entries.keys()
        return tuple(sorted((there & self.case.changed_documents.keys()) - changed))

    def moved(self, address: str) -> str:
        """Return the address in the second tree of an entry of the first tree, which differs if the entry moved."""
        return self.moves.get(address, address)

    @cached_property
    def ended(self) -> tuple[str, ...]:
        """Return the entries that are current only in the first tree, by their address there."""
        lost = (old for old in self.before.current if self.moved(old) not in self.after.current)
        return tuple(sorted(old for old in lost if not self.after.may_have(self.moved(old))))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """Return the entries that are current only in the second tree, by their address there."""
        moved_from = {new: old for old, new in self.moves.items()}
        pairs = ((new, moved_from.get(new, new)) for new in self.after.current)
        return tuple(sorted(n for n, old in pairs if old not in self.before.current and not self.before.may_have(old)))

    def successors(self, old: str) -> tuple[str, ...]:
        """Return the current entries that replace an entry of the first tree, even if its file was deleted."""
        catalog = self.after.catalog
        if self.moved(old) in catalog.entries:
            return catalog.lineage.heads(self.moved(old))
        naming = (one for one in catalog.entries.values() if old in one.supersedes and one.status is not Status.DRAFT)
        return tuple(sorted({head for entry in naming for head in catalog.lineage.heads(entry.address)}))


def compare_trees(
    before: TreeSide, after: TreeSide, *, today: date, files: Callable[[], Collection[str]] = tuple
) -> ReviewReport:
    """Return the differences in meaning between two trees. `files` returns the tracked paths of the repository."""
    case = Case(after.catalog, after.settings, today, base=before)
    comparison, changes = Comparison(before, after, case), case.changes
    # Run all checks that compare two trees, whatever checks the settings disable.
    faults: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        for finding in check.find(case) if check.needs_base else ():
            faults.setdefault(finding.address or "", []).append(finding)
    (rewordings, edits), steps = _find_edits(comparison, faults), _find_transitions(comparison, faults)
    beliefs = _find_beliefs(comparison)
    return ReviewReport(
        before=before.name,
        after=after.name,
        unread=tuple(_find_unread(comparison)),
        counts=Counts(
            added=len(changes.added),
            gone=len(changes.gone),
            altered=len(changes.changed),
            moved=len(comparison.moves),
            no_ops=len(comparison.no_ops),
            in_force_before=len(before.current),
            in_force_after=len(after.current),
        ),
        transitions=steps,
        bearings=_find_relation_changes(comparison),
        proposed=_find_proposed(comparison),
        beliefs=beliefs,
        rewordings=rewordings,
        edits=edits,
        dependents=_find_dependents(comparison),
        covered=_find_covered(comparison, rewordings, files),
        moves=tuple(Move(old, new) for old, new in sorted(comparison.moves.items())),
        no_ops=comparison.no_ops,
        contradictions=_find_contradictions(comparison),
    )


def _find_unread(comparison: Comparison) -> Iterator[Unread]:
    """Yield the files of both trees that cannot be read."""
    sides: tuple[tuple[Literal["before", "after"], TreeSide, TreeSide], ...] = (
        ("before", comparison.before, comparison.after),
        ("after", comparison.after, comparison.before),
    )
    for which, side, other in sides:
        manifests = [finding for finding in side.catalog.findings if finding.code == "manifest-invalid"]
        broken = [one.findings[0] for one in side.catalog.broken.values() if one.findings]
        found = {finding.place.path: finding for finding in (*manifests, *broken, *side.catalog.closed)}
        for path, finding in sorted(found.items()):
            address = path.removesuffix(".md")
            ref = other.ref(address) if address in other.catalog.entries else None
            yield Unread(which, path, finding.code, finding.message, ref)


def _find_beliefs(comparison: Comparison) -> tuple[Belief, ...]:
    """Return the entries that are no longer current, with their successors, then the new entries. Sort by authority."""
    ended, replacing = [], set[str]()
    for old in sorted(map(comparison.before.ref, comparison.ended), key=lambda ref: ref.rank):
        heads = comparison.successors(old.address)
        replacing.update(heads)
        reason = _reason_ended(comparison, old.address, heads)
        was_there = frozenset(heads).difference(comparison.begun)
        after = tuple(map(comparison.after.ref, heads))
        ended.append(Belief(old, after, reason, was_there, _opening(comparison, heads)))
    new = sorted(
        (comparison.after.ref(one) for one in comparison.begun if one not in replacing), key=lambda ref: ref.rank
    )
    added = []
    for ref in new:
        reason, opening = _reason(comparison, ref.address), _opening(comparison, [ref.address])
        added.append(Belief(None, (ref,), reason, opening=opening))
    return (*ended, *added)


def _opening(comparison: Comparison, addresses: Collection[str]) -> str:
    """Return the first sentences of the decision of the only entry, if the change wrote its file, or an empty text."""
    documents = [comparison.case.changed_documents.get(one) for one in addresses]
    return _shortened(rule_of(documents[0].body)) if len(documents) == 1 and documents[0] is not None else ""


def _find_proposed(comparison: Comparison) -> tuple[Proposed, ...]:
    """Return the entries that drafts propose to supersede, amend or override since the change, by authority."""
    moved, after = comparison.moved, comparison.after
    before = {(moved(new), says, moved(old)) for new, says, old in _proposals(comparison.before.catalog)}
    found = []
    for address, says, old in _proposals(after.catalog):
        if (address, says, old) not in before and old in after.catalog.entries:
            reason, opening = _reason(comparison, address), _opening(comparison, [address])
            found.append(Proposed(after.ref(address), says, after.ref(old), reason, opening))
    return tuple(sorted(found, key=lambda one: (one.entry.rank, _PROPOSING_FIELDS.index(one.says), one.on.rank)))


def _proposals(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    for address, entry in catalog.entries.items():
        if entry.status is Status.DRAFT:
            yield from ((address, name, old) for name in _PROPOSING_FIELDS for old in entry.links(name))


def _reason_ended(comparison: Comparison, old: str, heads: tuple[str, ...]) -> str | None:
    """Return why an entry is no longer current: its own and its successors' reasons, else a successor's rationale."""
    catalog = comparison.after.catalog
    direct = catalog.lineage.successors.get(comparison.moved(old), heads)
    stated = [reason for one in direct if (reason := catalog.entries[one].reason)]
    entry = catalog.entries.get(comparison.moved(old))
    # The `reason` of an entry with a successor may explain why the entry replaced its own predecessor.
    if entry is not None and (why := entry.deprecated_reason or ("" if stated else entry.why_ended)):
        stated.append(why)
    if stated:
        return _shortened("; ".join(dict.fromkeys(stated)))
    return next((why for head in heads if (why := _reason(comparison, head))), None)


def _reason(comparison: Comparison, address: str) -> str | None:
    """Return the stated reason of an entry. If there is none and the file changed, return the rationale in the body."""
    stated = comparison.after.catalog.entries[address].reason
    if stated:
        return _shortened(stated)
    document = comparison.case.changed_documents.get(address)
    if document is None:
        return None
    start, end = rationale_span(without_code(document.body))
    # If nothing marks the rationale, the span is the whole body.
    return _shortened(document.body[start:end]) or None if start else None


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON].rsplit(' ', 1)[0]} …"


def _find_transitions(comparison: Comparison, faults: Mapping[str, Sequence[Finding]]) -> tuple[Transition, ...]:
    """Return the changes of status: first the illegal changes, then those with findings, then the rest by authority."""
    changes = comparison.case.changes
    steps: list[tuple[Ref, Status | None, Status | None]] = [
        *((comparison.after.ref_of(entry), None, entry.status) for entry in changes.added),
        *((comparison.before.ref_of(entry), entry.status, None) for entry in changes.gone),
        *(
            (comparison.after.ref_of(one.after), one.before.status, one.after.status)
            for one in changes.changed
            if one.before.status is not one.after.status
        ),
    ]
    found = []
    for ref, before, after in steps:
        own = [finding for finding in faults.get(ref.address, ()) if finding.code in _STATUS_CODES]
        own.sort(key=lambda one: (_STATUS_CODES.index(one.code), one.message))
        is_illegal = any(finding.code in _ILLEGAL for finding in own)
        found.append(Transition(ref, before, after, is_illegal, tuple(one.message for one in own)))
    return tuple(sorted(found, key=lambda one: (not one.is_illegal, not one.faults, one.entry.rank)))


def _find_relation_changes(comparison: Comparison) -> tuple[RelationChange, ...]:
    """Return the new claims (one-sided supersessions) and amendments, then removed ones between current entries."""
    moved, current, ref = comparison.moved, comparison.after.current, comparison.after.ref
    before = {(moved(new), says, moved(old)) for new, says, old in _relations(comparison.before.catalog)}
    after = set(_relations(comparison.after.catalog))
    gone = {(new, says, old) for new, says, old in before - after if {new, old} <= current}
    changes = [RelationChange(ref(new), says, ref(old), is_new=True) for new, says, old in after - before]
    changes += [RelationChange(ref(new), says, ref(old), is_new=False) for new, says, old in gone]
    return tuple(sorted(changes, key=lambda one: (not one.is_new, one.entry.rank, one.says, one.on.rank)))


def _relations(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    for address in catalog.entries:
        yield from ((address, CLAIMS, old) for old in catalog.lineage.claims(address))
        amended = (old for old in catalog.derived.amends(address) if catalog.lineage.is_current(old))
        yield from ((address, AMENDS, old) for old in amended)


def _find_covered(
    comparison: Comparison, reworded: Sequence[Rewording], files: Callable[[], Collection[str]]
) -> tuple[Covered, ...]:
    """Return the entries that changed or are newly or no longer current, with their tracked files, by authority."""
    before, after = comparison.before, comparison.after
    changed = {*comparison.begun, *(one.entry.address for one in reworded if one.entry.address in after.current)}
    concerned = [(before.ref(old), before.catalog.entries[old].applies_to) for old in comparison.ended]
    concerned += [(after.ref(address), after.catalog.entries[address].applies_to) for address in changed]
    with_globs = sorted(((ref, globs) for ref, globs in concerned if globs), key=lambda pair: pair[0].rank)
    tracked = sorted(files()) if with_globs else []
    found = []
    for ref, globs in with_globs:
        paths = [path for path in tracked if any_match(globs, (path,)) is not None]
        found.append(Covered(ref, globs, len(paths), tuple(paths[:_FILES_NAMED])))
    return tuple(found)


def _find_contradictions(comparison: Comparison) -> tuple[ContradictionChange, ...]:
    """Return the new contradictions, then the removed ones, sorted by authority."""
    moved, before, after = comparison.moved, comparison.before, comparison.after
    old = {tuple(sorted((moved(a), moved(b)))): (before, a, b, why) for a, b, why in _contradictions(before)}
    new = {tuple(sorted((a, b))): (after, a, b, why) for a, b, why in _contradictions(after)}
    found = [_contradiction(*new[ends], is_new=True) for ends in new.keys() - old.keys()]
    found += [_contradiction(*old[ends], is_new=False) for ends in old.keys() - new.keys()]
    return tuple(sorted(found, key=lambda one: (not one.is_new, one.first.rank, one.second.rank)))


def _contradictions(side: TreeSide) -> Iterator[tuple[str, str, str]]:
    for one in contradictions_among(side.catalog, side.catalog.entries.keys() & side.current):
        yield one.a, one.b, one.why


def _contradiction(side: TreeSide, a: str, b: str, why: str, *, is_new: bool) -> ContradictionChange:
    first, second = sorted((side.ref(a), side.ref(b)), key=lambda ref: ref.rank)
    return ContradictionChange(first, second, why, is_new)


def _find_dependents(comparison: Comparison) -> tuple[Dependent, ...]:
    """Return the entries and drafts that link to one that is no longer current; sorted by that one, then authority."""
    lost = {comparison.moved(old): comparison.successors(old) for old in comparison.ended}
    if not lost:
        return ()
    links: list[tuple[str, str, str]] = []
    entries, current = comparison.after.catalog.entries, comparison.after.current
    live = {one.address: one for one in entries.values() if one.address in current or one.status is Status.DRAFT}
    for address, entry in live.items():
        links += [(address, target, name) for name in _REFERRING_FIELDS for target in entry.links(name)]
        links += [(address, relation.to, relation.type) for relation in entry.relations]
        links += [(address, target, "supersedes") for target in entry.supersedes if entry.status is Status.DRAFT]
    # Each way to write a link contains the entry-id, so a text without any entry-id has no such link.
    entry_id = re.compile("|".join(sorted(re.escape(address.rsplit("/", 1)[-1]) for address in lost)))
    known = {*comparison.after.catalog.addresses, *lost}
    for address, body, _ in comparison.after.catalog.bodies(list(live)):
        found = references_in({address: without_code(body)}, known) if entry_id.search(body) else ()
        links += [(address, one.target, "text") for one in found if one.target is not None]
    ways: dict[tuple[str, str], list[str]] = {}
    for source, target, how in links:
        if target in lost and source not in lost:
            is_successor = target in live[source].supersedes and source in lost[target]
            if not is_successor:
                ways.setdefault((target, source), []).append(how)
    dependents = (
        Dependent(comparison.after.ref(source), target, lost[target], tuple(dict.fromkeys(how)))
        for (target, source), how in ways.items()
    )
    return tuple(sorted(dependents, key=lambda one: (one.on, one.entry.rank)))


def word_changes(before: str, after: str) -> tuple[Span, ...]:
    """Return runs of unchanged, removed and added words; nothing for equal words. A blank line counts as a word."""
    tokens = (_TOKEN.findall(text.strip()) for text in (before, after))
    old, new = ([_PARAGRAPH if token.isspace() else token for token in listed] for listed in tokens)
    runs: list[tuple[str, list[str]]] = []
    matcher = SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > _LONG)
    for tag, first, last, begin, stop in matcher.get_opcodes() if old != new else ():
        is_same = tag == "equal"
        runs += [(" ", old[first:last])] if is_same else [("-", old[first:last]), ("+", new[begin:stop])]
    return tuple(Span(mark, " ".join(words).replace(f" {_PARAGRAPH} ", _PARAGRAPH)) for mark, words in runs if words)


def _find_edits(
    comparison: Comparison, faults: Mapping[str, Sequence[Finding]]
) -> tuple[tuple[Rewording, ...], tuple[FieldEdit, ...]]:
    """Return the entries with a new text, title or binding field, then the entries with changes in other fields.

    A binding field changes what the rule requires. Both lists are sorted by authority, and frozen entries come first in
    the list of rewordings. Other parts of the review show the remaining fields.
    """
    rewordings, edits = [], []
    for one in comparison.case.changes.changed:
        ref, binding = comparison.after.ref_of(one.after), _field_changes(comparison, one, _BINDING)
        elsewhere = _SHOWN_ELSEWHERE
        if not (one.keeps_text and one.keeps_title) or binding:
            rewordings.append(_rewording(comparison, one, ref, binding, faults.get(ref.address, ())))
            elsewhere |= _OF_A_TEXT
        if one.before.status is not one.after.status:
            elsewhere |= _OF_A_TRANSITION
        if fields := _field_changes(comparison, one, [name for name in _NAMES if name not in elsewhere]):
            edits.append(FieldEdit(ref, fields))
    return (
        tuple(sorted(rewordings, key=lambda one: (not one.is_frozen, one.entry.rank))),
        tuple(sorted(edits, key=lambda one: one.entry.rank)),
    )


def _rewording(
    comparison: Comparison, one: Changed, ref: Ref, binding: tuple[FieldChange, ...], faults: Sequence[Finding]
) -> Rewording:
    title = () if one.keeps_title else word_changes(one.before.title, one.after.title)
    body = () if one.keeps_text else word_changes(one.body_before, one.body_after)
    stays_current = one.before.address in comparison.before.current and ref.address in comparison.after.current
    notices = [] if title or body or binding else ["only line breaks changed"]
    if one.before.version != one.after.version:
        notices.append(f"version {one.before.version or 1} → {one.after.version or 1}")
    if one.is_corrected and one.after.editorial_at is not None:
        notices.append(f"marked as a correction of {one.after.editorial_at.isoformat()}")
    return Rewording(
        entry=ref,
        is_frozen=stays_current and one.before.type.is_rule,
        title=title,
        body=body,
        fields=binding,
        notice="; ".join(notices),
        faults=tuple(finding.message for finding in faults if finding.code in _FROZEN_CODES),
    )


def _field_changes(comparison: Comparison, one: Changed, names: Iterable[str]) -> tuple[FieldChange, ...]:
    unread = {*one.before.unread, *one.after.unread}
    found = []
    for name in names:
        before, after = getattr(one.before, name), getattr(one.after, name)
        if name in LINK_FIELDS:
            before = tuple(comparison.moved(link) for link in before)
        if name not in unread and before != after:
            found.append(FieldChange(name, _as_text(before), _as_text(after)))
    return tuple(found)


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_as_text, value))
    if isinstance(value, Relation):
        return f"{value.type} {value.to}"
    return value.isoformat() if isinstance(value, date) else str(value)
