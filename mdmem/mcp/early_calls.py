"""Questions that come before the protocol's SDK is imported, which takes longer than to answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mdmem.access import Access
from mdmem.mcp.page import Page
from mdmem.mcp.session import Session
from mdmem.mcp.tool_call import RefusedError, ToolCalls, refusing
from mdmem.mcp.tools.shape import Tool
from mdmem.mcp.workspaces import Provider

if TYPE_CHECKING:
    from mdmem.mcp.handshake import Facts
    from mdmem.workspace.workspace import Workspace


class EarlyCalls(ToolCalls):
    """Calls of the one client of a process to tools that may be given up: they can be left to the SDK at any time.

    `found_index` says that a question found the index as it should be.
    """

    found_index = False

    def __init__(self, provider: Provider, session: Session, tools: Sequence[Tool], access: Access) -> None:
        """Take what opens the workspaces, the client's session, which tools are listed, and what it may see."""
        super().__init__(provider, session)
        self._given_to, self._access = session, access
        self._tools = {tool.name: tool for tool in tools if tool.fall_back is not None}

    def result(self, name: str, given: Mapping[str, Any]) -> tuple[Facts, Callable[[], None]] | None:
        """Return a tool's answer as the protocol has it, and what is to be done once it is sent.

        None where it is left to the SDK, as is a question for which the index has to be built: that takes long, and
        whoever waits is told how far it is.
        """
        tool = self._tools.get(name)
        if tool is None:
            return None
        try:
            with refusing(tool):
                page = self._or_fallen_back(self._asked(tool, given, self._access, self._limits()))
        except RefusedError as refusal:
            return _result(refusal.page or Page(str(refusal)), is_error=True), lambda: None
        return None if page is None else (_result(page), partial(self._given_to.give, page.gave))

    def _fit(self, workspace: Workspace) -> Workspace:
        from mdmem.workspace.deadline import OverdueError

        # Without that folder, as in a new clone, every file would have to be read first to tell.
        if not workspace.index_folder.is_dir() or workspace.index.is_behind(live=workspace.catalog.digests):
            raise OverdueError
        self.found_index = self.found_index or workspace.snapshot.is_working_tree
        return workspace


def _result(page: Page, *, is_error: bool = False) -> Facts:
    content = {"content": [{"text": page.text, "type": "text"}], "isError": is_error}
    return content if page.facts is None else {**content, "structuredContent": page.facts}
