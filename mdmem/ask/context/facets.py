"""The facets of a context pack, and which of our types, labels and rooms stand under each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from mdmem.model.entry import Entry, EntryType

SESSION = "session"


class Facet(StrEnum):
    """What an entry is good for when somebody starts to work, in the words of the contract."""

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


class FacetRow(Struct, frozen=True, kw_only=True):
    """What stands under one facet: whole types, and entries of some types by their label, else by their room."""

    facet: Facet
    title: str
    whole: EntryType | None = None
    types: tuple[EntryType, ...] = (EntryType.PATTERN, EntryType.NOTE)
    labels: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    remark: str = ""


_NOTES = (EntryType.NOTE,)
# A label goes before a room; an invariant and a decision stand under their own facet whatever they are labelled.
ROWS = (
    FacetRow(facet=Facet.CONSTRAINTS, title="Constraints", whole=EntryType.INVARIANT, remark="whatever label and room"),
    FacetRow(facet=Facet.DECISIONS, title="Decisions", whole=EntryType.DECISION, remark="whatever label and room"),
    FacetRow(
        facet=Facet.ACTIVE_WORK,
        title="Active work",
        types=_NOTES,
        labels=("task", "todo", "epic", "work-item"),
        remark="the newest session note of each focus that has open items or next actions",
    ),
    FacetRow(
        facet=Facet.PLANNING,
        title="Plans",
        labels=("plan", "roadmap", "milestone", "migration-note"),
        rooms=("planning", "plans", "roadmap", "migration-notes"),
    ),
    FacetRow(
        facet=Facet.IDEATION,
        title="Ideas",
        labels=("idea", "proposal", "experiment"),
        rooms=("ideas", "ideation", "experiments"),
    ),
    FacetRow(
        facet=Facet.GOTCHAS,
        title="Gotchas",
        labels=("anti-pattern", "failure-mode", "incident-log", "incident", "gotcha"),
        rooms=("anti-patterns", "failure-modes", "incident-log", "debugging", "gotchas"),
    ),
    FacetRow(
        facet=Facet.VERIFICATION,
        title="Verification",
        labels=("validation", "verification", "test"),
        rooms=("validation", "verification", "testing", "observability"),
    ),
    FacetRow(
        facet=Facet.ARTIFACTS,
        title="Artifacts",
        types=_NOTES,
        labels=("artifact", "component-contract"),
        rooms=("artifacts", "components", "contracts", "configuration", "communication"),
    ),
    FacetRow(
        facet=Facet.PROCEDURES,
        title="Procedures",
        whole=EntryType.PATTERN,
        labels=("procedure", "reusable-pattern", "code-convention"),
        remark="all patterns that stand under no other facet",
    ),
    FacetRow(
        facet=Facet.RECENT_MEMORY,
        title="Recent memory",
        types=_NOTES,
        labels=(SESSION, "episode"),
        rooms=("sessions",),
    ),
    FacetRow(
        facet=Facet.DOMAIN,
        title="Domain",
        whole=EntryType.NOTE,
        types=_NOTES,
        labels=("domain", "context", "entity", "claim"),
        rooms=("context", "entities", "domain"),
        remark="all notes that stand under no other facet",
    ),
)
TITLES = {row.facet: row.title for row in ROWS}
_WHOLE = {row.whole: row.facet for row in ROWS if row.whole is not None}
_OWN = frozenset({EntryType.INVARIANT, EntryType.DECISION})
_LABELS = {(kind, label): row.facet for row in ROWS for kind in row.types for label in row.labels}
_ROOMS = {(kind, room): row.facet for row in ROWS for kind in row.types for room in row.rooms}


def facet_of(entry: Entry, *, latest: Iterable[str] = ()) -> Facet:
    """Return the facet of an entry; `latest` are the addresses of the newest sessions."""
    if entry.type in _OWN:
        return _WHOLE[entry.type]
    if entry.type is EntryType.NOTE and entry.address in latest and (entry.open_items or entry.next_actions):
        return Facet.ACTIVE_WORK
    label = (entry.label or "").casefold().replace("_", "-").replace(" ", "-")
    found = _LABELS.get((entry.type, label)) or _ROOMS.get((entry.type, entry.room))
    return found or _WHOLE[entry.type]


def facet_table() -> str:
    """Return the mapping as a Markdown table, one row a facet."""
    lines = ["| facet | title | entries |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| `{row.facet}` | {row.title} | {'; '.join(_cells(row))} |" for row in ROWS)])


def _cells(row: FacetRow) -> Iterator[str]:
    if row.whole in _OWN:
        yield f"every {row.whole}, {row.remark}"
        return
    kinds = " and ".join(f"{kind}s" for kind in row.types)
    if row.labels:
        yield f"{kinds} labelled {_listed(row.labels)}"
    if row.rooms:
        yield f"{'' if row.labels else kinds + ' '}in the rooms {_listed(row.rooms)}"
    if row.remark:
        yield row.remark


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
