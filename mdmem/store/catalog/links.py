"""Find links between entries, and classify the supersessions.

A supersession is an edge of a graph: entry N (new) supersedes entry O (old). N states it in `supersedes`, and O in
`superseded_by`. The class of an edge is the first row that matches. Rows marked * compare all edges of the same O that
no earlier row matched. The code is the check that reports the edge.

| class | when | code |
| --- | --- | --- |
| OTHER | N is O; or a file is missing, unreadable, or only on disk while the other is in git | the code for that |
| CYCLE | O also supersedes N, directly or through other entries | supersession-cycle |
| ACROSS_WINGS | N and O are in two wings, unless N is shared and O is a project's | supersession-across-wings |
| PENDING | N was rejected: deprecated for a reason, without a successor, and O does not list N | none |
| TWO_SUCCESSORS * | two N that are no drafts list O, or O lists two, without a declared split | two-successors |
| MISMATCH * | an N that is no draft lists O, but O lists another entry | supersession-mismatch |
| PENDING | N is a draft and O does not list N | none |
| BY_DRAFT | N is a draft, O lists N, and O is not deprecated for another cause | superseded-by-draft |
| MISSING_FORWARD | O lists N, but N does not list O | supersession-one-sided |
| MISSING_BACK | N lists O, but O does not list N | supersession-one-sided |
| PENDING | N is a draft, O lists N and is deprecated for another cause | none |
| BUT_ACTIVE | both list each other, but O is not deprecated | superseded-but-active |
| BY_DEAD | N was deprecated before O and has no current successor | superseded-by-dead |
| SOUND | both list each other | none |

A declared split lists all N in O and gives a reason. Another cause is a reason in O, or a successor that is no draft.

An edge is one-sided only if the other entry certainly does not list its counterpart. If a link field is invalid or has
a link without a target, it may have meant the counterpart. The edge is then OTHER, and only the problem in the field
is reported.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.parse import BodyLink, body_links, may_have_links, without_code
from mdmem.model.entry import Entry, Status, day_of, entries_with
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.model import SUPERSEDES, Catalog


class Reference(Struct, frozen=True):
    """A link in an entry's body. `target` is the linked entry's address or None; `path` is set for a link by path."""

    address: str
    link: BodyLink
    target: str | None
    path: str | None = None


def references_in(prose: Mapping[str, str], addresses: Collection[str]) -> Iterator[Reference]:
    """Yield the links in some bodies; `prose` has each body by address, with its code replaced by spaces."""
    for address, text in prose.items():
        for link in body_links(text):
            yield reference_of(link, address, addresses)


def reference_of(link: BodyLink, address: str, addresses: Collection[str]) -> Reference:
    """Return a link in the body of an entry, with the entry that it leads to."""
    if not link.is_path:
        return Reference(address, link, full_address(link.target, address, addresses))
    # A path with a leading slash starts at the top of the repository, so `join` returns it unchanged.
    path = posixpath.normpath(posixpath.join(posixpath.dirname(address), link.target))
    target = path.removesuffix(".md") if path.endswith(".md") else ""
    return Reference(address, link, target if target in addresses else None, path)


class Neighbour(Struct, frozen=True):
    """An entry that is linked with another one; `direction` is "incoming" if `entry` has the link, else "outgoing"."""

    entry: Entry
    relationship: str
    direction: str


# The order of relationships: those that may change what applies come first.
_ORDER = ("conflicts_with", "overrides", "amends", SUPERSEDES, "produced", "relation", "see")


def neighbours(catalog: Catalog, address: str, *, body: str = "") -> tuple[Neighbour, ...]:
    """Return the entries that are linked with an entry, sorted by relationship, direction and address.

    A superseded neighbour is replaced by its current successors. `body` is the body of the entry; links in the bodies
    of other entries are not found.
    """
    outgoing = list(catalog.derived.outgoing.get(address, ()))
    # Skip a body without links, since removing its code is the slowest step.
    if may_have_links(body):
        references = references_in({address: without_code(body)}, catalog.entries)
        outgoing += ((found.target, "see") for found in references if found.target is not None)
    ends = [("outgoing", link) for link in outgoing]
    ends += [("incoming", link) for link in catalog.derived.incoming.get(address, ())]
    found: dict[tuple[str, str, str], Neighbour] = {}
    for direction, (other, relationship) in ends:
        entry = catalog.entries.get(other)
        if entry is None:
            continue
        stays = relationship == SUPERSEDES or entry.status is Status.DRAFT or catalog.lineage.is_current(other)
        for one in (other,) if stays else catalog.lineage.heads(other):
            if one != address:
                neighbour = Neighbour(catalog.entries[one], relationship, direction)
                found.setdefault((one, relationship, direction), neighbour)

    def rank(one: Neighbour) -> tuple[int, str, bool, str]:
        name = one.relationship
        number = _ORDER.index(name if name in _ORDER else "relation")
        return (number, name, one.direction == "incoming", one.entry.address)

    return tuple(sorted(found.values(), key=rank))


class EdgeKind(StrEnum):
    """The classes of a supersession, which the table in the module's docstring explains."""

    OTHER = "other"
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


class Edge(Struct, frozen=True):
    """The statement that `new` supersedes `old`; `by_new` and `by_old` say which of the two files contains it."""

    old: str
    new: str
    by_new: bool
    by_old: bool
    kind: EdgeKind = EdgeKind.OTHER


def classify(catalog: Catalog, untracked: frozenset[str] = frozenset()) -> tuple[Edge, ...]:
    """Return every supersession that a readable entry states, sorted by the old and then the new address.

    `untracked` are the addresses of files that are on disk but not in git.
    """
    entries = catalog.entries
    forward = {(old, one.address) for one in entries_with(entries, "supersedes") for old in one.supersedes}
    back = {(one.address, new) for one in entries_with(entries, "superseded_by") for new in one.superseded_by}
    edges = [Edge(*ends, by_new=ends in forward, by_old=ends in back) for ends in sorted(forward | back)]
    found: list[Edge] = []
    for _, group in groupby(edges, key=lambda edge: edge.old):
        own = tuple(group)
        kinds = {edge: kind for edge in own if (kind := _kind_by_entries(catalog, edge, untracked)) is not None}
        rest = [edge for edge in own if edge not in kinds]
        # Find the edges of one superseded entry that contradict each other.
        live = [edge for edge in rest if not _is_draft(catalog, edge)]
        by_new, by_old = [edge for edge in live if edge.by_new], [edge for edge in rest if edge.by_old]
        if len(by_new) > 1 or sum(edge.by_old for edge in live) > 1:
            if not entries[live[0].old].declares_split(edge.new for edge in live):
                kinds |= dict.fromkeys(live, EdgeKind.TWO_SUCCESSORS)
        elif by_new and by_old and not by_new[0].by_old:
            kinds |= dict.fromkeys([*by_new, *by_old], EdgeKind.MISMATCH)
        found += (replace(edge, kind=kinds.get(edge) or _kind_by_fields(catalog, edge, rest)) for edge in own)
    return tuple(found)


def _kind_by_entries(catalog: Catalog, edge: Edge, untracked: frozenset[str]) -> EdgeKind | None:
    """Return the class of an edge if its two entries alone decide it (the first rows of the table), or None."""
    entries, ends = catalog.entries, {edge.old, edge.new}
    linked = {*([edge.old] if edge.by_new else []), *([edge.new] if edge.by_old else [])}
    # If neither file is in git yet, both will be in the same commit.
    is_untracked = bool(linked & untracked) and not ends <= untracked
    if len(ends) == 1 or is_untracked or not ends <= entries.keys():
        return EdgeKind.OTHER
    if catalog.lineage.share_a_cycle(edge.old, edge.new):
        return EdgeKind.CYCLE
    new, old = entries[edge.new], entries[edge.old]
    if new.wing != old.wing and not (catalog.wings[new.wing].is_shared and not catalog.wings[old.wing].is_shared):
        return EdgeKind.ACROSS_WINGS
    # The new entry was rejected: deprecated for a reason, without a successor, and never listed by the old entry.
    is_ended = new.status is Status.DEPRECATED and bool(new.why_ended) and not new.superseded_by
    return EdgeKind.PENDING if is_ended and not edge.by_old else None


def _kind_by_fields(catalog: Catalog, edge: Edge, rest: Sequence[Edge]) -> EdgeKind:
    new, old = catalog.entries[edge.new], catalog.entries[edge.old]
    is_draft, is_ended = _is_draft(catalog, edge), old.status is Status.DEPRECATED
    if is_draft and not edge.by_old:
        return EdgeKind.PENDING
    has_own_cause = is_ended and (bool(old.why_ended) or not all(_is_draft(catalog, one) for one in rest))
    if is_draft and not has_own_cause:
        return EdgeKind.BY_DRAFT
    if not edge.by_old:
        return EdgeKind.MISSING_BACK if _surely_lacks(catalog, edge.old, "superseded_by") else EdgeKind.OTHER
    if not edge.by_new:
        return EdgeKind.MISSING_FORWARD if _surely_lacks(catalog, edge.new, "supersedes") else EdgeKind.OTHER
    if is_draft:
        return EdgeKind.PENDING
    if not is_ended:
        return EdgeKind.BUT_ACTIVE
    if new.deprecated_at is None or old.deprecated_at is None or catalog.lineage.heads(edge.new):
        return EdgeKind.SOUND
    was_dead = new.status is Status.DEPRECATED and day_of(new.deprecated_at) < day_of(old.deprecated_at)
    return EdgeKind.BY_DEAD if was_dead else EdgeKind.SOUND


def _is_draft(catalog: Catalog, edge: Edge) -> bool:
    return catalog.entries[edge.new].status is Status.DRAFT


def _surely_lacks(catalog: Catalog, address: str, field: str) -> bool:
    """Return whether the link field of an entry certainly does not list the other entry of an edge."""
    entry = catalog.entries[address]
    # An entry of another repository cannot list entries of this repository.
    is_own = entry.wing not in catalog.fetched_wings
    return is_own and field not in entry.unread and all(one in catalog.addresses for one in entry.links(field))
