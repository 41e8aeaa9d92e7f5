"""Creating an entry: from its type's template, validated before it is written, never over another file."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mdmem.catalog import interpret
from mdmem.checks.names import is_well_formed, why_not_on_windows
from mdmem.document.parse import parse_document
from mdmem.document.writing import compose_entry
from mdmem.entry.model import EntryType, Status, title_of, visible
from mdmem.entry.templates import BODIES
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.state import write_new

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
    for (kind, called, example), name in zip(_KINDS, parts, strict=True):
        if not is_well_formed(kind, name):
            raise UsageError(f"`{visible(name)}` is no name for {called}; write it like `{example}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")
    return "/".join(parts)


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


def create(root: Path, address: str, text: str) -> Path:
    """Write a new entry and return its path.

    Raises UsageError for a text that does not load as an entry and LostRaceError where the address is taken:
    then nothing is written.
    """
    path = root / f"{address}.md"
    content = _as_bytes(text)
    loaded = interpret(parse_document(f"{address}.md", content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    _refuse_link(root, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_new(path, content)
    except FileExistsError as error:
        raise LostRaceError(taken(address)) from error
    return path


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes that are no UTF-8 come in from the command line and from files as lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error


def _refuse_link(root: Path, path: Path) -> None:
    for folder in (path.parent, path.parent.parent):
        if folder != root and folder.is_symlink():
            raise UsageError(f"{folder.name} is a symbolic link; entries are written inside the root only")
