"""Creating an entry: from its type's template, validated before it is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest

from mdmem.authoring.change_set import Change, ChangeSet, Intent
from mdmem.authoring.message import Verb, WriteAction
from mdmem.catalog import interpret
from mdmem.catalog.names import is_well_formed, why_not_on_windows
from mdmem.document.parse import parse_document
from mdmem.document.scalars import compose_entry
from mdmem.entry.model import EntryType, Status, title_of, visible
from mdmem.entry.templates import BODIES
from mdmem.errors import UsageError

_ID_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry as somebody means to write it; an empty body stands for the template's."""

    type: EntryType
    place: str
    title: str = ""
    status: Status = Status.DRAFT
    body: str = ""


def address_of(draft: Draft) -> str:
    """Return the address a draft asks for, the entry-id from its title where it names none; raises UsageError."""
    parts = draft.place.removesuffix(".md").strip("/").split("/")
    if len(parts) == 2 and draft.title:
        parts.append(slug_of(draft.title))
    if len(parts) != 3:
        raise UsageError(f"`{draft.place}` is no place for an entry; write WING/ROOM/ID, or WING/ROOM with --title")
    require_names(parts)
    return "/".join(parts)


def require_names(parts: Sequence[str], *, known: Sequence[str] = ()) -> None:
    """Raise UsageError for a wing, a room or an entry-id that is no good name; one that is there already may stay."""
    for (kind, called, example), name, was in zip_longest(_KINDS[: len(parts)], parts, known[: len(parts)]):
        if name == was:
            continue
        if not is_well_formed(kind, name):
            raise UsageError(f"`{visible(name)}` is no name for {called}; write it like `{example}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")


_KINDS = (
    ("wing", "a wing", "navigation_stack"),
    ("room", "a room", "anti-patterns"),
    ("entry", "an entry-id", "blocking-callbacks"),
)


def slug_of(title: str) -> str:
    """Return an entry-id that people recognise from a title; raises UsageError for one without a letter or digit."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    slug = ""
    for word in words:
        if slug and len(slug) + len(word) > _ID_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_ID_LENGTH]
    if not slug:
        raise UsageError(f"no entry-id can be made from the title `{title}`; write WING/ROOM/ID")
    return slug


def compose(draft: Draft, *, today: date) -> str:
    """Return the text of the new entry's file."""
    address = address_of(draft)
    fields = {"type": draft.type.value, "status": draft.status.value, "created_at": today.isoformat()}
    fields["title"] = " ".join(draft.title.split()) or title_of(address)
    return compose_entry(fields, draft.body.strip("\n") or BODIES[draft.type])


def create(address: str, text: str) -> Intent:
    """Return what writes a new entry; raises UsageError for a text that does not load as one."""
    path = f"{address}.md"
    content = _as_bytes(text)
    loaded = interpret(parse_document(path, content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    return Intent(plan=ChangeSet((Change(path, path, None, content),)), deeds=(WriteAction(Verb.ADD, address),))


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes that are no UTF-8 come in from the command line and from files as lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error
