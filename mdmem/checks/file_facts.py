"""What the checks take from the text of one file: read once, then cached by path and content."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mdmem.checks.prose import AmendmentSentence, amendment_sentences, gives_reason, may_amend
from mdmem.checks.suppressions import Suppression, suppressions_in
from mdmem.markdown.links import BodyLink, body_links, may_have_links
from mdmem.markdown.parse import Document
from mdmem.model.entry import Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.record import StoredRecord

_IN_FORCE = (Status.ACTIVE, Status.UNDER_REVIEW)


class WrittenLink(StoredRecord, frozen=True, array_like=True):
    """One item of a link field, as the file has it."""

    field: str
    item: int
    written: str


class FileFacts(StoredRecord, frozen=True):
    """What one file says, and the findings of the checks that read nothing else.

    `gives_reason` is read only for an entry that supersedes or overrides another. `body_size` and `size` count bytes.
    """

    links: tuple[WrittenLink, ...] = ()
    references: tuple[BodyLink, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    amendments: tuple[AmendmentSentence, ...] = ()
    gives_reason: bool = False
    body_size: int = 0
    size: int = 0
    findings: tuple[Finding, ...] = ()


def read_facts(document: Document, prose: Callable[[], str]) -> FileFacts:
    """Return the facts of a document without findings; `prose` gives its body with code blanked out, which is slow."""
    links, fields, body = tuple(_written_links(document)), document.fields, document.body
    references = tuple(body_links(prose())) if fields is not None and may_have_links(body) else ()
    is_in_force = fields is not None and fields.get("status") in _IN_FORCE
    amendments = amendment_sentences(body, prose(), references) if is_in_force and may_amend(body) else ()
    replaces = any(one.field in ("supersedes", "overrides") for one in links)
    return FileFacts(
        links=links,
        references=references,
        suppressions=tuple(suppressions_in(document, prose)),
        amendments=tuple(amendments),
        gives_reason=replaces and gives_reason(body),
        body_size=len(body.encode("utf-8")),
        size=len(document.data),
    )


def _written_links(document: Document) -> Iterator[WrittenLink]:
    fields = document.fields if document.fields is not None else {}
    for name in filter(fields.__contains__, LINK_FIELDS):
        value = fields[name]
        for item, written in enumerate(value if isinstance(value, list) else [value]):
            if written is not None:
                yield WrittenLink(name, item, str(written))
