"""Every tool, and which of them each profile lists."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.mcp.tools.context import CONTEXT
from mdmem.mcp.tools.contract import CONTRACT
from mdmem.mcp.tools.core import CORE
from mdmem.mcp.tools.hub import BESIDE, OF_HUB
from mdmem.mcp.tools.lifecycle import LIFECYCLE
from mdmem.mcp.tools.saving import SAVING
from mdmem.mcp.tools.shape import Facts, Tool
from mdmem.store.settings import Profile

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*CORE, *LIFECYCLE, *CONTEXT, *CONTRACT, *SAVING)}

# Clients limit how many tools they take, and agents lose their way among many: no two of a profile are for one moment.
PROFILES: Mapping[Profile, tuple[str, ...]] = {
    Profile.CORE: ("retrieve", "search", "get_entry", "why", "check", "propose", "context", "remember"),
    Profile.SESSIONS: tuple(tool.name for tool in (*CONTRACT, *SAVING)),
    Profile.RESEARCH: ("context", "remember", "synthesis_plan", "search", "get_entry"),
    Profile.TEST: tuple(TOOLS),
}


def tools_of(profile: str, *, has_hub: bool = False) -> tuple[Tool, ...]:
    """Return the tools that a profile lists, in the order of the table; a former name is one, too.

    With a hub, those that read take a repository, and there are two more.
    """
    names = PROFILES[Profile(profile)]
    table = TOOLS
    if has_hub:
        table = {**TOOLS, **OF_HUB}
        names = (*names, *BESIDE) if Profile(profile) in (Profile.CORE, Profile.TEST) else names
    return tuple(tool for name, tool in table.items() if name in names)


def listed_in(profile: str, *, has_hub: bool = False) -> list[Facts]:
    """Return the tools of a profile as the protocol lists them."""
    return [tool.listed() for tool in tools_of(profile, has_hub=has_hub)]
