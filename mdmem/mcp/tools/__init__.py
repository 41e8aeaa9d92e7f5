"""Define the MCP tools; a profile is a named set of tools that the server lists."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.mcp.tools.core import CONTEXT, CORE
from mdmem.mcp.tools.sessions import SAVING, SESSIONS
from mdmem.mcp.tools.tool import Tool
from mdmem.store.settings import Profile

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*CORE, *CONTEXT, *SESSIONS, *SAVING)}

# Clients limit the number of tools, and agents choose badly among many. So a profile has one tool for each occasion.
PROFILES: Mapping[Profile, tuple[str, ...]] = {
    Profile.CORE: ("retrieve", "search", "get_entry", "why", "check", "propose", "context", "remember"),
    Profile.SESSIONS: tuple(tool.name for tool in (*SESSIONS, *SAVING)),
    Profile.RESEARCH: ("context", "remember", "synthesis_plan", "search", "get_entry"),
    Profile.TEST: tuple(TOOLS),
}


def tools_of(profile: str) -> tuple[Tool, ...]:
    """Return the tools of a profile, in the order of `TOOLS`; former names of profiles are accepted."""
    names = PROFILES[Profile(profile)]
    return tuple(tool for name, tool in TOOLS.items() if name in names)
