"""The prompts: what a person chooses to have done, as steps over the tools that are listed, beside what there is.

What the memory holds for a prompt at this moment, as facts: the scope, what binds in it, and what is near.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from msgspec import Struct
from pydantic import Field

from mdmem.ask.entries import show_one
from mdmem.ask.pack import Pack, PackedEntry
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.errors import NotFoundError
from mdmem.mcp.answers import NOTE, as_text, fenced, plain, written_out
from mdmem.mcp.arguments import Arguments, AsText, Name, Paths, Text, hint, shown
from mdmem.mcp.listings import answering
from mdmem.mcp.markdown import LARGEST
from mdmem.mcp.tools.core import from_top
from mdmem.mcp.tools.shape import Facts
from mdmem.mcp.tools.table import tools_of
from mdmem.model.entry import Entry, day_of
from mdmem.render.entries import standing
from mdmem.store.workspace.scope import AmbiguousWingError, Filters
from mdmem.store.workspace.workspace import Workspace

_Wing = Annotated[Name | None, Field(description="The wing, by its name or project id. Default: the active one.")]
_INVARIANTS, _OTHERS, _PROPOSED, _NEWEST = 30, 8, 5, 10
_CONTENT, _BODY = 600, 8_000
# Words of a long text that are looked for: its subject stands at its beginning.
_WORDS = 40
# Where a diff names a file that it leaves or makes.
_FILE_OF_DIFF = re.compile(r"^(?:\+\+\+ b/|--- a/|rename to |rename from )([^\t\r\n]+)", re.MULTILINE)


def around_decision(
    workspace: Workspace,
    *,
    decision: Annotated[str, Field(max_length=20_000, description="What was decided, and why."), AsText],
    wing: _Wing = None,
    paths: Annotated[Paths, Field(description="The files that it is about, joined by commas.")] = None,
) -> Facts:
    """Return what binds around a decision that is to be recorded, and which entries are near to it."""
    return _around(workspace, words=decision, wing=wing, paths=paths)


def around_diff(
    workspace: Workspace,
    *,
    diff: Annotated[
        str | None,
        Field(max_length=200_000, description="The diff. Without it the agent takes the one at hand."),
        AsText,
    ] = None,
    paths: Paths = None,
    wing: _Wing = None,
) -> Facts:
    """Return what binds the files that a diff touches."""
    touched = tuple(dict.fromkeys([*(paths or ()), *_FILE_OF_DIFF.findall(diff or "")]))
    return {"paths": list(touched)[:100], **_around(workspace, words="", wing=wing, paths=touched)}


def around_entry(
    workspace: Workspace,
    *,
    address: Annotated[
        str,
        Field(max_length=300, description="The entry, as wing/room/entry-id or a short form."),
        AsText,
    ],
    reason: Annotated[Text | None, Field(description="Why it no longer fits.")] = None,  # noqa: ARG001  # for the steps
) -> Facts:
    """Return the entry that is to be superseded, how it stands, and what names it; raises NotFoundError."""

    one = show_one(workspace, address.strip("/"))
    catalog, target = workspace.catalog, one.entry.address
    others = [other for other in catalog.entries.values() if other.address != target]
    drafts = [other.address for other in others if other.status == "draft" and target in other.supersedes]
    fields = ("amends", "see", "overrides", "conflicts_with")
    naming = [other.address for other in others if any(target in other.links(name) for name in fields)]
    return {
        "entry": {**_named(one.entry), "standing": standing(one), "body": one.body.strip()[:_BODY]},
        "in_force_in_its_place": [head for head in one.heads if head != target],
        "replaced": list(catalog.lineage.predecessors.get(target, ())),
        "drafts_that_would_replace_it": drafts,
        "entries_that_name_it": naming[:20],
    }


def around_wing(workspace: Workspace, *, wing: _Wing = None) -> Facts:
    """Return what somebody who is new to a wing needs first."""
    facts = _around(workspace, words="", wing=wing, paths=None)
    active = facts.get("scope", {}).get("wing")
    if active is None:
        return facts
    catalog = answering(workspace)
    own = [one for one in catalog.entries.values() if one.wing == active]
    current = [one for one in own if catalog.lineage.is_current(one.address)]
    rooms: dict[str, int] = {}
    for one in current:
        rooms[one.room] = rooms.get(one.room, 0) + 1
    newest = sorted(current, key=_newest_first)[:_NEWEST]
    drafts = sum(one.status == "draft" for one in own)
    return {
        **{name: value for name, value in facts.items() if name != "near"},
        "rooms": dict(sorted(rooms.items())),
        "newest": [_named(one) for one in newest],
        "drafts": drafts,
    }


def _newest_first(entry: Entry) -> tuple[str, str]:

    made = day_of(entry.created_at).toordinal() if entry.created_at else 0
    return f"{9_999_999 - made:07}", entry.address


def _around(workspace: Workspace, *, words: str, wing: str | None, paths: Sequence[str] | None) -> Facts:
    """Return the scope with its invariants and what matches; where no wing is the active one, the wings there are."""

    question = Question(words=" ".join(words.split()[:_WORDS]), filters=Filters(wings=(wing,) if wing else ()))
    try:
        pack = retrieve(workspace, with_code_paths(workspace, question, from_top(workspace, paths)))
    except AmbiguousWingError as error:
        return {"scope": {"wing": None, "why": str(error)}, "wings": list(workspace.catalog.wings)}
    return _facts(pack)


def _facts(pack: Pack) -> Facts:
    scope = pack.scope
    # What is only proposed binds nobody: it stands behind what does, marked.
    invariants = [one for one in pack.items if one.item.entry.type == "invariant"]
    others = [one for one in pack.items if one.item.entry.type != "invariant"]
    facts: dict[str, Any] = {
        "problems": [{"path": one.place.path, "message": one.message} for one in pack.basis.problems],
        "scope": {"wing": scope.wing, "shared_wings": list(scope.shared_wings)},
        "invariants": [_packed(one) for one in invariants[:_INVARIANTS]],
        "near": [_packed(one) for one in others[:_OTHERS]],
        "proposed": [_named(one.item.entry) for one in pack.proposed[:_PROPOSED]],
        "conflicts": [{"a": one.a, "b": one.b, "why": one.why} for one in pack.basis.conflicts],
    }
    left_out = {"invariants": len(invariants) - _INVARIANTS, "near": len(others) - _OTHERS}
    more = {name: count for name, count in left_out.items() if count > 0}
    return {**facts, **({"not_shown_here": more} if more else {})}


def _packed(packed: PackedEntry) -> Mapping[str, Any]:
    content = packed.content.strip()
    return {
        **_named(packed.item.entry),
        "status": packed.item.status.value,
        **({"standing": packed.item.stance.mark} if packed.item.is_proposal and packed.item.stance else {}),
        "content": content if len(content) <= _CONTENT else f"{content[:_CONTENT]}…",
    }


def _named(entry: Entry) -> dict[str, Any]:
    return {"address": entry.address, "type": entry.type.value, "status": entry.status.value, "title": entry.title}


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
