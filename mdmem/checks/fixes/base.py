"""Shared parts of the fixes, and the fixes that end an entry or bring it back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from mdmem.checks.case import Case, written_links
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import remove_item, set_fields
from mdmem.model.entry import Entry, Status
from mdmem.model.fields import KNOWN_FIELDS
from mdmem.model.finding import Edit, Finding, Fix, Place
from mdmem.model.origin import KEY as ORIGIN
from mdmem.store.catalog.addresses import full_address

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
    """Return the one allowed word that differs from a value only by case, `-` or `_`, or one typo."""
    plain = value.strip().casefold().replace("-", "_").replace(" ", "_")
    close = [word for word in allowed if is_slip(plain, word)]
    return close[0] if len(close) == 1 else None


def is_slip(written: str, meant: str) -> bool:
    """Return whether two words are equal, or one character apart: one more, one less, another, or two swapped."""
    if abs(len(written) - len(meant)) > 1:
        return False
    pairs = zip(written, meant, strict=False)
    first = next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(written), len(meant)))
    rest, wanted = written[first:], meant[first:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return rest == wanted or wanted in (rest[1:], swapped) or wanted[1:] in (rest, rest[1:])


def is_only_cause(document: Document, name: str, item: int) -> bool:
    """Return whether an item of a link field is all that explains why a deprecated entry ended."""
    fields = fields_of(document)
    if name != "superseded_by" or fields.get("status") != Status.DEPRECATED.value:
        return False
    if fields.get("deprecated_reason") or fields.get("reason"):
        return False
    value = fields.get(name)
    return not isinstance(value, list) or len(value) <= 1 or item >= len(value)


Values = dict[str, "str | list[str] | None"]
_SUPERSEDES = re.compile(r"supersed|replac|obsolet", re.IGNORECASE)
_IN_PART = re.compile(r"\b(?:in part|partly|partially)\b|\([^()\n]*\bonly\)", re.IGNORECASE)


def ending(case: Case, entry: Entry, *successors: str) -> tuple[Edit, ...]:
    """Return the edits that deprecate an entry and link its successors; the date is today unless the entry has one."""
    document = case.catalog.document(entry.path)
    values: Values = {}
    if successors:
        values["superseded_by"] = [*written_links(document, "superseded_by"), *successors]
    if entry.status is not Status.DEPRECATED:
        values |= {"status": Status.DEPRECATED.value, REVIEW_REASON: None}
        if entry.deprecated_at is None and "deprecated_at" not in entry.unread:
            values["deprecated_at"] = case.today.isoformat()
    return set_fields(document, values)


def reviving(case: Case, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edits that make an entry active again and remove its link to a successor."""
    entry, document = case.catalog.entries[old], case.catalog.document(f"{old}.md")
    item = _item_of(case, old, "superseded_by", new)
    written = written_links(document, "superseded_by")
    values: Values = {"superseded_by": [link for place, link in enumerate(written) if place != item]}
    if entry.status is Status.DEPRECATED:
        values |= {"status": Status.ACTIVE.value, "deprecated_at": None}
    return set_fields(document, values)


def unlinking(case: Case, address: str, field: str, target: str) -> tuple[Edit, ...]:
    """Return the edits that remove a link from a field; none if it is not there."""
    item = _item_of(case, address, field, target)
    return () if item is None else remove_item(case.catalog.document(f"{address}.md"), field, item)


def _item_of(case: Case, address: str, field: str, target: str) -> int | None:
    written = enumerate(written_links(case.catalog.document(f"{address}.md"), field))
    return next((item for item, link in written if full_address(link, address, case.catalog.addresses) == target), None)


def may_end(case: Case, old: str, *, named_by: str, field: str, target: str) -> bool:
    """Return whether a safe fix may end an entry: it is not current, or the current change writes the link.

    Whoever writes the link, in a field of one of the two entries, decides that a current entry ends. If the old entry
    itself is new or imported, records are being taken in, and nobody decides now.
    """
    if not case.catalog.entries[old].is_in_force:
        return True
    if (case.base is None and case.facts is None) or is_imported(case, old) or _before(case, old) is None:
        return False
    was = _before(case, named_by)
    return was is None or not _may_name(was, field, target)


def is_imported(case: Case, address: str) -> bool:
    """Return whether an entry was imported from another record."""
    return ORIGIN in fields_of(case.catalog.document(f"{address}.md"))


def is_in_part(case: Case, old: str, new: str) -> bool:
    """Return whether a reason or a text of one of two entries says that only a part of the old one was superseded."""
    entries = (case.catalog.entries[old], case.catalog.entries[new])
    reasons = (reason for one in entries for reason in (one.reason, one.deprecated_reason) if reason)
    lines = (line for one in entries for line in case.prose_of(one.address).splitlines() if _SUPERSEDES.search(line))
    return any(_IN_PART.search(text) for text in (*reasons, *lines))


def _before(case: Case, address: str) -> Document | None:
    """Return the file of an entry in the base, else in the last commit; None if it is not there."""
    path = f"{address}.md"
    if case.base is not None:
        moved = {one.after.address: one.before.path for one in case.changes.changed}
        is_new = any(one.address == address for one in case.changes.added)
        return None if is_new else case.base.catalog.document(moved.get(address, path))
    content = case.facts.committed(path) if case.facts is not None else None
    return parse_document(path, content) if content is not None else None


def _may_name(document: Document, field: str, target: str) -> bool:
    """Return whether a document names an entry in a field, or under an unknown key, in whatever form.

    Another fix may make a link of it, though nobody wrote one in this change. A draft supersedes nothing yet.
    """
    fields = document.fields
    if fields is None:
        return True
    if field == "supersedes" and fields.get("status") == Status.DRAFT.value:
        return False
    stated = (str(value) for key, value in fields.items() if key == field or key not in KNOWN_FIELDS)
    return any(target.rpartition("/")[2] in value for value in stated)
