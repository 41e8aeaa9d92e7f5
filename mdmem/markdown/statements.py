"""What the fields of an entry say beside its body."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.model.entry import Entry, EntryType


def stated_fields(entry: Entry) -> list[str]:
    """Return what the fields of an entry say beside its body; empty ones among them."""
    if entry.type is EntryType.PATTERN:
        return [
            f"When: {entry.trigger}" if entry.trigger else "",
            "\n".join(f"{number}. {step}" for number, step in enumerate(entry.repeatable_steps, 1)),
            _bullets("Not when:", entry.exclusions),
        ]
    relations = tuple(f"{relation.type} {relation.to}" for relation in entry.relations)
    return [
        f"Objective: {entry.objective}" if entry.objective else "",
        _bullets("Done:", entry.actions_taken),
        _bullets("Decided:", entry.decisions_made),
        _bullets("Open:", entry.open_items),
        _bullets("Next:", entry.next_actions),
        _bullets("Relations:", relations),
    ]


def _bullets(head: str, items: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else ""
