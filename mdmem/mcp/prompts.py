"""The prompts: what a person chooses to have done, as steps over the tools that are listed, beside what there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from mdmem.errors import NotFoundError
from mdmem.mcp.answers import NOTE, as_text, fenced, plain, written_out
from mdmem.mcp.arguments import Arguments, hint, shown
from mdmem.mcp.markdown import LARGEST
from mdmem.mcp.prompt_facts import around_decision, around_diff, around_entry, around_wing
from mdmem.mcp.tools.shape import Facts
from mdmem.mcp.tools.table import tools_of
from mdmem.store.workspace.workspace import Workspace

# What somebody types or pastes; two messages of one prompt stay below what a client takes.
_PASTED = 15_000
_CUT = "\n(cut: a client takes no more; the tools give the rest)"
# What a step is for, and the tools that do it, the best first: each profile lists one of them or none.
_ROLES: Mapping[str, tuple[str, ...]] = {
    "ask": ("retrieve", "retrieve_context", "context"),
    "find": ("search", "memory_surface"),
    "show": ("get_entry",),
    "why": ("why",),
    "check": ("check",),
    "write": ("propose", "save_decision", "remember"),
}
_BY_HAND: Mapping[str, str] = {
    "ask": "`mdmem retrieve`",
    "find": "`mdmem search`",
    "show": "the resource `mdmem://entry/…`",
    "why": "the resource `mdmem://lineage/…`",
    "check": "`mdmem check`",
    "write": "`mdmem new`",
}


class Prompt(Struct, frozen=True, kw_only=True, dict=True):
    """One prompt: the steps in their order, and the typed function that gives the present memory.

    A step names its tools by their role in braces.
    """

    name: str
    title: str
    about: str
    task: str
    steps: tuple[str, ...]
    present: Callable[..., Facts]

    @cached_property
    def arguments(self) -> Arguments:
        """Return the arguments of the function that gives the present memory."""
        return Arguments(self.present)

    def listed(self) -> Facts:
        """Return it as the protocol has it."""
        schema = self.arguments.schema
        arguments = [
            {"description": one["description"], "name": name, "required": name in schema.get("required", ())}
            for name, one in schema["properties"].items()
        ]
        return {"arguments": arguments, "description": self.about, "name": self.name, "title": self.title}


def _steps(text: str) -> tuple[str, ...]:
    """Return the steps of a text, which blank lines part."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))


_RECORD = Prompt(
    name="record_decision",
    title="Record a decision",
    about="Record a decision in the project's memory, where nothing there says it already.",
    task="Record this decision in the project's memory.",
    steps=_steps(
        """\
Call {ask} with the decision in a few words, and with the files that it is about. Where an invariant forbids it,
stop and say so: a decision does not override an invariant.

Call {find} with the decision's own words. Where an entry says the same, stop and name it; where one says otherwise,
the new decision has to supersede it: read that one in full with {show}.

Ask your user for the reasons where they are not stated, and for what was turned down. Do not make them up.

Call {write}: a title of one line, a first sentence that states the choice, then a line `Rationale:` with the
reasons. One decision in one entry. Name the entry that it supersedes, if there is one, and say why.

Call {check}, and mend what it finds in the new entry.

Tell your user the address, and that it is a draft until a person approves it with `mdmem approve`.
"""
    ),
    present=around_decision,
)

_SUPERSEDE = Prompt(
    name="supersede",
    title="Supersede an entry",
    about="Replace an entry of the memory that no longer fits by one that does, and keep its history.",
    task="Supersede an entry of the project's memory; the old one is kept and linked, never rewritten or deleted.",
    steps=_steps(
        """\
Call {why} with the address. Where something is in force in its place already, supersede that one, or stop; where a
draft would replace it, stop and name the draft.

Call {show} with the address, and with the entries that name it.

Call {find} with what is to hold instead: another entry may say it already.

Ask your user why it no longer fits, where no reason is given. Do not make one up.

Call {write} with the old entry's address as the one that it supersedes, and with the reason. Keep its type and
room, and repeat what still holds: the new entry has to stand without the old one.

Call {check}, and mend what it finds in the new entry.

Tell your user the new address, and that the old entry stays in force until a person approves the new one with
`mdmem approve`.
"""
    ),
    present=around_entry,
)

_REVIEW = Prompt(
    name="review_diff",
    title="Review a diff against the memory",
    about="Hold a change of code against what the project decided, and say where it breaks it.",
    task="Review a change of code against the project's memory.",
    steps=_steps(
        """\
Take the diff below, or else the changes at hand (`git diff` against the branch that they go to).

Call {ask} with what the change does in a few words, and with every file that it touches. Follow `cursor` to the
last page: invariants may stand there, too.

Go through the answer entry by entry, in its order: does the change violate an invariant, go against a decision, or
do otherwise than a pattern? Read an entry in full with {show} before you say that it does.

Call {find} for what the change introduces, such as a new dependency, and see whether it was turned down.

Report each finding with file and line, the entry's address, its type and the sentence that is broken: violated
invariants first, then decisions, then patterns. Say what `problems` names, and where nothing binding covers the
change. An entry that is under review is a question, no fault.

Where the code is right and the memory is not, do not bend the code: suggest to supersede the entry.
"""
    ),
    present=around_diff,
)

_ONBOARD = Prompt(
    name="onboard",
    title="Get to know a wing",
    about="Learn what a project holds itself to, before the first change.",
    task="Get to know what this project holds itself to, and tell your user in short.",
    steps=_steps(
        """\
Read the resource `mdmem://guide`, once.

Call {ask} without words, for everything in force; follow `cursor` to the last page.

Read the invariants in full, and the decisions that the work at hand touches, with {show}.

Call {why} for a decision that surprises you, before you doubt it.

Tell your user: the rules that must not be violated, the decisions that shape the code, what is in doubt, what
contradicts what, and which files cannot be read. Name each by its address.

From now on call {ask} before you change code, and {write} when something was decided or learned.
"""
    ),
    present=around_wing,
)

PROMPTS: Mapping[str, Prompt] = {prompt.name: prompt for prompt in (_RECORD, _SUPERSEDE, _REVIEW, _ONBOARD)}


def find_prompt(name: str) -> Prompt:
    """Return a prompt by its name; raises NotFoundError with the nearest."""
    if name not in PROMPTS:
        raise NotFoundError(f"there is no prompt {shown(name)}; {hint(name, PROMPTS)}")
    return PROMPTS[name]


def text_of(prompt: Prompt, arguments: Mapping[str, Any], profile: str) -> str:
    """Return what is to be done, with what the person stated and the tools that the profile lists."""
    listed = {tool.name for tool in tools_of(profile)}
    found = {role: next((f"`{one}`" for one in names if one in listed), None) for role, names in _ROLES.items()}
    named = {role: tool or _BY_HAND[role] for role, tool in found.items()}
    steps = [f"{number}. {step.format_map(named)}" for number, step in enumerate(prompt.steps, 1)]
    return "\n".join([prompt.task, "", *_stated(arguments), "Do this, in this order:", "", *steps])


def present_of(prompt: Prompt, workspace: Workspace, arguments: Mapping[str, Any]) -> str:
    """Return what the memory holds for a prompt now, as data; raises what reading raises."""
    facts = plain(prompt.present(workspace, **arguments))
    head = f"What the memory holds at this moment; the tools tell more. {NOTE}\n\n"
    room = LARGEST - _PASTED - len(head) - 5_000
    text = written_out(as_text(facts))
    return head + (text if len(text) <= room else f"{text[:room]}{_CUT}")


def _stated(arguments: Mapping[str, Any]) -> list[str]:
    """Return what the person stated, each between fences."""
    lines: list[str] = []
    for name, value in arguments.items():
        if value is None:
            continue
        text = ", ".join(value) if isinstance(value, tuple) else str(value)
        cut = text if len(text) <= _PASTED else f"{text[:_PASTED]}{_CUT}"
        lines += [f"{name}:", fenced(plain(cut)), ""]
    return lines
