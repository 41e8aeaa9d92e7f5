"""Real clients of the server, in memory and over pipes, with both versions of the protocol."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from builders import environment, open_root
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult
from msgspec.structs import replace

from mdmem.mcp.server import MemoryServer
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.settings import Settings
from mdmem.store.workspace.workspace import Workspace

# In seconds. No call takes as long unless the test makes it late.
PATIENCE = 60
_DEFAULT = Settings().timeout_seconds
# The tools that answer a question, with their arguments.
ASKING: Mapping[str, Mapping[str, str]] = {
    **{tool: {"query": "threads"} for tool in ("search", "retrieve", "memory_surface")},
    "retrieve_context": {"project_id": "nav", "topic": "threads"},
    "context": {"goal": "threads"},
}
# The handshake of the protocol of 2025, and `server/discover` of 2026.
ERAS = ("legacy", "auto")


class StillLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock only the test moves, so that nothing waits and nothing is too slow."""

    now = 0.0

    def time(self) -> float:
        return self.now


class OpenedProvider(Provider):
    """Provides workspaces with the folder, the variables and the day of an open one."""

    def __init__(self, workspace: Workspace) -> None:
        """Store the workspace, whose files are read again at each call."""
        super().__init__(None, environment=workspace.environment, cwd=workspace.cwd, today=lambda: workspace.today)
        self._first = workspace

    def settings(self) -> Settings:
        """Return the settings, with a long time limit unless they state one, since the machine may be busy."""
        stated = super().settings()
        return replace(stated, timeout_seconds=PATIENCE) if stated.timeout_seconds == _DEFAULT else stated


def server_over(
    root: Path | Workspace | Provider,
    *,
    profile: str | None = "all",
    access: Access = EVERYTHING,
    remembers: bool = False,
) -> MemoryServer:
    """Return a server for a root; its index is in the cache, as a user's index is."""
    opened = opened_apart(root) if isinstance(root, Path) else root
    provider = OpenedProvider(opened) if isinstance(opened, Workspace) else opened
    return MemoryServer(provider, profile=profile, access=lambda: access, remembers=remembers)


def opened_apart(root: Path) -> Workspace:
    """Return the workspace of a root, with the private memory next to it instead of the user's data folder."""
    opened = open_root(root)
    return replace(opened, environment={**opened.environment, "XDG_DATA_HOME": str(root.parent / "data")})


def with_client(server: Any, work: Callable[[Client], Awaitable[Any]], *, mode: str = "auto", **options: Any) -> Any:
    """Return the result of a function of a client; fail after a minute."""

    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(server, mode=mode, **options) as client:
                return await work(client)

    return anyio.run(run)


def call(server: Any, tool: str, *, mode: str = "auto", **arguments: Any) -> CallToolResult:

    async def work(client: Client) -> CallToolResult:
        await client.list_tools()
        return await client.call_tool(tool, arguments)

    return with_client(server, work, mode=mode)


def facts(result: CallToolResult) -> Mapping[str, Any]:
    """Return the JSON values of an answer, from its structure or its text; fail for an error."""
    assert not result.is_error, text(result)
    return result.structured_content if result.structured_content is not None else json.loads(text(result))


def asked(server: Any, tool: str, *, mode: str = "auto", **arguments: Any) -> Mapping[str, Any]:
    """Return the JSON values of an answer of a tool that sends text by default."""
    return facts(call(server, tool, mode=mode, format="json", **arguments))


def text(result: CallToolResult) -> str:
    (block,) = result.content
    return block.text


def error(result: CallToolResult) -> str:
    """Return the message of an error."""
    assert result.is_error
    return text(result)


def process(cwd: Path, *arguments: str, **variables: str) -> StdioServerParameters:
    said = environment(XDG_DATA_HOME=str(cwd.parent / "data"), **variables)
    return StdioServerParameters(
        command=sys.executable, args=["-m", "mdmem", "mcp", *arguments], cwd=str(cwd), env=said
    )
