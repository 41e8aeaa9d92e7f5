"""Save an agent's memory word for word, for a project or in the caller's private memory. No error is raised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from mdmem.ask.context import METADATA, PRIVATE, id_of
from mdmem.errors import MdmemError, UsageError, reason_of
from mdmem.markdown.parse import Document
from mdmem.model.entry import UNNAMED_AGENT, EntryType, Status, moment_on
from mdmem.store.catalog.addresses import full_address
from mdmem.store.workspace.scope import Filters, find_wing, resolve_scope, scope_state
from mdmem.store.workspace.visibility import WING, make_own_memory, may_write_to, require_writable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.create import ROOM_KINDS, free_address, room_for
from mdmem.write.plan import needs_token
from mdmem.write.records import entry_text, plain_text, read_back, read_object, require_json
from mdmem.write.save import (
    NOW,
    SAME_REQUEST,
    Clock,
    repeated_message,
    request_key,
    with_saving_lock,
    write_new_entry,
    written_before,
)
from mdmem.write.similar import find_near

_RELATED = "x-related-to"
Kind = Literal[
    "episode", "decision", "plan", "idea", "claim", "artifact", "procedure", "domain", "session", "pattern", "rule"
]
# The other kinds are notes.
_TYPES = {
    "decision": EntryType.DECISION,
    "rule": EntryType.INVARIANT,
    "pattern": EntryType.PATTERN,
    "procedure": EntryType.PATTERN,
}


class Memo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to save, with the caller's arguments. `related_to` are names as the caller typed them."""

    title: str
    content: str
    kind: Kind = "episode"
    domain: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    agent: str | None = None
    room: str | None = None

    @property
    def type(self) -> EntryType:
        """Return the entry type for this kind of memory."""
        return _TYPES.get(self.kind, EntryType.NOTE)


class RememberResult(Struct, frozen=True, kw_only=True):
    """The result. `id` names the memory, saved now or by an identical call; `conflicts` are similar entries."""

    success: bool
    id: str | None
    message: str
    timestamp: datetime
    conflicts: tuple[dict[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the result in the form of the MCP contract."""
        return {**asdict(self), "timestamp": self.timestamp.isoformat(), "conflicts": list(self.conflicts)}


def remember(workspace: Workspace, given: Mapping[str, object], *, now: Clock = NOW) -> RememberResult:
    """Save a memory. If that fails, the message in the result says why."""
    moment = now()
    try:
        memo = read_object("remember", dict(given), Memo)
        require_json("remember.metadata", memo.metadata)
        lists = {name: [" ".join(one.split()) for one in getattr(memo, name)] for name in ("tags", "related_to")}
        unique = {name: tuple(dict.fromkeys(some)) for name, some in lists.items()}
        workspace.location.require_root()
        project, wings, default = memo.project, workspace.catalog.wings, workspace.settings.default_wing
        if project == WING and find_wing(WING, wings) is None:
            project = None
        elif project is None and default is not None:
            # The default wing, if it is open to the caller.
            wing = wings.get(find_wing(default, wings) or "")
            is_open = wing is not None and not wing.is_shared and may_write_to(workspace, default)
            project = default if is_open else None
        # The content is kept word for word.
        memo = replace(memo, content=str(given["content"]), project=project, **unique)
        home = workspace if memo.project is not None else make_own_memory(workspace)
        return with_saving_lock(home, lambda fresh: _write(fresh, memo, moment))
    except MdmemError as error:
        why = str(error)
    except OSError as error:
        why = f"the system refuses {error.filename or 'a file'}: {reason_of(error)}"
    return RememberResult(success=False, id=None, message=why, timestamp=moment)


def _write(home: Workspace, memo: Memo, now: datetime) -> RememberResult:
    is_private = memo.project is None
    wing = _wing_of(home, memo.project) if memo.project is not None else WING
    asked = {name: value for name, value in asdict(memo).items() if name != "project"}
    key = request_key(home, "remember", asked, wing=wing)
    known = written_before(home, key, since=now - SAME_REQUEST)
    if known is not None:
        name = id_of(known, is_private=is_private)
        return RememberResult(success=True, id=name, message=repeated_message(name), timestamp=now)
    room = room_for(home.settings, "session" if memo.kind == "session" else ROOM_KINDS[memo.type], memo.room)
    address = free_address(home, wing, room, kind=memo.kind, title=memo.title)
    links = {}
    for one in memo.related_to:
        plain = f"{WING}/{one.removeprefix(PRIVATE)}" if one.startswith(PRIVATE) else one
        links[one] = full_address(plain, address, home.catalog.entries)
    unlinked = tuple(one for one, link in links.items() if link is None)
    status = home.settings.agent_status[memo.type]
    fields = {
        "status": status.value,
        "created_at": moment_on(home.today, now).isoformat(),
        "see": tuple(dict.fromkeys(link for link in links.values() if link is not None)),
        _RELATED: unlinked,
    }
    content = compose_memo(memo, address, fields).data
    near = tuple(_near(home, address, content.decode(), is_private=is_private))
    change = Change(f"{address}.md", f"{address}.md", None, content)
    change_set = ChangeSet((change,), actions=(WriteAction(Verb.ADD, address),), agent=memo.agent)
    remark = write_new_entry(home, change_set, key=key, now=now)
    name = id_of(address, is_private=is_private)
    is_draft = status is Status.DRAFT
    sentences = [
        f"{name} is saved{', for you alone' if is_private else ''}"
        + (" as a draft: it applies once a person approves it" if is_draft else "")
    ]
    if unlinked:
        listed = ", ".join(f"`{one}`" for one in unlinked)
        sentences.append(f"{listed} of `related_to` is not an entry here, so it is kept as a word and not as a link")
    if near:
        sentences.append(f"`{near[0]['id']}` says nearly the same; read it before you rely on either")
    message = "; ".join([*sentences, *([remark] if remark is not None else [])])
    return RememberResult(success=True, id=name, message=message, timestamp=now, conflicts=near)


def compose_memo(memo: Memo, address: str, given: Mapping[str, Any]) -> Document:
    """Return the entry for a memory; `given` are more fields. Raises UsageError if it cannot be parsed as an entry."""
    metadata = json.dumps(memo.metadata, ensure_ascii=False, sort_keys=True) if memo.metadata else ""
    fields: dict[str, Any] = {
        "type": memo.type.value,
        "title": memo.title,
        "label": memo.kind if memo.type is EntryType.NOTE else None,
        "topic": memo.domain,
        "agent": memo.agent or (UNNAMED_AGENT if memo.type.is_rule else None),
        "tags": memo.tags,
        METADATA: plain_text("remember.metadata", metadata),
        **given,
    }
    text = f"{entry_text(fields, '')}\n{memo.content}"
    content = (text if text.endswith("\n") else f"{text}\n").encode()
    # If every line of the content ends in CRLF, use CRLF in the front matter too.
    if "\r\n" in memo.content and memo.content.count("\n") == memo.content.count("\r\n"):
        content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return read_back(address, content, "memory")[1]


def _wing_of(workspace: Workspace, project: str) -> str:
    """Return the wing of a project. Raises UsageError if there is none, or if the wing is shared."""
    require_writable(workspace, project)
    answer = scope_state(workspace.catalog, project)
    if answer.wing is None:
        raise UsageError(
            f"there is no wing for the project `{project}`; a person makes one with `mdmem init --wing NAME`,"
            f" or use the project `{WING}`, which only you can read"
        )
    if needs_token(workspace.catalog, answer.wing):
        hint = "a person can write there with `mdmem new`"
        raise UsageError(f"`{answer.wing}` is a shared wing, where agents cannot save memories; {hint}")
    return answer.wing


def _near(home: Workspace, address: str, text: str, *, is_private: bool) -> Iterator[dict[str, Any]]:
    """Yield the entries of the same scope that say nearly the same. Other projects are left out."""
    scope = resolve_scope(home.catalog, home.settings, Filters(wings=(address.split("/", 1)[0],)))
    for near in find_near(home, address, text):
        entry = near.entry
        is_alive = entry.status is Status.DRAFT or home.catalog.lineage.is_current(entry.address)
        if scope.contains(entry.address) and is_alive:
            yield {
                "id": id_of(entry.address, is_private=is_private),
                "type": entry.type.value,
                "name": entry.title,
                "status": entry.status.value,
                "similarity": round(near.similarity, 2),
                "why": "it says nearly the same",
            }
