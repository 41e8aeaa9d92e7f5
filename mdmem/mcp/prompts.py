"""Define the MCP prompts, which a person can start: steps for the agent, with the tools that the profile lists.

A profile is a named set of tools that the server offers.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from mdmem.mcp.answers import cut, plain
from mdmem.mcp.tools.table import tools_of
from mdmem.store.settings import Profile

# The most characters of a text that a person pasted.
_PASTED = 15_000
# For each kind of step, the tools that do it, the best first, and the alternative if none of them is listed.
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


def add_prompts(server: MCPServer[Any], profile: Callable[[], Awaitable[Profile]]) -> None:
    """Add the prompts to a server; `profile` returns the current profile."""

    def prompt(title: str, description: str) -> Callable[..., Any]:
        return server.prompt(title=title, description=description)

    @prompt("Record a decision", "Record a decision, unless the memory has it already.")
    async def record_decision(
        decision: Annotated[str, Field(description="The decision and its reasons.")],
        wing: _Wing = "",
        paths: Annotated[str, Field(description="The files that it is about, separated by commas.")] = "",
    ) -> str:
        return _text_of(_RECORD, {"decision": decision, "wing": wing, "paths": paths}, await profile())

    @prompt("Supersede an entry", "Replace an entry that no longer fits, with its history.")
    async def supersede(
        address: Annotated[str, Field(description="The entry, as wing/room/entry-id or a short form.")],
        reason: Annotated[str, Field(description="Why it no longer fits.")] = "",
    ) -> str:
        return _text_of(_SUPERSEDE, {"address": address, "reason": reason}, await profile())

    @prompt("Review a diff against the memory", "Check a change of code against the memory.")
    async def review_diff(
        diff: Annotated[str, Field(description="The diff. Default: the changes in the work tree.")] = "",
        paths: Annotated[str, Field(description="The files that it touches, separated by commas.")] = "",
        wing: _Wing = "",
    ) -> str:
        return _text_of(_REVIEW, {"diff": diff, "paths": paths, "wing": wing}, await profile())

    @prompt("Get to know a wing", "Learn the rules of a project before the first change.")
    async def onboard(wing: _Wing = "") -> str:
        return _text_of(_ONBOARD, {"wing": wing}, await profile())


def _text_of(steps: str, stated: Mapping[str, str], profile: Profile) -> str:
    """Return the text of a prompt: the task, the person's arguments, and the steps with the tools of the profile."""
    listed = {tool.name for tool in tools_of(profile)}
    named = {
        role: next((f"`{one}`" for one in tools if one in listed), by_hand) for role, (tools, by_hand) in _TOOLS.items()
    }
    task, *parts = steps.strip().format_map(named).split("\n\n")
    numbered = [f"{number}. {' '.join(part.split())}" for number, part in enumerate(parts, 1)]
    return "\n".join([task, "", *_fenced(stated), "Do this, in this order:", "", *numbered])


def _fenced(stated: Mapping[str, str]) -> Iterable[str]:
    """Yield the lines of the person's arguments, each in a code fence that its text cannot close."""
    for name, value in stated.items():
        if value:
            longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
            fence = "`" * max(3, longest + 1)
            yield from (f"{name}:", fence, plain(cut(value, _PASTED)), fence, "")
