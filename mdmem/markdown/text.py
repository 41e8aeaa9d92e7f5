"""What an entry says, as text: its content with the fields that belong to it, its summary, and how large they are."""

from __future__ import annotations

from mdmem.markdown.sections import shortened
from mdmem.markdown.statements import stated_fields
from mdmem.model.entry import Entry

BYTES_A_TOKEN = 4
_SUMMARY_BYTES = 480


def tokens_of(size: int) -> int:
    """Return the tokens that so many bytes of UTF-8 count for."""
    return -(-size // BYTES_A_TOKEN)


def quoted(text: str) -> str:
    """Return a text as a quote of Markdown, so that it stays material."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def content_of(entry: Entry, body: str) -> str:
    """Return an entry's body with the fields that are part of what it says."""
    return "\n\n".join(part for part in (body.strip(), *stated_fields(entry)) if part)


def is_title_alone(content: str) -> bool:
    """Say whether a content is nothing but headings, so that there is no more to ask for."""
    return all(line.startswith("#") for line in content.splitlines() if line.strip())


def summary_of(entry: Entry, body: str) -> str:
    """Return what was decided, in a few sentences, and for a pattern its steps."""
    return shortened(entry, body, limit=_SUMMARY_BYTES)
