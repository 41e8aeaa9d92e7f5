"""Read the records in a file: recognise the tool that wrote it, and read its title, its metadata and its status.

Facts are a record's metadata: keys of a front matter, rows of a table, and lines `Key: value`, which may be bold, in a
list or in a quote. Claims are the relations to other records that a record states.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice, product, takewhile
from typing import Any

from msgspec import Struct, field

from mdmem.exchange.record import Claim, ClaimKind, Cut, ForeignRecord, Guess, SourceFile, read_date, without_comments
from mdmem.exchange.statements import banners_in, claims_in, claims_of, kind_of_key, read_status, with_folders
from mdmem.markdown.body import Section, decision_sections, sections_of, without_targets
from mdmem.markdown.parse import without_code, without_fenced
from mdmem.model.entry import EntryType, Holder, Kind, Status
from mdmem.model.fields import FIELDS
from mdmem.model.spelling import meant_value, synonym
from mdmem.model.text import cut_line
from mdmem.setup.agents_file import OWN_LINES, without_regions
from mdmem.store.catalog.addresses import well_formed

# mdmem's own fields by name. Other tools may use the same name with another meaning, which `synonym` knows.
_OWN_KINDS = {field.name: field.kind for field in FIELDS if field.holder is not Holder.WING}
_BASIC = frozenset({"title", "status", "type", "created_at"})
_EMPTY_VALUES = frozenset({"", "none", "n/a", "-", "null", "~", "tbd"})


class ParsedKeys(Struct, frozen=True):
    """The parsed keys of a record: basic fields, other fields, and relations with the key and text that keep them."""

    basic: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    claims: dict[Claim, tuple[str, str]] = field(default_factory=dict)


def read_keys(pairs: Iterable[tuple[str, Any]], *, without: Iterable[str] = ()) -> ParsedKeys:
    """Return the fields and relations in some keys. Empty values and the keys in `without` are skipped."""
    keys = ParsedKeys()
    for key, value in pairs:
        is_empty = value in (None, [], {}) or (isinstance(value, str) and value.strip().lower() in _EMPTY_VALUES)
        if key in without or is_empty:
            continue
        name, kind = synonym(key), _OWN_KINDS.get(key)
        items = [text for item in (value if isinstance(value, list) else [value]) if (text := _plain(item))]
        text = ", ".join(items)
        foreign = key if key.startswith("x-") else f"x-{re.sub(r'[^a-z0-9]+', '-', key.lower()).strip('-')}"
        if name in _BASIC and name not in keys.basic:
            keys.basic[name] = text
        elif (relation := kind_of_key(key)) is not None or name == "see":
            for item in items:
                # Without a path or number, take each name as a claim.
                names = (one.strip(" []\"'") for one in item.split(","))
                names = (one for one in names if one.lower() not in _EMPTY_VALUES)
                found = claims_of(key, item) or [Claim(relation or ClaimKind.SEE, one) for one in names]
                keys.claims.update(dict.fromkeys(found, (foreign, item)))
        elif name == "owner" or (kind is Kind.TEXT and key != "approved_by"):
            _add(keys.fields, name if name == "owner" else key, text)
        elif name in ("tags", "applies_to"):
            parts = items if isinstance(value, list) else map(str.strip, text.split(","))
            _add(keys.fields, name, tuple(filter(None, parts)))
        elif kind is Kind.TEXTS:
            keys.fields[key] = tuple(items)
        elif kind is Kind.MOMENT and (day := read_date(text)) is not None:
            keys.fields[key] = day[0]
        else:
            # A list stays a list. Other values that are no text become JSON.
            _add(keys.fields, foreign, tuple(items) if isinstance(value, list) else text)
    return keys


def _add(fields: dict[str, str | tuple[str, ...]], name: str, value: str | tuple[str, ...]) -> None:
    """Add a value to a field. Several keys may have owners, or there may be a line `Author` for each person."""
    known = fields.get(name, ())
    if isinstance(value, str) and isinstance(known, str):
        fields[name] = known if known == value else f"{known}, {value}"
    elif known or not isinstance(value, str):
        both = ((one,) if isinstance(one, str) else one for one in (known, value))
        fields[name] = tuple(dict.fromkeys(chain.from_iterable(both)))
    else:
        fields[name] = value


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
    *("creation date", "date created", "created on", "created"),
    *("date proposed", "proposed on", "proposed", "start date"),
)
_OTHER_FACTS = frozenset(
    {"decider", "deciders", "decision maker", "decision makers", "author", "authors", "owner", "owners"}
    | {"title", "tags", "categories", "consulted", "informed"}
)
_WORDS = r"[A-Za-z][A-Za-z _/-]{2,30}?"
# A line of prose, of a list or of a quote, or a row of a table.
_LINE = re.compile(
    rf"^[ \t]*(?P<quote>[>|][>| \t]*)?(?:[-*+][ \t]+)?"
    rf"(?:[*_`]{{0,3}}(?P<key>{_WORDS})[*_`]{{0,3}}[ \t]*[:|][*_]{{0,3}}"
    r"|[*_]{2}(?P<bold>[A-Za-z ]{4,20})[*_]{2}[ \t])(?P<value>[^\n]*)\n?",
    re.MULTILINE,
)
# The key of a further fact on the same line.
_NEXT_KEY = re.compile(rf"(?<![\s|,;\xb7])[\s|,;\xb7]++[*_`]{{0,3}}({_WORDS})[*_`]{{0,3}}[ \t]*:(?!//)[*_]{{0,3}}")
# Code that begins a body and has only facts.
_PREAMBLE = re.compile(r"\s*```[^\n]*\n((?:[A-Za-z][\w -]*:[^\n]*\n)+)```")
# A row of a table.
_ROW = re.compile(r"^[ \t>]*\|.*$", re.MULTILINE)


class Fact(Struct, frozen=True):
    """A statement `key: value` in a body, with its offsets. `is_line` says that it is alone on its line."""

    key: str
    value: str
    start: int
    end: int
    is_line: bool

    @property
    def statement(self) -> str:
        """Return the fact as a sentence about the status, or an empty text if it is about something else."""
        if self.key in _STATUS_FACTS:
            return self.value
        return f"{self.key}: {self.value}" if kind_of_key(self.key) is not None else ""


def _facts_in(section: Section) -> tuple[list[Fact], str]:
    """Return the facts of a section, and its text with blanks for facts, comments and rows of tables."""
    facts: list[Fact] = []
    text, rest, at = without_comments(section.text), list[str](), 0
    preamble = _PREAMBLE.match(text) if not section.level else None
    plain = text.replace("```", "   ", 2) if preamble is not None else text
    for found in _LINE.finditer(without_fenced(plain)):
        whole = _value(found["value"])
        value, *others = _NEXT_KEY.split(whole)
        pairs = [(found["key"] or found["bold"], value), *zip(others[::2], others[1::2], strict=True)]
        pairs = [(" ".join(re.sub(r"[*_`-]+", " ", key).lower().split()), _value(value)) for key, value in pairs]
        # Further facts must be certain. Otherwise a status keeps the whole line.
        if not all(_is_fact(*pair) for pair in pairs[1:]):
            pairs = [(pairs[0][0], pairs[0][1] if pairs[0][0] in _OTHER_FACTS else whole)]
        if not _is_fact(*pairs[0]):
            continue
        is_line = preamble is None and pairs[0][1] == whole and not found["quote"] and "|" not in found[0]
        place = section.start + found.start(), section.start + found.end()
        facts += (Fact(key, value, *place, is_line) for key, value in pairs)
        rest += [text[at : found.start()], "\n" * (found.end() - found.start())]
        at = found.end()
    return facts, _ROW.sub(lambda row: " " * len(row[0]), "".join([*rest, text[at:]]))


def _value(written: str) -> str:
    return re.sub(r"\A[*_]{1,3}\s+|<br ?/?>\Z", "", written.strip().rstrip("\\| \t")).strip()


def _is_fact(key: str, value: str) -> bool:
    # Below `Superseded by:` the record may be in the next line, so this is no fact.
    is_relation = kind_of_key(key) is not None and value != ""
    # `Accepted by the board` is no date.
    is_date = key == "date" or (key in _DATES and (not value or read_date(value) is not None))
    # A table of dates and statuses has both names in its first row.
    is_head = value.lower() in ("status", "date")
    return not is_head and (key in _STATUS_FACTS or key in _OTHER_FACTS or is_relation or is_date)


# Headings of sections that contain facts.
_ABOUT = frozenset({"metadata", "meta", "info", "information", "details", "document information", "properties"})
_LINKED = frozenset({"links", "more information", "related", "related decisions", "related adrs", "relations"})
# A heading of a deeper level is a bold line.
_LOWEST = 6
_STATUS = re.compile(r"(?:adr |decision |current |document )?status(?:\s*[:=\u2013\u2014-]\s*.+)?\Z")
# A line that may state a status in a form that is not read: struck text, or words such as `Rejected: a queue` and `it
# was withdrawn`. The words inside a sentence, as in `Store rejected payments`, are about something else.
_HINT = re.compile(
    r"^.*?(?:~~|(?:^|[|:\u2013\u2014]|\s-|\b(?:is|was|been|now)\s)(?:[^\w\n]|_){0,9}"
    r"(?:superseded|deprecated|obsolete|rejected|declined|withdrawn|proposed|draft|retired|abandoned|(?:never|not)"
    r" (?:implemented|accepted|approved|adopted)|no longer (?:valid|in force|in effect))(?![^\W_])).*$",
    re.IGNORECASE | re.MULTILINE,
)
# A table of all statuses may end with the acceptance.
_ACCEPTED_ROW = re.compile(r"^[ \t>]*\|.*\baccepted\b", re.IGNORECASE | re.MULTILINE)
# A number or label before a title: `ADR-0044 | `, `5. `, `[RFC 12] `, `0007 `, `Decision record: `.
_NUMBERED = re.compile(
    r"(?:[a-z]{0,3}adr(?:-[a-z]{1,10})?|[a-z]{1,3}dr|rfc|dec|ad|(?:(?:architectur\w+|design|technical)\s+)?decision(?:\s+record)?)?"
    r"[-_ #.]*(?:no\.?\s*)?[\[(]?(?:(?:adr|rfc|dec|ad)[-_ ]?)?\d+[\])]?\s*(?:[.:)|/\u2013\u2014-]+\s+|\|)"
    r"|\[?adr[-_ ]?\d+\]?\s+|0\d{2,}\s+|(?:adr|(?:architectur\w+\s+)?decision\s+record)\s*[:|\u2013\u2014-]\s+",
    re.IGNORECASE,
)


class Outline:
    """The sections of a record's body, with its title and its section about the status; either may be None.

    `head` has the parts above the first heading after the title, and the sections about metadata, each with its text
    without facts. `facts` are the facts (`key: value`) in these parts and in the status section, and `stated` is the
    rest of that section's text. `is_listed` says that the head states the status as a fact.
    """

    def __init__(self, body: str) -> None:
        """Parse a body. The title is the first heading of the highest level, unless it begins a part of the text."""
        sections = self.sections = sections_of(body)
        # A bold line such as `**Rejected**` may count as a heading. It is a banner.
        low = (one for one in sections if one.level > _LOWEST and not one.decision_rank)
        bold = {one for one in low if read_status(one.heading).is_whole}
        levels = [one.level for one in sections if one.level and one not in bold]
        top = 1 if 1 in levels or levels.count(min(levels, default=0)) != 1 else min(levels)
        title = next((one for one in sections if one.level == top), None)
        is_below = title is not None and any(one.level for one in sections[: sections.index(title)] if one not in bold)
        if title is not None:
            is_part = is_below or title.decision_rank or title.name == "context" or _STATUS.match(title.name)
            is_first = sections[0].level or not _facts_in(sections[0])[1].strip()
            is_sure = levels.count(top) == 1 or is_first or _NUMBERED.match(title.heading[:300])
            if is_part or not is_sure or (title.is_aside and levels.count(top) > 1):
                title = None
        self.title = title
        self.status = next((one for one in sections if one.level and _STATUS.match(one.name)), None)
        end = sections.index(title) + 1 if title is not None else 1
        above = (*sections[:end], *takewhile(lambda one: one in bold, sections[end:]))
        about = [one for one in sections if one.name in _ABOUT]
        self.facts: dict[Fact, None] = {}
        self.head: dict[Section, str] = {}
        for section in dict.fromkeys((*above, *about)):
            facts, rest = _facts_in(section)
            self.head[section] = f"**{section.heading}**\n{rest}" if section in bold else rest
            self.facts |= dict.fromkeys(facts)
        dated = (one for one in sections if one.level and one.name in _DATES and read_date(one.text))
        self.facts |= dict.fromkeys(Fact(one.name, one.text, *one.span, is_line=False) for one in dated)
        self.is_listed = any(one.key == "status" for one in self.facts)
        self.stated = ""
        if self.status is not None:
            # The status may be inside the heading, as in `## Status: Accepted`.
            value = re.sub(r"^\W*[\w ]*status\s*[:=\u2013\u2014 -]*", "", self.status.heading, flags=re.IGNORECASE)
            facts, rest = _facts_in(self.status)
            self.facts |= dict.fromkeys(facts)
            self.stated = f"{value}\n\n{rest}"


def plain_title(heading: str) -> str:
    """Return a heading without the number of the record."""
    plain = " ".join(without_targets(heading).split())
    return _NUMBERED.sub("", plain[:300], count=1).strip() + plain[300:] if _NUMBERED.match(plain) else plain


def _number_before(heading: str) -> int | None:
    numbered = _NUMBERED.match(heading[:300])
    digits = re.search(r"\d{1,6}", numbered[0]) if numbered is not None else None
    return int(digits[0]) if digits is not None else None


def decision_record(
    source: SourceFile,
    type_: EntryType = EntryType.DECISION,
    *,
    unstated: Status = Status.ACTIVE,
    more: Sequence[Claim] = (),
) -> ForeignRecord:
    """Return the record in a file, with `more` relations; a decision without a status gets the status `unstated`."""
    outline = Outline(source.body)
    heading = outline.title.heading if outline.title is not None else ""
    front = read_keys(source.fields.items())
    below = read_keys((one.key, one.value) for one in outline.facts if one.key in _OTHER_FACTS)
    stated = front.basic.get("status", "")
    banners = [banner for rest in outline.head.values() for banner in banners_in(rest)]
    # A title may have a mark such as `[REJECTED]`.
    marks = map(read_status, re.findall(r"[\[(]([A-Za-z ]{4,20})[\])]", heading[:300]))
    banners += (one.text for one in marks if one.is_whole and one.status not in (None, Status.ACTIVE))
    statements = (stated, *(one.statement for one in outline.facts), outline.stated, "\n".join(banners))
    parsed = with_folders(read_status("\n\n".join(statements)), source.folders)
    # mdmem's status may say less than the status in the front matter, so keep the original.
    kept = {"x-status": stated} if stated and not read_status(stated).is_whole else {}
    linked: list[Claim] = []
    for one in outline.sections:
        if one.name in _LINKED:
            linked += claims_in(one.text)
        elif one.level and kind_of_key(one.name) is not None:
            items = (re.sub(r"^[-*+]\s+", "", line.strip()) for line in one.text.splitlines() if line.strip())
            linked += claims_of(one.name, ", ".join(items))
    fields = dict(front.fields)
    for name, value in below.fields.items():
        _add(fields, name, value)
    title = front.basic.get("title", "")
    # The file's name keeps the number of the title.
    title = plain_title(title) if _number_before(title) == source.number else title
    record = ForeignRecord(
        path=source.path,
        source=source,
        type=type_,
        status=Status.DRAFT,
        title=title or plain_title(heading) or below.basic.get("title", ""),
        name=source.stem,
        body=source.body,
        fields={**fields, **kept},
        claims=tuple(dict.fromkeys((*parsed.claims, *front.claims, *linked, *more))),
        number=_number_before(heading),
        stated=front.claims,
        parsed_status=parsed,
        messages=[f"`{one[:100]}` is not understood, and stays in the text" for one in parsed.doubts],
    )
    record.cuts = tuple(_cuts(outline, record))
    _set_status(record, unstated if decision_sections(outline.sections) or parsed.claims else Status.DRAFT)
    is_active = record.status is Status.ACTIVE and (type_.is_rule or source.is_in_records)
    if is_active and parsed.status is None:
        parts = (*outline.head, *([outline.status] if outline.status is not None else ()))
        text = "\n".join((plain_title(heading), *(without_fenced(without_comments(one.text)) for one in parts)))
        hints = _HINT.findall(_ACCEPTED_ROW.split(text)[-1])
        if hint := next((cut_line(one.strip(), 60) for one in hints if not any(claims_in(one))), ""):
            record.messages.append(f"`{hint}` is not understood as a status: the entry becomes a draft")
            record.status = Status.DRAFT
            record.guesses.pop("status", None)
    _set_date(record, front.basic.get("created_at"), outline.facts)
    return record


def _set_status(record: ForeignRecord, unstated: Status) -> None:
    """Set the status of a record. Nobody has to follow a note, so one without a status becomes active immediately."""
    parsed, in_records = record.parsed_status, record.source.is_in_records
    if any(one.kind is ClaimKind.SUPERSEDED_BY for one in record.claims):
        record.status = Status.DEPRECATED
    elif parsed.status is not None:
        record.status = parsed.status
        if parsed.guess:
            record.guesses["status"] = Guess(parsed.guess)
    elif parsed.is_unknown and record.type.is_rule:
        # The record may have been rejected in words that mdmem does not know.
        record.messages.append(f"the status `{parsed.text[:60]}` is unknown: the entry becomes a draft")
        record.status = Status.DRAFT
    elif in_records and parsed.claims:
        # The status is only about a part of the record. The rest is active.
        record.status = Status.ACTIVE
    else:
        why = f"the status `{parsed.text[:60]}` is unknown" if parsed.is_unknown else "no status is stated"
        record.status, guess = Status.ACTIVE, Guess(f"{why}, and a {record.type} is not a rule")
        if record.type.is_rule:
            guess = Guess(f"{why}; a decision record counts as accepted")
            if not in_records and unstated is not Status.ACTIVE:
                record.status, guess = Status.DRAFT, Guess(why, "a guess")
        record.guesses["status"] = guess


def _set_date(record: ForeignRecord, in_front: str | None, facts: Iterable[Fact]) -> None:
    """Set the date of a record from its front matter, or else from the most important of its facts."""
    dates: dict[str, tuple[str, str]] = {}
    for one in facts:
        if one.key in _DATES and (read := read_date(one.value)):
            # Of several facts with the same key, the first counts.
            dates.setdefault(one.key, read)
    best = (read_date(in_front) if in_front else None) or next((dates[key] for key in _DATES if key in dates), None)
    if best is None and in_front is None and record.parsed_status.began is not None:
        best = record.parsed_status.began, "the date of its status"
    if best is not None:
        record.created_at, guess = best
        record.guesses |= {"created_at": Guess(guess)} if guess else {}
    stated = [in_front] if in_front else [one.value for one in facts if one.key == "date" and one.value]
    if stated and read_date(stated[0]) is None:
        record.messages.append(f"`{stated[0]}` is not a date")
        # A date in the body stays in the text.
        record.fields |= {"x-date": in_front} if in_front else {}


def _cuts(outline: Outline, record: ForeignRecord) -> Iterator[Cut]:
    """Yield the parts of the body that become front matter. An ambiguous or longer status stays in the body."""
    title, parsed, section = outline.title, record.parsed_status, outline.status
    titles = {one.casefold() for one in (title.heading, plain_title(title.heading))} if title is not None else set()
    # Without its heading, only the file's name has the number of the record.
    if title is not None and record.title.casefold() in titles and record.number in (None, record.source.number):
        yield Cut(title.span[0], title.start)
    is_certain = not parsed.is_unknown and not parsed.guess
    for one in outline.facts:
        stated = read_status(one.statement) if one.statement or one.key in _STATUS_FACTS else None
        is_day = one.key == "date" and (not one.value or read_date(one.value) is not None)
        # A colon may begin another fact on the same line.
        is_plain = is_day or (one.key in _OTHER_FACTS and (one.key != "title" or one.value == record.title))
        if one.is_line and (stated.is_whole and is_certain if stated else is_plain and ":" not in one.value):
            yield Cut(one.start, one.end, stated.claims if stated else ())
    if section is not None and is_certain:
        stated = read_status(outline.stated)
        below = next((one for one in outline.sections if one.span[0] == section.span[1]), None)
        is_end = below is None or below.level <= section.level
        inside = (one for one in outline.facts if section.start <= one.start < section.span[1])
        # A comment would be lost with the section.
        is_said = without_comments(section.text) == section.text and all(one.is_line for one in inside)
        if stated.is_whole and is_end and is_said:
            yield Cut(*section.span, stated.claims)


_MADR_HEADINGS = re.compile(
    r"context and problem statement|considered (?:options|alternatives)|decision (?:outcome|drivers)"
    r"|pros and cons of the (?:options|alternatives)"
)
_MADR_KEYS = frozenset({"deciders", "decision-makers", "decision_makers", "consulted", "informed"})


def is_madr(source: SourceFile, outline: Outline) -> bool:
    """Return whether a file has the headings, the list or the keys of a MADR template."""
    has_headings = any(_MADR_HEADINGS.match(one.name) for one in outline.sections)
    return has_headings or outline.is_listed or not _MADR_KEYS.isdisjoint(source.fields)


# mdmem's labels `session` and `entity` need fields that another tool's note does not have.
_OWN_LABELS = frozenset({"session", "entity"})
_TYPES = tuple(one.value for one in EntryType)


def _plain_record(source: SourceFile, claims: Sequence[Claim] = ()) -> ForeignRecord:
    """Return a record of the type that the file states, or else of the type that its folder or text suggests."""
    value = next((source.fields[key] for key in ("type", "kind") if isinstance(source.fields.get(key), str)), "")
    stated = " ".join(str(value).lower().split())
    meant = meant_value(stated, _TYPES) if stated else None
    type_, guess = EntryType.DECISION, Guess("")
    if meant is not None and (meant == stated or EntryType(meant) is not EntryType.INVARIANT):
        type_, guess = EntryType(meant), Guess("" if meant == stated else f"it says `{stated}`")
    elif source.is_in_records:
        guess = Guess("it is in a folder of decision records")
    elif any(one.name == "decision" for one in sections_of(source.body)):
        guess = Guess("it has a section `Decision`", "a guess")
    else:
        type_, guess = EntryType.NOTE, Guess(f"mdmem has no type `{stated}`" if stated else "no type is stated")
    record = decision_record(source, type_, unstated=Status.DRAFT, more=claims)
    record.guesses |= {"type": guess} if guess.why else {}
    if type_ is EntryType.NOTE and stated not in ("", "note", *_OWN_LABELS):
        record.fields.setdefault("label", stated)
    return record


_INSTRUCTIONS = re.compile(
    r"(?:.*/)?(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|QWEN\.md|copilot-instructions\.md|[^/]+\.instructions\.md|[^/]+\.mdc)\Z"
)
_GLOB_KEYS = ("globs", "applyTo", "paths")
_INCLUDE = re.compile(r"^@(\S+)[ \t]*\r?$\n?", re.MULTILINE)
_SUFFIX = re.compile(r"[-.](?:instructions|md)\Z", re.IGNORECASE)
# The folder in which a client keeps its instructions says nothing about which code they apply to.
_CLIENT_FOLDER = re.compile(r"(?:^|/)\.(?:claude|cursor|github)(?:/.*)?\Z")
_EVERYTHING = frozenset({"*", "**", "**/*", "./**", "/**"})
_BRACES = re.compile(r"\{([^{}]*)\}")
# Patterns are separated by commas that are not inside braces.
_PATTERN = re.compile(r"(?:[^{},]|\{[^{}]*\}?|\})+")
_MAX_GLOBS = 64


def is_instructions(source: SourceFile) -> bool:
    """Return whether a client reads a file of this name as instructions for agents."""
    return _INSTRUCTIONS.match(source.path) is not None


def _read_instructions(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a draft note for each section of instructions, but not for mdmem's own text and mere includes."""
    body = _INCLUDE.sub("", OWN_LINES.sub("", without_regions(source.body)))
    folder = "" if _CLIENT_FOLDER.search(source.folder) else source.folder
    stated = [source.fields[key] for key in _GLOB_KEYS if source.fields.get(key)]
    globs: tuple[str, ...] = (f"{folder}/**",) if folder else ()
    messages: tuple[str, ...] = ()
    if stated and str(source.fields.get("alwaysApply")).lower() != "true":
        globs, messages = globs_of(stated[0], below=folder, anywhere=source.path.endswith(".mdc"))
    included = (name for name in _INCLUDE.findall(source.body) if _INSTRUCTIONS.match(name) is None)
    messages = (*messages, *(f"`@{name}` includes a file, which is not imported with it" for name in included))
    keys = read_keys(source.fields.items(), without=(*_GLOB_KEYS, "alwaysApply", "description"))
    description = " ".join(str(source.fields.get("description") or "").split())
    words = (*folder.split("/"), _SUFFIX.sub("", source.stem).lower())
    stem = well_formed("entry", "-".join(words)) or "instructions"
    taken, numbers = set[str](), defaultdict[str, Iterator[int]](lambda: count(2))
    for heading, text in _parts(sections_of(body), body):
        title = plain_title(heading) or keys.basic.get("title") or description or stem.replace("-", " ").capitalize()
        part = first = well_formed("entry", heading) or ""
        while (key := part or "top") in taken:
            # Do not change these numbers: entries of earlier imports have them in their origin.
            part = f"{first}-{next(numbers[first])}"
        taken.add(key)
        yield ForeignRecord(
            path=source.path,
            source=source,
            type=EntryType.NOTE,
            status=Status.DRAFT,
            title=title,
            name="-".join(filter(None, (stem, part if part != stem else ""))),
            body=text,
            fields={**keys.fields, "applies_to": globs, "x-description": description if description != title else ""},
            messages=[*messages],
            part=key,
        )
        messages = ()


def _parts(sections: Sequence[Section], body: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of each top-level section that has text, and of the part above the first of them."""
    levels = [one.level for one in sections if one.level]
    found = [("", body)]
    if levels:
        top = min(levels)
        title = None
        if levels.count(top) == 1 and levels[0] == top and len(levels) > 1:
            # If only one heading has the highest level, it is the title of the file.
            title = next(one for one in sections if one.level == top)
            top = min(one for one in levels if one > top)
        heads = [one for one in sections if one.level == top]
        ends = [*(one.span[0] for one in heads[1:]), len(body)]
        above = body[title.start if title else 0 : heads[0].span[0]]
        found = [(title.heading if title else "", above)]
        found += [(head.heading, body[head.start : end]) for head, end in zip(heads, ends, strict=True)]
    yield from ((heading, f"{text.rstrip()}\n") for heading, text in found if without_comments(text).strip())


def globs_of(value: Any, *, below: str, anywhere: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs for a client's file patterns in the folder `below`, and messages about omitted patterns.

    No globs means every file. With `anywhere`, a pattern without a slash matches in every folder.
    """
    texts = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
    written = [part.strip().strip("\"'") for text in texts for part in _PATTERN.findall(text)]
    if any(one in _EVERYTHING for one in written):
        return ((f"{below}/**",) if below else ()), ()
    kept: dict[str, None] = {}
    messages = []
    for one in filter(None, written):
        # Git's globs have no braces, so each choice becomes a glob. Nested braces are not expanded.
        parts = _BRACES.split(one.removeprefix("./").lstrip("/"))
        choices = [map(str.strip, part.split(",")) if number % 2 else [part] for number, part in enumerate(parts)]
        if one.startswith("!") or any("{" in part for part in parts):
            messages.append(f"`applies_to` cannot express the pattern `{one}`")
            continue
        for glob in islice(map("".join, product(*choices)), _MAX_GLOBS + 1):
            plain = f"**/{glob}" if anywhere and "/" not in glob else glob
            kept[f"{below}/{plain}" if below else plain] = None
    if len(kept) > _MAX_GLOBS:
        messages.append(f"it has more than {_MAX_GLOBS} patterns; those after `{[*kept][_MAX_GLOBS - 1]}` are omitted")
    return tuple(kept)[:_MAX_GLOBS], tuple(messages)


DIALECTS = ("adr-tools", "madr", "log4brains", "basic-memory", "markdown", "instructions")
_RELATION = re.compile(
    r"^[ \t]*[-*+][ \t]+(?P<verb>[A-Za-z][\w -]{0,40}?)[ \t]+\[\[(?P<target>[^\[\]\n|#]+)", re.MULTILINE
)
_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[[a-z][\w -]*\][ \t]+\S", re.MULTILINE)
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)-")


def dialect_of(source: SourceFile) -> str:
    """Return the most specific dialect that a file matches. Plain Markdown matches every file."""
    outline = Outline(source.body)
    if is_instructions(source):
        return "instructions"
    if "permalink" in source.fields or (_OBSERVATION.search(source.body) and _RELATION.search(source.body)):
        return "basic-memory"
    if is_madr(source, outline):
        # log4brains writes MADR records with a date in the file name.
        return "log4brains" if _DAY.match(source.stem) else "madr"
    # Nygard's format has a section about the status, and one about the context or decision.
    is_nygard = outline.status is not None and any(one.name in ("context", "decision") for one in outline.sections)
    return "adr-tools" if is_nygard else "markdown"


def read_records(source: SourceFile, dialect: str) -> list[ForeignRecord]:
    """Return the records in a file of a dialect."""
    if dialect == "instructions":
        return list(_read_instructions(source))
    if dialect == "markdown":
        return [_plain_record(source)]
    if dialect == "basic-memory":
        # Relations are wiki links. They become links of the entry, and they also stay in the text.
        found = _RELATION.finditer(without_code(source.body))
        kinds = ((kind_of_key(one["verb"]) or ClaimKind.SEE, one["target"].strip()) for one in found)
        return [_plain_record(source, [Claim(kind, target, is_in_text=True) for kind, target in kinds])]
    record = decision_record(source)
    if dialect == "log4brains":
        # Its tags may be separated by blanks, and its date may be in the file name.
        record.fields["tags"] = tuple(dict.fromkeys(" ".join(record.fields.get("tags", ())).split()))
        if record.created_at is None and (day := _DAY.match(source.stem)) is not None:
            record.created_at = "-".join(day.groups())
            record.guesses["created_at"] = Guess("the day in the file's name")
    return [record]
