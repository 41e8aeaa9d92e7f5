"""The initial body of a new entry of each type, and the optional keys that the editor shows as comments."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.model.entry import EntryType

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
# The editor shows these comments. Unchanged comments are removed when the entry is saved.
HINTS = """\
# applies_to: ["src/**"]
# owner: a team or a person
# tags: [a, b]
# supersedes: [wing/room/entry-id]
# reason: why it supersedes; `mdmem guide fields` explains every key
"""


def with_hints(text: str) -> str:
    """Return the text of a new entry with the optional keys as comments."""
    front, fence, body = text.partition("\n---\n")
    return f"{front}\n{HINTS.rstrip()}{fence}{body}"


def without_hints(text: str) -> str:
    """Return a text without the comments of `with_hints` that nobody changed."""
    hints = HINTS.splitlines()
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in hints)


# The placeholder that a person has to replace with a reason.
REASON = "<say why>"
PLACEHOLDERS: frozenset[str] = frozenset(
    part.split(">")[0] for text in (*BODIES.values(), REASON) for part in text.split("<")[1:]
)
