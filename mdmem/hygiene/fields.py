"""What hygiene found in the words of its contract."""

from __future__ import annotations

from typing import Any

from mdmem.finding import Finding
from mdmem.hygiene.model import Groups, Hygiene, StaleItem
from mdmem.state.ledger_model import PendingWrite


def hygiene_fields(hygiene: Hygiene) -> dict[str, Any]:
    """Return what the contract of `run_hygiene` names, then the groups behind its numbers and the findings."""
    return {
        "project_id": hygiene.project_id,
        "scope": hygiene.scope,
        "duplicates_found": hygiene.duplicates_found,
        "outdated_decisions": len(hygiene.outdated),
        "obsolete_patterns": len(hygiene.obsolete),
        "entity_drift_count": len(hygiene.drifted),
        "unresolved_saves": len(hygiene.unresolved),
        "stale_items": [_item(one) for one in hygiene.stale_items],
        "candidate_ids": {
            "duplicate_decisions": _flat(hygiene.duplicates),
            "outdated_decisions": list(hygiene.outdated),
            "obsolete_patterns": list(hygiene.obsolete),
            "entity_drift": _flat(hygiene.drifted),
            "unresolved_saves": [one.id for one in hygiene.unresolved],
        },
        "checked_at": hygiene.checked_at.isoformat(),
        "duplicate_groups": [list(group) for group in hygiene.duplicates],
        "entity_groups": [list(group) for group in hygiene.drifted],
        "pending_writes": [_write(one) for one in hygiene.unresolved],
        "findings": [_finding(one) for one in hygiene.findings],
    }


def _flat(groups: Groups) -> list[str]:
    return sorted(address for group in groups for address in group)


def _item(item: StaleItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "label": item.label,
        "title": item.title,
        "age_days": item.age_days,
        "freshness": item.freshness.value,
    }


def _write(write: PendingWrite) -> dict[str, Any]:
    return {
        "id": write.id,
        "verb": write.verb,
        "project_id": write.arguments.get("project_id"),
        "created": write.created.isoformat(),
        "attempts": write.attempts,
        "error": write.error,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "address": finding.address,
        "path": finding.place.path,
        "line": finding.place.line,
        "message": finding.message,
        "help": finding.help,
    }
