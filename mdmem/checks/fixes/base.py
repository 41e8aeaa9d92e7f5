"""Shared parts of the fixes: built from patches, given up if a file cannot be patched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.parse import Document
from mdmem.model.entry import Status
from mdmem.model.finding import Edit, Finding, Fix, Place

# The doubt in the words of whoever asked for a review; the key goes when the review ends.
REVIEW_REASON = "x-review-reason"


def with_fix(
    finding: Finding, title: str, patch: Callable[..., Iterable[Edit]], *given: object, is_safe: bool = True
) -> Finding:
    """Return a finding with the fix that a patch makes; one that is not safe decides something for a person.

    The finding has no fix if the file cannot be patched, or if there is nothing to patch.
    """
    try:
        edits = tuple(patch(*given))
    except UnpatchableError:
        return finding
    return replace(finding, fix=Fix(title, edits, is_safe)) if edits else finding


def with_edits(finding: Finding, title: str, *edits: Edit) -> Finding:
    """Return a finding with the safe fix that makes some edits."""
    return replace(finding, fix=Fix(title, edits))


def fields_of(document: Document) -> Mapping[str, Any]:
    """Return the fields of a document, none if they cannot be read."""
    return document.fields if document.fields is not None else {}


def field_at(document: Document, place: Place) -> tuple[str, int] | None:
    """Return the field whose key, value or item is at a place, and the number of the item."""
    for name, value in fields_of(document).items():
        if place in (document.place(name), document.place(name, of_key=True)):
            return name, 0
        for item in range(len(value) if isinstance(value, list) else 0):
            if document.place(name, item) == place:
                return name, item
    return None


def line_start(document: Document, line: int) -> int:
    """Return the offset in a file's text at which a line starts; lines count from 1."""
    offset = 0
    for _ in range(line - 1):
        offset = document.text.index("\n", offset) + 1
    return offset


def line_end(document: Document) -> str:
    """Return how most lines of a file end: CRLF or LF."""
    return "\r\n" if document.text.count("\r\n") * 2 > document.text.count("\n") else "\n"


def certainly_meant(value: str, allowed: Iterable[str]) -> str | None:
    """Return the one allowed word that differs from a value by case, a joining sign or one slip of the pen."""
    plain = value.strip().casefold().replace("-", "_").replace(" ", "_")
    close = [word for word in allowed if is_slip(plain, word)]
    return close[0] if len(close) == 1 else None


def is_slip(written: str, meant: str) -> bool:
    """Say whether two words are equal, or one character apart: one more, one less, another, or two swapped."""
    if abs(len(written) - len(meant)) > 1:
        return False
    pairs = zip(written, meant, strict=False)
    first = next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(written), len(meant)))
    rest, wanted = written[first:], meant[first:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return rest == wanted or wanted in (rest[1:], swapped) or wanted[1:] in (rest, rest[1:])


def is_only_cause(document: Document, name: str, item: int) -> bool:
    """Say whether an item of a link field is all that explains why a deprecated entry ended."""
    fields = fields_of(document)
    if name != "superseded_by" or fields.get("status") != Status.DEPRECATED.value:
        return False
    if fields.get("deprecated_reason") or fields.get("reason"):
        return False
    value = fields.get(name)
    return not isinstance(value, list) or len(value) <= 1 or item >= len(value)
