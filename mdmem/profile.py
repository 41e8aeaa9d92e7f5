"""Which tools the MCP server lists."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """A choice of tools: for work on code, for what sessions teach, for gathering and writing, or all of them to test.

    Each but the first has a former name, by which settings and commands still know it.
    """

    CORE = "core"
    SESSIONS = "sessions"
    RESEARCH = "research"
    TEST = "test"

    @classmethod
    def _missing_(cls, value: object) -> Profile | None:
        return cls(FORMER_PROFILES[value]) if isinstance(value, str) and value in FORMER_PROFILES else None


FORMER_PROFILES = {"graphbase": "sessions", "sibyl": "research", "all": "test"}
