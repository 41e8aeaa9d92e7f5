"""What is handed over for a question: the entries in their forms, and what they cost in the form that is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.given import NAMED, WHOLE, marks_of, noted
from mdmem.ask.question import AnswerBasis, Omission
from mdmem.ask.ranks import Retrieved
from mdmem.store.workspace.scope import Scope


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
# What no budget and no earlier answer parts from an entry.
CLAIMING = ("claimed by", "claims to replace")


class Mention(Struct, frozen=True):
    """An entry that stands under another in one line: `how` they are linked, and the sentence that says so.

    `does` is what that sentence says that it does to the other, where it says so.
    """

    how: str
    address: str
    title: str = ""
    day: str = ""
    said: str = ""
    does: str = ""

    @property
    def told(self) -> str:
        """Return what to know it by where it was told before."""
        return f"{self.how} {self.address} {self.said}"

    @property
    def link(self) -> str:
        """Return what to know it by, however much of its sentence was told."""
        return f"{self.how} {self.address}"

    def is_news(self, before: frozenset[str]) -> bool:
        """Say whether it was not told; under what was given whole, that another says something is all that is new."""
        return not marks_of((self.link if before >= WHOLE else self.told,)) <= before


def links_of(beneath: Iterable[Mention]) -> Iterator[str]:
    """Yield what to know each of some lines by."""
    for one in beneath:
        yield from (one.link, one.told)


class PackedEntry(Struct, frozen=True):
    """One item as it is handed over; `digest` is that of its file.

    `before` are the marks of what was given of it earlier, where only a part is given: it is not told again.
    """

    item: Retrieved
    form: Form
    content: str
    tokens: int = 0
    beneath: tuple[Mention, ...] = ()
    digest: str = ""
    before: frozenset[str] | None = None

    @property
    def known_by(self) -> str:
        """Return what to know it by when it is asked for again."""
        told = (
            () if self.form is Form.LINE else (self.content if self.before is not None else "", *links_of(self.beneath))
        )
        return noted(self.digest, (WHOLE if self.before is None else self.before) | marks_of(told))

    @property
    def is_name(self) -> bool:
        """Say whether it is named, now or before, and nothing of it was ever given."""
        return self.form.is_line and self.before == NAMED

    @property
    def may_grow(self) -> bool:
        """Say whether it is a line, and more of it than was given before would be news."""
        return self.form.is_line and self.before is not None and not self.before >= WHOLE

    @property
    def goes_on(self) -> bool:
        """Say whether more than its name was given of it before."""
        return bool(self.before and self.before - NAMED)

    def after(self, before: frozenset[str]) -> PackedEntry:
        """Return it as given in part, without the passages and the lines beneath that were given before."""
        if not before:
            return replace(self, before=before)
        passages = [one for one in self.content.split("\n\n") if not marks_of((one,)) <= before]
        beneath = tuple(one for one in self.beneath if one.how in CLAIMING or one.is_news(before))
        return replace(self, content="\n\n".join(passages), beneath=beneath, before=before)


class Pack(Struct, frozen=True, kw_only=True):
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


class Plan(Struct):
    """What is given of a retrieval; `used` counts what stands beside the invariants, of the bytes of `room`."""

    room: int
    taken: dict[str, PackedEntry] = field(default_factory=dict)
    drafts: dict[str, PackedEntry] = field(default_factory=dict)
    beside: int = 0
    used: int = 0
    lines: int = 0


# Address to digest of what an earlier answer of the same session handed over.
Given = Mapping[str, str]
NOTHING_GIVEN: Given = {}


class Texts(Struct, frozen=True):
    """What a pack reads of entries: bodies only of those that are given, sizes in bytes and digests of any.

    `passed` is told of what might have been asked for what is `beneath` it, and was not: it has had its turn.
    """

    body: Callable[[str], str]
    size: Callable[[str], int]
    digest: Callable[[str], str]
    beneath: Callable[[Retrieved], tuple[Mention, ...]] = lambda _item: ()
    passed: Callable[[Retrieved], None] = lambda _item: None

    def known(self, item: Retrieved, before: frozenset[str], *, is_line: bool = False) -> PackedEntry:
        """Return an item of which no more is given; but in a line with what was not told that does something to it."""
        says = (one for one in (() if is_line else self.beneath(item)) if one.does or one.how != CITED)
        beneath = tuple(one for one in says if one.is_news(before | WHOLE))
        digest = self.digest(item.entry.address) if beneath else ""
        return PackedEntry(item, Form.GIVEN, "", beneath=beneath, digest=digest, before=before)


class Printed(Protocol):
    """How many bytes an answer takes in the form that is printed."""

    def entry(self, packed: PackedEntry) -> int:
        """Return the bytes of one entry with what parts it from the next."""
        ...

    def rest(self, pack: Pack) -> int:
        """Return the bytes of what is neither entry nor problem nor the line of counts."""
        ...

    def problems(self, basis: AnswerBasis) -> int:
        """Return the bytes of what could not be read."""
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

    def problems(self, basis: AnswerBasis) -> int:  # noqa: ARG002
        return 0

    def omission(self, omission: Omission) -> int:  # noqa: ARG002
        return 0


PLAIN: Printed = _Plain()
