"""Define the facets of a context pack, and which facets each intent and layer includes.

A context pack is a list of entries for a goal. A facet is one of its sections, such as decisions or gotchas. The intent
is the kind of goal, and the layer says how much to include.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct

from mdmem.model.entry import Entry, EntryType

SESSION = "session"


class Intent(StrEnum):
    """The kind of work that a context pack is for; it decides the facets (sections) of the pack and their order."""

    BUILD = "build"
    PLAN = "plan"
    IDEATE = "ideate"
    RESEARCH = "research"
    DEBUG = "debug"
    DECIDE = "decide"
    LEARN = "learn"
    GENERAL = "general"


class Layer(StrEnum):
    """How deep to search: for the start of a session, for the work at hand, or for research."""

    WAKE = "wake"
    RECALL = "recall"
    DEEP_SEARCH = "deep_search"


class Facet(StrEnum):
    """A section of a context pack, by its name in the contract."""

    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    ACTIVE_WORK = "active_work"
    PLANNING = "planning"
    IDEATION = "ideation"
    GOTCHAS = "gotchas"
    VERIFICATION = "verification"
    ARTIFACTS = "artifacts"
    PROCEDURES = "procedures"
    RECENT_MEMORY = "recent_memory"
    DOMAIN = "domain"

    @property
    def heading(self) -> str:
        """Return the title of the section."""
        return self.value.replace("_", " ").capitalize()


class FacetRow(Struct, frozen=True):
    """A facet for entries of the `types`; an entry belongs to it by one of the `labels`, or else by its room."""

    facet: Facet
    types: tuple[EntryType, ...]
    labels: str = ""
    rooms: str = ""


_NOTE, _BOTH = (EntryType.NOTE,), (EntryType.PATTERN, EntryType.NOTE)
ROWS = (
    FacetRow(Facet.ACTIVE_WORK, _NOTE, "task todo epic work-item"),
    FacetRow(Facet.PLANNING, _BOTH, "plan roadmap milestone migration-note", "planning plans roadmap migration-notes"),
    FacetRow(Facet.IDEATION, _BOTH, "idea proposal experiment", "ideas ideation experiments"),
    FacetRow(
        *(Facet.GOTCHAS, _BOTH),
        labels="anti-pattern failure-mode incident-log incident gotcha",
        rooms="anti-patterns failure-modes incident-log debugging gotchas",
    ),
    FacetRow(
        *(Facet.VERIFICATION, _BOTH),
        labels="validation verification test",
        rooms="validation verification testing observability",
    ),
    FacetRow(
        *(Facet.ARTIFACTS, _NOTE),
        labels="artifact component-contract",
        rooms="artifacts components contracts configuration communication",
    ),
    FacetRow(Facet.PROCEDURES, _BOTH, "procedure reusable-pattern code-convention"),
    FacetRow(Facet.RECENT_MEMORY, _NOTE, f"{SESSION} episode", "sessions"),
    FacetRow(Facet.DOMAIN, _NOTE, "domain context entity claim", "context entities domain"),
)
_LABELS = {(kind, label): row.facet for row in ROWS for kind in row.types for label in row.labels.split()}
_ROOMS = {(kind, room): row.facet for row in ROWS for kind in row.types for room in row.rooms.split()}
# The facet of an entry if neither its label nor its room decides.
_OTHERWISE = dict(zip(EntryType, (Facet.CONSTRAINTS, Facet.DECISIONS, Facet.PROCEDURES, Facet.DOMAIN), strict=True))


def facet_of(entry: Entry, *, newest: Collection[str] = ()) -> Facet:
    """Return the facet of an entry; one of the `newest` session notes with open work belongs to "active work"."""
    if entry.type is EntryType.NOTE and entry.address in newest and (entry.open_items or entry.next_actions):
        return Facet.ACTIVE_WORK
    label = (entry.label or "").casefold().replace("_", "-").replace(" ", "-")
    found = _LABELS.get((entry.type, label)) or _ROOMS.get((entry.type, entry.room))
    return found or _OTHERWISE[entry.type]


class LayerLimits(Struct, frozen=True, kw_only=True):
    """How much a `Layer` includes.

    - `share`: the most entries, as a share of the request's limit.
    - `floor`: entries that score below this share of the best score are omitted.
    - `length`: the space for contents and links, as a multiple of the budget.
    - `gist_only`: of an invariant only the rule is included, of a session only its open work, and of other entries no
      content.
    - `latest`, `diary`: so many of the last session notes, and of the agent's notes, are included without a match.
    """

    share: float
    floor: float
    length: float
    gist_only: bool = False
    latest: int = 0
    diary: int


LAYER_LIMITS = {
    Layer.WAKE: LayerLimits(share=0.5, floor=0.5, length=0.0, gist_only=True, latest=2, diary=2),
    Layer.RECALL: LayerLimits(share=1.0, floor=0.3, length=1.0, diary=4),
    Layer.DEEP_SEARCH: LayerLimits(share=1.0, floor=0.0, length=4.0, diary=8),
}

# Constraints come before all of these facets, so that they are on the first page of a long answer.
_ORDERS = {
    Intent.BUILD: "decisions procedures gotchas active_work artifacts verification planning recent_memory domain",
    Intent.PLAN: "active_work planning decisions gotchas artifacts ideation recent_memory procedures domain",
    Intent.IDEATE: "ideation domain decisions planning gotchas artifacts recent_memory",
    Intent.RESEARCH: "decisions domain artifacts gotchas ideation recent_memory procedures verification",
    Intent.DEBUG: "gotchas verification decisions recent_memory procedures active_work artifacts domain",
    Intent.DECIDE: "decisions gotchas ideation domain planning recent_memory artifacts",
    Intent.LEARN: "domain decisions procedures artifacts gotchas verification recent_memory",
    Intent.GENERAL: " ".join(facet for facet in Facet if facet is not Facet.CONSTRAINTS),
}
_FACETS_AT_START = 6


def facets_for(intent: Intent, layer: Layer) -> tuple[Facet, ...]:
    """Return the facets to include, in order: constraints, then the facets of the intent.

    At the start of a session, active work and recent memory come second and third, and there are six facets at most. A
    deep search includes every facet.
    """
    order = map(Facet, _ORDERS[intent].split())
    if layer is Layer.WAKE:
        first = (Facet.CONSTRAINTS, Facet.ACTIVE_WORK, Facet.RECENT_MEMORY, *order)
        return tuple(dict.fromkeys(first))[:_FACETS_AT_START]
    return tuple(dict.fromkeys((Facet.CONSTRAINTS, *order, *(Facet if layer is Layer.DEEP_SEARCH else ()))))
