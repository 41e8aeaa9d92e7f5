"""What hygiene reports, in our words and in those of its contract."""

from __future__ import annotations

from datetime import date
from typing import Any

from msgspec import Struct, field

from mdmem.change.near_duplicates import NearPair
from mdmem.model.finding import Finding
from mdmem.store.state.pending_writes import Blocked, PendingWrite
from mdmem.store.workspace.remarks import Freshness
from mdmem.write.results import blocked_fields

Groups = tuple[tuple[str, ...], ...]


class StaleItem(Struct, frozen=True):
    """An entry that nobody looked at for longer than its type allows; `label` is the contract's word for its kind."""

    id: str
    label: str
    title: str
    age_days: int
    freshness: Freshness


class HygieneFindings(Struct, frozen=True, kw_only=True):
    """What needs maintenance, by address.

    `duplicates` are groups of entries that say nearly the same, `near` pairs of rules that may, `drifted` groups of
    entities of one name. `unresolved` are the writes that did not complete, `blocked` those that a similar entry
    stopped. `findings` is what the contract does not ask for; `titles` names the addresses.
    """

    checked_at: date
    project_id: str | None = None
    scope: str | None = None
    duplicates: Groups = ()
    near: tuple[NearPair, ...] = ()
    outdated: tuple[str, ...] = ()
    obsolete: tuple[str, ...] = ()
    drifted: Groups = ()
    unresolved: tuple[PendingWrite, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    stale_items: tuple[StaleItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def duplicates_found(self) -> int:
        """Return how many entries could go without a loss: of each group all but one."""
        return sum(len(group) - 1 for group in self.duplicates)

    @property
    def is_clean(self) -> bool:
        """Say whether nothing needs maintenance."""
        kinds = (self.duplicates, self.near, self.outdated, self.obsolete, self.drifted, self.findings)
        return not any((*kinds, self.unresolved, self.blocked))


def hygiene_fields(hygiene: HygieneFindings) -> dict[str, Any]:
    """Return what the contract of `run_hygiene` names, then the groups behind its numbers and the findings."""
    return {
        "project_id": hygiene.project_id,
        "scope": hygiene.scope,
        "duplicates_found": hygiene.duplicates_found,
        "outdated_decisions": len(hygiene.outdated),
        "obsolete_patterns": len(hygiene.obsolete),
        "entity_drift_count": len(hygiene.drifted),
        "unresolved_saves": len(hygiene.unresolved) + len(hygiene.blocked),
        "stale_items": [_item(one) for one in hygiene.stale_items],
        "candidate_ids": {
            "duplicate_decisions": _flat(hygiene.duplicates),
            "outdated_decisions": list(hygiene.outdated),
            "obsolete_patterns": list(hygiene.obsolete),
            "entity_drift": _flat(hygiene.drifted),
            "unresolved_saves": [one.id for one in hygiene.unresolved] + [one.id for one in hygiene.blocked],
        },
        "checked_at": hygiene.checked_at.isoformat(),
        "duplicate_groups": [list(group) for group in hygiene.duplicates],
        "entity_groups": [list(group) for group in hygiene.drifted],
        "pending_writes": [_write(one) for one in hygiene.unresolved],
        "findings": [_finding(one) for one in hygiene.findings],
        **({"near_duplicates": [_pair(one) for one in hygiene.near[:_PAIRS]]} if hygiene.near else {}),
        **({"blocked_saves": [blocked_fields(one) for one in hygiene.blocked]} if hygiene.blocked else {}),
        **_to_decide(hygiene),
    }


def _to_decide(hygiene: HygieneFindings) -> dict[str, str]:
    """Return what a person has to decide, and how: hygiene itself merges and marks nothing."""
    counted = (
        (len(hygiene.blocked), "save that a similar entry stopped", "saves that a similar entry stopped"),
        (
            len(hygiene.duplicates),
            "group of entries that say nearly the same",
            "groups of entries that say nearly the same",
        ),
        (len(hygiene.drifted), "group of entities of one name", "groups of entities of one name"),
    )
    named = [f"{number} {one if number == 1 else several}" for number, one, several in counted if number]
    if not named:
        return {}
    ways = (
        ["read its `candidate_id`, then save it again with `supersedes` or `distinct_from`"] if hygiene.blocked else []
    )
    if hygiene.duplicates or hygiene.drifted:
        ways.append(
            "let a person type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each entry but the one to keep"
        )
    return {
        "message": f"nothing was merged or changed: a person decides on {' and '.join(named)}",
        "next_step": "; ".join(ways),
    }


# The most alike are enough to begin with.
_PAIRS = 20


def _pair(pair: NearPair) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "similarity": round(pair.share, 2)}


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
