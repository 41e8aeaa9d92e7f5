"""What is handed over for a question: the entries in their forms, and what they cost in the form that is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from mdmem.dataclass import dataclass, field, replace
from mdmem.retrieval.question import AnswerBasis, Omission
from mdmem.retrieval.ranks import Retrieved
from mdmem.workspace.scope import Scope


class Form(StrEnum):
    """How much of an item is given: all, the section that decides, its lead, a line; or that it was given before."""

    FULL = "full"
    SECTION = "section"
    SUMMARY = "summary"
    LINE = "line"
    GIVEN = "given"

    @property
    def is_line(self) -> bool:
        """Say whether nothing of the content is given."""
        return self in (Form.LINE, Form.GIVEN)


CITED = "cited by"
# Of an entry given in part: the digest of its file, and those of the passages that were given of it.
_BESIDE_VERSION = "\n"


@dataclass(frozen=True, slots=True)
class Mention:
    """An entry that stands under another in one line: `how` they are linked, and the sentence that says so."""

    how: str
    address: str
    title: str = ""
    day: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """One item as it is handed over; `digest` is that of its file.

    `before` are the digests of passages that were given of it earlier, where only some are given: these count, too.
    """

    item: Retrieved
    form: Form
    content: str
    tokens: int = 0
    beneath: tuple[Mention, ...] = ()
    digest: str = ""
    before: tuple[str, ...] | None = None

    @property
    def known_by(self) -> str:
        """Return what to know it by when it is asked for again."""
        if self.before is None:
            return self.digest
        return _BESIDE_VERSION.join((self.digest, *sorted({*self.before, *_passages(self.content)})))

    @property
    def is_new(self) -> bool:
        """Say whether a passage of it was not given before."""
        return not self.before or not _passages(self.content).issubset(self.before)

    def after(self, known_by: str) -> PackedEntry:
        """Return it as given in part, with what was given of the same version before."""
        version, *before = known_by.split(_BESIDE_VERSION)
        return replace(self, before=tuple(before) if version == self.digest else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The answer within a budget: what is given, what is not and why, and what it costs in `tokens`.

    `searched` are the rooms that were asked, None where they are too many to tell.
    """

    scope: Scope
    items: tuple[PackedEntry, ...] = ()
    proposed: tuple[PackedEntry, ...] = ()
    searched: tuple[str, ...] | None = ()
    likely_room: str | None = None
    tokens: int = 0
    budget: int
    basis: AnswerBasis

    @property
    def over_budget(self) -> bool:
        """Say whether the answer costs more than the budget, which only invariants may make it."""
        return self.tokens > self.budget

    @property
    def gave(self) -> dict[str, str]:
        """Return the digest of each entry that is handed over with its content, by address."""
        return {one.item.entry.address: one.known_by for one in (*self.items, *self.proposed) if one.digest}


@dataclass(slots=True)
class Plan:
    """What is given of a retrieval; `used` counts what stands beside the invariants, of the bytes of `room`."""

    room: int
    taken: dict[str, PackedEntry] = field(default_factory=dict)
    drafts: dict[str, PackedEntry] = field(default_factory=dict)
    beside: int = 0
    used: int = 0
    lines: int = 0


def _passages(content: str) -> set[str]:
    """Return what to know each passage of a part by, wherever it stands in another part of the same entry."""
    # Imported here: it takes the time of ten other modules, and most answers are noted nowhere.
    from hashlib import sha256

    passages = (one.removeprefix("… ") for one in content.split("\n\n"))
    return {sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:16] for one in passages}


# Address to digest of what an earlier answer of the same session handed over.
Given = Mapping[str, str]
NOTHING_GIVEN: Given = {}


@dataclass(frozen=True, slots=True)
class Texts:
    """What a pack reads of entries: bodies only of those that are given, sizes in bytes and digests of any."""

    body: Callable[[str], str]
    size: Callable[[str], int]
    digest: Callable[[str], str]
    beneath: Callable[[Retrieved], tuple[Mention, ...]] = lambda _item: ()


class Printed(Protocol):
    """How many bytes an answer takes in the form that is printed."""

    def entry(self, packed: PackedEntry) -> int:
        """Return the bytes of one entry with what parts it from the next."""
        ...

    def rest(self, pack: Pack) -> int:
        """Return the bytes of what is neither entry nor problem nor the line of counts."""
        ...

    def omission(self, omission: Omission) -> int:
        """Return the bytes that naming one entry that is left out takes; 0 where none is named."""
        ...


class _Plain:
    """The contents alone, with address and title: for answers that somebody else renders."""

    def entry(self, packed: PackedEntry) -> int:
        entry = packed.item.entry
        said = (f"{one.address}\n{one.title}\n{one.said}\n" for one in packed.beneath)
        # The name of a file need not be UTF-8.
        text = f"{entry.address}\n{entry.title}\n{packed.content}{''.join(said)}"
        return len(text.encode("utf-8", "surrogateescape"))

    def rest(self, pack: Pack) -> int:  # noqa: ARG002  # nothing else is counted
        return 0

    def omission(self, omission: Omission) -> int:  # noqa: ARG002
        return 0


PLAIN: Printed = _Plain()
