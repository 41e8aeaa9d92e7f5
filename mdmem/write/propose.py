"""Write a draft for an agent, as a new entry or as a successor. A draft has no effect until a person approves it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from shlex import quote
from typing import Any

from msgspec import Struct

from mdmem.errors import NotFoundError, UsageError
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, Status, moment_on
from mdmem.store.state.tokens import use_token
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.scope import Filters, get_wing, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, Value
from mdmem.write.create import ROOM_KINDS, Draft, new_text, plan_new, room_for
from mdmem.write.plan import needs_token
from mdmem.write.save import require_token
from mdmem.write.similar import Subject, find_near, find_on_subject
from mdmem.write.write import WriteOptions, refuse_text_faults, write

_ADVICE = "; ask a person for what `mdmem token` prints, and repeat this call with it"


class ProposeRequest(Struct, frozen=True, kw_only=True):
    """An agent's proposal. Missing values come from the entry that it supersedes, or from the settings."""

    title: str
    body: str
    type: str | None = None
    wing: str | None = None
    room: str | None = None
    supersedes: str | None = None
    reason: str | None = None
    applies_to: Sequence[str] = ()
    tags: Sequence[str] = ()
    focus: str | None = None
    agent: str = UNNAMED_AGENT
    governance_token: str | None = None


def propose(workspace: Workspace, proposal: ProposeRequest, *, now: datetime) -> dict[str, Any]:
    """Write a draft, unless an entry has the same text, and return the JSON answer.

    Raises UsageError for a wrong proposal, and the errors of `write`.
    """
    workspace.location.require_root()
    catalog, reason = workspace.catalog, proposal.reason or ""
    old = None
    if proposal.supersedes is not None:
        old = catalog.entries[resolve_full(workspace, proposal.supersedes, field="supersedes")]
        if not reason.strip():
            raise UsageError("`reason` is missing: say why the new entry replaces the old one")
    default = old.type if old is not None else EntryType.DECISION
    type_ = EntryType(proposal.type) if proposal.type is not None else default
    place = _place(workspace, proposal, type_, old)
    if (known := _find_equal(workspace, proposal, type_, place)) is not None:
        said = f"{known} says the same already; nothing was written"
        return {"status": "duplicate_skip", "address": known, "message": said}
    if not proposal.body.strip():
        raise UsageError("`body` is empty: say what is proposed, and why")
    stated: dict[str, Value] = {"tags": tuple(proposal.tags), "applies_to": tuple(proposal.applies_to)}
    stated |= {"focus": proposal.focus, "agent": " ".join(proposal.agent.split())}
    fields = {name: value for name, value in stated.items() if value}
    replaced = old.address if old is not None else None
    draft = Draft(
        type=type_, place=place, title=proposal.title, body=proposal.body, fields=fields, old=replaced, reason=reason
    )
    address, text = new_text(workspace, draft, today=moment_on(workspace.today, now))
    wing, path = address.split("/")[0], f"{address}.md"
    is_guarded = needs_token(catalog, wing)
    if is_guarded:
        require_token(workspace, wing, proposal.governance_token, now, advice=_ADVICE)
    refuse_text_faults(workspace, [Change(path, path, None, text.encode())])
    near = find_near(workspace, address, text)
    on_subject = find_on_subject(workspace, address, text, near)
    plan = partial(plan_new, draft=draft, address=address, text=text)
    if is_guarded:
        write(workspace, plan, WriteOptions(is_dry=True))
        use_token(workspace.state_folder, proposal.governance_token or "", now)
    written = write(workspace, plan, WriteOptions())
    return {
        "status": "saved",
        "address": address,
        "path": path,
        "entry_status": "draft",
        "supersedes": [replaced] if replaced is not None else [],
        "near": [
            {"address": one.entry.address, "similarity": round(one.similarity, 2)}
            for one in near
            if one.entry.address != replaced
        ],
        **({"on_subject": [one.address for one in on_subject]} if on_subject else {}),
        "remarks": list(written.remarks),
        "commit": written.commit,
        "next_step": f"a person approves it with `mdmem approve {quote(address)}`"
        + (f"; {replaced} stays current until then" if replaced is not None else ""),
    }


def _place(workspace: Workspace, proposal: ProposeRequest, type_: EntryType, old: Entry | None) -> str:
    wing, room = (old.wing, old.room) if old is not None else (None, None)
    if proposal.wing is not None:
        wing = get_wing(proposal.wing, workspace.catalog.wings)
    if wing is None:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    if wing is None:
        raise NotFoundError("there is no wing yet; a person makes one with `mdmem init --wing NAME`")
    stated = (proposal.room or "").removesuffix("/") or room
    return f"{wing}/{room_for(workspace.settings, ROOM_KINDS[type_], stated)}"


def _find_equal(workspace: Workspace, proposal: ProposeRequest, type_: EntryType, place: str) -> str | None:
    """Return the address of an entry in the same room that has exactly the same text and is not deprecated, or None."""
    wanted = Subject(proposal.title, proposal.body).fingerprint
    titles = {
        one.address: one.title
        for one in workspace.catalog.entries.values()
        if f"{one.wing}/{one.room}" == place and one.type is type_ and one.status is not Status.DEPRECATED
    }
    bodies = workspace.catalog.bodies(tuple(titles))
    return min((one for one, body, _ in bodies if Subject(titles[one], body).fingerprint == wanted), default=None)
