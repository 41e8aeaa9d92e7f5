"""Which of the writes that did not complete concern what somebody asks about."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.entry.model import Wing
from mdmem.scope import find_wing
from mdmem.state.ledger_model import PendingWrite
from mdmem.workspace.calls import VERBS


def concerns(record: PendingWrite, wings: Mapping[str, Wing], *, project: str | None, scope: str | None) -> bool:
    """Say whether a write belongs to a project and to a scope; None for either is any.

    A project that has no wing yet is known by its words alone.
    """
    return _is_of(record, wings, project) and (scope is None or _is_in(record, scope))


def _is_of(record: PendingWrite, wings: Mapping[str, Wing], project: str | None) -> bool:
    named = record.arguments.get("project_id")
    if project is None or named == project:
        return True
    meant = find_wing(project, wings)
    return meant is not None and isinstance(named, str) and find_wing(named, wings) == meant


def _is_in(record: PendingWrite, scope: str) -> bool:
    if scope == "focus":
        return bool(record.arguments.get("focus"))
    content = record.arguments.get(VERBS.get(record.verb, ""))
    stated = content if isinstance(content, Mapping) else {}
    is_global = "global" in (stated.get("scope"), stated.get("save_scope"))
    return is_global is (scope == "global")
