"""How intent and layer shape a pack: which facets come, in which order, how many of each, and how long."""

from __future__ import annotations

from msgspec import Struct

from mdmem.ask.context.facets import Facet
from mdmem.ask.context.request import Intent, Layer

# Constraints always come first: where an answer is cut, they are on its first page.
_ORDERS: dict[Intent, tuple[Facet, ...]] = {
    Intent.BUILD: (
        *(Facet.DECISIONS, Facet.PROCEDURES, Facet.GOTCHAS, Facet.ACTIVE_WORK, Facet.ARTIFACTS),
        *(Facet.VERIFICATION, Facet.PLANNING, Facet.RECENT_MEMORY, Facet.DOMAIN),
    ),
    Intent.PLAN: (
        *(Facet.ACTIVE_WORK, Facet.PLANNING, Facet.DECISIONS, Facet.GOTCHAS, Facet.ARTIFACTS),
        *(Facet.IDEATION, Facet.RECENT_MEMORY, Facet.PROCEDURES, Facet.DOMAIN),
    ),
    Intent.IDEATE: (
        *(Facet.IDEATION, Facet.DOMAIN, Facet.DECISIONS, Facet.PLANNING, Facet.GOTCHAS),
        *(Facet.ARTIFACTS, Facet.RECENT_MEMORY),
    ),
    Intent.RESEARCH: (
        *(Facet.DECISIONS, Facet.DOMAIN, Facet.ARTIFACTS, Facet.GOTCHAS, Facet.IDEATION),
        *(Facet.RECENT_MEMORY, Facet.PROCEDURES, Facet.VERIFICATION),
    ),
    Intent.DEBUG: (
        *(Facet.GOTCHAS, Facet.VERIFICATION, Facet.DECISIONS, Facet.RECENT_MEMORY, Facet.PROCEDURES),
        *(Facet.ACTIVE_WORK, Facet.ARTIFACTS, Facet.DOMAIN),
    ),
    Intent.DECIDE: (
        *(Facet.DECISIONS, Facet.GOTCHAS, Facet.IDEATION, Facet.DOMAIN, Facet.PLANNING),
        *(Facet.RECENT_MEMORY, Facet.ARTIFACTS),
    ),
    Intent.LEARN: (
        *(Facet.DOMAIN, Facet.DECISIONS, Facet.PROCEDURES, Facet.ARTIFACTS, Facet.GOTCHAS),
        *(Facet.VERIFICATION, Facet.RECENT_MEMORY),
    ),
    Intent.GENERAL: tuple(facet for facet in Facet if facet is not Facet.CONSTRAINTS),
}
_FIRST_OF_A_SESSION = (Facet.ACTIVE_WORK, Facet.RECENT_MEMORY)
# A round takes so many of each facet in turn, the emphasised ones first.
_WEIGHTS = (3, 3, 3, 2, 2, 2)


class FacetReach(Struct, frozen=True, kw_only=True):
    """How far a layer reaches.

    `share` of the limit is used; entries below `floor` of the best score stay out. `length` is the share of the budget
    that the contents may take, and links what they leave of it; `longest` is the tokens that one content may. Of
    `gists` the contents are the rules of invariants and what sessions left open, and nothing that an entry is linked
    with.
    So many of the `latest` sessions and of an agent's diary come unasked.
    """

    share: float
    floor: float
    length: float
    longest: int
    gists: bool = False
    facets: int | None = None
    latest: int = 0
    diary: int


REACHES = {
    Layer.WAKE: FacetReach(share=0.5, floor=0.5, length=0.0, longest=0, gists=True, facets=6, latest=2, diary=2),
    Layer.RECALL: FacetReach(share=1.0, floor=0.3, length=1.0, longest=1200, diary=4),
    Layer.DEEP_SEARCH: FacetReach(share=1.0, floor=0.0, length=4.0, longest=4000, diary=8),
}


def facets_for(intent: Intent, layer: Layer) -> tuple[Facet, ...]:
    """Return the facets that come, in their order.

    A session starts with what is going on, and with the first facets of the intent; research has every facet.
    """
    order = (Facet.CONSTRAINTS, *_ORDERS[intent])
    if layer is Layer.DEEP_SEARCH:
        return tuple(dict.fromkeys((*order, *Facet)))
    if layer is Layer.WAKE:
        first = (Facet.CONSTRAINTS, *_FIRST_OF_A_SESSION, *_ORDERS[intent])
        return tuple(dict.fromkeys(first))[: REACHES[layer].facets]
    return order


def weight_of(position: int) -> int:
    """Return how many items a round takes of the facet at a position."""
    return _WEIGHTS[position] if position < len(_WEIGHTS) else 1
