"""MCP prompts that a person can start: steps that use the listed tools, with the memory's current answer added."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.ask.show import show_one
from mdmem.errors import MdmemError, NotFoundError, SettingsError, UsageError
from mdmem.mcp.answers import cut, plain, safe_text
from mdmem.mcp.calls import system_refusal
from mdmem.mcp.tools.core import entries_text, from_top
from mdmem.mcp.tools.table import tools_of
from mdmem.render.answers import answers_markdown
from mdmem.store.settings import Profile
from mdmem.store.workspace.scope import AmbiguousWingError, Filters
from mdmem.store.workspace.workspace import Workspace

OnMemory = Callable[[Callable[[Workspace], str]], Awaitable[str]]

# Characters of a text that a person pasted, and of what the memory says: two messages stay below a client's limit.
_PASTED, _PRESENT = 15_000, 20_000
# Words of a long text that are searched: its beginning says what it is about.
_WORDS = 40
# The lines of a diff that name a file.
_FILE_OF_DIFF = re.compile(r"^(?:\+\+\+ b/|--- a/|rename to |rename from )([^\t\r\n]+)", re.MULTILINE)
# The tools for each kind of step, the best first, and what serves where none of them is listed.
_TOOLS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "ask": (("retrieve", "retrieve_context", "context"), "`mdmem retrieve`"),
    "find": (("search", "memory_surface"), "`mdmem search`"),
    "show": (("get_entry",), "the resource `mdmem://entry/…`"),
    "why": (("why",), "the resource `mdmem://lineage/…`"),
    "check": (("check",), "`mdmem check`"),
    "write": (("propose", "save_decision", "remember"), "`mdmem new`"),
}

_RECORD = """\
Record this decision in the project's memory.

Call {ask} with the decision in a few words, and with the files that it is about. If an invariant forbids it, stop and
say so: a decision does not override an invariant.

Call {find} with the decision's own words. If an entry says the same, stop and name it. If one contradicts it, the new
decision has to supersede that entry: read it in full with {show}.

Ask your user for the reasons if they are not stated, and for the alternatives that were rejected. Do not make them up.

Call {write}: a title of one line, a first sentence that states the choice, then a line `Rationale:` with the reasons.
One decision in one entry. Name the entry that it supersedes, if there is one, and say why.

Call {check}, and fix what it finds in the new entry.

Tell your user the address, and that it is a draft until a person approves it with `mdmem approve`.
"""
_SUPERSEDE = """\
Supersede an entry of the project's memory. The old entry is kept and linked, never rewritten or deleted.

Call {why} with the address. If something supersedes it already, supersede that entry, or stop. If a draft would
supersede it, stop and name the draft.

Call {show} with the address, and with the entries that link to it.

Call {find} with what is to apply instead: another entry may say it already.

Ask your user why the entry no longer fits, if no reason is given. Do not make one up.

Call {write} with the old entry's address as the one that it supersedes, and with the reason. Keep its type and room,
and repeat what still applies: the new entry has to be complete without the old one.

Call {check}, and fix what it finds in the new entry.

Tell your user the new address, and that the old entry stays current until a person approves the new one with
`mdmem approve`.
"""
_REVIEW = """\
Review a change of code against the project's memory.

Take the diff below, or else the changes in the work tree (`git diff` against the branch that they go to).

Call {ask} with the purpose of the change in a few words, and with every file that it touches. Follow `cursor` to the
last page: it may have invariants, too.

Go through the answer entry by entry, in its order: does the change violate an invariant, contradict a decision, or
deviate from a pattern? Read an entry in full with {show} before you say that it does.

Call {find} for each thing that the change introduces, such as a new dependency, and see whether it was rejected before.

Report each finding with file and line, the entry's address, its type and the sentence that is broken: violated
invariants first, then decisions, then patterns. Report the `problems` of the answer, and where no rule covers the
change. An entry that is under review raises a question, not a fault.

If the code is right and the memory is not, do not bend the code: suggest to supersede the entry.
"""
_ONBOARD = """\
Learn the rules of this project, and tell your user in short.

Read the resource `mdmem://guide`, once.

Call {ask} without words, for everything that is current; follow `cursor` to the last page.

Read the invariants in full with {show}, and the decisions that the work ahead touches.

Call {why} for a decision that surprises you, before you doubt it.

Tell your user: the rules that must not be violated, the decisions that shape the code, the entries under review, the
contradictions, and the files that cannot be read. Name each by its address.

From now on call {ask} before you change code, and {write} when something was decided or learned.
"""

_Wing = Annotated[str, Field(description="The wing, by its name or project id. Default: the active one.")]


def add_prompts(server: MCPServer[Any], on_memory: OnMemory, profile: Callable[[], Awaitable[Profile]]) -> None:
    """Add the prompts to a server; `on_memory` does some work on the caller's workspace."""

    async def messages(name: str, steps: str, stated: Mapping[str, str], ask: Callable[[Workspace], str]) -> Any:
        try:
            present = "The memory says now:\n\n" + safe_text(await on_memory(ask))
        except (NotFoundError, UsageError, SettingsError) as error:
            raise MCPError(INVALID_PARAMS, f"{name}: {error}") from error
        except (MdmemError, OSError) as error:
            reason = system_refusal(error) if isinstance(error, OSError) else str(error)
            present = f"The memory cannot be read now: {reason}"
        return [UserMessage(_text_of(steps, stated, await profile())), UserMessage(cut(present, _PRESENT))]

    @server.prompt(title="Record a decision", description="Record a decision, unless the memory has it already.")
    async def record_decision(
        decision: Annotated[str, Field(description="The decision and its reasons.")],
        wing: _Wing = "",
        paths: Annotated[str, Field(description="The files that it is about, separated by commas.")] = "",
    ) -> Any:
        stated = {"decision": decision, "wing": wing, "paths": paths}
        return await messages("record_decision", _RECORD, stated, lambda ws: _around(ws, decision, wing, _split(paths)))

    @server.prompt(title="Supersede an entry", description="Replace an entry that no longer fits, with its history.")
    async def supersede(
        address: Annotated[str, Field(description="The entry, as wing/room/entry-id or a short form.")],
        reason: Annotated[str, Field(description="Why it no longer fits.")] = "",
    ) -> Any:
        stated = {"address": address, "reason": reason}
        return await messages("supersede", _SUPERSEDE, stated, lambda ws: _around_entry(ws, address))

    @server.prompt(title="Review a diff against the memory", description="Check a change of code against the memory.")
    async def review_diff(
        diff: Annotated[str, Field(description="The diff. Default: the changes in the work tree.")] = "",
        paths: Annotated[str, Field(description="The files that it touches, separated by commas.")] = "",
        wing: _Wing = "",
    ) -> Any:
        touched = [*_split(paths), *dict.fromkeys(_FILE_OF_DIFF.findall(diff))]
        stated = {"diff": diff, "paths": paths, "wing": wing}
        return await messages("review_diff", _REVIEW, stated, lambda ws: _around(ws, "", wing, touched))

    @server.prompt(title="Get to know a wing", description="Learn the rules of a project before the first change.")
    async def onboard(wing: _Wing = "") -> Any:
        return await messages("onboard", _ONBOARD, {"wing": wing}, lambda ws: _around(ws, "", wing, ()))


def _split(paths: str) -> list[str]:
    return [one.strip() for one in paths.split(",") if one.strip()]


def _around(workspace: Workspace, words: str, wing: str, paths: Sequence[str]) -> str:
    """Return the entries that apply to words and files; if no wing is active, a question for the wing."""
    question = Question(words=" ".join(words.split()[:_WORDS]), filters=Filters(wings=(wing,) if wing else ()))
    try:
        return answers_markdown(retrieve(workspace, with_code_paths(workspace, question, from_top(workspace, paths))))
    except AmbiguousWingError as error:
        return str(error)


def _around_entry(workspace: Workspace, address: str) -> str:
    """Return an entry in full, with the entries that supersede it, would supersede it, or link to it."""
    one = show_one(workspace, address.strip("/"))
    target = one.entry.address
    others = [other for other in workspace.catalog.entries.values() if other.address != target]
    drafts = [other.address for other in others if other.status == "draft" and target in other.supersedes]
    fields = ("amends", "see", "overrides", "conflicts_with")
    linking = [other.address for other in others if any(target in other.links(name) for name in fields)]
    named = {
        "Superseded by": [head for head in one.heads if head != target],
        "Supersedes": workspace.catalog.lineage.predecessors.get(target, ()),
        "Drafts that would supersede it": drafts,
        "Entries that link to it": linking[:20],
    }
    lines = [f"{head}: {', '.join(addresses)}" for head, addresses in named.items() if addresses]
    return "\n\n".join([entries_text([one]), *lines])


def _text_of(steps: str, stated: Mapping[str, str], profile: Profile) -> str:
    """Return the task with a person's arguments, and the steps with the tools that the profile lists."""
    listed = {tool.name for tool in tools_of(profile)}
    named = {
        role: next((f"`{one}`" for one in tools if one in listed), by_hand) for role, (tools, by_hand) in _TOOLS.items()
    }
    task, *parts = steps.strip().format_map(named).split("\n\n")
    numbered = [f"{number}. {' '.join(part.split())}" for number, part in enumerate(parts, 1)]
    return "\n".join([task, "", *_fenced(stated), "Do this, in this order:", "", *numbered])


def _fenced(stated: Mapping[str, str]) -> Iterable[str]:
    """Yield the texts that a person stated, each in a fence that it cannot close."""
    for name, value in stated.items():
        if value:
            longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
            fence = "`" * max(3, longest + 1)
            yield from (f"{name}:", fence, plain(cut(value, _PASTED)), fence, "")
