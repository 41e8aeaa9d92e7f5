"""Define the MCP tools; a profile is a named set of tools that the server lists."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.mcp.tools import core, sessions
from mdmem.mcp.tools.tool import Tool
from mdmem.store.settings import Profile

_SESSIONS = {one.name: one for one in vars(sessions).values() if isinstance(one, Tool)}
TOOLS: Mapping[str, Tool] = {one.name: one for one in vars(core).values() if isinstance(one, Tool)} | _SESSIONS

# Clients limit the number of tools, and agents choose badly among many. So a profile has one tool for each occasion.
PROFILES: Mapping[Profile, tuple[str, ...]] = {
    Profile.CORE: ("retrieve", "search", "get_entry", "why", "check", "propose", "context", "remember"),
    Profile.SESSIONS: tuple(_SESSIONS),
    Profile.RESEARCH: ("context", "remember", "synthesis_plan", "search", "get_entry"),
    Profile.TEST: tuple(TOOLS),
}


def tools_of(profile: str) -> tuple[Tool, ...]:
    """Return the tools of a profile, in the order of `TOOLS`; former names of profiles are accepted."""
    names = PROFILES[Profile(profile)]
    return tuple(tool for name, tool in TOOLS.items() if name in names)
