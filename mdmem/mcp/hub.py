"""Answer tool calls from a hub: a search over all repositories, or any reading tool on the copy of one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.hub.connection import Limits, open_hub, transaction
from mdmem.hub.copy import CopyKey, CopyWorkspace, copy_key, load_copy
from mdmem.mcp.calls import Page, ToolCall, with_remarks
from mdmem.mcp.tools.hub import OVER_ALL, OpenedHub
from mdmem.mcp.tools.shape import AT, EVERYWHERE, REPOSITORY, Facts, ToolResult

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection

_LIMITS = Limits(connect=3, statement=3, total=10)
# Each is a few KB per file.
_MOST_COPIES = 8


class HubAnswers:
    """Opens the hub for each call, as its caller is granted at that moment; the last copies stay loaded.

    Without a repository the clone answers. A caller who sees only some wings of the clone cannot ask the hub.
    """

    def __init__(
        self, dsn: str, token: str | None, *, environment: Mapping[str, str], today: Callable[[], date]
    ) -> None:
        """Take the place of the hub and the token; nothing is opened yet."""
        self._dsn, self._token, self._environment, self._today = dsn, token, environment, today
        self._copies: OrderedDict[tuple[CopyKey, date], CopyWorkspace] = OrderedDict()
        self._turn = threading.Lock()

    def page(self, asked: ToolCall, of_clone: Callable[[ToolCall], Facts | ToolResult]) -> Page:
        """Return the page of a tool's answer; raises NotFoundError for a repository that the hub does not show."""
        asked, named = _with_repository(asked)
        is_over_all = asked.tool.name in OVER_ALL
        if named is None and not is_over_all:
            return asked.page(of_clone(asked))
        if asked.access.is_narrow or asked.arguments.get(AT) is not None:
            raise UsageError("the hub is for callers who see every wing, and has one commit of each; leave out `at`")
        if is_over_all:
            repositories = () if named is None or named == EVERYWHERE else (named,)
            with self._opened() as connection, transaction(connection, is_snapshot=True) as cursor:
                return asked.page(asked.tool.call(OpenedHub(cursor, repositories), **asked.tool_arguments))
        if named is None or named == EVERYWHERE:
            raise UsageError("`repository` takes one name; `hub_search` searches all of them and names those to ask")
        copy = self._copy(named)
        # The session remembers entries of this memory by their addresses, which may be the same there.
        answer = replace(asked, shown={}).run(copy)
        return replace(asked.page(with_remarks(answer, copy.snapshot.remarks)), shown={})

    @contextmanager
    def _opened(self) -> Iterator[HubConnection]:
        with open_hub(self._dsn, self._token, limits=_LIMITS) as connection:
            yield connection

    def _copy(self, name: str) -> CopyWorkspace:
        """Return the copy of a repository, the one of an earlier call if its caller sees the same rows of it."""
        with self._opened() as connection, transaction(connection, is_snapshot=True) as cursor:
            today = self._today()
            key = (copy_key(cursor, name), today)
            with self._turn:
                known = self._copies.get(key)
                if known is not None:
                    self._copies.move_to_end(key)
                    return known
            loaded = load_copy(cursor, key[0], environment=self._environment, today=today)
        # A first index of many entries takes longer than a call may: until it is complete, titles answer.
        made = replace(loaded, is_timed=True)
        with self._turn:
            self._copies[key] = made
            while len(self._copies) > _MOST_COPIES:
                self._copies.popitem(last=False)
        return made


def _with_repository(asked: ToolCall) -> tuple[ToolCall, str | None]:
    """Return a call and the repository that it asks, from its argument or from addresses as `REPOSITORY:ADDRESS`."""
    named = asked.arguments.get(REPOSITORY)
    stated = asked.arguments.get("address")
    addresses = [stated] if isinstance(stated, str) else list(stated or ())
    split = [one.strip().rpartition(":") for one in addresses]
    names = {name for name, colon, _ in split if colon}
    if not names:
        return asked, named
    if len(names | ({named} - {None})) > 1 or not all(colon for _, colon, _ in split):
        raise UsageError("the addresses are of several repositories; ask one repository at a time")
    plain: Any = [address for *_, address in split]
    arguments = {**asked.arguments, "address": plain[0] if isinstance(stated, str) else plain}
    return replace(asked, arguments=arguments), names.pop()
