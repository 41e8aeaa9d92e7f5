"""What the checks take from the text of one file: read from it once, then known by path and content."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from mdmem.checks.amendment_sentences import AmendmentSentence, amendment_sentences
from mdmem.checks.prose import text_gives_reason
from mdmem.checks.suppressions import Suppression, suppressions_in
from mdmem.markdown.links import BodyLink, body_links, may_have_links
from mdmem.markdown.parse import Document, without_code
from mdmem.model.entry import Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.record import StoredRecord

_IN_FORCE = (Status.ACTIVE, Status.UNDER_REVIEW)


class WrittenLink(StoredRecord, frozen=True, array_like=True):
    """One item of a link field, as the file holds it."""

    field: str
    item: int
    written: str


class Extract(Protocol):
    """What one file tells the checks that look at more than one; nothing of it depends on another file."""

    @property
    def links(self) -> tuple[WrittenLink, ...]:
        """Return the items of the link fields, in their order."""
        ...

    @property
    def references(self) -> tuple[BodyLink, ...]:
        """Return the cross-references of the body; none where the front matter cannot be read."""
        ...

    @property
    def suppressions(self) -> tuple[Suppression, ...]:
        """Return what the file wants silent."""
        ...

    @property
    def amendments(self) -> tuple[AmendmentSentence, ...]:
        """Return the sentences of the body that may say that the entry amends another, while it is in force."""
        ...

    @property
    def gives_reason(self) -> bool | None:
        """Say whether the body holds a reason; None where that was not asked of an entry that replaces nothing."""
        ...

    @property
    def size(self) -> int:
        """Return the bytes of the body."""
        ...

    @property
    def length(self) -> int:
        """Return the bytes of the file."""
        ...


class DocumentExtract(Struct, frozen=True, dict=True):
    """The extract of a document, each part made when it is first asked for."""

    document: Document

    @cached_property
    def prose(self) -> str:
        """Return the body with code blanked out and every character at its offset."""
        return without_code(self.document.body)

    @cached_property
    def links(self) -> tuple[WrittenLink, ...]:
        """Return the items of the link fields, in their order."""
        return tuple(_written_links(self.document))

    @cached_property
    def references(self) -> tuple[BodyLink, ...]:
        """Return the cross-references of the body; none where the front matter cannot be read."""
        if self.document.fields is None or not may_have_links(self.document.body):
            return ()
        return tuple(body_links(self.prose))

    @cached_property
    def suppressions(self) -> tuple[Suppression, ...]:
        """Return what the file wants silent."""
        return tuple(suppressions_in(self.document, self._prose_of_comments))

    def _prose_of_comments(self) -> str:
        return self.prose

    @cached_property
    def amendments(self) -> tuple[AmendmentSentence, ...]:
        """Return the sentences of the body that may say that the entry amends another, while it is in force."""
        fields = self.document.fields
        if fields is None or fields.get("status") not in _IN_FORCE:
            return ()
        return tuple(amendment_sentences(self.document.body, lambda: self.prose, self.references))

    @cached_property
    def gives_reason(self) -> bool:
        """Say whether the body holds a reason."""
        return text_gives_reason(self.document.body)

    @cached_property
    def size(self) -> int:
        """Return the bytes of the body."""
        body = self.document.body
        return len(body) if body.isascii() else len(body.encode("utf-8"))

    @property
    def length(self) -> int:
        """Return the bytes of the file."""
        return len(self.document.data)


class KeptExtract(StoredRecord, frozen=True):
    """The extract of a file that was read before, with what the checks of one file found in it."""

    links: tuple[WrittenLink, ...] = ()
    references: tuple[BodyLink, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    amendments: tuple[AmendmentSentence, ...] = ()
    gives_reason: bool | None = None
    size: int = 0
    length: int = 0
    findings: tuple[Finding, ...] = ()


def replaces(extract: Extract) -> bool:
    """Say whether a file may have to give a reason for what it takes the place of."""
    return any(one.field in ("supersedes", "overrides") for one in extract.links)


def kept_extract(extract: Extract, findings: tuple[Finding, ...]) -> KeptExtract:
    """Return an extract without its document."""
    return KeptExtract(
        extract.links,
        extract.references,
        extract.suppressions,
        extract.amendments,
        extract.gives_reason if replaces(extract) else None,
        extract.size,
        extract.length,
        findings,
    )


def _written_links(document: Document) -> Iterator[WrittenLink]:
    fields = document.fields if document.fields is not None else {}
    for name in filter(fields.__contains__, LINK_FIELDS):
        value = fields[name]
        for item, written in enumerate(value if isinstance(value, list) else [value]):
            if written is not None:
                yield WrittenLink(name, item, str(written))
