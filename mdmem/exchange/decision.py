"""Read a decision record in any format: its title, its facts, and its section about the status.

Facts are a record's metadata: keys of a front matter, rows of a table, and lines `Key: value`, which may be bold, in a
list or in a quote. Claims are the relations to other records that a record states.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from mdmem.exchange.links import number_of
from mdmem.exchange.record import (
    Claim,
    ClaimKind,
    Cut,
    ForeignRecord,
    Guess,
    SourceFile,
    StatusReading,
    read_date,
    without_comments,
)
from mdmem.exchange.statements import banners_in, claims_in, claims_of, kind_of_key, read_status
from mdmem.markdown.body import Section, decision_sections, sections_of, without_targets
from mdmem.markdown.parse import blank
from mdmem.model.entry import EntryType, Holder, Kind, Status
from mdmem.model.fields import FIELDS
from mdmem.model.spelling import synonym

# mdmem's own fields by name. Other tools may use the same name with another meaning, which `synonym` knows.
_OWN = {field.name: field.kind for field in FIELDS if field.holder is not Holder.WING}
_ASKED = frozenset({"title", "status", "type", "created_at"})
_NOTHING = frozenset({"", "none", "n/a", "-", "null", "~", "tbd"})


class Keys(Struct, frozen=True):
    """The parsed keys of a record: values for fields that the importer handles itself, other fields, and relations."""

    asked: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)


def read_keys(pairs: Iterable[tuple[str, Any]], *, without: Iterable[str] = ()) -> Keys:
    """Return the fields and claims from some keys. Skip empty values and the keys in `without`."""
    keys = Keys()
    for key, value in pairs:
        is_empty = value in (None, [], {}) or (isinstance(value, str) and value.strip().lower() in _NOTHING)
        if key in without or is_empty:
            continue
        name, kind = synonym(key), _OWN.get(key)
        items = [text for item in (value if isinstance(value, list) else [value]) if (text := _plain(item))]
        if name in _ASKED and name not in keys.asked:
            keys.asked[name] = ", ".join(items)
        elif (relation := kind_of_key(key)) is not None or name == "see":
            for item in items:
                # Without a path or number, take each name as a claim.
                names = filter(None, (one.strip(" []\"'") for one in item.split(",")))
                by_name = [Claim(relation or ClaimKind.SEE, one) for one in names]
                keys.claims.extend(claims_of(key, item) or by_name)
        elif name == "owner" or (kind is Kind.TEXT and key != "approved_by"):
            keys.fields[name if name == "owner" else key] = ", ".join(items)
        elif name in ("tags", "applies_to"):
            parts = items if isinstance(value, list) else map(str.strip, ", ".join(items).split(","))
            keys.fields[name] = tuple(dict.fromkeys((*keys.fields.get(name, ()), *filter(None, parts))))
        elif kind is Kind.TEXTS:
            keys.fields[key] = tuple(items)
        elif kind is Kind.MOMENT and (day := read_date(", ".join(items))) is not None:
            keys.fields[key] = day[0]
        elif key.startswith("x-"):
            keys.fields[key] = _plain(value)
        else:
            keys.fields[f"x-{re.sub(r'[^a-z0-9]+', '-', key.lower()).strip('-')}"] = _plain(value)
    return keys


def _plain(value: Any) -> str:
    """Return a value on one line: text without extra blanks, other values as JSON."""
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_STATUS_FACTS = frozenset(
    {"status", "state", "decision status", "adr status", "current status", "record status", "document status"}
)
# The names of date fields. The day of the decision comes first, because it is the best value.
_DATES = (
    *("date", "adr date", "decision date", "date of decision", "date decided", "decided on", "decided"),
    *("date accepted", "accepted on", "accepted", "date approved", "approved on", "approved", "adopted"),
    *("creation date", "date created", "created on", "created", "date proposed", "proposed on", "proposed"),
)
_OTHERS = frozenset(
    {"decider", "deciders", "decision maker", "decision makers", "author", "authors", "owner", "owners"}
    | {"tags", "categories", "consulted", "informed"}
)
_WORDS = r"[A-Za-z][A-Za-z _/-]{2,30}?"
# A line of prose, of a list or of a quote, or a row of a table.
_LINE = re.compile(
    rf"^[ \t]*(?P<quote>[>|][>| \t]*)?(?:[-*+][ \t]+)?"
    rf"(?:[*_`]{{0,3}}(?P<key>{_WORDS})[*_`]{{0,3}}[ \t]*[:|][*_]{{0,3}}"
    r"|[*_]{2}(?P<bold>[A-Za-z ]{4,20})[*_]{2}[ \t])(?P<value>[^\n]*)\n?",
    re.MULTILINE,
)
_CODE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
# A row of a table.
_ROW = re.compile(r"^[ \t>]*\|.*$", re.MULTILINE)


class Fact(Struct, frozen=True):
    """A key and its value, with the place in the body. With `is_line` the fact is alone on its line."""

    key: str
    value: str
    start: int
    end: int
    is_line: bool = True

    @property
    def is_status(self) -> bool:
        """Return whether the fact states the status of the record or a relation to another record."""
        return self.key in _STATUS_FACTS or kind_of_key(self.key) is not None

    @property
    def statement(self) -> str:
        """Return the fact as a sentence about the status."""
        return self.value if self.key in _STATUS_FACTS else f"{self.key}: {self.value}"


# Headings of sections that contain facts.
_ABOUT = frozenset({"metadata", "meta", "info", "information", "details", "document information", "properties"})
_LINKED = frozenset({"links", "more information", "related", "related decisions", "related adrs", "relations"})
_STATUS = re.compile(r"(?:adr |decision |current |document )?status(?:\s*[:=\u2013\u2014-]\s*(?P<value>.+))?\Z")
# A line that may state a status in a form that is not read, such as the title `[REJECTED] Use a queue`.
_HINT = re.compile(
    r"^.*\b(?:superseded|deprecated|obsolete|rejected|declined|withdrawn|proposed|draft)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
# A number or label before a title: `ADR-0044 | `, `5. `, `[RFC 12] `, `0007 `, `Decision record: `.
_NUMBERED = re.compile(
    r"(?:[a-z]{0,3}adr|[a-z]{1,3}dr|rfc|dec|ad|(?:(?:architectur\w+|design|technical)\s+)?decision(?:\s+record)?)?"
    r"[-_ #.]*(?:no\.?\s*)?[\[(]?(?:(?:adr|rfc|dec|ad)[-_ ]?)?\d+[\])]?\s*(?:[.:)|/\u2013\u2014-]+\s+|\|)"
    r"|\[?adr[-_ ]?\d+\]?\s+|0\d{2,}\s+|(?:adr|(?:architectur\w+\s+)?decision\s+record)\s*[:|\u2013\u2014-]\s+",
    re.IGNORECASE,
)


def title_section(sections: Sequence[Section]) -> Section | None:
    """Return the section of the title: the first one of the highest level, or None if a heading is above it.

    A section such as Context, Decision or Status is no title.
    """
    levels = [one.level for one in sections if one.level]
    top = 1 if 1 in levels or levels.count(min(levels, default=0)) != 1 else min(levels)
    first = next((one for one in sections if one.level == top), None)
    if first is None or any(one.level for one in sections[: sections.index(first)]):
        return None
    return None if first.name in ("context", "decision") or _STATUS.match(first.name) else first


class Part(Struct, frozen=True):
    """A section with its facts. `rest` is the text with blanks for facts, comments and rows of tables."""

    section: Section
    facts: tuple[Fact, ...]
    rest: str


def _part(section: Section) -> Part:
    offset, rest, facts = section.start, without_comments(section.text), []
    for found in _LINE.finditer(_CODE.sub(lambda code: blank(code[0]), rest)):
        key = " ".join(re.sub(r"[\s*_`-]+", " ", found["key"] or found["bold"]).lower().split())
        value = found["value"].strip().rstrip("\\| \t")
        # Below `Superseded by:` the record may be in the next line, so this is no fact.
        is_relation = kind_of_key(key) is not None and value != ""
        if key in _STATUS_FACTS or key in _DATES or key in _OTHERS or is_relation:
            value = re.sub(r"\A[*_]{1,3}\s+|<br ?/?>\Z", "", value).strip()
            is_line = not found["quote"] and "|" not in found[0]
            facts.append(Fact(key, value, offset + found.start(), offset + found.end(), is_line))
            rest = rest[: found.start()] + "\n" * (found.end() - found.start()) + rest[found.end() :]
    return Part(section, tuple(facts), _ROW.sub(lambda row: " " * len(row[0]), rest))


def head_parts(sections: Sequence[Section]) -> list[Part]:
    """Return the parts above the first heading after the title, and the sections about metadata."""
    title = title_section(sections)
    above = sections[: sections.index(title) + 1] if title is not None else sections[:1]
    return [_part(one) for one in (*above, *(one for one in sections if one.name in _ABOUT and one not in above))]


def status_section(sections: Sequence[Section]) -> Section | None:
    """Return the section about the status, or None."""
    return next((one for one in sections if one.level and _STATUS.match(one.name)), None)


def plain_title(heading: str) -> str:
    """Return a heading without the number of the record."""
    plain = " ".join(without_targets(heading).split())
    return _NUMBERED.sub("", plain[:300], count=1).strip() + plain[300:] if _NUMBERED.match(plain) else plain


def _listed(text: str) -> str:
    """Return the lines and items of a text, separated by commas."""
    return ", ".join(re.sub(r"^[-*+]\s+", "", line.strip()) for line in text.splitlines() if line.strip())


def _number_in(heading: str) -> int | None:
    found = _NUMBERED.match(heading[:300])
    digits = re.search(r"\d{1,6}", found[0]) if found is not None else None
    return int(digits[0]) if digits is not None else None


def decision_record(source: SourceFile, *, unstated: Status = Status.ACTIVE) -> ForeignRecord:
    """Return a decision record. If it has no status but states a decision, it gets the status `unstated`."""
    sections = sections_of(source.body)
    title, section, head = title_section(sections), status_section(sections), head_parts(sections)
    about = next((one for one in head if one.section is section), None) if section is not None else None
    if section is not None and about is None:
        about = _part(section)
    facts = list(dict.fromkeys(fact for part in (*head, *([about] if about else ())) for fact in part.facts))
    heading = title.heading if title is not None else ""
    front = read_keys(source.fields.items())
    below = read_keys((one.key, one.value) for one in facts if one.key in _OTHERS)
    stated = front.asked.get("status", "")
    reading = _read_all(stated, facts, head, about)
    # mdmem's status may say less than the status in the front matter, so keep the original.
    kept = {"x-status": stated} if stated and not read_status(stated).is_whole else {}
    linked = (
        claim
        for one in sections
        if one.name in _LINKED or (one.level and kind_of_key(one.name) is not None)
        for claim in (claims_in(one.text) if one.name in _LINKED else claims_of(one.name, _listed(one.text)))
    )
    record = ForeignRecord(
        path=source.path,
        source=source,
        type=EntryType.DECISION,
        status=Status.DRAFT,
        title=front.asked.get("title") or plain_title(heading),
        name=source.stem,
        body=source.body,
        fields={**below.fields, **front.fields, **kept},
        claims=tuple(dict.fromkeys((*reading.claims, *front.claims, *linked))),
        cuts=tuple(_cuts(sections, title, front.asked.get("title"), facts, about, reading)),
        number=number_of(source.stem) or _number_in(heading),
        reading=reading,
        messages=[f"`{one[:100]}` is not understood, and stays in the text" for one in reading.doubts],
    )
    _give_status(record, unstated if decision_sections(sections) or reading.claims else Status.DRAFT)
    if record.status is Status.ACTIVE and reading.status is None and not (reading.claims or record.messages):
        parts = (*head, about) if about is not None else head
        hint = _HINT.search("\n".join((heading, *(without_comments(one.section.text) for one in parts))))
        record.messages += (
            [f"`{hint[0].strip()[:60]}` is not understood as a status: it counts as accepted"] if hint else []
        )
    _give_date(record, front.asked.get("created_at"), facts)
    return record


def names_successor(claims: Iterable[Claim]) -> bool:
    """Return whether a record states which record supersedes it."""
    return any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims)


def _read_all(front: str, facts: Sequence[Fact], head: Sequence[Part], about: Part | None) -> StatusReading:
    """Return the status from all places of a record."""
    statements = [front, *(one.statement for one in facts if one.is_status)]
    if about is not None:
        statements += [_value_of(about.section), about.rest]
    statements.append("\n".join(banner for one in head for banner in banners_in(one.rest)))
    return read_status("\n\n".join(statements))


def _value_of(section: Section) -> str:
    """Return the status inside a heading such as `## Status: Accepted`."""
    return re.sub(r"^\W*[\w ]*status\s*", "", section.heading, flags=re.IGNORECASE).lstrip(":=-\u2013\u2014 ")


def _give_status(record: ForeignRecord, unstated: Status) -> None:
    """Set the status of a record. If none is stated, it is `unstated`, or active in a folder of records."""
    reading, in_records = record.reading, record.source.is_in_records
    if names_successor(record.claims):
        record.status = Status.DEPRECATED
    elif reading.status is not None:
        record.status = reading.status
        if reading.guess:
            record.guesses["status"] = Guess(reading.guess)
    elif in_records and reading.claims and not reading.is_unknown:
        # The status is only about a part of the record. The rest is active.
        record.status = Status.ACTIVE
    else:
        why = f"the status `{reading.text[:60]}` is unknown" if reading.is_unknown else "no status is stated"
        record.messages += [why] if reading.is_unknown else []
        if in_records:
            record.status, guess = Status.ACTIVE, Guess(f"{why}; a decision record counts as accepted")
        elif unstated is Status.ACTIVE and not reading.is_unknown:
            record.status, guess = unstated, Guess(f"{why}; it contains a decision")
        else:
            guess = Guess(why, "a guess")
        record.guesses["status"] = guess


def _give_date(record: ForeignRecord, asked: str | None, facts: Sequence[Fact]) -> None:
    """Set the date of a record from its front matter, or else from the most important of its facts."""
    dates = {one.key: read for one in reversed(facts) if one.key in _DATES and (read := read_date(one.value))}
    best = (read_date(asked) if asked else None) or next((dates[key] for key in _DATES if key in dates), None)
    if best is None and asked is None and record.reading.began is not None:
        best = record.reading.began, "the date of its status"
    if best is None:
        odd = asked or next((one.value for one in facts if one.key == "date" and one.value), None)
        record.messages += [f"`{odd}` is not a date"] if odd else []
        return
    record.created_at, guess = best
    if guess:
        record.guesses["created_at"] = Guess(guess)


def _cuts(
    sections: Sequence[Section],
    title: Section | None,
    front_title: str | None,
    facts: Sequence[Fact],
    about: Part | None,
    reading: StatusReading,
) -> Iterator[Cut]:
    """Yield the parts of the body that become front matter. An ambiguous or longer status stays in the body."""
    if title is not None and (front_title or title.heading).casefold() in (
        plain_title(title.heading).casefold(),
        title.heading.casefold(),
    ):
        yield Cut(title.span[0], title.start)
    is_certain = not reading.is_unknown and not reading.guess
    for one in facts:
        stated = read_status(one.statement) if one.is_status else None
        is_day = one.key == "date" and (not one.value or read_date(one.value) is not None)
        # A colon may begin another fact on the same line.
        is_plain = ":" not in one.value and (one.key in _OTHERS or is_day)
        if one.is_line and (stated.is_whole and is_certain if stated else is_plain):
            yield Cut(one.start, one.end, stated.claims if stated else ())
    if about is not None and is_certain:
        section = about.section
        below = next((one for one in sections if one.span[0] == section.span[1]), None)
        stated = read_status(f"{_value_of(section)}\n\n{about.rest}")
        is_end = below is None or below.level <= section.level
        if stated.is_whole and is_end and all(one.is_line for one in about.facts):
            yield Cut(*section.span, stated.claims)
