"""A memory with one project, an agent that saves there, and the records it hands over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, partialmethod
from itertools import count
from pathlib import Path
from typing import Any

from builders import make_repository, make_root, open_root, write

from mdmem.store.workspace.workspace import Workspace
from mdmem.write.records import BatchSaveResult, SaveResult
from mdmem.write.save import Saver, get_save_status, request_approval

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
# The content of one decision in the tests, of twenty words that no other holds.
WORDS = tuple(f"word{letter}" for letter in "abcdefghijklmnopqrst")


def project(folder: Path, settings: str = "") -> Path:
    """Return the root of a repository that has the wing `nav` and no entry."""
    root = make_root(make_repository(folder) / "memory", settings)
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    return root


@dataclass(frozen=True)
class Agent:
    """An agent that saves in a workspace, with the names and the order of arguments that its tools have."""

    workspace: Workspace
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    wait: float = 30.0

    @cached_property
    def pending(self) -> Saver:
        """Return the writes that wait."""
        return Saver(self.workspace, now=self.now, wait=self.wait)

    def _save(
        self, kind: str, record: object, project_id: object, focus: object = None, token: object = None, **rest: object
    ) -> SaveResult:
        stated = {kind: record, "project_id": project_id, "focus": focus, "governance_token": token, **rest}
        return self.pending.save(kind, stated)

    save_decision = partialmethod(_save, "decision")
    save_pattern = partialmethod(_save, "pattern")
    save_context = partialmethod(_save, "context")
    save_session = partialmethod(_save, "session")

    def upsert_entity_with_deps(self, entity: object, related_entities: object, *rest: object) -> SaveResult:
        """Save an entity with its relations."""
        return self._save("entity", entity, *rest, related_entities=related_entities)

    def store_session_with_learnings(
        self, session: object, decisions: object, patterns: object, project_id: object, **rest: object
    ) -> BatchSaveResult:
        """Save a session with what it taught."""
        parts = {"session": session, "decisions": decisions, "patterns": patterns, "project_id": project_id}
        return self.pending.save_with_learnings({**parts, **rest})

    def get_save_status(self, project_id: object) -> dict[str, Any]:
        """Return how the writes of a project stand."""
        return get_save_status(self.workspace, project_id)

    def request_global_write_approval(self) -> dict[str, Any]:
        """Ask for a token for one global write."""
        return request_approval(self.workspace, now=self.now)


def agent(root: Path, *, now: Callable[[], datetime] = lambda: NOON, wait: float = 0.1) -> Agent:
    """Return an agent that saves in a root, impatient and with a clock of the test's own."""
    return Agent(open_root(root), now, wait)


def later(seconds: float) -> Callable[[], datetime]:
    """Return a clock that shows so many seconds past noon."""
    return lambda: NOON + timedelta(seconds=seconds)


def ticking() -> Callable[[], datetime]:
    """Return a clock that goes on by a second whenever it is looked at."""
    seconds = count()
    return lambda: NOON + timedelta(seconds=next(seconds))


def decision(title: str = "Use UTC", rationale: str = "Clocks differ.", **fields: Any) -> dict[str, Any]:
    """Return a decision."""
    return {"title": title, "rationale": rationale, **fields}


def of_words(number: int, **fields: Any) -> dict[str, Any]:
    """Return a decision that holds so many of the twenty words."""
    first, *others = WORDS[:number]
    return decision(first, " ".join(others), **fields)


def pattern(trigger: str = "A test fails", *steps: str, **fields: Any) -> dict[str, Any]:
    """Return a pattern."""
    return {"trigger": trigger, "repeatable_steps": list(steps or ("read it",)), **fields}


def context(content: str = "The arm has six joints.", topic: str = "arm", **fields: Any) -> dict[str, Any]:
    """Return a piece of context."""
    return {"content": content, "topic": topic, **fields}


def session(objective: str = "Set up", **fields: Any) -> dict[str, Any]:
    """Return a session."""
    return {"objective": objective, **fields}


def entity(name: str = "Arm", fact: str = "It has six joints.", **fields: Any) -> dict[str, Any]:
    """Return an entity."""
    return {"entity_name": name, "fact": fact, **fields}


def save(saves: Agent, kind: str, project_id: object = "nav", focus: object = None, **fields: Any) -> SaveResult:
    """Save a record of a kind as it comes from above, with other fields where they are given."""
    if kind == "entity":
        return saves.upsert_entity_with_deps(entity(**fields), [], project_id, focus)
    records = {"decision": decision, "pattern": pattern, "context": context, "session": session}
    result: SaveResult = getattr(saves, f"save_{kind}")(records[kind](**fields), project_id, focus)
    return result


def outcome(result: SaveResult) -> tuple[str, str | None, str | None]:
    """Return what a result says of the comparison: the status, the outcome, the candidate."""
    return (str(result.status), result.dedup_outcome and str(result.dedup_outcome), result.candidate_id)


def entries(root: Path) -> list[str]:
    """Return the addresses of all entries."""
    found = (path.relative_to(root).as_posix() for path in root.glob("*/*/*.md"))
    return sorted(path.removesuffix(".md") for path in found)
