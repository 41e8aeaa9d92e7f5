"""What the memory holds for a prompt at this moment, as facts: the scope, what binds in it, and what is near."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from mdmem.ask.entries import show_one
from mdmem.ask.pack import Pack, PackedEntry
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.mcp.arguments import AsText, Name, Paths, Text
from mdmem.mcp.listings import answering
from mdmem.mcp.tools.core import from_top
from mdmem.mcp.tools.shape import Facts
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
