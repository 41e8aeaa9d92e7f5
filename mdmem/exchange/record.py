"""The parts of another tool's record before it has an address: fields, links, dates and guesses."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import date
from enum import StrEnum
from pathlib import PurePosixPath
from time import strptime
from typing import Any

from msgspec import Struct, field

from mdmem.markdown.parse import blank
from mdmem.model.entry import EntryType, NoSuchDayError, NotIsoError, Status, parse_moment

WHOLE = "json"
"""The dialect of a whole memory, as `mdmem export json` writes it."""


class SourceError(ValueError):
    """A file cannot be imported. The message says why, without the file name."""


class Guess(Struct, frozen=True):
    """The reason for a field's value that mdmem inferred, and how certain the value is: "likely" or "a guess"."""

    why: str
    sureness: str = "likely"


class ClaimKind(StrEnum):
    """The kind of relation that a record states. A passive kind (`..._by`) becomes a link of the other record."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    AMENDS = "amends"
    AMENDED_BY = "amended_by"
    SEE = "see"


class Claim(Struct, frozen=True):
    """A relation to another record, as the record states it. The target is a path, number, slug or title.

    With `is_in_text`, the body keeps the link too. `qualifier` describes which part of the other record is meant.
    """

    kind: ClaimKind
    target: str
    is_path: bool = False
    is_in_text: bool = False
    qualifier: str = ""


class Cut(Struct, frozen=True):
    """A part of the body that becomes front matter, if all its claims are resolved. Cuts may contain other cuts."""

    start: int
    end: int
    claims: tuple[Claim, ...] = ()


class ParsedStatus(Struct, frozen=True):
    """The status that a text states; `status` is None if the text states no status that mdmem knows.

    `is_whole` says that the text contains nothing else. `day` is the date of the status, and `began` the date of an
    earlier status. `is_unknown` says that the text states an unknown status, and `is_refused` that the record was never
    accepted. `guess` says why the status is uncertain. `doubts` mention records in words that were not understood.
    """

    status: Status | None = None
    text: str = ""
    claims: tuple[Claim, ...] = ()
    is_whole: bool = True
    guess: str = ""
    day: str | None = None
    began: str | None = None
    is_unknown: bool = False
    is_refused: bool = False
    doubts: tuple[str, ...] = ()


class SourceFile(Struct, frozen=True):
    """A file to import: its path from the top of the project, and once it was read its bytes, front matter and body.

    `home` is the folder that is imported, and `room` the room for the folders below it. `is_in_records` is set if the
    file is in a folder of decision records.
    """

    path: str
    room: str = ""
    is_in_records: bool = False
    home: str = ""
    data: bytes = b""
    fields: Mapping[str, Any] = {}
    body: str = ""
    newline: str = "\n"

    @property
    def stem(self) -> str:
        """Return the name of the file without its extension."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def folder(self) -> str:
        """Return the path of the file's folder."""
        return self.path.rpartition("/")[0]

    @property
    def number(self) -> int | None:
        """Return the number in the file's name."""
        return (number_of(self.stem) or ("", None))[1]

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the names of the folder that is imported, and of those between it and the file."""
        path, above = PurePosixPath(self.path), PurePosixPath(self.home).parent
        return path.relative_to(above).parts[:-1] if path.is_relative_to(above) else ()

    @property
    def is_numbered(self) -> bool:
        """Return whether the file's name has the number of a record. One or two digits may also be of a chapter."""
        if self.stem[:1].isalpha():
            return (number_of(self.stem) or ("",))[0] in RECORD_KINDS
        return sum(map(str.isdigit, self.stem[:12])) > 2


class Outcome(StrEnum):
    """The result of the import for a file, or for a part of a file."""

    IMPORTED = "imported"
    UNCHANGED = "imported before"
    CHANGED = "changed since it was imported"
    SKIPPED = "skipped"


class ImportRow(Struct, kw_only=True):
    """One line of the import's report: a file or a part of it, the result, and the address of the entry, if any."""

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


class ForeignRecord(ImportRow, kw_only=True):
    """A future entry, as its source describes it. The steps of an import fill in the fields.

    `name` becomes the entry-id. `fields` are further keys of the front matter. `claims` are its relations to other
    records as the source states them; each ends up in `links` (by field), or in `lost`. `stated` are those of the front
    matter, with the key and value that keep a lost one. `reasons` explain amendments.
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
    stated: Mapping[Claim, tuple[str, str]] = {}
    cuts: tuple[Cut, ...] = ()
    number: int | None = None
    parsed_status: ParsedStatus = ParsedStatus()
    links: dict[str, dict[str, None]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: dict[str, None] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        """Return the bytes whose hash shows whether the source changed: the whole file, or the part of it."""
        return self.body.encode() if self.part else self.source.data

    @property
    def successors(self) -> Collection[str]:
        """Return the addresses of the records that supersede this record."""
        return self.links.get("superseded_by", {})

    def link(self, name: str, address: str, qualifier: str = "") -> None:
        """Add a link to a field, and the statement that limits it to a part of the other record."""
        self.links.setdefault(name, {})[address] = None
        if qualifier:
            self.reasons[qualifier] = None


_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b")
_IN_WORDS = ("%d %b %Y", "%b %d %Y", "%b %Y")
# A longer text is not a date.
_LONGEST_DATE = 60


def read_date(text: str) -> tuple[str, str] | None:
    """Return the date at the start of a text as ISO 8601, and a sentence if it was guessed; None without a date."""
    text = text.strip().strip("*_`\"'").strip()
    with suppress(NotIsoError, NoSuchDayError):
        parse_moment(text)
        return text, ""
    guess = ""
    with suppress(ValueError):
        if found := _YEAR_FIRST.match(text):
            return date(*map(int, found.groups())).isoformat(), ""
        if found := _YEAR_LAST.match(text):
            day, month, year = map(int, found.groups())
            if day <= 12 < month:
                day, month = month, day
            elif day <= 12 and day != month:
                # adr-tools wrote dates with the day first until its own eighth record.
                guess = f"`{text.split()[0]}` is read with the day first, as in adr-tools"
            return date(year, month, day).isoformat(), guess
    words = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|[.,]", " ", text[:_LONGEST_DATE]).split()
    words = [one[:3] if one.isalpha() else one for one in words]
    for form in _IN_WORDS:
        with suppress(ValueError):
            return date(*strptime(" ".join(words[: form.count("%")]), form)[:3]).isoformat(), ""
    return None


# The reason of an entry that was imported as deprecated, before the status in the words of its source.
IMPORTED_STATUS = "status of the imported record: "
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LONG_LABEL = re.compile(r"\[[^\[\]\n]*\n[^\[\]]*\](?=\()")


def without_comments(text: str) -> str:
    """Return a text with HTML comments replaced by blanks. All other characters keep their offset."""
    # No comment ends after the last `-->`. Searching there would take quadratic time.
    end = text.rfind("-->") + 3
    return _COMMENT.sub(lambda found: blank(found[0]), text[:end]) + text[end:]


def with_whole_labels(text: str) -> str:
    """Return a text with blanks for line breaks inside link labels; all characters keep their offset."""
    return _LONG_LABEL.sub(lambda found: re.sub(r"\r?\n", lambda end: " " * len(end[0]), found[0]), text)


_STEM_NUMBER = re.compile(
    r"(?!\d{4}-\d\d-\d\d)(?:(?P<kind>[a-z]{1,10})(?:[-_ ]+[a-z]{1,10}(?=[-_]))?[-_ ]*)?"
    r"0*(?P<number>\d{1,6})(?=[-_. ]|\Z)",
    re.IGNORECASE,
)
_DECISION = re.compile(r"ad|dec|[a-z]{1,3}dr|decision|record")
RECORD_KINDS = ("adr", "rfc")
"""The kinds of records that mdmem knows. Other words before a number may be the kind of a project's own records."""


def kind_of(word: str) -> str:
    """Return the kind of record that a word means: `adr` for all words for a decision record, or else the word."""
    kind = word.casefold().removesuffix("s")
    return "adr" if _DECISION.fullmatch(kind) else kind


def without_number(stem: str) -> str:
    """Return a file name without the number at its start, if no word before it may belong to a title."""
    found = _STEM_NUMBER.match(stem)
    return stem[found.end() :] if found and kind_of(found["kind"] or "adr") in RECORD_KINDS else stem


def number_of(stem: str) -> tuple[str, int] | None:
    """Return the number at the start of a file name, and before it the kind (or ""); None for a date."""
    found = _STEM_NUMBER.match(stem)
    return (kind_of(found["kind"] or ""), int(found["number"])) if found else None
