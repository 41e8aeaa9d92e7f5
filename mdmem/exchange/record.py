"""The parts of a record of another tool before it has an address: fields, links, dates and what was guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import EntryType, NoSuchDayError, NotIsoError, Status, parse_moment

WHOLE = "json"
"""The dialect of a whole memory, as `mdmem export json` writes it."""


class UnfitError(ValueError):
    """A file cannot be imported. The message says why, without the name of the file."""


class Sureness(StrEnum):
    """How sure a guess is."""

    LIKELY = "likely"
    GUESS = "a guess"


class Guess(Struct, frozen=True):
    """Why a field got a value that the record does not state."""

    why: str
    sureness: Sureness


class ClaimKind(StrEnum):
    """A relation that a record states to another; the other record gets the passive ones as its own."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    AMENDS = "amends"
    AMENDED_BY = "amended_by"
    SEE = "see"


class Claim(Struct, frozen=True):
    """A link to another record as written: a path, else a number, a slug or a title.

    With `is_in_text` the body keeps the link, too. `qualifier` describes the part of the other record that is meant.
    """

    kind: ClaimKind
    target: str
    is_path: bool = False
    is_in_text: bool = False
    qualifier: str = ""


class Cut(Struct, frozen=True):
    """A part of the body that becomes front matter. If a claim cannot be resolved, only its `parts` may be cut."""

    start: int
    end: int
    claims: tuple[Claim, ...] = ()
    parts: tuple[Cut, ...] = ()


class SourceFile(Struct, frozen=True):
    """A file to import: its path from the top of the project, its bytes, its front matter and its body.

    `room` is its folder below the folder that the user named. `is_in_records`: it is in a folder of decision records.
    """

    path: str
    data: bytes
    fields: Mapping[str, Any]
    body: str
    newline: str
    room: str = ""
    is_in_records: bool = False

    @property
    def stem(self) -> str:
        """Return the name of the file without its extension."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def folder(self) -> str:
        """Return the path of the file's folder."""
        return self.path.rpartition("/")[0]


class Outcome(StrEnum):
    """The result for a source, or for a part of one."""

    IMPORTED = "imported"
    UNCHANGED = "imported before"
    CHANGED = "changed since it was imported"
    SKIPPED = "skipped"


class ImportRow(Struct, kw_only=True):
    """A source or a part of one, with its result; the address only if there is an entry.

    `messages` say what cannot be imported.
    """

    path: str
    outcome: Outcome
    part: str = ""
    dialect: str = ""
    address: str | None = None
    type: EntryType | None = None
    status: Status | None = None
    title: str = ""
    guesses: dict[str, Guess] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    @property
    def is_new_rule(self) -> bool:
        """Return whether a record of another tool becomes an active rule."""
        is_rule = self.type is not None and self.type.is_rule and self.status is Status.ACTIVE
        return is_rule and self.outcome is Outcome.IMPORTED and self.dialect != WHOLE


class ForeignRecord(ImportRow, kw_only=True):
    """A future entry as its source describes it; the steps of an import complete it.

    `part` is the section, if one file becomes several entries; the entry-id is made of `name`. `fields` are further
    keys of the front matter. A record that ended has the words and the day of its end in `ended_as` and `ended_on`;
    `is_refused` means that it was never accepted. The claims become `links` by field, or are `lost`; `reasons` describe
    the parts of other records that it changes.
    """

    source: SourceFile
    type: EntryType
    status: Status
    name: str
    body: str
    outcome: Outcome = Outcome.IMPORTED
    created_at: str | None = None
    fields: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    cuts: tuple[Cut, ...] = ()
    number: int | None = None
    states_status: bool = True
    ended_as: str = ""
    ended_on: str | None = None
    is_refused: bool = False
    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def content(self) -> bytes:
        """Return the bytes whose digest shows whether the source changed: the file, or the part of it."""
        return self.body.encode() if self.part else self.source.data

    @property
    def successors(self) -> list[str]:
        """Return the records that supersede this one."""
        return self.links.get("superseded_by", [])

    def guess(self, name: str, why: str, sureness: Sureness = Sureness.LIKELY) -> None:
        """Note why a field got a value that the record does not state."""
        self.guesses[name] = Guess(why, sureness)

    def link(self, name: str, address: str, qualifier: str = "") -> None:
        """Add a link to a field, and the words on the part that is meant, each once."""
        links = self.links.setdefault(name, [])
        if address not in links:
            links.append(address)
        if qualifier and qualifier not in self.reasons:
            self.reasons.append(qualifier)

    def unlink(self, name: str, address: str) -> None:
        """Remove a link from a field."""
        if address in self.links.get(name, ()):
            self.links[name].remove(address)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b")
_IN_WORDS = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?\s+)?(?P<month>[A-Za-z]{3,9})\.?,?\s+(?P<rest>[\d, stndrh]+)"
)


def read_date(text: str) -> tuple[str, str] | None:
    """Return the date at the start of a text in ISO 8601, and what was guessed about it; None without such a day."""
    text = text.strip().strip("*_`\"'").strip()
    guess = ""
    try:
        parse_moment(text)
        return text, ""
    except (NotIsoError, NoSuchDayError):
        pass
    if found := _YEAR_FIRST.match(text):
        year, month, day = map(int, found.groups())
    elif found := _YEAR_LAST.match(text):
        day, month, year = map(int, found.groups())
        if day <= 12 < month:
            day, month = month, day
        elif day <= 12 and day != month:
            # adr-tools wrote the day first until its eighth record.
            guess = f"`{text.split()[0]}` is read with the day first, as in adr-tools"
    elif (found := _IN_WORDS.match(text)) and found["month"][:3].lower() in _MONTHS:
        numbers = [int(one) for one in re.findall(r"\d+", found["rest"])]
        day, *rest = [int(found["day"]), *numbers] if found["day"] else numbers or [0]
        month, year = _MONTHS.index(found["month"][:3].lower()) + 1, rest[0] if rest else 0
    else:
        return None
    try:
        return date(year, month, day).isoformat(), guess
    except ValueError:
        return None


_VISIBLE = re.compile(r"\S")
_LABEL = re.compile(r"\[[^\[\]]*\](?=\()")


def without_comments(text: str) -> str:
    """Return a text with blanks for each HTML comment; every other character keeps its place."""
    parts: list[str] = []
    at = 0
    # A search for the end that fails once fails for every later start, so it ends the loop.
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += (text[at:start], _VISIBLE.sub(" ", text[start : end + 3]))
        at = end + 3
    return "".join([*parts, text[at:]])


def with_whole_labels(text: str) -> str:
    """Return a text with blanks for line breaks in the labels of links; every character keeps its place."""
    if "](" not in text:
        return text
    return _LABEL.sub(lambda found: re.sub(r"\r?\n", lambda end: " " * len(end[0]), found[0]), text)
