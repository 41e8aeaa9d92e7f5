"""Front matter read in a test."""

from __future__ import annotations

from mdmem.markdown.front_matter import Fields, FrontMatterError, Trouble
from mdmem.markdown.parse import handler


def read_fields(text: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    """Return the fields of a front matter, if they are certain, and its faults."""
    try:
        fields = handler().load(text)
    except FrontMatterError as error:
        return None, error.troubles
    return fields, fields.troubles
