"""Calls of tools, each in a thread and on a workspace of its own, from the client's arguments to a page of the answer.

No call holds up another, one that reads is given up in time, and no exception gets past `Calls.call`.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, Protocol, TypeVar

import anyio
from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.ask.fallback import outside
from mdmem.ask.given import is_given
from mdmem.errors import (
    EnvironmentFaultError,
    MdmemError,
    NotFoundError,
    RootNotFoundError,
    SettingsError,
    UsageError,
    shown_message,
)
from mdmem.mcp.answers import plain, spare, written_out
from mdmem.mcp.pages import VIEW, Page, json_line, page_of, text_page_of
from mdmem.mcp.session import NOTHING, Given, Session
from mdmem.mcp.tools.shape import AT, JSON_FORM, REPOSITORY, Facts, Told, Tool
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access
from mdmem.reply import replying
from mdmem.store.workspace.deadline import OverdueError, within
from mdmem.store.workspace.remarks import note_told
from mdmem.store.workspace.workspace import Workspace

log = logging.getLogger("mdmem.mcp")

_Result = TypeVar("_Result")
# A write's answer has no second page.
_WHOLE = 40_000
_TRIES = 2
# So many calls are worked on at once: Python runs one thread at a time, and more of them would only pass each other's
# time limits. Who writes may wait for a lock, and holds up nobody who reads.
_AT_ONCE = 4
# Advice for the caller, by the cause of a refusal.
_MEND_CALL = "mend the call and repeat it"
_MEND_MEMORY = "the call is not at fault: tell a person, go on without the memory, and call again once it is mended"


class Limits(Struct, frozen=True):
    """The limits of a call by the settings: seconds for one try, and bytes of the answer."""

    seconds: float = 5
    bytes: int = 24_000


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call: the tool, its arguments without those of the page, who calls, and within which limits."""

    tool: Tool
    arguments: Mapping[str, Any]
    cursor: str | None
    form: str | None
    access: Access
    limits: Limits
    given: Given

    @property
    def of_tool(self) -> dict[str, Any]:
        """Return the arguments of the tool's function: not those that say which files are meant."""
        return {name: value for name, value in self.arguments.items() if name not in (AT, REPOSITORY)}

    @property
    def standing(self) -> dict[str, Any]:
        """Return what the tool's function takes beside its arguments: what was given before, the form of the answer."""
        known = {"given": self.given, "form": self.form}
        return {name: value for name, value in known.items() if name in self.tool.takes}

    def carried_out(self, workspace: Workspace) -> Facts | Told:
        """Return the answer of the tool of a workspace."""
        return self.tool.call(workspace, **self.of_tool, **self.standing)

    def page(self, answer: Facts | Told) -> Page:
        """Return the page of an answer that is asked for; with the last one all of it is given."""
        tool = self.tool
        asked = json.dumps([tool.name, self.form, dict(self.arguments)], default=str)
        limit = max(self.limits.bytes, _WHOLE) if tool.writes else self.limits.bytes
        if tool.answers is None and self.form != JSON_FORM:
            told = answer.text() if isinstance(answer, Told) and answer.text else tool.tell(self._spared(answer))
            page = text_page_of(written_out(told), limit=limit, asked=asked, cursor=self.cursor)
        else:
            page = page_of(
                self._spared(answer),
                limit=limit,
                show=partial(_shown, tool),
                asked=asked,
                cursor=self.cursor,
                binds=tool.binds,
                has_more=not tool.writes,
            )
        return replace(page, gave=answer.gave) if isinstance(answer, Told) and page.is_last else page

    def _spared(self, answer: Facts | Told) -> Facts:
        facts = answer.facts() if isinstance(answer, Told) else answer
        kept = {*self.tool.kept, *(self.tool.answers or ())}
        spared: Facts = spare(plain(facts), kept=kept, noise=self.tool.noise)
        return spared


class OtherMemories(Protocol):
    """A hub, which answers in the place of the root's own files, or beside them."""

    def page(self, asked: ToolCall, of_clone: Callable[[ToolCall], Facts | Told]) -> Page:
        """Return the page of a tool's answer; `of_clone` answers of the root's own files, where the hub does not."""
        ...


class Calls:
    """Carries calls out in threads, each on a workspace of its own."""

    def __init__(self, provider: Provider, session: Session | None = None, hub: OtherMemories | None = None) -> None:
        """Take what opens the workspaces, the session of the one client where there is one that stays, and a hub."""
        self._provider, self._session, self._hub = provider, session, hub
        self._readers, self._writers = anyio.CapacityLimiter(_AT_ONCE), anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, tool: Tool, given: Mapping[str, Any], access: Access) -> Page:
        """Return the page that a call asks for, or one that says why there is none."""
        try:
            arguments = tool.arguments.read(given)
            cursor, form = arguments.pop("cursor", None), arguments.pop("format", None)
            is_fresh = arguments.pop("fresh", False)
            asked = ToolCall(
                tool=tool,
                arguments=arguments,
                cursor=cursor,
                form=form,
                access=access,
                limits=await self.in_thread(self.limits),
                given=NOTHING if self._session is None or is_fresh else self._session.given,
            )
            async with self._writers if tool.writes else self._readers:
                with replying() as reply:
                    page = await self._answer(asked)
                # A client that goes before its answer cancels this call, and may send it again.
                reply.has_left()
        except MdmemError as error:
            is_of_call = isinstance(error, (UsageError, NotFoundError)) and not isinstance(error, RootNotFoundError)
            return _refusal(tool, str(error), _MEND_CALL if is_of_call else _MEND_MEMORY)
        except OSError as error:
            return _refusal(tool, system_refusal(error), _MEND_MEMORY)
        except Exception as error:  # the boundary: what a fault of ours says is not for the caller
            log.exception("%s failed", tool.name)
            fault = type(error).__name__
            return _refusal(tool, f"a fault of mdmem itself ({fault}); the server's log on stderr has it", _MEND_MEMORY)
        if self._session is not None:
            self._session.give(page.gave)
        return page

    async def _answer(self, asked: ToolCall) -> Page:
        """Return a tool's page; one that reads falls back where its files cannot be read, or not in time."""
        tool, limits = asked.tool, asked.limits
        if tool.fall_back is None:
            return await self.in_thread(partial(self._page, asked))
        tries, seconds = (1, _TRIES * limits.seconds + 1) if tool.keeps_time else (_TRIES, limits.seconds)
        for _ in range(tries):
            with anyio.move_on_after(seconds):
                try:
                    return await self.in_thread(partial(self._page, asked))
                except OverdueError:
                    continue
                except (EnvironmentFaultError, SettingsError, RootNotFoundError) as error:
                    why = str(error)
                except OSError as error:
                    why = _why(error)
                # An agent goes on without its memory then.
                return asked.page(tool.fall_back("failed", why, asked.arguments))
        said = f"no answer within {limits.seconds:g} s, tried {_TRIES} times; go on without the memory, or call again"
        beside: Facts = {}
        with anyio.move_on_after(limits.seconds):
            beside = await self.in_thread(partial(self._outside, asked))
        said += "; what stands under `fallback` is from outside the memory and binds nobody" if beside else ""
        return asked.page({**tool.fall_back("timed_out", said, asked.arguments), **beside})

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of work that may block; whoever is cancelled leaves it to itself.

        The thread is a daemon: one that hangs cannot keep the process alive. Those of anyio and of asyncio can.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def deliver(setter: Callable[[Any], None], value: Any) -> None:
            # Where nobody waits any more, or the loop has ended, the result is dropped.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if future.done() else setter(value))

        def run() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
                deliver(future.set_exception, error)
            else:
                deliver(future.set_result, result)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), daemon=True).start()
        return await future

    async def on_memory(self, work: Callable[[Workspace], _Result], access: Access) -> _Result:
        """Return the result of work on a workspace of its own; raises EnvironmentFaultError past its time."""
        seconds = (await self.in_thread(self.limits)).seconds
        with anyio.move_on_after(seconds), contextlib.suppress(OverdueError):
            # Whoever goes on past the limit, for nobody, is stopped at the next file.
            return await self.in_thread(
                lambda: work(within(self._provider.workspace(access), seconds, clock=monotonic))
            )
        raise EnvironmentFaultError(f"no answer within {seconds:g} s; ask again")

    def limits(self) -> Limits:
        """Return the limits of a call by the settings as they are now."""
        try:
            settings = self._provider.settings()
        except (MdmemError, OSError):
            return Limits()
        return Limits(settings.timeout_seconds, settings.answer_limit)

    def _page(self, asked: ToolCall) -> Page:
        if self._hub is None or not asked.tool.asks_hub:
            return asked.page(self._told(asked))
        return self._hub.page(asked, self._told)

    def _told(self, asked: ToolCall) -> Facts | Told:
        """Return a tool's answer of the root's own files."""
        tool = asked.tool
        try:
            workspace = self._provider.workspace(asked.access).as_of(asked.arguments.get(AT))
        except RootNotFoundError as error:
            if tool.rootless is None or self._provider.is_named:
                raise
            return tool.rootless(self._provider.cwd, str(error), **asked.of_tool)
        if tool.fall_back is not None and not tool.keeps_time:
            workspace = within(workspace, asked.limits.seconds, clock=monotonic)
        answer = asked.carried_out(workspace)
        if isinstance(answer, Told):
            # For whoever asks how often the memory is used.
            note_told(workspace, "server", tuple(one for one, known in answer.gave.items() if is_given(known)))
        return remarked(answer, workspace.snapshot.remarks)

    def _outside(self, asked: ToolCall) -> Facts:
        """Return a few lines from outside the memory, for whoever has to go on without it."""
        said = (asked.arguments.get(name) for name in asked.tool.asks)
        words = " ".join(word for one in said for word in ([one] if isinstance(one, str) else one or ()))
        if words:
            with contextlib.suppress(MdmemError, OSError):
                workspace = self._provider.workspace(asked.access)
                # To tell the wings from other folders of a repository's top, the memory would have to be read.
                found = outside(workspace, words) if workspace.location.under else ()
                return {"fallback": [asdict(one) for one in found]} if found else {}
        return {}


def remarked(answer: Facts | Told, remarks: Sequence[str], stated: Facts | None = None) -> Facts | Told:
    """Return an answer with remarks on the files that it is of, as text and as facts."""
    if not remarks:
        return answer
    said = {AT: list(remarks)} if stated is None else stated
    if isinstance(answer, Told):
        text, facts = answer.text, answer.facts
        more = None if text is None else lambda: "\n\n".join([text(), *remarks])
        return replace(answer, text=more, facts=lambda: {**facts(), **said})
    return {**answer, AT: list(remarks), **said}


def system_refusal(error: OSError) -> str:
    """Return the system's reason without the path, which may lie in what the caller does not see."""
    return f"the system refuses: {_why(error)}"


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _refusal(tool: Tool, said: str, advice: str) -> Page:
    # The verbs say this to whoever types a command.
    said = said.replace("name one with --wing", "name one as `wing` or `project`")
    sentence = shown_message(said if said.startswith(tool.name) else f"{tool.name}: {said}")
    page = Page(sentence) if tool.refuse is None else _shown(tool, plain(tool.refuse(sentence, advice)))
    return replace(page, is_error=True)


def _shown(tool: Tool, facts: Facts) -> Page:
    """Return the facts of a page in the forms in which the tool sends them."""
    if tool.answers is None:
        return Page(json_line(facts))
    text = written_out(tool.tell(facts))
    return Page(text, {**facts, VIEW: text} if VIEW in tool.answers else facts)
