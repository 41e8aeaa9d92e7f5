"""What decision records of all dialects have in common: a title, lines of facts below it, a section on the status."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mdmem.dataclass import dataclass
from mdmem.entry.headings import Section, deciding, sections_of
from mdmem.entry.model import EntryType, Status
from mdmem.exchange.keys import Keys, read_keys
from mdmem.exchange.markers import without_comments
from mdmem.exchange.moments import read_date
from mdmem.exchange.record import Claim, ClaimKind, Cut, ForeignRecord, Guess, SourceFile, Sureness
from mdmem.exchange.status import StatusReading, claims_in, read_status

_NUMBERED = re.compile(
    r"^(?:(?:adr|madr|rfc|decision)[- #]*)?\[?\d+\]?\s*[.:)\u2013\u2014-]+\s+|^adr[- ]?\d+\s+", re.IGNORECASE
)
_KEYS = r"status|date|deciders?|decision[- ]makers?|authors?|owners?|tags|categories|consulted|informed"
_LINE = re.compile(
    rf"^[ \t]*(?:[-*+][ \t]+)?[*_]{{0,2}}(?P<key>{_KEYS})[*_]{{0,2}}[ \t]*:"
    r"[*_]{0,2}[ \t]*(?P<value>[^\n]*?)[ \t]*\r?$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# No part reads past the next bracket: of a hundred thousand, each would read to the end.
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)\[]*\)")


@dataclass(frozen=True, slots=True)
class FactLine:
    """A line `Key: value` below the title, with its place in the body."""

    key: str
    value: str
    start: int
    end: int


def title_section(sections: Sequence[Section]) -> Section | None:
    """Return the section whose heading is the title: the first of the first level, where nothing but text is above."""
    first = next((one for one in sections if one.level == 1), None)
    return first if first is not None and all(one.level == 0 for one in sections[: sections.index(first)]) else None


def fact_lines(sections: Sequence[Section]) -> tuple[FactLine, ...]:
    """Return the lines of facts that stand before the first heading below the title."""
    title = title_section(sections)
    above = sections[: sections.index(title) + 1] if title is not None else sections[:1]
    return tuple(line for section in above for line in _lines_of(section))


def _lines_of(section: Section) -> Iterator[FactLine]:
    for found in _LINE.finditer(section.text):
        value = without_comments(found["value"]).strip()
        yield FactLine(found["key"], value, section.start + found.start(), section.start + found.end())


def status_section(sections: Sequence[Section]) -> Section | None:
    """Return the section that is called Status."""
    return next((one for one in sections if one.name == "status" and one.level), None)


def plain_title(heading: str) -> str:
    """Return a heading without the number that the file's name has, too."""
    plain = " ".join(_LINK.sub(r"\1", heading).split())
    return _NUMBERED.sub("", plain).strip() or plain


def decision_record(source: SourceFile, *, unstated: Status = Status.ACTIVE) -> ForeignRecord:
    """Return a decision record; one that states no status gets `unstated` where it says what was decided."""
    sections = sections_of(source.body)
    title, section, lines = title_section(sections), status_section(sections), fact_lines(sections)
    front, below = read_keys(source.fields.items()), read_keys((one.key, one.value) for one in lines)
    asked = {**below.asked, **front.asked}
    stated = (front.asked.get("status", ""), *(one.value for one in lines if one.key.lower() == "status"))
    reading = read_status("\n".join((*stated, section.text if section is not None else "")))
    guesses: dict[str, Guess] = {"status": reading.guess} if reading.guess else {}
    status = reading.status
    claims = tuple(dict.fromkeys((*reading.claims, *front.claims, *below.claims, *_linked(sections))))
    if status is None and names_successor(claims):
        status = Status.DEPRECATED
    elif status is None:
        status, guesses["status"] = _unstated(sections, reading, unstated)
    created, date_guess, said = dated(asked.get("created_at"))
    if date_guess is not None:
        guesses["created_at"] = date_guess
    return ForeignRecord(
        source=source,
        type=EntryType.DECISION,
        status=status,
        title=asked.get("title") or (plain_title(title.heading) if title is not None else ""),
        name=source.stem,
        body=source.body,
        created_at=created,
        fields={**below.fields, **front.fields, **_unread(front, reading)},
        claims=claims,
        cuts=tuple(_cuts(sections, asked.get("title"), lines, reading)),
        guesses=guesses,
        said=(*reading.said, *said),
        states_status=reading.status is not None,
        ended_as=_LINK.sub(r"\1", reading.text) if status is Status.DEPRECATED else "",
    )


def names_successor(claims: Iterable[Claim]) -> bool:
    """Say whether a record says of itself that another took its place."""
    return any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims)


def _unstated(sections: Sequence[Section], reading: StatusReading, unstated: Status) -> tuple[Status, Guess]:
    if unstated is Status.ACTIVE and (deciding(sections) or reading.claims):
        return unstated, Guess("no status is stated; it says what was decided", Sureness.LIKELY)
    return Status.DRAFT, Guess("no status is stated", Sureness.GUESS)


def dated(written: str | None) -> tuple[str | None, Guess | None, tuple[str, ...]]:
    """Return the date that was written, what was guessed about it, and what is to be said of one that is none."""
    if written is None:
        return None, None, ()
    found = read_date(written)
    if found is None:
        return None, None, (f"`{written}` is no date",)
    return found.iso, found.guess, ()


def _linked(sections: Sequence[Section]) -> Iterator[Claim]:
    """Yield what the section on links says; it stays in the text."""
    for section in sections:
        if section.name in ("links", "more information"):
            yield from claims_in(section.text)


def _unread(front: Keys, reading: StatusReading) -> dict[str, str]:
    """Return the status of a front matter that says more than ours can."""
    stated = front.asked.get("status")
    return {"x-status": stated} if stated is not None and not reading.is_whole else {}


def _cuts(
    sections: Sequence[Section], title: str | None, lines: Sequence[FactLine], reading: StatusReading
) -> Iterator[Cut]:
    """Yield the parts of the body that are in the front matter; `title` is the one of the source's own."""
    head, section = title_section(sections), status_section(sections)
    if head is not None and (title or head.heading).casefold() in (
        plain_title(head.heading).casefold(),
        head.heading.casefold(),
    ):
        yield Cut(head.span[0], head.start)
    for one in lines:
        if one.key.lower() == "status":
            yield from _status_cut(one.value, one.start, one.end, reading)
        elif one.key.lower() != "date" or not one.value or read_date(one.value) is not None:
            yield Cut(one.start, one.end)
    if section is not None:
        below = next((one for one in sections if one.span[0] == section.span[1]), None)
        parts = tuple(_status_lines(section, reading))
        if reading.is_whole and (below is None or below.level <= section.level):
            yield Cut(*section.span, reading.claims, parts)
        else:
            yield from parts


def _status_lines(section: Section, reading: StatusReading) -> Iterator[Cut]:
    """Yield the lines of the section that say nothing but what is carried over; one that a comment is in stays."""
    start = section.start
    plain = without_comments(section.text).splitlines(keepends=True)
    for line, bare in zip(section.text.splitlines(keepends=True), plain, strict=True):
        if line == bare and line.strip():
            yield from _status_cut(line, start, start + len(line), reading)
        start += len(line)


def _status_cut(written: str, start: int, end: int, reading: StatusReading) -> Iterator[Cut]:
    """Yield the cut of a line on the status, unless it says more; where the whole needs a person, all of it stays."""
    line = read_status(written)
    if line.is_whole and not reading.said:
        yield Cut(start, end, line.claims)
