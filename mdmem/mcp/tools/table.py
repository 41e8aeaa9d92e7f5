"""Every tool, and which of them each profile lists."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.mcp.tools.context import SIBYL
from mdmem.mcp.tools.contract import GRAPHBASE
from mdmem.mcp.tools.core import NATIVE
from mdmem.mcp.tools.lifecycle import REVIEW
from mdmem.mcp.tools.saving import SAVING
from mdmem.mcp.tools.shape import Tool

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*NATIVE, *REVIEW, *SIBYL, *GRAPHBASE, *SAVING)}

# Clients limit how many tools they take, and agents lose their way among many.
PROFILES: Mapping[str, tuple[str, ...]] = {
    "core": ("retrieve", "search", "get_entry", "why", "check", "propose", "context", "remember"),
    "graphbase": tuple(tool.name for tool in (*GRAPHBASE, *SAVING)),
    "sibyl": ("context", "remember", "synthesis_plan", "search", "get_entry"),
    "all": tuple(TOOLS),
}


def tools_of(profile: str) -> tuple[Tool, ...]:
    """Return the tools that a profile lists, in the order of the table."""
    names = PROFILES[profile]
    return tuple(tool for name, tool in TOOLS.items() if name in names)
