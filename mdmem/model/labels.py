"""The contracts' words for what an entry is."""

from __future__ import annotations

from enum import StrEnum

from mdmem.model.entry import Entry, EntryType


class NodeLabel(StrEnum):
    """What the contracts call the kinds of entries: our four types, and three notes that they tell apart."""

    DECISION = "Decision"
    PATTERN = "Pattern"
    CONTEXT = "Context"
    SESSION = "Session"
    ENTITY_FACT = "EntityFact"
    INVARIANT = "Invariant"
    NOTE = "Note"

    @property
    def type(self) -> EntryType:
        """Return the type of every entry that bears this label."""
        return _TYPES.get(self, EntryType.NOTE)


_TYPES = {
    NodeLabel.DECISION: EntryType.DECISION,
    NodeLabel.PATTERN: EntryType.PATTERN,
    NodeLabel.INVARIANT: EntryType.INVARIANT,
}
_BY_TYPE = {kind: label for label, kind in _TYPES.items()}
_NOTES = {"context": NodeLabel.CONTEXT, "session": NodeLabel.SESSION, "entity": NodeLabel.ENTITY_FACT}


def label_of(entry: Entry) -> NodeLabel:
    """Return the contracts' label of an entry; a note that they do not tell apart is a `Note`."""
    return _BY_TYPE.get(entry.type) or _NOTES.get(entry.label or "", NodeLabel.NOTE)
