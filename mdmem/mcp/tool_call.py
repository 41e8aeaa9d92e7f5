"""One call of a tool, from what the client sent to a page of its answer; no exception of any kind gets past it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.access import Access
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
from mdmem.retrieval.fallback import outside
from mdmem.retrieval.given import is_given
from mdmem.workspace.consultations import note_told
from mdmem.workspace.deadline import OverdueError, within
from mdmem.workspace.workspace import Workspace

log = logging.getLogger("mdmem.mcp")

# A write's answer has no second page.
_WHOLE = 40_000
# What the verbs say to whoever types a command.
_WORDS = (("name one with --wing", "name one as `wing` or `project`"),)
FAILED, TIMED_OUT = "failed", "timed_out"


class RefusedError(Exception):
    """A call that cannot be done: one sentence for the caller, and the answer's facts where the tool never raises."""

    def __init__(self, sentence: str, page: Page | None = None) -> None:
        """Keep the sentence and the answer."""
        super().__init__(sentence)
        self.page = page


class Limits(Struct, frozen=True):
    """What the settings say of a call: seconds for one try, and bytes of the answer."""

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
        """Return the arguments that the tool itself takes: not those that say which files are meant."""
        return {name: value for name, value in self.arguments.items() if name not in (AT, REPOSITORY)}

    @property
    def words(self) -> list[str]:
        """Return what is asked in words."""
        said = (self.arguments.get(name) for name in self.tool.asks)
        return [word for one in said for word in ([one] if isinstance(one, str) else one or ())]

    @property
    def standing(self) -> dict[str, Any]:
        """Return what the tool takes beside its arguments: what was given before, the form in which it answers."""
        known = {"given": self.given, "form": self.form}
        return {name: value for name, value in known.items() if name in self.tool.takes}

    def carried_out(self, workspace: Workspace) -> Facts | Told:
        """Return what the tool answers of a workspace."""
        return self.tool.call(workspace, **self.of_tool, **self.standing)

    def page(self, answer: Facts | Told) -> Page:
        """Return the page that is asked for of an answer; with the last one all of it is given."""
        page = self._page(answer)
        return replace(page, gave=answer.gave) if isinstance(answer, Told) and page.is_last else page

    def _page(self, answer: Facts | Told) -> Page:
        tool, told_of = self.tool, json.dumps([self.tool.name, self.form, dict(self.arguments)], default=str)
        limit = max(self.limits.bytes, _WHOLE) if tool.writes else self.limits.bytes
        if tool.answers is None and self.form != JSON_FORM:
            return text_page_of(self._text(answer), limit=limit, asked=told_of, cursor=self.cursor)
        facts = self._spared(answer)
        return page_of(
            facts,
            limit=limit,
            show=partial(_shown, tool),
            asked=told_of,
            cursor=self.cursor,
            binds=tool.binds,
            has_more=not tool.writes,
        )

    def _text(self, answer: Facts | Told) -> str:
        if isinstance(answer, Told) and answer.text is not None:
            return written_out(answer.text())
        return written_out(self.tool.tell(self._spared(answer)))

    def _spared(self, answer: Facts | Told) -> Facts:
        facts = answer.facts() if isinstance(answer, Told) else answer
        kept = {*self.tool.kept, *(self.tool.answers or ())}
        spared: Facts = spare(plain(facts), kept=kept, noise=self.tool.noise)
        return spared


def _shown(tool: Tool, facts: Facts) -> Page:
    """Return the facts of a page in the forms in which the tool sends them."""
    if tool.answers is None:
        return Page(json_line(facts))
    text = written_out(tool.tell(facts))
    return Page(text, {**facts, VIEW: text} if VIEW in tool.answers else facts)


class OtherMemories(Protocol):
    """A hub, which answers in the place of the root's own files, or beside them."""

    def page(self, asked: ToolCall, of_clone: Callable[[ToolCall], Facts | Told]) -> Page:
        """Return the page of a tool's answer; `of_clone` answers of the root's own files, where the hub does not."""
        ...


class ToolCalls:
    """Carries calls out, each on a workspace of its own."""

    def __init__(self, provider: Provider, session: Session | None = None, hub: OtherMemories | None = None) -> None:
        """Take what opens the workspaces, the session of the one client where there is one that stays, and a hub."""
        self._provider, self._session, self._hub = provider, session, hub

    def _asked(self, tool: Tool, given: Mapping[str, Any], access: Access, limits: Limits) -> ToolCall:
        """Return the call that a client means; raises UsageError."""
        arguments = tool.arguments.read(given)
        cursor, form = arguments.pop("cursor", None), arguments.pop("format", None)
        is_fresh = arguments.pop("fresh", False)
        before = NOTHING if self._session is None or is_fresh else self._session.given
        return ToolCall(
            tool=tool, arguments=arguments, cursor=cursor, form=form, access=access, limits=limits, given=before
        )

    def _outside(self, asked: ToolCall) -> Facts:
        """Return a few lines from outside the memory, for whoever has to go on without it."""
        words = " ".join(asked.words)
        if words:
            with suppress(MdmemError, OSError):
                workspace = self._provider.workspace(asked.access)
                # To tell the wings from other folders of a repository's top, the memory would have to be read.
                found = outside(workspace, words) if workspace.location.under else ()
                return {"fallback": [asdict(one) for one in found]} if found else {}
        return {}

    def _or_fallen_back(self, asked: ToolCall) -> Page | None:
        """Return what a tool answers, or that its files cannot be read: an agent goes on without its memory then.

        None where the time was over.
        """
        try:
            return self._call(asked)
        except OverdueError:
            return None
        except (EnvironmentFaultError, SettingsError, RootNotFoundError) as error:
            why = str(error)
        except OSError as error:
            why = _why(error)
        fall_back = asked.tool.fall_back
        return asked.page(fall_back(FAILED, why, asked.arguments)) if fall_back is not None else None

    def _call(self, asked: ToolCall) -> Page:
        if self._hub is None or not asked.tool.asks_hub:
            return asked.page(self._told(asked))
        return self._hub.page(asked, self._told)

    def _told(self, asked: ToolCall) -> Facts | Told:
        """Return what a tool answers of the root's own files."""
        tool = asked.tool
        try:
            workspace = self._provider.workspace(asked.access).as_of(asked.arguments.get(AT))
        except RootNotFoundError as error:
            if tool.rootless is None or self._provider.is_named:
                raise
            return tool.rootless(self._provider.cwd, str(error), **asked.of_tool)
        if tool.fall_back is not None and not tool.keeps_time:
            # Whoever goes on past the limit, for nobody, is stopped at the next file.
            workspace = within(workspace, asked.limits.seconds, clock=monotonic)
        answer = asked.carried_out(self._fit(workspace))
        if isinstance(answer, Told):
            _note(workspace, answer)
        return remarked(answer, workspace.snapshot.remarks)

    def _fit(self, workspace: Workspace) -> Workspace:
        """Return a workspace that may be asked; who leaves some questions to others raises OverdueError here."""
        return workspace

    def limits(self) -> Limits:
        """Return the limits of a call by the settings as they are now."""
        try:
            settings = self._provider.settings()
        except (MdmemError, OSError):
            return Limits()
        return Limits(settings.timeout_seconds, settings.answer_limit)


@contextmanager
def refusing(tool: Tool) -> Iterator[None]:
    """Let whatever goes wrong with a call of a tool be a RefusedError."""
    try:
        yield
    except MdmemError as error:
        raise _refused(tool, str(error), _advice_on(error)) from error
    except OSError as error:
        raise _refused(tool, f"the system refuses: {_why(error)}", _MEND_MEMORY) from error
    except Exception as error:  # the boundary: what a fault of ours says is not for the caller
        log.exception("%s failed", tool.name)
        fault = type(error).__name__
        said = f"a fault of mdmem itself ({fault}); the server's log on stderr has it"
        raise _refused(tool, said, _MEND_MEMORY) from error


# What a caller can do about a refusal, by its cause.
_MEND_CALL = "mend the call and repeat it"
_MEND_MEMORY = "the call is not at fault: tell a person, go on without the memory, and call again once it is mended"


def _advice_on(error: MdmemError) -> str:
    is_of_call = isinstance(error, (UsageError, NotFoundError)) and not isinstance(error, RootNotFoundError)
    return _MEND_CALL if is_of_call else _MEND_MEMORY


def _note(workspace: Workspace, answer: Told) -> None:
    """Count what an agent was given, for whoever asks how often the memory is used."""
    note_told(workspace, "server", tuple(one for one, known in answer.gave.items() if is_given(known)))


def remarked(answer: Facts | Told, remarks: Sequence[str], stated: Facts | None = None) -> Facts | Told:
    """Return an answer with what there is to say of the files that it is of, as text and as facts."""
    if not remarks:
        return answer
    said = {AT: list(remarks)} if stated is None else stated
    if isinstance(answer, Told):
        text, facts = answer.text, answer.facts
        more = None if text is None else lambda: "\n\n".join([text(), *remarks])
        return replace(answer, text=more, facts=lambda: {**facts(), **said})
    return {**answer, AT: list(remarks), **said}


def _why(error: OSError) -> str:
    """Return what the system said, without the path: it may lie in what the caller does not see."""
    return (error.strerror or type(error).__name__).lower()


def _refused(tool: Tool, said: str, advice: str) -> RefusedError:
    for typed, called in _WORDS:
        said = said.replace(typed, called)
    sentence = shown_message(said if said.startswith(tool.name) else f"{tool.name}: {said}")
    if tool.refuse is None:
        return RefusedError(sentence)
    return RefusedError(sentence, _shown(tool, plain(tool.refuse(sentence, advice))))
