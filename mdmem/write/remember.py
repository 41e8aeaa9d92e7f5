"""`remember`: a memory word for word, into a project's wing or into the caller's own; it never raises.

A memory as an agent hands it over, kept word for word: which type and label its kind means, and its file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.ask.context.describe import PRIVATE, id_of
from mdmem.errors import LostRaceError, MdmemError, UsageError
from mdmem.markdown.similarity import words_once
from mdmem.model.entry import UNNAMED_AGENT, EntryType, Status, moment_on
from mdmem.store.catalog import full_address
from mdmem.store.state.files import WING, write_lock
from mdmem.store.workspace.own_memory import make_own_memory
from mdmem.store.workspace.scope import Filters, find_wing, is_doubtful, resolve_scope, scope_state
from mdmem.store.workspace.visibility import may_write_to, require_writable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.attempt import WAS_LOST, ResentSave
from mdmem.write.create import create, free_address, room_for
from mdmem.write.governance import needs_token, status_for_agent
from mdmem.write.records import ComposedEntry, JsonObject, entry_text, plain_text, read_back, shown
from mdmem.write.similar import SimilarEntry, find_near
from mdmem.write.write import new_fault, write_new_entry

METADATA, RELATED = "x-metadata", "x-related-to"
# Two texts of much the same words, of which one says one of these more, may say the opposite.
_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "cannot",
        "none",
        "neither",
        "nor",
        "avoid",
        "don",
        "doesn",
        "isn",
        "aren",
        "won",
        "mustn",
        "shouldn",
        "instead",
        "forbidden",
    ]
)


class MemoryKind(StrEnum):
    """What a memory is, in the words of the contract."""

    EPISODE = "episode"
    DECISION = "decision"
    PLAN = "plan"
    IDEA = "idea"
    CLAIM = "claim"
    ARTIFACT = "artifact"
    PROCEDURE = "procedure"
    DOMAIN = "domain"
    SESSION = "session"
    PATTERN = "pattern"
    RULE = "rule"

    @property
    def type(self) -> EntryType:
        """Return the type of the entry that holds it."""
        return _TYPES.get(self, EntryType.NOTE)

    @property
    def label(self) -> str | None:
        """Return the label of a note of this kind; the other types say it themselves."""
        return self.value if self.type is EntryType.NOTE else None

    @property
    def room_kind(self) -> str:
        """Return the kind whose room the settings give."""
        return _ROOM_KINDS.get(self, "context")


_TYPES = {
    MemoryKind.DECISION: EntryType.DECISION,
    MemoryKind.RULE: EntryType.INVARIANT,
    MemoryKind.PATTERN: EntryType.PATTERN,
    MemoryKind.PROCEDURE: EntryType.PATTERN,
}
_ROOM_KINDS = {
    MemoryKind.DECISION: "decision",
    MemoryKind.RULE: "decision",
    MemoryKind.PATTERN: "pattern",
    MemoryKind.PROCEDURE: "pattern",
    MemoryKind.SESSION: "session",
}


class Memo(Struct, frozen=True, kw_only=True):
    """What is to be remembered; `content` is kept as it is, `related_to` is what was typed."""

    title: str
    content: str
    kind: MemoryKind = MemoryKind.EPISODE
    domain: str | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    metadata: Mapping[str, Any] | None = None
    agent: str | None = None
    room: str | None = None


def read_memo(given: Mapping[str, object]) -> Memo:
    """Return the memory that JSON values state; raises UsageError naming the one that does not fit."""
    known = ("title", "content", "kind", "domain", "project", "tags", "related_to", "metadata", "agent", "room")
    read = JsonObject("remember", given, known)
    return Memo(
        title=read.line("title"),
        content=_verbatim(read.given.get("content")),
        kind=read.choice("kind", MemoryKind, default=MemoryKind.EPISODE),
        domain=read.optional_line("domain"),
        project=read.optional_line("project"),
        tags=tuple(dict.fromkeys(" ".join(tag.split()) for tag in read.texts("tags"))),
        related_to=tuple(dict.fromkeys(read.texts("related_to"))),
        metadata=_plain_object(read.given.get("metadata")),
        agent=read.optional_line("agent"),
        room=read.optional_line("room"),
    )


def _verbatim(value: object) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise UsageError("`remember.content` is missing; write a text")
    # It is kept as it came; what no file may hold is refused.
    plain_text("remember.content", value)
    return str(value)


def _plain_object(value: object) -> Mapping[str, Any] | None:
    if not value:
        return None
    try:
        is_plain = isinstance(value, Mapping) and json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    if not is_plain or not isinstance(value, Mapping):
        raise UsageError(f"`remember.metadata` must be a JSON object, found {shown(value)}")
    return value


def compose_memo(
    memo: Memo, address: str, *, status: Status, created_at: date, see: Sequence[str], unlinked: Sequence[str]
) -> ComposedEntry:
    """Return the file of a memory, its content word for word; raises UsageError for one that would not be read.

    `see` are the entries that it links to, `unlinked` is what of `related_to` is no entry there.
    """
    metadata = json.dumps(memo.metadata, ensure_ascii=False, sort_keys=True) if memo.metadata else ""
    fields: dict[str, Any] = {
        "type": memo.kind.type.value,
        "status": status.value,
        "created_at": created_at.isoformat(),
        "title": memo.title,
        "label": memo.kind.label,
        "topic": memo.domain,
        "agent": memo.agent or (UNNAMED_AGENT if memo.kind.type.is_rule else None),
        "tags": memo.tags,
        "see": tuple(see),
        METADATA: plain_text("remember.metadata", metadata),
        RELATED: tuple(unlinked),
    }
    text = f"{entry_text(fields, '')}\n{memo.content}"
    content = (text if text.endswith("\n") else f"{text}\n").encode()
    # Where every line ends as on Windows, those of the front matter do, too.
    if "\r\n" in memo.content and memo.content.count("\n") == memo.content.count("\r\n"):
        content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return read_back(address, content, "memory")


def contradicts(one: str, other: str) -> bool:
    """Say whether one of two similar texts negates what the other says; a signal, no verdict."""
    return bool((words_once(one) & _NEGATIONS) ^ (words_once(other) & _NEGATIONS))


_ATTEMPTS = 3
# The folder whose lock makes comparing and writing one step to all who save.
_SAVING = "saving"
_WAIT = 30.0


class SimilarMemory(Struct, frozen=True, kw_only=True):
    """An entry that says nearly the same as a memory, or the opposite."""

    id: str
    type: str
    name: str
    status: str
    similarity: float
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        named = {"id": self.id, "type": self.type, "name": self.name, "status": self.status}
        return named | {"similarity": round(self.similarity, 2), "why": self.why}


class RememberResult(Struct, frozen=True, kw_only=True):
    """What became of a memory; `id` is None where nothing was written."""

    success: bool
    id: str | None
    message: str
    timestamp: datetime
    conflicts: tuple[SimilarMemory, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of the contract."""
        return {
            "success": self.success,
            "id": self.id,
            "message": self.message,
            "timestamp": self.timestamp.isoformat(),
            "conflicts": [one.as_json() for one in self.conflicts],
        }


def remember(
    workspace: Workspace, given: Mapping[str, object], *, now: Callable[[], datetime] | None = None
) -> RememberResult:
    """Keep a memory and return what became of it; whatever stands in the way is the message."""
    moment = now() if now is not None else datetime.now(UTC)
    try:
        return _remembered(workspace, read_memo(given), moment)
    except MdmemError as error:
        why = str(error)
    except OSError as error:
        why = f"the system refuses {error.filename or 'a file'}: {(error.strerror or str(error)).lower()}"
    return RememberResult(success=False, id=None, message=why, timestamp=moment)


def _remembered(workspace: Workspace, memo: Memo, now: datetime) -> RememberResult:
    error: MdmemError = LostRaceError("others write all the time; call again")
    workspace.location.require_root()
    memo = replace(memo, project=_project_of(workspace, memo))
    home = workspace if memo.project is not None else make_own_memory(workspace)
    for _ in range(_ATTEMPTS):
        try:
            with write_lock(home.state_folder / _SAVING, wait=_WAIT):
                return _write(home.reread(), memo, now, is_private=memo.project is None)
        except LostRaceError as lost:
            error = lost
    raise error


def _write(home: Workspace, memo: Memo, now: datetime, *, is_private: bool) -> RememberResult:
    wing = WING if is_private else _wing_of(home, memo.project or "")
    asked = {name: value for name, value in asdict(memo).items() if name != "project"}
    intended = ResentSave.of(home, "remember", asked, wing=wing, now=now)
    known = intended.found()
    if known is not None:
        name = id_of(known, is_private=is_private)
        return RememberResult(success=True, id=name, message=f"{name} is saved; {WAS_LOST}", timestamp=now)
    room = room_for(home.settings, memo.kind.room_kind, memo.room)
    address = free_address(home, wing, room, kind=memo.kind.value, title=memo.title)
    see, unlinked = _links(home, memo.related_to, address)
    status = status_for_agent(home.settings, memo.kind.type)
    created_at = moment_on(home.today, now)
    composed = compose_memo(memo, address, status=status, created_at=created_at, see=see, unlinked=unlinked)
    text = composed.content.decode()
    change_set = replace(create(address, text), agent=memo.agent)
    fault = next(filter(None, (new_fault(one, home.settings, today=home.today) for one in change_set.changes)), None)
    if fault is not None:
        raise UsageError(f"nothing was written: {fault}")
    near = _near(home, address, text, is_private=is_private)
    said = [*_said(id_of(address, is_private=is_private), status, unlinked, near)]
    new = next(one for one in change_set.changes if one.to == f"{address}.md")
    with intended.writing(new):
        remark = write_new_entry(home, change_set)
    said += [remark] if remark is not None else []
    return RememberResult(
        success=True,
        id=id_of(address, is_private=is_private),
        message="; ".join(said),
        timestamp=now,
        conflicts=near,
    )


def _project_of(workspace: Workspace, memo: Memo) -> str | None:
    """Return the project that a memory belongs to, None for the caller's own: `private` says so.

    Where none is named it is the default wing, if the settings name a project's that the caller may write.
    """
    default = workspace.settings.default_wing
    if memo.project == WING and find_wing(WING, workspace.catalog.wings) is None:
        return None
    if memo.project is not None or default is None:
        return memo.project
    wing = workspace.catalog.wings.get(find_wing(default, workspace.catalog.wings) or "")
    is_open = wing is not None and not wing.is_shared and may_write_to(workspace, default)
    return default if is_open else None


def _wing_of(workspace: Workspace, project: str) -> str:
    """Return the wing that a memory of a project goes to; raises UsageError where none may take it."""
    require_writable(workspace, project)
    answer = scope_state(workspace.catalog, project)
    if answer.wing is None:
        raise UsageError(f"there is no wing for the project `{project}` yet; with `project` `{WING}` it is yours alone")
    wing = workspace.catalog.wings.get(answer.wing)
    if needs_token(wing, "project", is_doubtful=is_doubtful(workspace.catalog, answer.wing)):
        hint = "a person writes there with `mdmem new`"
        raise UsageError(f"`{answer.wing}` is a shared wing, which takes no memory of this kind; {hint}")
    return answer.wing


def _links(home: Workspace, named: Sequence[str], address: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the addresses that names mean, and the names that mean none here."""
    see, unlinked = list[str](), list[str]()
    for name in named:
        plain = f"{WING}/{name.removeprefix(PRIVATE)}" if name.startswith(PRIVATE) else name
        found = full_address(plain, address, home.catalog.entries)
        see += [found] if found is not None else []
        unlinked += [name] if found is None else []
    return tuple(dict.fromkeys(see)), tuple(unlinked)


def _near(home: Workspace, address: str, text: str, *, is_private: bool) -> tuple[SimilarMemory, ...]:
    """Return the entries of the scope that say nearly the same, those of other projects left out."""
    wing = address.split("/", 1)[0]
    scope = resolve_scope(home.catalog, home.settings, Filters(wings=(wing,)))
    lineage = home.catalog.lineage
    found = [one for one in find_near(home, address, text) if scope.holds(one.entry.address)]
    alive = [one for one in found if one.entry.status is Status.DRAFT or lineage.is_current(one.entry.address)]
    return tuple(_similar(home, one, text, is_private=is_private) for one in alive)


def _similar(home: Workspace, near: SimilarEntry, text: str, *, is_private: bool) -> SimilarMemory:
    entry = near.entry
    opposite = contradicts(text, f"{entry.title}\n{home.catalog.body(entry.address)}")
    why = "it says nearly the same" + (", and one of the two negates it" if opposite else "")
    return SimilarMemory(
        id=id_of(entry.address, is_private=is_private),
        type=entry.type.value,
        name=entry.title,
        status=entry.status.value,
        similarity=near.similarity,
        why=why,
    )


def _said(name: str, status: Status, unlinked: Sequence[str], near: Sequence[SimilarMemory]) -> Iterator[str]:
    is_draft = status is Status.DRAFT
    alone = ", for you alone" if name.startswith(PRIVATE) else ""
    yield f"{name} is saved{alone}" + (" as a draft: it binds nobody until a person approves it" if is_draft else "")
    if unlinked:
        listed = ", ".join(f"`{one}`" for one in unlinked)
        yield f"{listed} of `related_to` is no entry here, so it is kept as a word and not as a link"
    if near:
        yield f"`{near[0].id}` says nearly the same; read it before you rely on either"
