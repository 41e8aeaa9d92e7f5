"""What a record of another tool says, before it has an address: fields, links, what was guessed and what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from mdmem.model.entry import EntryType, Status


class Sureness(StrEnum):
    """How sure something is that a record does not say in so many words."""

    LIKELY = "likely"
    GUESS = "a guess"


class Guess(Struct, frozen=True):
    """Why a field got its value although the record does not state it, and how surely."""

    why: str
    sureness: Sureness


class ClaimKind(StrEnum):
    """What a record says of another; the passive ones are written into that other record."""

    SUPERSEDES = "supersedes"
    SUPERSEDED_BY = "superseded_by"
    AMENDS = "amends"
    AMENDED_BY = "amended_by"
    SEE = "see"


class Claim(Struct, frozen=True):
    """A link from one record to another, as written: a path, else a number, a slug or a title.

    `is_in_text` says that the body has it, too, and keeps it; `qualifier` has the words on the part that is meant.
    """

    kind: ClaimKind
    target: str
    is_path: bool = False
    is_in_text: bool = False
    qualifier: str = ""


class Cut(Struct, frozen=True):
    """A part of the body that became front matter; where one of its claims could not be carried over, its `parts` do.

    Each of the parts stays for the same reason.
    """

    start: int
    end: int
    claims: tuple[Claim, ...] = ()
    parts: tuple[Cut, ...] = ()


class SourceFile(Struct, frozen=True):
    """One file to import: its path from the project's top, its bytes, and its front matter and body as read.

    `room` is the folder below the one that was named, if it lies in one; `is_in_records` says that it lies in a folder
    of decision records.
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
        """Return the file's name without its extension."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    @property
    def folder(self) -> str:
        """Return the path of the folder that holds the file."""
        return self.path.rpartition("/")[0]


class ForeignRecord(Struct, frozen=True, kw_only=True):
    """One entry to be: what its source says of it.

    `part` names a section, where one file becomes several; `name` is what the entry-id is made of; `created_at` is
    None where no readable date is stated; `fields` are more keys of the front matter, their values as text; `said`
    are sentences about what cannot be carried over. `stated` are its words for its status, and `number` is its own.
    `ended_as` is what it says of its end, in its own words, and `ended_on` the day that it states for it; `is_refused`
    says that it was never in force.
    """

    source: SourceFile
    type: EntryType
    status: Status
    title: str
    name: str
    body: str
    created_at: str | None = None
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    cuts: tuple[Cut, ...] = ()
    guesses: Mapping[str, Guess] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    part: str = ""
    states_status: bool = True
    stated: str = ""
    number: int | None = None
    ended_as: str = ""
    ended_on: str | None = None
    is_refused: bool = False
