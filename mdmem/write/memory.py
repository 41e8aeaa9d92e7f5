"""A memory as an agent hands it over, kept word for word: which type and label its kind means, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.similarity import words_once
from mdmem.model.entry import UNNAMED_AGENT, EntryType, Status
from mdmem.write.compose import ComposedEntry, entry_text, read_back
from mdmem.write.json_reader import JsonObject, plain_text, shown

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
