"""The lists that a client asks for first, as plain values: they wait for nothing that the protocol's SDK needs."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from mdmem.errors import MdmemError

if TYPE_CHECKING:
    from mdmem.access import Access
    from mdmem.mcp.handshake import Facts, Lists
    from mdmem.mcp.workspaces import Provider

# Seconds for reading a memory; one that takes longer is left to the SDK's own threads.
_SECONDS = 1.0


def early_lists(provider: Provider, tools: Sequence[Facts], access: Access) -> Lists:
    """Return what gives each list to the one client of a process."""
    return {"tools": lambda: tools, "prompts": _prompts, "resources": lambda: _resources(provider, access)}


def _prompts() -> list[Facts]:
    from mdmem.mcp.prompts import PROMPTS

    return [one.listed() for one in PROMPTS.values()]


def _resources(provider: Provider, access: Access) -> list[Facts] | None:
    from mdmem.mcp.resources import fixed, of_memory
    from mdmem.workspace.deadline import OverdueError, within

    listed = list(fixed())
    try:
        listed += of_memory(within(provider.workspace(access), _SECONDS, clock=monotonic))
    except (MdmemError, OSError):
        # As later: a client that lists what there is must not fail for a memory that is not there yet.
        pass
    except OverdueError:
        return None
    return [one.listed() for one in listed]
