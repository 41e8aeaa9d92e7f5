"""A memory with one project, an agent that saves there, and its records."""

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
# The text of a decision: twenty words that no other entry contains.
WORDS = tuple(f"word{letter}" for letter in "abcdefghijklmnopqrst")


def project(folder: Path, settings: str = "") -> Path:
    root = make_root(make_repository(folder) / "memory", settings)
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    return root


@dataclass(frozen=True)
class Agent:
    """An agent that saves in a workspace, with the names and arguments of the tools."""

    workspace: Workspace
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    wait: float = 30.0

    @cached_property
    def pending(self) -> Saver:
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
        return self._save("entity", entity, *rest, related_entities=related_entities)

    def store_session_with_learnings(
        self, session: object, decisions: object, patterns: object, project_id: object, **rest: object
    ) -> BatchSaveResult:
        parts = {"session": session, "decisions": decisions, "patterns": patterns, "project_id": project_id}
        return self.pending.save_with_learnings({**parts, **rest})

    def get_save_status(self, project_id: object) -> dict[str, Any]:
        return get_save_status(self.workspace, project_id)

    def request_global_write_approval(self) -> dict[str, Any]:
        return request_approval(self.workspace, now=self.now)


def agent(root: Path, *, now: Callable[[], datetime] = lambda: NOON, wait: float = 0.1) -> Agent:
    return Agent(open_root(root), now, wait)


def later(seconds: float) -> Callable[[], datetime]:
    return lambda: NOON + timedelta(seconds=seconds)


def ticking() -> Callable[[], datetime]:
    seconds = count()
    return lambda: NOON + timedelta(seconds=next(seconds))


def decision(title: str = "Use UTC", rationale: str = "Clocks differ.", **fields: Any) -> dict[str, Any]:
    return {"title": title, "rationale": rationale, **fields}


def of_words(number: int, **fields: Any) -> dict[str, Any]:
    first, *others = WORDS[:number]
    return decision(first, " ".join(others), **fields)


def pattern(trigger: str = "A test fails", *steps: str, **fields: Any) -> dict[str, Any]:
    return {"trigger": trigger, "repeatable_steps": list(steps or ("read it",)), **fields}


def context(content: str = "The arm has six joints.", topic: str = "arm", **fields: Any) -> dict[str, Any]:
    return {"content": content, "topic": topic, **fields}


def session(objective: str = "Set up", **fields: Any) -> dict[str, Any]:
    return {"objective": objective, **fields}


def entity(name: str = "Arm", fact: str = "It has six joints.", **fields: Any) -> dict[str, Any]:
    return {"entity_name": name, "fact": fact, **fields}


KINDS = {"decision": decision, "pattern": pattern, "context": context, "session": session, "entity": entity}


def save(
    saves: Agent, kind: str, project_id: object = "nav", focus: object = None, token: object = None, **fields: Any
) -> SaveResult:
    return saves._save(kind, KINDS[kind](**fields), project_id, focus, token)


def outcome(result: SaveResult) -> tuple[str, str | None, str | None]:
    return (str(result.status), result.dedup_outcome and str(result.dedup_outcome), result.candidate_id)


def entries(root: Path) -> list[str]:
    found = (path.relative_to(root).as_posix() for path in root.glob("*/*/*.md"))
    return sorted(path.removesuffix(".md") for path in found)
