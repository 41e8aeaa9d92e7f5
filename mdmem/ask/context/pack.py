"""Define the request for a context pack, and the pack: its items in facets, and the facts about the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.arguments import choose, line, optional_line, whole_number, yes_or_no
from mdmem.ask.answer import AnswerBasis, Item
from mdmem.ask.context.facets import Facet, Intent, Layer
from mdmem.errors import UsageError
from mdmem.model.entry import IN_FORCE
from mdmem.model.lineage import Stance, standing_json
from mdmem.store.index.analysis import ask
from mdmem.store.workspace.scope import Scope

LIMIT, MOST, RELATED, MOST_RELATED = 24, 50, 3, 20
# A long text begins with its subject, and each further word makes the search slower.
_WORDS = 48
PRIVATE = "private:"


class ContextRequest(Struct, frozen=True, kw_only=True):
    """The arguments of one call; numbers out of bounds count as the nearest bound."""

    goal: str
    intent: Intent = Intent.BUILD
    layer: Layer = Layer.RECALL
    domain: str | None = None
    project: str | None = None
    agent_id: str | None = None
    limit: int = LIMIT
    include_related: bool = True
    related_limit: int = RELATED

    @property
    def size(self) -> int:
        """Return the most items to include besides the unconditional invariants."""
        return min(max(self.limit, 1), MOST)

    @property
    def related_size(self) -> int:
        """Return the most related entries of one item."""
        return min(max(self.related_limit, 0), MOST_RELATED) if self.include_related else 0

    @property
    def query(self) -> str:
        """Return the words of goal and domain to search for."""
        return query_of(self.goal, self.domain)


def query_of(*texts: str | None) -> str:
    """Return the first words of some texts that are no stop words, each once."""
    seen: dict[tuple[str, ...], str] = {}
    for word in " ".join(text for text in texts if text).split():
        if terms := ask(word).terms:
            seen.setdefault(terms, word)
    return " ".join(list(seen.values())[:_WORDS])


def read_request(given: Mapping[str, object]) -> ContextRequest:
    """Return the request of some plain values, where None is the default.

    Raises UsageError with the value that does not fit, and the nearest that does.
    """
    known = ContextRequest.__struct_fields__
    stated = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in stated if name not in known]
    if unknown:
        raise UsageError(f"`context` has no argument `{unknown[0]}`; it has {', '.join(known)}")
    return ContextRequest(
        goal=line("goal", stated.get("goal")),
        intent=choose("intent", stated.get("intent", Intent.BUILD), Intent),
        layer=choose("layer", stated.get("layer", Layer.RECALL), Layer),
        domain=optional_line("domain", stated.get("domain")),
        project=optional_line("project", stated.get("project")),
        agent_id=optional_line("agent_id", stated.get("agent_id")),
        limit=whole_number("limit", stated.get("limit", LIMIT)),
        include_related=yes_or_no("include_related", stated.get("include_related", True)),
        related_limit=whole_number("related_limit", stated.get("related_limit", RELATED)),
    )


def id_of(address: str, *, is_private: bool) -> str:
    """Return the id of an entry: its address, with a prefix in the caller's own memory; no address has a colon."""
    return f"{PRIVATE}{address.split('/', 1)[1]}" if is_private else address


class Related(Struct, frozen=True, kw_only=True):
    """An entry that an item links to, or that links to it."""

    id: str
    type: str
    name: str
    relationship: str
    direction: str
    distance: int = 1
    status: str


class ContextItem(Struct, frozen=True, kw_only=True):
    """One entry of a pack; `bearings` are its amendments and one-sided supersessions in both directions, in words."""

    item: Item
    id: str
    content: str
    facet: Facet
    reason: str
    quality: Mapping[str, str | None]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    bearings: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """Return the type of the entry."""
        return self.item.entry.type.value

    @property
    def name(self) -> str:
        """Return the title of the entry."""
        return self.item.entry.title

    @property
    def stance(self) -> Stance | None:
        """Return how the entry relates to the default branch, None where that is not known."""
        return self.item.stance

    def as_json(self) -> dict[str, Any]:
        """Return the item as JSON values."""
        return {
            "id": self.id,
            "type": self.type,
            "name": self.name,
            "content": self.content,
            "score": round(self.item.score, 4),
            "facet": self.facet,
            "reason": self.reason,
            "source": self.item.entry.path,
            "quality": dict(self.quality),
            "metadata": dict(self.metadata),
            "related": [asdict(one) for one in self.related],
            **({"bearings": list(self.bearings)} if self.bearings else {}),
            **standing_json(self.stance, in_force=self.metadata.get("status") in IN_FORCE),
        }


def named_in(bearings: Iterable[str]) -> frozenset[str]:
    """Return the addresses in some bearings, which need not be listed again as related."""
    return frozenset(line.partition(": ")[0].rpartition(" ")[2] for line in bearings)


class PackSection(Struct, frozen=True):
    """The items of one facet, in the order of authority."""

    facet: Facet
    title: str
    items: tuple[ContextItem, ...]


class ContextPack(Struct, frozen=True, kw_only=True):
    """The entries for a goal, in the order of the facets; `proposed` are drafts, which do not bind.

    `nearest` is a project with a similar name, where the requested one does not exist. The basis lists the omitted
    entries that match best, and counts all. `remarks` are for the caller, and no part of the memory.
    """

    request: ContextRequest
    sections: tuple[PackSection, ...] = ()
    scope: Scope
    proposed: tuple[ContextItem, ...] = ()
    remarks: tuple[str, ...] = ()
    nearest: str | None = None
    basis: AnswerBasis

    @property
    def items(self) -> tuple[ContextItem, ...]:
        """Return the items of all sections."""
        return tuple(item for section in self.sections for item in section.items)
