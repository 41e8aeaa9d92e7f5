"""Find links between entries, and classify the edges of supersession.

The first row that fits is the class of the edge, and its code the one that is reported. Rows marked * consider all
edges of O that no row above has taken.

| class | when | code |
| --- | --- | --- |
| SELF | N is O | self-link |
| DANGLING | there is not a file at one end | dangling-link |
| UNTRACKED | a file in git links one that is only on disk | link-not-tracked |
| UNKNOWN | the file at one end cannot be read | that file's own |
| CYCLE | O also supersedes N, directly or through others | supersession-cycle |
| ACROSS_WINGS | N and O are of two wings, and N is not shared while O is a project's | supersession-across-wings |
| PENDING | N was turned down: it ended for a reason and without a successor, and O does not name it | none |
| TWO_SUCCESSORS * | two that are not drafts claim O, or O names two, without naming all and a reason | two-successors |
| MISMATCH * | one that is no draft claims O, and O names another instead | supersession-mismatch |
| PENDING | N is a draft and O does not name it | none |
| BY_DRAFT | N is a draft, O names it, and O has no reason or other successor for its end | superseded-by-draft |
| MISSING_FORWARD | O names N, N does not claim O | supersession-one-sided |
| MISSING_BACK | N claims O, O does not name N | supersession-one-sided |
| PENDING | N is a draft, O names it and ended for another cause | none |
| BUT_ACTIVE | both name each other, O is not deprecated | superseded-but-active |
| BY_DEAD | nothing took over, and N had ended before O was superseded by it | superseded-by-dead |
| SOUND | both name each other | none |

An end is silent only if that is certain: a link field that could not be read, or has a link without a target, may have
meant the other end. The edge is then UNKNOWN instead of one-sided, and the fault in the field is reported.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.links import body_links, may_have_links
from mdmem.markdown.parse import without_code
from mdmem.model.entry import Entry, Status, day_of, having
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.model import SUPERSEDES, Catalog

if TYPE_CHECKING:
    from mdmem.markdown.links import BodyLink


class Reference(Struct, frozen=True):
    """One cross-reference in the body of the entry at `address`.

    `target` is the entry that it means, None for no entry; `path` is its file from the root, for a Markdown link.
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
    """Resolve a link in the body of the entry at an address."""
    if not link.is_path:
        return Reference(address, link, full_address(link.target, address, addresses))
    # A leading slash means the repository's top, and stays.
    path = posixpath.normpath(posixpath.join(posixpath.dirname(address), link.target))
    target = path.removesuffix(".md") if path.endswith(".md") else ""
    return Reference(address, link, target if target in addresses else None, path)


class Neighbour(Struct, frozen=True):
    """An entry at the other end of a link, its relationship, and whether it has the link itself."""

    entry: Entry
    relationship: str
    is_incoming: bool

    @property
    def direction(self) -> str:
        """Return the word for the direction."""
        return "incoming" if self.is_incoming else "outgoing"


# Contradictions and decisions come before links that are only worth reading.
_ORDER = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "relation", "see")


def neighbours(catalog: Catalog, address: str, *, body: str = "") -> tuple[Neighbour, ...]:
    """Return the entries linked with one: contradictions first, then by relationship, direction and address.

    A superseded neighbour is replaced by its heads, except for the link that says so. Of links in bodies only those in
    `body` count, since no other body is read for this.
    """
    outgoing = list(catalog.derived.outgoing.get(address, ()))
    # Blanking out the code takes longest.
    if may_have_links(body):
        references = references_in({address: without_code(body)}, catalog.entries)
        outgoing += ((found.target, "see") for found in references if found.target is not None)
    ends = [(False, link) for link in outgoing]
    ends += [(True, link) for link in catalog.derived.incoming.get(address, ())]
    found: dict[tuple[str, str, bool], Neighbour] = {}
    for is_incoming, (other, relationship) in ends:
        for entry in _current(catalog, other, relationship):
            if entry.address != address:
                key = (entry.address, relationship, is_incoming)
                found.setdefault(key, Neighbour(entry, relationship, is_incoming))

    def rank(one: Neighbour) -> tuple[int, str, bool, str]:
        name = one.relationship
        number = _ORDER.index(name if name in _ORDER else "relation")
        return (number, name, one.is_incoming, one.entry.address)

    return tuple(sorted(found.values(), key=rank))


def _current(catalog: Catalog, address: str, relationship: str) -> Iterator[Entry]:
    entry, lineage = catalog.entries.get(address), catalog.lineage
    if entry is None:
        return
    if relationship == SUPERSEDES or entry.status is Status.DRAFT or lineage.is_current(address):
        yield entry
    else:
        yield from (catalog.entries[head] for head in lineage.heads(address))


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
        """Return whether both ends agree."""
        return self in (EdgeKind.SOUND, EdgeKind.PENDING)


class Edge(Struct, frozen=True):
    """«`new` supersedes `old`», and which ends state it; an end without a file is as written."""

    old: str
    new: str
    by_new: bool
    by_old: bool
    kind: EdgeKind = EdgeKind.UNKNOWN


def classify(
    catalog: Catalog, untracked: frozenset[str] = frozenset(), *, about: Set[str] | None = None
) -> tuple[Edge, ...]:
    """Return every edge that a readable entry states, by superseded and superseding address.

    `untracked` are the addresses whose file is on disk and not in git. `about` narrows to the superseded entries that
    have one of these addresses at an edge.
    """
    return tuple(_Classifier(catalog, untracked).edges(about))


class _Classifier(Struct, frozen=True, dict=True):
    """One pass over the edges of a catalog."""

    catalog: Catalog
    untracked: frozenset[str]

    @cached_property
    def _cycle_of(self) -> Mapping[str, int]:
        cycles = self.catalog.lineage.cycles
        return {member: number for number, cycle in enumerate(cycles) for member in cycle}

    def edges(self, about: Set[str] | None) -> Iterator[Edge]:
        entries = self.catalog.entries
        forward = {(old, one.address) for one in having(entries, "supersedes") for old in one.supersedes}
        back = {(one.address, new) for one in having(entries, "superseded_by") for new in one.superseded_by}
        pairs = forward | back
        if about is not None:
            chosen = {old for old, new in pairs if old in about or new in about}
            pairs = {(old, new) for old, new in pairs if old in chosen}
        edges = [Edge(*ends, by_new=ends in forward, by_old=ends in back) for ends in sorted(pairs)]
        for _, group in groupby(edges, key=lambda edge: edge.old):
            own = tuple(group)
            kinds = {edge: kind for edge in own if (kind := self._kind_of_ends(edge)) is not None}
            rest = [edge for edge in own if edge not in kinds]
            kinds |= self._contradictions(rest)
            yield from (replace(edge, kind=kinds.get(edge) or self._kind_alone(edge, rest)) for edge in own)

    def _kind_of_ends(self, edge: Edge) -> EdgeKind | None:
        """Return the class of an edge that its two ends alone decide, before either is compared with the other."""
        entries, ends = self.catalog.entries, {edge.old, edge.new}
        if len(ends) == 1:
            return EdgeKind.SELF
        if not ends <= self.catalog.addresses:
            return EdgeKind.DANGLING
        named = ({edge.old} if edge.by_new else set()) | ({edge.new} if edge.by_old else set())
        # If neither end is in git yet, both come with the same commit.
        if named & self.untracked and not ends <= self.untracked:
            return EdgeKind.UNTRACKED
        if not ends <= entries.keys():
            return EdgeKind.UNKNOWN
        if self._cycle_of.get(edge.old, -1) == self._cycle_of.get(edge.new):
            return EdgeKind.CYCLE
        new, old = entries[edge.new], entries[edge.old]
        if new.wing != old.wing and not (
            self.catalog.wings[new.wing].is_shared and not self.catalog.wings[old.wing].is_shared
        ):
            return EdgeKind.ACROSS_WINGS
        # It ended for a reason of its own and never took over.
        is_ended = new.status is Status.DEPRECATED and bool(new.why_ended) and not new.superseded_by
        return EdgeKind.PENDING if is_ended and not edge.by_old else None

    def _contradictions(self, rest: Sequence[Edge]) -> dict[Edge, EdgeKind]:
        """Return the classes of those edges of one superseded entry that contradict one another."""
        live = [edge for edge in rest if not self._is_draft(edge)]
        claimants = [edge for edge in live if edge.by_new]
        named = [edge for edge in rest if edge.by_old]
        if len(claimants) > 1 or sum(edge.by_old for edge in live) > 1:
            is_declared = self.catalog.entries[live[0].old].declares_split(edge.new for edge in live)
            return {} if is_declared else dict.fromkeys(live, EdgeKind.TWO_SUCCESSORS)
        if claimants and named and not claimants[0].by_old:
            return dict.fromkeys([*claimants, *named], EdgeKind.MISMATCH)
        return {}

    def _kind_alone(self, edge: Edge, rest: Sequence[Edge]) -> EdgeKind:
        new, old = self.catalog.entries[edge.new], self.catalog.entries[edge.old]
        is_draft, is_ended = self._is_draft(edge), old.status is Status.DEPRECATED
        if is_draft and not edge.by_old:
            return EdgeKind.PENDING
        has_own_cause = is_ended and (bool(old.why_ended) or not all(self._is_draft(one) for one in rest))
        if is_draft and not has_own_cause:
            return EdgeKind.BY_DRAFT
        if not edge.by_old:
            return EdgeKind.MISSING_BACK if self._is_silent(edge.old, "superseded_by") else EdgeKind.UNKNOWN
        if not edge.by_new:
            return EdgeKind.MISSING_FORWARD if self._is_silent(edge.new, "supersedes") else EdgeKind.UNKNOWN
        if is_draft:
            return EdgeKind.PENDING
        if not is_ended:
            return EdgeKind.BUT_ACTIVE
        if new.deprecated_at is None or old.deprecated_at is None or self.catalog.lineage.heads(edge.new):
            return EdgeKind.SOUND
        was_dead = new.status is Status.DEPRECATED and day_of(new.deprecated_at) < day_of(old.deprecated_at)
        return EdgeKind.BY_DEAD if was_dead else EdgeKind.SOUND

    def _is_draft(self, edge: Edge) -> bool:
        return self.catalog.entries[edge.new].status is Status.DRAFT

    def _is_silent(self, address: str, field: str) -> bool:
        """Return whether a link field without an address surely does not mean it.

        An entry of another repository cannot name those of this one.
        """
        entry = self.catalog.entries[address]
        if entry.wing in self.catalog.fetched_wings:
            return False
        return field not in entry.unread and all(link in self.catalog.addresses for link in entry.links(field))
