"""Run tool calls: parse the arguments of a client, call the tool, and return one page of the answer.

Each call has its own thread and workspace, so that calls do not block each other. Reading calls have a time limit.
`Calls.call` returns an answer even if there is an exception.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis
from mdmem.ask.fallback import basis_without_root, lines_outside
from mdmem.errors import (
    EnvironmentFaultError,
    MdmemError,
    NotFoundError,
    RootNotFoundError,
    SettingsError,
    UsageError,
    shown_message,
    system_message,
    try_call,
)
from mdmem.mcp.answers import LARGEST, json_line, page_of, plain, safe_text, text_page_of, without_noise
from mdmem.mcp.tools.tool import AT, JSON_FORM, REPOSITORY, Facts, Shown, Tool, ToolResult
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access
from mdmem.store.settings import Settings
from mdmem.store.tree import DeadlineError
from mdmem.store.workspace.workspace import count_shown

log = logging.getLogger("mdmem.mcp")

_Result = TypeVar("_Result")
_TRIES = 2
# The most calls that run at the same time. Python runs one thread at a time, so with more calls, each would take too
# long. Writing calls have a limit of their own, since they may wait for a lock.
_AT_ONCE = 4
# Advice for the caller if the call is wrong, and if the memory cannot be read.
_FIX_CALL = "fix the call and repeat it"
_FIX_MEMORY = "the call is correct: tell a person, go on without the memory, and call again when it is repaired"


class FaultError(MdmemError):
    """A bug of mdmem in a tool call. The message has no text of the exception, since that may be secret."""


class Page(Struct, frozen=True):
    """One page of an answer, with JSON values if a contract fixes them; `shown` notes the entries on the page."""

    text: str
    facts: Facts | None = None
    is_error: bool = False
    shown: Shown = field(default_factory=dict)


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call of a tool. `arguments` has all arguments except `cursor`, `format` (stored as `form`) and `fresh`.

    `shown` records which version and parts of each entry this session has already seen.
    """

    tool: Tool
    arguments: Mapping[str, Any]
    cursor: str | None
    form: str | None
    access: Access
    settings: Settings
    shown: Shown

    def run(self, source: Any) -> ToolResult:
        """Return the tool's answer from a workspace, or from an open hub if the tool searches all repositories."""
        # `at` and `repository` choose the workspace.
        arguments = {name: value for name, value in self.arguments.items() if name not in (AT, REPOSITORY)}
        arguments |= {"shown": self.shown} if self.tool.takes_shown else {}
        return as_result(self.tool.call(source, **arguments))

    def page(self, result: Facts | ToolResult) -> Page:
        """Return the page of an answer that the call requests with its cursor; raises UsageError for a stale cursor."""
        tool, answer = self.tool, as_result(result)
        request = json.dumps([tool.name, self.form, dict(self.arguments)], default=str)
        # The answer to a write has no second page.
        limit = max(self.settings.answer_limit, LARGEST) if tool.writes else self.settings.answer_limit
        if answer.text and not tool.answer_types and self.form != JSON_FORM:
            text, is_last = text_page_of(safe_text(answer.text()), limit=limit, request=request, cursor=self.cursor)
            page = Page(text)
        else:
            values = plain(answer.facts())
            if tool.view is not None:
                # The Markdown is rendered for each page.
                values.pop("markdown", None)
            facts = without_noise(values, kept={*tool.kept, *tool.answer_types}, noise=tool.noise)
            facts, is_last = page_of(facts, limit=limit, request=request, cursor=self.cursor, has_more=not tool.writes)
            page = _page_with(tool, facts)
        # Entries count as shown when the last page is returned.
        return replace(page, shown=answer.shown) if is_last else page


AnswerOfRoot = Callable[[ToolCall], ToolResult]
AnswerOfHub = Callable[[ToolCall, AnswerOfRoot], ToolResult]
"""Returns a tool's answer from a hub, or from the local root if the call has no repository."""


class Calls:
    """Runs tool calls in threads, each with its own workspace.

    With `remembers`, the server has a single client. An entry that the client has seen is shown as one line until it
    changes.
    """

    def __init__(self, provider: Provider, of_hub: AnswerOfHub | None = None, *, remembers: bool = False) -> None:
        """Store the provider of workspaces, and a function that answers for the other repositories of a hub."""
        self._provider, self._of_hub, self._remembers = provider, of_hub, remembers
        self._shown: Shown = {}
        self._readers, self._writers = anyio.CapacityLimiter(_AT_ONCE), anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, tool: Tool, sent: Mapping[str, Any], access: Access) -> Page:
        """Run a tool and return the requested page of its answer, or a page with an error message."""
        try:
            call = await self.in_thread(partial(self._parse, tool, sent, access))
            async with self._writers if tool.writes else self._readers:
                page = await self._answer(call)
        except (MdmemError, OSError) as error:
            is_of_call = isinstance(error, (UsageError, NotFoundError)) and not isinstance(error, RootNotFoundError)
            return _refusal(tool, _message_of(error), _FIX_CALL if is_of_call else _FIX_MEMORY)
        if self._remembers:
            self._shown = {**self._shown, **page.shown}
        return page

    def _parse(self, tool: Tool, sent: Mapping[str, Any], access: Access) -> ToolCall:
        arguments = tool.parse(sent)
        return ToolCall(
            tool=tool,
            cursor=arguments.pop("cursor", None),
            form=arguments.pop("format", None),
            arguments=arguments,
            access=access,
            settings=self._provider.settings(),
            shown={} if arguments.pop("fresh", False) else self._shown,
        )

    async def _answer(self, call: ToolCall) -> Page:
        """Return the page of a tool's answer, or a reading tool's fallback if the memory cannot be read (in time)."""
        tool, limit = call.tool, call.settings.timeout_seconds
        if tool.fall_back is None:
            return await self.in_thread(partial(self._page, call))
        status = "timed_out"
        message = f"no answer within {limit:g} s, tried {_TRIES} times; go on without the memory, or call again"
        try:
            for _ in range(_TRIES):
                with anyio.move_on_after(limit), contextlib.suppress(DeadlineError):
                    return await self.in_thread(partial(self._page, call))
        except (EnvironmentFaultError, SettingsError, RootNotFoundError, OSError) as error:
            status, message = "failed", _message_of(error)
        outside: Facts = {}
        with anyio.move_on_after(limit):
            outside = await self.in_thread(partial(self._find_outside, call))
        if outside.get("fallback"):
            message += "; the lines under `fallback` are from outside the memory, and are no rules"
        facts = {**tool.fall_back(status, message, call.arguments), **outside}
        return await self.in_thread(partial(call.page, facts))

    def _find_outside(self, call: ToolCall) -> Facts:
        """Return a few lines from outside the memory, for an agent that has to go on without it."""
        values = (call.arguments.get(name) for name in call.tool.asks)
        words = " ".join(word for one in values for word in ([one] if isinstance(one, str) else one or ()))
        try:
            workspace = self._provider.workspace(call.access)
            # If the memory is the repository's top folder, its wings are unknown without reading the memory.
            found = lines_outside(workspace, words) if workspace.location.under else ()
            return AnswerBasis(fallback=found).as_json("fallback")
        except RootNotFoundError as error:
            if words and not self._provider.is_named:
                return basis_without_root(self._provider.cwd, words, error).as_json("fallback", "source")
        except (MdmemError, OSError):
            pass
        return {}

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Run a function that may block in a thread, and return its result; an unexpected exception is a FaultError.

        If the caller is cancelled, the function continues to run. The thread is a daemon, unlike threads of anyio and
        asyncio, so that a hanging thread does not keep the process alive.
        """
        future: Future[_Result] = Future()
        # Without this, setting the result would fail in a thread whose caller was cancelled.
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result: _Result | BaseException = try_call(work)
            except (DeadlineError, SystemExit) as ended:
                result = ended
            if not isinstance(result, BaseException):
                future.set_result(result)
                return
            if not isinstance(result, (MdmemError, OSError, DeadlineError)):
                log.error("a call failed", exc_info=result)
                name = type(result).__name__
                result = FaultError(f"a fault of mdmem itself ({name}); the server's log on stderr has it")
            future.set_exception(result)

        threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
        return await asyncio.wrap_future(future)

    def _page(self, call: ToolCall) -> Page:
        if self._of_hub is not None and call.tool.asks_hub:
            return call.page(self._of_hub(call, self._answer_of_root))
        return call.page(self._answer_of_root(call))

    def _answer_of_root(self, call: ToolCall) -> ToolResult:
        workspace = self._provider.workspace(call.access).as_of(call.arguments.get(AT))
        if call.tool.fall_back is not None:
            workspace = workspace.within(call.settings.timeout_seconds, clock=monotonic)
        answer = call.run(workspace)
        # Recorded for the usage count in `mdmem status`.
        count_shown(workspace, "server", tuple(one for one in answer.shown if one != "/"))
        return with_remarks(answer, workspace.snapshot.remarks)


def as_result(answer: Facts | ToolResult) -> ToolResult:
    """Return an answer as a `ToolResult`; plain JSON values become a result without text."""
    return answer if isinstance(answer, ToolResult) else ToolResult(lambda: answer)


def with_remarks(answer: ToolResult, remarks: Sequence[str]) -> ToolResult:
    """Add remarks about the answer's commit to an answer: below its text, and under `at` in its JSON."""
    text, facts = answer.text, answer.facts
    more = None if text is None else lambda: "\n\n".join([text(), *remarks])
    return replace(answer, text=more, facts=lambda: {**facts(), AT: list(remarks)}) if remarks else answer


def _message_of(error: MdmemError | OSError) -> str:
    return system_message(error) if isinstance(error, OSError) else str(error)


def _refusal(tool: Tool, why: str, advice: str) -> Page:
    # Messages mention options of the command line, which a tool does not have.
    why = why.replace("name one with --wing", "name one as `wing` or `project`")
    sentence = shown_message(why if why.startswith(tool.name) else f"{tool.name}: {why}")
    page = Page(sentence) if tool.refuse is None else _page_with(tool, plain(tool.refuse(sentence, advice)))
    return replace(page, is_error=True)


def _page_with(tool: Tool, facts: Facts) -> Page:
    """Return a page with the JSON values of an answer, and with Markdown if the tool has a Markdown view."""
    if tool.view is not None:
        text = safe_text(tool.view(facts))
        return Page(text, {**facts, "markdown": text})
    return Page(json_line(facts), facts if tool.answer_types else None)
