"""A draft that an agent proposes, alone or as the successor of an entry; nothing binds before a person approves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from mdmem.errors import NotFoundError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.markdown.similarity import Subject
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, Status, moment_on
from mdmem.store.state.tokens import check_token, use_token
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.scope import Filters, get_wing, is_doubtful, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, Value
from mdmem.write.create import ROOM_KINDS, Draft, address_of, compose, create_entry, refuse_taken
from mdmem.write.governance import needs_token, why_no_global_writes
from mdmem.write.similar import SimilarEntry, find_near, find_on_subject
from mdmem.write.supersede import compose_successor, supersede_with
from mdmem.write.write import WriteOptions, WriteResult, new_fault


class ProposeRequest(Struct, frozen=True, kw_only=True):
    """What an agent proposes; what is left out is taken from the entry that it supersedes, else from the settings."""

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

    @property
    def fields(self) -> Mapping[str, Value]:
        """Return what the proposal says beside title and text, as fields of the entry."""
        stated: dict[str, Value] = {"tags": tuple(self.tags), "applies_to": tuple(self.applies_to)}
        stated |= {"focus": self.focus, "agent": " ".join(self.agent.split())}
        return {name: value for name, value in stated.items() if value}


class ProposeResult(Struct, frozen=True, kw_only=True):
    """The draft that was written, the entry that it is to replace, and what says nearly the same.

    `on_subject` is what else speaks of its subject. Nothing is written where an entry says the same already: that is
    then the address.
    """

    address: str
    written: WriteResult | None = None
    supersedes: str | None = None
    near: tuple[SimilarEntry, ...] = ()
    on_subject: tuple[Entry, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the proposal's outcome as JSON values."""
        if self.written is None:
            message = f"{self.address} says the same already; nothing was written"
            return {"status": "duplicate_skip", "address": self.address, "message": message}
        waiting = f"; {self.supersedes} stays in force until then" if self.supersedes else ""
        return {
            "status": "saved",
            "address": self.address,
            "path": f"{self.address}.md",
            "entry_status": "draft",
            "supersedes": [self.supersedes] if self.supersedes else [],
            "near": [{"address": one.entry.address, "similarity": round(one.similarity, 2)} for one in self.near],
            **({"on_subject": [one.address for one in self.on_subject]} if self.on_subject else {}),
            "remarks": list(self.written.remarks),
            "commit": self.written.commit,
            "next_step": f"a person approves it with `mdmem approve {self.address}`{waiting}",
        }


def propose(workspace: Workspace, proposal: ProposeRequest, *, now: datetime) -> ProposeResult:
    """Write a draft and return what became of it; what an entry says already is not written again.

    Raises UsageError for what does not fit, a shared wing without a token among it, and what writing raises.
    """
    workspace.location.require_root()
    old = _superseded(workspace, proposal)
    place = _place(workspace, proposal, old)
    known = _same(workspace, proposal, old, place)
    if known is not None:
        return ProposeResult(address=known)
    address, text = _composed(workspace, proposal, old, place, now=now)
    _require_permission(workspace, proposal, address.split("/")[0], now)
    near = find_near(workspace, address, text)
    on_subject = find_on_subject(workspace, address, text, near)
    change = Change(f"{address}.md", f"{address}.md", None, text.encode())
    fault = new_fault(change, workspace.settings, today=workspace.today)
    if fault is not None:
        raise UsageError(f"nothing is written: {fault}")

    def write(options: WriteOptions) -> WriteResult:
        if old is None:
            return create_entry(workspace, address, text, options=options)
        return supersede_with(workspace, old.address, address, text, reason=proposal.reason or "", options=options)

    if _needs_token(workspace, address.split("/")[0]):
        write(WriteOptions(is_dry=True))
        use_token(workspace.state_folder, proposal.governance_token or "", now)
    near = tuple(one for one in near if old is None or one.entry.address != old.address)
    return ProposeResult(
        address=address,
        written=write(WriteOptions()),
        supersedes=old.address if old is not None else None,
        near=near,
        on_subject=on_subject,
    )


def _same(workspace: Workspace, proposal: ProposeRequest, old: Entry | None, place: str) -> str | None:
    """Return the address of an entry in force, or a draft, of that room that says word for word what is proposed."""
    wanted, type_ = Subject(proposal.title, proposal.body).fingerprint, _type(proposal, old)
    alike = {
        one.address: one.title
        for one in workspace.catalog.entries.values()
        if f"{one.wing}/{one.room}" == place and one.type is type_ and one.status is not Status.DEPRECATED
    }
    same = (name for name, body in workspace.catalog.plain_bodies(tuple(alike)) if _is(wanted, alike[name], body))
    return min(same, default=None)


def _is(fingerprint: str, title: str, body: str) -> bool:
    return Subject(title, body).fingerprint == fingerprint


def _superseded(workspace: Workspace, proposal: ProposeRequest) -> Entry | None:
    if proposal.supersedes is None:
        return None
    found = resolve_full(workspace, proposal.supersedes, field="supersedes")
    if not (proposal.reason or "").strip():
        raise UsageError("`reason` is missing: say why the new entry replaces the old one")
    return workspace.catalog.entries[found]


def _type(proposal: ProposeRequest, old: Entry | None) -> EntryType:
    if proposal.type is not None:
        return EntryType(proposal.type)
    return old.type if old is not None else EntryType.DECISION


def _place(workspace: Workspace, proposal: ProposeRequest, old: Entry | None) -> str:
    wing, room = (old.wing, old.room) if old is not None else (None, None)
    if proposal.wing is not None:
        wing = get_wing(proposal.wing, workspace.catalog.wings)
    if wing is None:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    if wing is None:
        raise NotFoundError("there is no wing yet; a person makes one with `mdmem init --wing NAME`")
    return f"{wing}/{proposal.room or room or workspace.settings.rooms[ROOM_KINDS[_type(proposal, old)]]}"


def _composed(
    workspace: Workspace, proposal: ProposeRequest, old: Entry | None, place: str, *, now: datetime
) -> tuple[str, str]:
    """Return the address and the whole text of the draft; raises UsageError."""
    if not proposal.body.strip():
        raise UsageError("`body` is empty: say what is proposed, and why")
    draft = Draft(type=_type(proposal, old), place=place, title=proposal.title, body=proposal.body)
    if old is not None:
        address, text = compose_successor(workspace, old.address, draft, reason=proposal.reason or "")
    else:
        refuse_taken(workspace, address_of(draft))
        address, text = address_of(draft), compose(draft, today=moment_on(workspace.today, now))
    document = parse_document(f"{address}.md", text.encode())
    return address, apply_edits(document.data, set_fields(document, proposal.fields)).decode()


def _needs_token(workspace: Workspace, wing: str) -> bool:
    catalog = workspace.catalog
    return needs_token(catalog.wings.get(wing), "project", is_doubtful=is_doubtful(catalog, wing))


def _require_permission(workspace: Workspace, proposal: ProposeRequest, wing: str, now: datetime) -> None:
    if not _needs_token(workspace, wing):
        return
    why = why_no_global_writes(workspace.settings)
    if why is not None:
        raise UsageError(why)
    if proposal.governance_token is None:
        how = "ask a person for what `mdmem token` prints, and repeat this call with it"
        raise UsageError(f"a write to the shared wing `{wing}` needs a `governance_token`; {how}")
    check_token(workspace.state_folder, proposal.governance_token, now)
