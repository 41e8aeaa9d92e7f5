"""What is asked of a context pack: the goal, what it is for, how deep to look, and where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from mdmem.arguments import choose, line, optional_line, whole_number, yes_or_no
from mdmem.errors import UsageError
from mdmem.store.index.analysis import ask

LIMIT, MOST, RELATED, MOST_RELATED = 24, 50, 3, 20
# A long text's first words name its subject; each more costs the index a list of documents.
_WORDS = 48


class Intent(StrEnum):
    """What the goal is about: it says which facets come, and in which order."""

    BUILD = "build"
    PLAN = "plan"
    IDEATE = "ideate"
    RESEARCH = "research"
    DEBUG = "debug"
    DECIDE = "decide"
    LEARN = "learn"
    GENERAL = "general"


class Layer(StrEnum):
    """How deep to look: for the start of a session, for the work at hand, or for research."""

    WAKE = "wake"
    RECALL = "recall"
    DEEP_SEARCH = "deep_search"


class ContextRequest(Struct, frozen=True, kw_only=True):
    """One question for a context pack; numbers out of bounds count as the nearest bound."""

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
        """Return how many items may come besides the unconditional invariants."""
        return min(max(self.limit, 1), MOST)

    @property
    def related_size(self) -> int:
        """Return how many related entries an item may have."""
        return min(max(self.related_limit, 0), MOST_RELATED) if self.include_related else 0

    @property
    def query(self) -> str:
        """Return the question put to the full text: the words of goal and domain that say something, each once."""
        return query_of(self.goal, self.domain)


def query_of(*texts: str | None) -> str:
    """Return the words of some texts that are worth looking for, each once, the first of them."""
    words = " ".join(text for text in texts if text).split()
    seen: dict[tuple[str, ...], str] = {}
    for word in words:
        terms = ask(word).terms
        if terms:
            seen.setdefault(terms, word)
    return " ".join(list(seen.values())[:_WORDS])


def read_request(given: Mapping[str, object]) -> ContextRequest:
    """Return what plain values ask for, None standing for a default.

    Raises UsageError naming the value that does not fit, and the nearest that does.
    """
    known = ("goal", "intent", "layer", "domain", "project", "agent_id", "limit", "include_related", "related_limit")
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
