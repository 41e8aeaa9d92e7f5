"""Find links between entries, and classify each by its effect.

The table, read from the top: the first row that fits is the class of the edge, and its code the one that speaks.
Rows marked * look at all edges of O together, of which the rows above took theirs away.

| class | when | code |
| --- | --- | --- |
| SELF | N is O | self-link |
| DANGLING | no file stands at one end | dangling-link |
| UNTRACKED | a file in git names one that is only on disk | link-not-tracked |
| UNKNOWN | the file at one end cannot be read | that file's own |
| CYCLE | O also supersedes N, directly or through others | supersession-cycle |
| ACROSS_WINGS | N and O are of two wings, and N is not shared while O is a project's | supersession-across-wings |
| PENDING | N was turned down: it ended for a reason and without a successor, and O does not name it | none |
| TWO_SUCCESSORS * | two that are no drafts claim O, or O names two, without naming all and a reason | two-successors |
| MISMATCH * | one that is no draft claims O, and O names another instead | supersession-mismatch |
| PENDING | N is a draft and O does not name it | none |
| BY_DRAFT | N is a draft, O names it, and O has no reason or other successor for its end | superseded-by-draft |
| MISSING_FORWARD | O names N, N does not claim O | supersession-one-sided |
| MISSING_BACK | N claims O, O does not name N | supersession-one-sided |
| PENDING | N is a draft, O names it and ended for another cause | none |
| BUT_ACTIVE | both name each other, O is not deprecated | superseded-but-active |
| BY_DEAD | nothing took over, and N had ended before O was superseded by it | superseded-by-dead |
| SOUND | both name each other | none |

An end is silent only where it is certain to be: a link field that could not be read, or that holds a link which leads
nowhere, may have meant the other end. The edge is then UNKNOWN instead of one-sided, and the fault in the field speaks.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from mdmem.markdown.links import body_links, may_have_links
from mdmem.markdown.parse import without_code
from mdmem.model.entry import Entry, Status, day_of, having
from mdmem.store.catalog import Catalog, full_address
from mdmem.store.catalog.derived import SUPERSEDES, FieldLink

if TYPE_CHECKING:
    from mdmem.markdown.links import BodyLink


class Reference(Struct, frozen=True):
    """One cross-reference in the body of the entry at `address`.

    `target` is the address it means, None where it means no entry; `path` is its file counted from the root, for a
    Markdown link.
    """

    address: str
    link: BodyLink
    target: str | None
    path: str | None = None


def references_in(prose: Mapping[str, str], addresses: Collection[str]) -> Iterator[Reference]:
    """Yield the references of every body, by address and offset."""
    for address, text in prose.items():
        for link in body_links(text):
            yield reference_of(link, address, addresses)


def reference_of(link: BodyLink, address: str, addresses: Collection[str]) -> Reference:
    """Return what a reference in the body of the entry at an address means."""
    if not link.is_path:
        return Reference(address, link, full_address(link.target, address, addresses))
    # A leading slash means the repository's top, and stays.
    path = posixpath.normpath(posixpath.join(posixpath.dirname(address), link.target))
    target = path.removesuffix(".md") if path.endswith(".md") else ""
    return Reference(address, link, target if target in addresses else None, path)


class Direction(StrEnum):
    """Whether the entry itself names the link, or the one at the other end."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"


class Neighbour(Struct, frozen=True):
    """An entry at the other end of a link, and what the link says."""

    entry: Entry
    relationship: str
    direction: Direction


# What contradicts or decides comes before what is only worth reading.
_ORDER = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "relation", "see")


class Neighbourhood(Struct, frozen=True):
    """The links of all entries of a catalog, those of its bodies outgoing only: no other body is read for them."""

    catalog: Catalog

    def of(self, address: str, *, body: str = "") -> tuple[Neighbour, ...]:
        """Return the neighbours of an entry: contradictions first, then by relationship, direction and address.

        What was superseded is answered for by its heads, but for the link that says so.
        """
        found: dict[tuple[str, str, Direction], Neighbour] = {}
        outgoing = [*self.catalog.adjacency.outgoing.get(address, ()), *self._in_body(address, body)]
        ends = [(Direction.OUTGOING, edge) for edge in outgoing]
        ends += [(Direction.INCOMING, edge) for edge in self.catalog.adjacency.incoming.get(address, ())]
        for direction, (other, relationship) in ends:
            for entry in self._answering(other, relationship):
                if entry.address != address:
                    key = (entry.address, relationship, direction)
                    found.setdefault(key, Neighbour(entry, relationship, direction))
        return tuple(sorted(found.values(), key=_rank))

    def citing(self, address: str) -> list[str]:
        """Return what links an entry by `see` in a field, or stands in the place of what does, sorted."""
        sources = self.catalog.adjacency.citing.get(address, ())
        return sorted({one.address for source in sources for one in self._answering(source, "see")} - {address})

    def _in_body(self, address: str, body: str) -> Iterator[FieldLink]:
        # To blank out the code takes longest, and brings no link about.
        if may_have_links(body):
            for reference in references_in({address: without_code(body)}, self.catalog.entries):
                if reference.target is not None:
                    yield reference.target, "see"

    def _answering(self, address: str, relationship: str) -> Iterator[Entry]:
        entries, lineage = self.catalog.entries, self.catalog.lineage
        entry = entries.get(address)
        if entry is None:
            return
        if relationship == SUPERSEDES or entry.status is Status.DRAFT or lineage.is_current(address):
            yield entry
            return
        yield from (entries[head] for head in lineage.heads(address))


def _rank(neighbour: Neighbour) -> tuple[int, str, str, str]:
    name = neighbour.relationship
    rank = _ORDER.index(name if name in _ORDER else "relation")
    # `outgoing` sorts behind `incoming`, and comes first.
    return (rank, name, "" if neighbour.direction is Direction.OUTGOING else "incoming", neighbour.entry.address)


class EdgeKind(StrEnum):
    """The classes of an edge, in the order of the table."""

    SELF = "self"
    DANGLING = "dangling"
    UNTRACKED = "untracked"
    UNKNOWN = "unknown"
    CYCLE = "cycle"
    ACROSS_WINGS = "across wings"
    TWO_SUCCESSORS = "two successors"
    MISMATCH = "mismatch"
    PENDING = "pending"
    BY_DRAFT = "by draft"
    MISSING_FORWARD = "missing forward"
    MISSING_BACK = "missing back"
    BUT_ACTIVE = "but active"
    BY_DEAD = "by dead"
    SOUND = "sound"

    @property
    def is_consistent(self) -> bool:
        """Say whether both ends agree, so that only what the edge means is left to judge."""
        return self in (EdgeKind.SOUND, EdgeKind.PENDING)


class Edge(Struct, frozen=True):
    """«`new` supersedes `old`», and which ends name it; an end that leads nowhere is as written."""

    old: str
    new: str
    by_new: bool
    by_old: bool
    kind: EdgeKind


def classify(
    catalog: Catalog,
    untracked: frozenset[str] = frozenset(),
    *,
    about: Set[str] | None = None,
) -> tuple[Edge, ...]:
    """Return every edge that a readable entry names, by superseded and superseding address.

    `untracked` are the addresses whose file is on disk and not in git. With `about` only the edges of those superseded
    entries that have one of these at an edge.
    """
    return tuple(_Classifying(catalog, untracked, about).edges())


class _Claim(Struct, frozen=True):
    """An edge before it is classified."""

    old: str
    new: str
    by_new: bool
    by_old: bool


class _Classifying(Struct, frozen=True, dict=True):
    """One pass over the edges of a catalog."""

    catalog: Catalog
    untracked: frozenset[str]
    about: Set[str] | None = None

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        return self.catalog.entries

    @cached_property
    def cycle_of(self) -> Mapping[str, int]:
        cycles = self.catalog.lineage.cycles
        return {member: number for number, cycle in enumerate(cycles) for member in cycle}

    def edges(self) -> Iterator[Edge]:
        for _, group in groupby(self._claims(), key=lambda claim: claim.old):
            claims = tuple(group)
            kinds = {claim: kind for claim in claims if (kind := self._apart(claim)) is not None}
            rest = [claim for claim in claims if claim not in kinds]
            kinds |= self._together(rest)
            for claim in claims:
                kind = kinds.get(claim) or self._alone(claim, rest)
                yield Edge(claim.old, claim.new, claim.by_new, claim.by_old, kind)

    def _claims(self) -> list[_Claim]:
        asked = self.entries
        forward = {(old, one.address) for one in having(asked, "supersedes") for old in one.supersedes}
        back = {(one.address, new) for one in having(asked, "superseded_by") for new in one.superseded_by}
        pairs = forward | back
        if self.about is not None:
            asked_for = {old for old, new in pairs if old in self.about or new in self.about}
            pairs = {(old, new) for old, new in pairs if old in asked_for}
        return [_Claim(*ends, by_new=ends in forward, by_old=ends in back) for ends in sorted(pairs)]

    def _apart(self, claim: _Claim) -> EdgeKind | None:
        """Return the class of an edge that its two ends alone decide, before either is compared with the other."""
        ends = {claim.old, claim.new}
        if len(ends) == 1:
            return EdgeKind.SELF
        if not ends <= self.catalog.addresses:
            return EdgeKind.DANGLING
        if self._is_only_on_disk(claim):
            return EdgeKind.UNTRACKED
        if not ends <= self.entries.keys():
            return EdgeKind.UNKNOWN
        if self.cycle_of.get(claim.old, -1) == self.cycle_of.get(claim.new):
            return EdgeKind.CYCLE
        if self._is_across_wings(claim):
            return EdgeKind.ACROSS_WINGS
        return EdgeKind.PENDING if self._was_turned_down(claim) else None

    def _is_only_on_disk(self, claim: _Claim) -> bool:
        named = {claim.old} if claim.by_new else set()
        named |= {claim.new} if claim.by_old else set()
        # Where neither end is in git yet, both come with the same commit.
        return bool(named & self.untracked) and not {claim.old, claim.new} <= self.untracked

    def _is_across_wings(self, claim: _Claim) -> bool:
        new, old = (self.catalog.wings[self.entries[address].wing] for address in (claim.new, claim.old))
        return new.name != old.name and not (new.is_shared and not old.is_shared)

    def _together(self, rest: Sequence[_Claim]) -> dict[_Claim, EdgeKind]:
        """Return the classes of those edges of one superseded entry that contradict one another."""
        live = [claim for claim in rest if not self._is_draft(claim)]
        claimants = [claim for claim in live if claim.by_new]
        named = [claim for claim in rest if claim.by_old]
        if len(claimants) > 1 or sum(claim.by_old for claim in live) > 1:
            is_declared = self.entries[live[0].old].declares_split(claim.new for claim in live)
            return {} if is_declared else dict.fromkeys(live, EdgeKind.TWO_SUCCESSORS)
        if claimants and named and not claimants[0].by_old:
            return dict.fromkeys([*claimants, *named], EdgeKind.MISMATCH)
        return {}

    def _alone(self, claim: _Claim, rest: Sequence[_Claim]) -> EdgeKind:
        old = self.entries[claim.old]
        if self._is_draft(claim):
            if not claim.by_old:
                return EdgeKind.PENDING
            if not self._has_own_cause(old, rest):
                return EdgeKind.BY_DRAFT
        if not (claim.by_new and claim.by_old):
            return self._one_sided(claim)
        if self._is_draft(claim):
            return EdgeKind.PENDING
        if old.status is not Status.DEPRECATED:
            return EdgeKind.BUT_ACTIVE
        return EdgeKind.BY_DEAD if self._was_dead(claim) else EdgeKind.SOUND

    def _one_sided(self, claim: _Claim) -> EdgeKind:
        if claim.by_new:
            return EdgeKind.MISSING_BACK if self._is_silent(claim.old, "superseded_by") else EdgeKind.UNKNOWN
        return EdgeKind.MISSING_FORWARD if self._is_silent(claim.new, "supersedes") else EdgeKind.UNKNOWN

    def _is_silent(self, address: str, field: str) -> bool:
        """Say whether a link field that does not hold an address surely does not mean it.

        An entry that lives in another repository cannot name those of this one.
        """
        entry = self.entries[address]
        if entry.wing in self.catalog.fetched_wings:
            return False
        return field not in entry.unread and all(link in self.catalog.addresses for link in entry.links(field))

    def _is_draft(self, claim: _Claim) -> bool:
        return self.entries[claim.new].status is Status.DRAFT

    def _was_turned_down(self, claim: _Claim) -> bool:
        """Say whether an entry that nothing names as its successor ended as itself: it never took over."""
        new = self.entries[claim.new]
        return not claim.by_old and new.status is Status.DEPRECATED and bool(new.why_ended) and not new.superseded_by

    def _has_own_cause(self, old: Entry, rest: Sequence[_Claim]) -> bool:
        if old.status is not Status.DEPRECATED:
            return False
        return bool(old.why_ended) or not all(self._is_draft(claim) for claim in rest)

    def _was_dead(self, claim: _Claim) -> bool:
        new, old = self.entries[claim.new], self.entries[claim.old]
        if new.deprecated_at is None or old.deprecated_at is None or self.catalog.lineage.heads(claim.new):
            return False
        return new.status is Status.DEPRECATED and day_of(new.deprecated_at) < day_of(old.deprecated_at)
