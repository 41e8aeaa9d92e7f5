"""What a new entry starts with, by type; text in angle brackets is there to be replaced."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.entry.model import EntryType

BODIES: Mapping[EntryType, str] = {
    EntryType.INVARIANT: """\
<State the rule in one sentence with must or must not.>

Rationale: <say what breaks when it is violated.>
""",
    EntryType.DECISION: """\
<State what was decided in one sentence.>

Rationale: <say why, and what was turned down.>
""",
    EntryType.PATTERN: """\
<Say which problem this solves, then how.>

1. <First step.>
2. <Second step.>
""",
    EntryType.NOTE: """\
<State the fact, and where it was learned.>
""",
}
PLACEHOLDERS: frozenset[str] = frozenset(part.split(">")[0] for body in BODIES.values() for part in body.split("<")[1:])
