"""What the full-text index takes in of an entry."""

from __future__ import annotations

from datetime import date

from mdmem.markdown.text import content_of
from mdmem.model.entry import Entry
from mdmem.model.fields import Searched, searched_as
from mdmem.store.index.protocol import IndexDocument


def document_of(entry: Entry, body: str, digest: str) -> IndexDocument:
    """Return the document of an entry, whose body may be left out."""
    stated = {name: _texts_of(getattr(entry, name)) for name in searched_as(*Searched)}
    return IndexDocument(entry.address, digest, content_of(entry, body), entry.wing, entry.room, stated)


def _texts_of(value: str | date | tuple[str, ...] | None) -> tuple[str, ...]:
    if value is None or isinstance(value, tuple):
        return value or ()
    return (value.isoformat() if isinstance(value, date) else str(value),)
