"""Compare two trees of a memory: find each kind of change in meaning between them, as the parts of a review."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from difflib import SequenceMatcher

from mdmem.ask.answer import Contradiction
from mdmem.ask.excerpt import rule_of
from mdmem.ask.relate import contradictions_among
from mdmem.change.review_model import (
    AMENDS,
    CLAIMS,
    ContradictionChange,
    Counts,
    Covered,
    Dependent,
    EntryRef,
    FieldChange,
    FieldEdit,
    Move,
    Proposed,
    RelationChange,
    Replacement,
    ReviewReport,
    Rewording,
    SideName,
    Span,
    Transition,
    Unread,
)
from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_checks
from mdmem.markdown.parse import rationale_span, without_code
from mdmem.model.entry import Entry, Relation, Status
from mdmem.model.fields import BINDING_FIELDS, LINK_FIELDS
from mdmem.model.globs import all_matches
from mdmem.record import grouped
from mdmem.store.catalog.changes import Changed
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
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
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

    def ref(self, address: str) -> EntryRef:
        """Return a reference to the entry at an address in this tree, with the owners from this tree."""
        entry = self.catalog.entries[address]
        wing = self.catalog.wings.get(entry.wing)
        owners = (entry.owner,) if entry.owner else wing.owners if wing is not None else ()
        return EntryRef(address, entry.type, entry.status, entry.title, owners)

    def may_have(self, address: str) -> bool:
        """Return whether an unreadable file or folder may contain the entry at an address."""
        if f"{address}.md" in self.catalog.broken:
            return True
        return address not in self.catalog.entries and any(
            address.startswith(f"{finding.place.path}/") or finding.place.path == "." for finding in self.catalog.closed
        )


def compare_trees(
    before: TreeSide, after: TreeSide, *, today: date, files: Callable[[], Collection[str]] = tuple
) -> ReviewReport:
    """Return the differences in meaning between two trees. `files` returns the tracked paths of the repository."""
    compared = _Comparison(before, after, today)
    changes, (rewordings, edits) = compared.changes, compared.find_edits()
    return ReviewReport(
        before=before.name,
        after=after.name,
        unread=(*_find_unread("before", before, after), *_find_unread("after", after, before)),
        counts=Counts(
            added=len(changes.added),
            gone=len(changes.gone),
            altered=len(changes.changed),
            moved=len(compared.moves),
            no_ops=len(compared.no_ops),
            in_force_before=len(before.current),
            in_force_after=len(after.current),
        ),
        transitions=compared.find_transitions(),
        bearings=compared.find_relation_changes(),
        proposed=compared.find_proposed(),
        beliefs=compared.find_replacements(),
        rewordings=rewordings,
        edits=edits,
        dependents=compared.find_dependents(),
        covered=compared.find_covered(rewordings, files),
        moves=tuple(Move(old, new) for old, new in sorted(compared.moves.items())),
        no_ops=compared.no_ops,
        contradictions=compared.find_contradictions(),
    )


def _find_unread(which: SideName, side: TreeSide, other: TreeSide) -> Iterator[Unread]:
    manifests = [finding for finding in side.catalog.findings if finding.code == "manifest-invalid"]
    broken = [one.findings[0] for one in side.catalog.broken.values() if one.findings]
    found = {finding.place.path: finding for finding in (*manifests, *broken, *side.catalog.closed)}
    for path, finding in sorted(found.items()):
        address = path.removesuffix(".md")
        ref = other.ref(address) if address in other.catalog.entries else None
        yield Unread(which, path, finding.code, finding.message, ref)


class _Comparison:
    """Two trees of a memory. Only the files that differ are read.

    `moves` has the new address of each moved entry by the old one. `no_ops` are files that differ although the meaning
    is the same. `ended` are the entries that are current only before the change, and `begun` those only after it.
    `faults` are the findings about the change by address.
    """

    def __init__(self, before: TreeSide, after: TreeSide, today: date) -> None:
        self.before, self.after = before, after
        self.case = Case(after.catalog, after.settings, today, base=before)
        self.changes = self.case.changes
        pairs = [(one.before.address, one.after.address) for one in self.changes.changed]
        self.moves = {old: new for old, new in pairs if old != new}
        there = before.catalog.digests.keys() & after.catalog.entries.keys() & self.case.changed_documents.keys()
        self.no_ops = tuple(sorted(there - {new for _, new in pairs}))
        lost = sorted(old for old in before.current if self.moved(old) not in after.current)
        self.ended = [old for old in lost if not after.may_have(self.moved(old))]
        moved_from = {new: old for old, new in self.moves.items()}
        gained = sorted(new for new in after.current if moved_from.get(new, new) not in before.current)
        self.begun = [new for new in gained if not before.may_have(moved_from.get(new, new))]
        # Run all checks that compare two trees, whatever checks the settings disable.
        checks = (check for check in get_checks().values() if check.needs_base)
        self.faults = grouped((one.address or "", one) for check in checks for one in check.find(self.case))

    def moved(self, address: str) -> str:
        """Return the address in the second tree of an entry of the first tree, which differs if the entry moved."""
        return self.moves.get(address, address)

    def successors(self, old: str) -> tuple[str, ...]:
        """Return the current entries that replace an entry of the first tree, even if its file was deleted."""
        catalog = self.after.catalog
        if self.moved(old) in catalog.entries:
            return catalog.lineage.heads(self.moved(old))
        naming = (one for one in catalog.entries.values() if old in one.supersedes and one.status is not Status.DRAFT)
        return tuple(sorted({head for entry in naming for head in catalog.lineage.heads(entry.address)}))

    def find_replacements(self) -> tuple[Replacement, ...]:
        """Return the entries that are no longer current, with their successors, then the new entries that replace none.

        Both are sorted by authority. The reason is the one that the entry and its successors state, else the rationale
        of a successor.
        """
        found, replacing, entries = list[Replacement](), set[str](), self.after.catalog.entries
        for old in self.ended:
            heads = self.successors(old)
            replacing.update(heads)
            direct = self.after.catalog.lineage.successors.get(self.moved(old), heads)
            reasons = [reason for one in direct if (reason := entries[one].reason)]
            entry = entries.get(self.moved(old))
            # The `reason` of an entry with a successor may explain why the entry replaced its own predecessor.
            if entry is not None and (why := entry.deprecated_reason or ("" if reasons else entry.why_ended)):
                reasons.append(why)
            reason = _shortened("; ".join(dict.fromkeys(reasons)))
            reason = reason or next((why for head in heads if (why := self._reason(head))), None)
            was_there, after = frozenset(heads).difference(self.begun), tuple(map(self.after.ref, heads))
            found.append(Replacement(self.before.ref(old), after, reason, was_there, self._opening(heads)))
        for new in self.begun:
            if new not in replacing:
                found.append(Replacement(None, (self.after.ref(new),), self._reason(new), opening=self._opening([new])))
        return tuple(sorted(found, key=lambda one: (one.before is None, (one.before or one.after[0]).rank)))

    def _opening(self, addresses: Sequence[str]) -> str:
        """Return the first sentences of the only entry's decision, if the change wrote its file, or an empty text."""
        document = self.case.changed_documents.get(addresses[0]) if len(addresses) == 1 else None
        return _shortened(rule_of(document.body)) if document is not None else ""

    def _reason(self, address: str) -> str | None:
        """Return the stated reason of an entry. If there is none and the file changed, return the rationale in it."""
        if reason := self.after.catalog.entries[address].reason:
            return _shortened(reason)
        document = self.case.changed_documents.get(address)
        start, end = rationale_span(without_code(document.body)) if document is not None else (0, 0)
        # If nothing marks the rationale, the span is the whole body.
        if document is None or not start:
            return None
        text = document.body[start:end]
        intro, *items = _ITEM.split(text)
        # If the rationale is a list, its first item is the reason.
        return _shortened(text if intro.strip() or not items else items[0]) or None

    def find_proposed(self) -> tuple[Proposed, ...]:
        """Return the entries that drafts propose to supersede, amend or override since the change, by authority."""

        def proposals(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
            drafts = (one for one in catalog.entries.values() if one.status is Status.DRAFT)
            return ((one.address, name, old) for one in drafts for name in _PROPOSING_FIELDS for old in one.links(name))

        moved, after, found = self.moved, self.after, list[Proposed]()
        before = {(moved(new), says, moved(old)) for new, says, old in proposals(self.before.catalog)}
        for address, says, old in proposals(after.catalog):
            if (address, says, old) not in before and old in after.catalog.entries:
                reason, opening = self._reason(address), self._opening([address])
                found.append(Proposed(after.ref(address), says, after.ref(old), reason, opening))
        return tuple(sorted(found, key=lambda one: (one.entry.rank, _PROPOSING_FIELDS.index(one.says), one.on.rank)))

    def find_transitions(self) -> tuple[Transition, ...]:
        """Return the changes of status: the illegal ones, then those with findings, then the rest by authority."""
        steps: list[tuple[EntryRef, Status | None, Status | None]] = [
            *((self.after.ref(entry.address), None, entry.status) for entry in self.changes.added),
            *((self.before.ref(entry.address), entry.status, None) for entry in self.changes.gone),
            *(
                (self.after.ref(one.after.address), one.before.status, one.after.status)
                for one in self.changes.changed
                if one.before.status is not one.after.status
            ),
        ]
        found = []
        for ref, before, after in steps:
            own = [finding for finding in self.faults.get(ref.address, ()) if finding.code in _STATUS_CODES]
            own.sort(key=lambda one: (_STATUS_CODES.index(one.code), one.message))
            is_illegal = any(finding.code in _ILLEGAL for finding in own)
            found.append(Transition(ref, before, after, is_illegal, tuple(one.message for one in own)))
        return tuple(sorted(found, key=lambda one: (not one.is_illegal, not one.faults, one.entry.rank)))

    def find_relation_changes(self) -> tuple[RelationChange, ...]:
        """Return the new one-sided supersessions and amendments, then the removed ones between two current entries."""

        def relations(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
            for address in catalog.entries:
                yield from ((address, CLAIMS, old) for old in catalog.lineage.claims.get(address, ()))
                amended = filter(catalog.lineage.is_current, catalog.derived.amends(address))
                yield from ((address, AMENDS, old) for old in amended)

        moved, ref, after = self.moved, self.after.ref, set(relations(self.after.catalog))
        before = {(moved(new), says, moved(old)) for new, says, old in relations(self.before.catalog)}
        changes = [
            RelationChange(ref(new), says, ref(old), is_new=(new, says, old) in after)
            for new, says, old in before ^ after
            if (new, says, old) in after or {new, old} <= self.after.current
        ]
        return tuple(sorted(changes, key=lambda one: (not one.is_new, one.entry.rank, one.says, one.on.rank)))

    def find_covered(self, reworded: Sequence[Rewording], files: Callable[[], Collection[str]]) -> tuple[Covered, ...]:
        """Return the new, changed or no longer current entries with the tracked files they apply to, by authority."""
        before, after = self.before, self.after
        changed = {*self.begun, *(one.entry.address for one in reworded if one.entry.address in after.current)}
        concerned = [(before, address) for address in self.ended] + [(after, address) for address in changed]
        applied = [(side.ref(address), side.catalog.entries[address].applies_to) for side, address in concerned]
        with_globs = sorted(((ref, globs) for ref, globs in applied if globs), key=lambda pair: pair[0].rank)
        tracked, found = sorted(files()) if with_globs else [], []
        for ref, globs in with_globs:
            paths = list(all_matches(globs, tracked))
            found.append(Covered(ref, globs, len(paths), tuple(paths[:_FILES_NAMED])))
        return tuple(found)

    def find_contradictions(self) -> tuple[ContradictionChange, ...]:
        """Return the new contradictions, then the removed ones, sorted by authority."""

        def contradictions(side: TreeSide) -> Iterator[Contradiction]:
            return contradictions_among(side.catalog, side.catalog.entries.keys() & side.current)

        old = {frozenset(map(self.moved, (one.a, one.b))): (self.before, one) for one in contradictions(self.before)}
        new = {frozenset((one.a, one.b)): (self.after, one) for one in contradictions(self.after)}
        found = []
        for ends in old.keys() ^ new.keys():
            side, one = new[ends] if ends in new else old[ends]
            first, second = sorted((side.ref(one.a), side.ref(one.b)), key=lambda ref: ref.rank)
            found.append(ContradictionChange(first, second, one.why, ends in new))
        return tuple(sorted(found, key=lambda one: (not one.is_new, one.first.rank, one.second.rank)))

    def find_dependents(self) -> tuple[Dependent, ...]:
        """Return the entries and drafts that link to an entry that is no longer current, sorted by that entry."""
        lost = {self.moved(old): self.successors(old) for old in self.ended}
        if not lost:
            return ()
        links: list[tuple[str, str, str]] = []
        entries, current = self.after.catalog.entries, self.after.current
        live = {one.address: one for one in entries.values() if one.address in current or one.status is Status.DRAFT}
        for address, entry in live.items():
            links += [(address, target, name) for name in _REFERRING_FIELDS for target in entry.links(name)]
            links += [(address, relation.to, relation.type) for relation in entry.relations]
            links += [(address, target, "supersedes") for target in entry.supersedes if entry.status is Status.DRAFT]
        # Each way to write a link contains the entry-id, so a text without any entry-id has no such link.
        entry_id = re.compile("|".join(sorted(re.escape(address.rsplit("/", 1)[-1]) for address in lost)))
        known = {*self.after.catalog.addresses, *lost}
        for address, body, _ in self.after.catalog.bodies(list(live)):
            found = references_in({address: without_code(body)}, known) if entry_id.search(body) else ()
            links += [(address, one.target, "text") for one in found if one.target is not None]
        ways: dict[tuple[str, str], list[str]] = {}
        for source, target, how in links:
            if target in lost and source not in lost:
                is_successor = target in live[source].supersedes and source in lost[target]
                if not is_successor:
                    ways.setdefault((target, source), []).append(how)
        dependents = (
            Dependent(self.after.ref(source), target, lost[target], tuple(dict.fromkeys(how)))
            for (target, source), how in ways.items()
        )
        return tuple(sorted(dependents, key=lambda one: (one.on, one.entry.rank)))

    def find_edits(self) -> tuple[tuple[Rewording, ...], tuple[FieldEdit, ...]]:
        """Return the entries with a new text, title or binding field, then those with changes in other fields.

        A binding field changes what the rule requires. Both lists are sorted by authority; in the first one, invariants
        and decisions that stay current come first. Other parts of the review show the remaining fields.
        """
        rewordings, edits = [], []
        for one in self.changes.changed:
            before, after = one.before, one.after
            ref, binding = self.after.ref(after.address), self._field_changes(one, _BINDING)
            elsewhere = _SHOWN_ELSEWHERE
            if not (one.keeps_text and one.keeps_title) or binding:
                elsewhere |= _OF_A_TEXT
                title = () if one.keeps_title else word_changes(before.title, after.title)
                body = () if one.keeps_text else word_changes(one.body_before, one.body_after)
                stays_current = before.address in self.before.current and after.address in self.after.current
                notices = [] if title or body or binding else ["only line breaks changed"]
                if before.version != after.version:
                    notices.append(f"version {before.version or 1} → {after.version or 1}")
                if one.is_corrected and after.editorial_at is not None:
                    notices.append(f"marked as a correction of {after.editorial_at.isoformat()}")
                faults = (fault.message for fault in self.faults.get(ref.address, ()) if fault.code in _FROZEN_CODES)
                rewording = Rewording(
                    entry=ref,
                    is_frozen=stays_current and before.type.is_rule,
                    title=title,
                    body=body,
                    fields=binding,
                    notice="; ".join(notices),
                    faults=tuple(faults),
                )
                rewordings.append(rewording)
            if before.status is not after.status:
                elsewhere |= _OF_A_TRANSITION
            if fields := self._field_changes(one, [name for name in _NAMES if name not in elsewhere]):
                edits.append(FieldEdit(ref, fields))
        return (
            tuple(sorted(rewordings, key=lambda one: (not one.is_frozen, one.entry.rank))),
            tuple(sorted(edits, key=lambda one: one.entry.rank)),
        )

    def _field_changes(self, one: Changed, names: Iterable[str]) -> tuple[FieldChange, ...]:
        found, unread = list[FieldChange](), {*one.before.unread, *one.after.unread}
        for name in names:
            before, after = getattr(one.before, name), getattr(one.after, name)
            if name in LINK_FIELDS:
                before = tuple(map(self.moved, before))
            if name not in unread and before != after:
                found.append(FieldChange(name, _as_text(before), _as_text(after)))
        return tuple(found)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON].rsplit(' ', 1)[0]} …"


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


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_as_text, value))
    if isinstance(value, Relation):
        return f"{value.type} {value.to}"
    return value.isoformat() if isinstance(value, date) else str(value)
