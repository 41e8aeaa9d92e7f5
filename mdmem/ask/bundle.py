"""Define the request and the answer of `retrieve_context`, in the shape of its contract."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from mdmem.ask.answer import VIA_NAMED, AnswerBasis, Contradiction, Item, OmittedCount
from mdmem.ask.question import Tier
from mdmem.ask.relate import doubts_of
from mdmem.errors import UsageError
from mdmem.markdown.parse import rationale_span, without_code
from mdmem.markdown.text import content_of
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, NodeLabel, Status, label_of
from mdmem.model.lineage import Stance, standing_json
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import ScopeState


class BundleScope(StrEnum):
    """What a bundle reads at least: shared wings, the project's wing too, or everything for one focus."""

    GLOBAL = "global"
    PROJECT = "project"
    FOCUS = "focus"


# Other words for the names of the contract.
_SYNONYMS = {"entity": "entityfact", "rule": "invariant", "adr": "decision", "shared": "global", "wing": "project"}


class BundleRequest(Struct, frozen=True, kw_only=True):
    """One call of `retrieve_context` by an agent; `labels` is empty for all."""

    project_id: str | None
    scope: BundleScope
    focus: str | None = None
    labels: frozenset[NodeLabel] = frozenset()
    topic: str = ""
    agent: str = UNNAMED_AGENT

    def is_own(self, entry: Entry) -> bool:
        """Say whether the caller wrote an entry."""
        return entry.agent is not None and entry.agent.casefold() == self.agent.casefold()

    @property
    def types(self) -> tuple[EntryType, ...]:
        """Return the types of the labels, in the order of authority; none where everything is let through."""
        wanted = {label.type for label in self.labels}
        return tuple(kind for kind in EntryType if kind in wanted)


def read_request(
    *,
    project_id: str | None,
    scope: str,
    focus: str | None = None,
    categories: Sequence[str] | None = None,
    topic: str | None = None,
    agent: str | None = None,
) -> BundleRequest:
    """Return what is asked for; raises UsageError for a scope or category that is not known, naming the nearest."""
    # A text is a sequence of its letters.
    labels = (categories,) if isinstance(categories, str) else categories or ()
    return BundleRequest(
        project_id=plain(project_id),
        scope=BundleScope(_member("scope", scope, BundleScope)),
        focus=plain(focus),
        labels=frozenset(NodeLabel(_member("category", one, NodeLabel)) for one in labels),
        topic=plain(topic) or "",
        agent=plain(agent) or UNNAMED_AGENT,
    )


def plain(text: str | None) -> str | None:
    """Return a text on one line without blank ends, as the writes keep it; None for none and for a blank one."""
    return " ".join(text.split()) or None if text is not None else None


def _member(kind: str, given: str, known: type[StrEnum]) -> str:
    """Return the member that a word means, in capital letters or not and with any marks between its words."""
    spelt = {member.value.casefold(): member.value for member in known}
    word = "".join(letter for letter in str(given).casefold() if letter.isalnum())
    if word in spelt:
        return spelt[word]
    near = _SYNONYMS.get(word, word)
    close = difflib.get_close_matches(near, spelt, n=1, cutoff=0.5)
    hint = f"did you mean `{spelt[close[0]]}`?" if close else f"there is {', '.join(f'`{one}`' for one in known)}"
    raise UsageError(f"there is no {kind} `{str(given)[:40]}`; {hint}")


# The contract calls the shared wings the global scope.
SCOPE_WORDS = {Tier.FOCUS: "focus", Tier.PROJECT: "project", Tier.SHARED: "global"}


class RetrievalStatus(StrEnum):
    """How a retrieval went; none of them is an error to its caller."""

    SUCCEEDED = "succeeded"
    EMPTY = "empty"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    CONFLICTED = "conflicted"


class BundleItem(Struct, frozen=True, kw_only=True):
    """One entry, whose body is divided into `rationale` and `content`.

    `uncertainty` is the reason to confirm it first; `overridden_by` are the project's entries that replace it here;
    `relations` are amendments and one-sided supersessions in both directions; `stance` is how it relates to the default
    branch, where that is known.
    """

    id: str
    label: NodeLabel
    title: str
    rationale: str
    tier: Tier
    created_at: str | None
    type: EntryType
    status: Status
    content: str = ""
    reason: str = ""
    uncertainty: str | None = None
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stance: Stance | None = None
    current: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the item in the contract's shape; what an entry does not have is left out of the further keys."""
        further = {
            "content": self.content,
            "uncertainty": self.uncertainty,
            "overrides": list(self.overrides),
            "overridden_by": list(self.overridden_by),
            "via": list(self.via[:VIA_NAMED]),
            **{name: list(addresses) for name, addresses in self.relations.items()},
        }
        return {
            "id": self.id,
            "label": self.label.value,
            "title": self.title,
            "rationale": self.rationale,
            "scope": SCOPE_WORDS[self.tier],
            "created_at": self.created_at,
            "type": self.type.value,
            "status": self.status.value,
            "reason": self.reason,
            **{name: value for name, value in further.items() if value},
            **standing_json(self.stance, in_force=self.current),
        }


class ContextBundle(Struct, frozen=True, kw_only=True):
    """The items in the order of authority, drafts apart, and what is doubtful or left out.

    The basis has the declared conflicts; `suspected` are the pairs that nobody declared. Its `omitted` names 50 entries
    at most, its `omitted_counts` the rest. `invariants_left_out` counts those that bind always and are not here.
    """

    status: RetrievalStatus
    scope_state: ScopeState
    message: str | None = None
    items: tuple[BundleItem, ...] = ()
    proposed: tuple[BundleItem, ...] = ()
    suspected: tuple[Contradiction, ...] = ()
    invariants_left_out: tuple[OmittedCount, ...] = ()
    hygiene_due: bool = False
    wing: str | None = None
    shared_wings: tuple[str, ...] = ()
    focus: str | None = None
    basis: AnswerBasis = field(default_factory=AnswerBasis)

    def as_json(self) -> dict[str, Any]:
        """Return the bundle in the contract's shape, with what may bind and cannot be read before the items."""
        basis = self.basis
        return {
            "retrieval_status": self.status.value,
            "scope_state": self.scope_state.value,
            "message": self.message,
            "problems": problems_json(basis),
            "conflicts_found": bool(basis.conflicts),
            "hygiene_due": self.hygiene_due,
            "items": [item.as_json() for item in self.items],
            "proposed": [item.as_json() for item in self.proposed],
            **basis.as_json("conflicts"),
            "suspected": [asdict(one) for one in self.suspected],
            "invariants_left_out": [asdict(one) for one in self.invariants_left_out],
            "omitted": [{"id": one.address, "type": one.type, "why": one.why} for one in basis.omitted],
            **basis.as_json("omitted_counts"),
            "wing": self.wing,
            "shared_wings": list(self.shared_wings),
            "focus": self.focus,
            **basis.as_json("coverage", "covered", "unmatched_terms", "fallback", "source", "degraded", "why_degraded"),
        }


def problems_json(basis: AnswerBasis) -> list[dict[str, Any]]:
    """Return the problems of an answer in the contract's shape, which has their lines."""
    return [
        {"path": one.place.path, "line": one.place.line, "code": one.code, "message": one.message}
        for one in basis.problems
    ]


def bundle_item(catalog: Catalog, item: Item, overridden_by: tuple[str, ...] = ()) -> BundleItem:
    """Return an item with what its file says; raises GoneError where the file went away meanwhile."""
    entry = item.entry
    rationale, content = _texts(entry, catalog.body(entry.address))
    return BundleItem(
        id=entry.address,
        label=label_of(entry),
        title=entry.title,
        rationale=rationale,
        tier=item.tier,
        created_at=entry.created_at.isoformat() if entry.created_at else None,
        type=entry.type,
        status=item.status,
        content=content,
        reason=item.reason,
        uncertainty=next(doubts_of(catalog, entry, item.status), None),
        overrides=item.overrides,
        overridden_by=item.overridden_by or overridden_by,
        via=item.via,
        relations=item.relations,
        stance=item.stance,
        current=item.current,
    )


def _texts(entry: Entry, body: str) -> tuple[str, str]:
    """Return the reasons of an entry, and all else that it says: its body is in one of the two, not in both."""
    start, end = rationale_span(without_code(body))
    # The line that marks the reasons is neither.
    before = body[: body.rfind("\n", 0, start) + 1].strip()
    parts = (before, body[end:].strip())
    return body[start:end].strip(), content_of(entry, "\n\n".join(part for part in parts if part))
