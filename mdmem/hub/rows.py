"""A file as a row: its columns, its packed record, and the analysed terms with their scores."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log
from types import NoneType
from typing import TypeVar
from zlib import crc32

from msgspec import Struct

from mdmem.model.entry import Wing
from mdmem.model.fields import DATE_FIELDS, searched_as
from mdmem.model.kinds import Searched
from mdmem.record import UNPACKABLE, pack, unpack
from mdmem.store.catalog.snapshot import RECORD_VERSION, LoadedFile, read_dates
from mdmem.store.index.analysis import VERSION, ask, positions_of
from mdmem.store.index.protocol import IndexDocument, Match
from mdmem.store.index.scores import stored_length
from mdmem.store.tree import FileKind

SCORED = ("title", "text")
"""The fields whose words are counted; the second has the whole entry."""

Terms = Mapping[str, Mapping[str, int]]
"""Field to term to how often one passage holds it; the title is of the first."""

Lengths = tuple[tuple[int, ...], ...]
Posting = tuple[int, int]
"""The number of a passage, and how often it holds a term."""

_PASSAGE = 80
_B, _K1, _DIGITS = 0.75, 1.2, 6


class Totals(Struct, frozen=True):
    """What is known of all entries where those alone are at hand that a question may find."""

    documents: int
    lengths: Sequence[int]
    holders: Mapping[str, int]


class Wanted(Struct, frozen=True):
    """What a question asks for: the word that was typed for each term, and what the holders of a term hold."""

    typed: Mapping[str, str]
    held: Mapping[str, tuple[str, ...]]


def wanted_in(question: str) -> Wanted:
    """Return what a question in plain words asks for."""
    asked = ask(question)
    return Wanted(asked.typed, {**{term: (term,) for term in asked.terms}, **asked.wholes})


def terms_of(document: IndexDocument) -> tuple[Terms, ...]:
    """Return what the passages of a document hold."""
    title = "\n".join(text for name in searched_as(Searched.TITLE) for text in document.fields.get(name, ()))
    tags = "\n".join(text for name in searched_as(Searched.TAG) for text in document.fields.get(name, ()))
    passages: list[dict[str, Counter[str]]] = [{"title": Counter(), "text": Counter()}]
    passages[0]["title"].update({term: len(places) for term, places in positions_of(title).items()})
    for term, places in positions_of(f"{title}\n{document.body}\n{tags}").items():
        for place in places:
            while len(passages) <= place // _PASSAGE:
                passages.append({"text": Counter()})
            passages[place // _PASSAGE]["text"][term] += 1
    return tuple(passages)


def lengths_of(terms: Terms) -> tuple[int, ...]:
    """Return how many words each field of a passage holds."""
    return tuple(sum(terms.get(name, {}).values()) for name in SCORED)


class Rows:
    """Some entries: how long they are, and where they hold the terms that were asked for."""

    def __init__(self, totals: Totals | None = None) -> None:
        """Start without entries."""
        self.keys: list[str] = []
        self._lengths: list[tuple[int, ...]] = []
        self._totals = totals
        self._postings: dict[tuple[str, str], dict[int, list[Posting]]] = defaultdict(dict)

    def add(self, key: str, passages: Lengths) -> int:
        """Take in an entry and return its number."""
        self.keys.append(key)
        sums = map(sum, zip(*passages, strict=True)) if passages else (0,) * len(SCORED)
        self._lengths.append(tuple(map(stored_length, sums)))
        return len(self.keys) - 1

    def hold(self, number: int, term: str, places: Iterable[tuple[int, str, int]]) -> None:
        """Note where an entry holds a term: passage, field and how often."""
        for passage, field, times in places:
            self._postings[field, term].setdefault(number, []).append((passage, times))

    def forget_terms(self) -> None:
        """Let go of all terms."""
        self._postings.clear()

    @property
    def size(self) -> int:
        """How many postings there are."""
        return sum(map(len, self._postings.values()))

    def rank(self, wanted: Wanted, among: Collection[str] | None = None) -> list[Match]:
        """Return the entries that hold any term, best first, equal ones by key."""
        scores: defaultdict[int, float] = defaultdict(float)
        passages: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        terms: defaultdict[int, set[str]] = defaultdict(set)
        for term, held in wanted.held.items():
            for field in SCORED:
                postings, rarity = self._postings.get((field, term), {}), self._rarity(term)
                for number, found in postings.items():
                    scores[number] += rarity * self._whole(field, number, sum(times for _, times in found))
                    terms[number].update(held)
                    for passage, times in found if field == "text" else ():
                        passages[number][passage] += rarity * times * (_K1 + 1) / (times + _K1)
        found_all = (
            Match(
                self.keys[number],
                round(score + max(passages[number].values(), default=0.0), 6),
                frozenset(terms[number]),
            )
            for number, score in scores.items()
            if among is None or self.keys[number] in among
        )
        return sorted(found_all, key=lambda one: (-one.score, one.key))

    def _rarity(self, term: str) -> float:
        count = len(self._postings.get(("text", term), ()))
        if self._totals is None:
            return log(max(len(self.keys), 1) / (count + 1)) + 1
        return log(max(self._totals.documents, 1) / (max(count, self._totals.holders.get(term, 0)) + 1)) + 1

    def _whole(self, field: str, number: int, times: int) -> float:
        at = SCORED.index(field)
        if self._totals is None:
            mean = sum(lengths[at] for lengths in self._lengths) / len(self.keys)
        else:
            mean = self._totals.lengths[at] / max(self._totals.documents, 1)
        norm = 1 - _B + _B * self._lengths[number][at] / (mean or 1.0)
        return times * (_K1 + 1) / (times + _K1 * norm)


FORMAT = f"{RECORD_VERSION} {VERSION} 1"
"""What rows are packed in, whichever Python packs them; those of another mdmem are read from their content."""

LARGE = " *"
"""Stands, as a lexeme, for all the words that did not fit: whoever asks for any word asks for it, too."""

# PostgreSQL takes 1 MB of lexemes for a text, and 2.7 KB for a row of an index.
_MOST_WORDS = 1_000_000
_LONGEST = 2_600
_LONGEST_MARK = 200
# A position and its weight, by field; that of a text's word is the least, which needs no position.
_WEIGHTS = {"text": "", "title": ":1A"}
_LIGHTEST_FIRST = tuple(_WEIGHTS)
_LETTERS = {name: chr(ord("a") + number) for number, name in enumerate(SCORED)}
_NAMES = {letter: name for name, letter in _LETTERS.items()}
# The passage, none for the first, the field, and how often that holds the term, none for once.
_HELD = re.compile(rf"([0-9]{{0,9}})([{''.join(_NAMES)}])([0-9]{{0,9}})")
_MARK = "\x1a"
_UNSTORED = re.compile("[\ud800-\udfff]")
_MARKED = re.compile(f"{_MARK}(?:{_MARK}|([0-9a-f]{{2}}))")

_Value = TypeVar("_Value")
Link = tuple[str, str]
"""A field, or `body`, and the address that it links."""


class HubFile(Struct, frozen=True):
    """One file of a wing: `path` counts from the wing's folder, `loaded` is what it means in an entry's place.

    `wing` is what a manifest states, as far as it `is_sound`; `passages` are an entry's terms. One that is only listed
    has no content.
    """

    path: str
    kind: FileKind = FileKind.FILE
    blob: str | None = None
    content: bytes | None = None
    loaded: LoadedFile | None = None
    wing: Wing | None = None
    passages: tuple[Terms, ...] = ()
    links: frozenset[Link] = frozenset()
    has_short_links: bool = False
    is_sound: bool = True


COLUMNS = (
    *("path", "kind", "blob", "content", "type", "status", "title", "room", "label", "owner", "focus", "tags"),
    *("has_short_links", "record", "terms", "lengths"),
)
"""The columns of a file's row that `columns_of` gives, in order; `words` follows from the terms and the wing's id."""


def columns_of(file: HubFile) -> tuple[object, ...]:
    """Return the values of a file's row."""
    entry = file.loaded.entry if file.loaded is not None else None
    stated: tuple[object, ...] = (None,) * 8
    if entry is not None:
        texts = (entry.title, entry.room, entry.label, entry.owner, entry.focus)
        tags = list(map(plain_text, entry.tags))
        stated = (entry.type.value, entry.status.value, *map(_plain_or_none, texts), tags)
    # What is wrong with a manifest is told by whoever reads it.
    record = file.loaded if file.loaded is not None else file.wing if file.is_sound else None
    return (
        stored_path(file.path),
        file.kind.value,
        file.blob,
        file.content,
        *stated,
        file.has_short_links,
        _packed(record) if record is not None else None,
        *((packed_terms(file.passages), _packed(lengths_in(file.passages))) if file.passages else (None, None)),
    )


def packed_terms(passages: Iterable[Terms]) -> str:
    """Return the terms of some passages' scored fields, each with where it stands, as the server gives single ones."""
    found: dict[str, list[str]] = {}
    for number, terms in enumerate(passages):
        for name, letter in _LETTERS.items():
            for term, count in terms.get(name, {}).items():
                found.setdefault(term, []).append(f"{number or ''}{letter}{count if count != 1 else ''}")
    return json.dumps({term: " ".join(held) for term, held in found.items()})


def places_in(held: str, passages: int) -> Iterator[tuple[int, str, int]]:
    """Yield where a term stands in some passages: the passage, the field, and how often that holds it.

    A place that is none of theirs is passed over: whoever pushes has written it.
    """
    for found in islice(_HELD.finditer(held), passages * len(_NAMES)):
        number, letter, times = found.groups()
        if int(number or 0) < passages:
            yield int(number or 0), _NAMES[letter], int(times or 1)


def lengths_in(passages: Iterable[Terms]) -> list[tuple[int, ...]]:
    """Return how many words the scored fields of each passage hold."""
    return list(map(lengths_of, passages))


def _packed(value: object) -> bytes | None:
    try:
        return pack(FORMAT, value)
    except UNPACKABLE:
        # Whoever asks reads it from the content.
        return None


def unpacked_file(record: bytes | None) -> LoadedFile | None:
    """Return what a file in an entry's place means, None where its row does not tell in our format."""
    loaded = _unpacked(record, LoadedFile)
    return loaded if loaded is not None and _is_sound(loaded) and read_dates([loaded], ()) else None


def unpacked_wing(record: bytes | None) -> Wing | None:
    """Return the wing of a manifest, None where its row does not tell in our format."""
    wing = _unpacked(record, Wing)
    is_sound = wing is not None and isinstance(wing.last_hygiene_at, (str, NoneType))
    return wing if is_sound and wing is not None and read_dates((), [wing]) else None


def _is_sound(loaded: LoadedFile) -> bool:
    """Say whether a file is the entry of its own address, and its dates are texts: whoever pushes has packed it."""
    entry = loaded.entry
    if entry is None:
        return True
    dates = (getattr(entry, name) for name in DATE_FIELDS)
    return f"{entry.address}.md" == loaded.path and all(isinstance(one, (str, NoneType)) for one in dates)


def unpacked_lengths(lengths: bytes | None) -> Lengths | None:
    """Return how many words the scored fields of each passage hold, None where the row does not tell in our format."""
    found = _unpacked(lengths, Lengths)
    is_sound = all(len(one) == len(SCORED) and min(one) >= 0 for one in found or ())
    return found if is_sound else None


def _unpacked(content: bytes | None, kind: type[_Value]) -> _Value | None:
    return unpack(content, FORMAT, kind) if content is not None else None


def words_of(file: HubFile, wing: int) -> str:
    """Return the text of a `tsvector` that holds an entry's terms, by the weight of their best field, and its marks.

    What is in a body alone has no position, which takes a third of the space.
    """
    found: dict[str, str] = {}
    for name in _LIGHTEST_FIRST:
        for terms in file.passages:
            found.update(dict.fromkeys(terms.get(name, ()), _WEIGHTS[name]))
    # A sign has at most four bytes, and a position six.
    if 10 * sum(map(len, found)) > _MOST_WORDS:
        found = _fitting(found)
    words = [f"{lexeme(term)}{weight}" for term, weight in found.items()]
    return " ".join([*map(lexeme, (wing_mark(wing), *_marks(file))), *words])


def _fitting(words: Mapping[str, str]) -> dict[str, str]:
    """Return as many words as fit, the weightiest first, with what stands for the others."""
    kept, size = dict[str, str](), 0
    for term, weight in sorted(words.items(), key=lambda one: one[1] or "~"):
        size += len(term.encode()) + 3 * len(weight)
        if size > _MOST_WORDS:
            return kept | {LARGE: ""}
        kept[term] = weight
    return kept


def _marks(file: HubFile) -> Iterator[str]:
    """Yield the lexemes that stand for what an entry states, and for one that cannot be read."""
    entry = file.loaded.entry if file.loaded is not None else None
    if entry is None:
        yield from (BROKEN,) if file.loaded is not None else ()
        return
    yield from _samples(file)
    stated = {name: (getattr(entry, name),) for name in MARKED} | {"tag": entry.tags}
    yield from dict.fromkeys(mark(name, value) for name, values in stated.items() for value in values if value)
    yield from map(title_mark, file.passages[0].get("title", ()) if file.passages else ())


MARKED = ("type", "status", "room", "label", "owner", "focus")
"""The fields of an entry that have a mark for their value; `tag` has one for each tag."""

BROKEN = " broken"
"""The lexeme of a file in an entry's place that holds none that can be read."""


SAMPLES = {" sample": 64, " sample of samples": 4096}
"""The lexemes of one entry of so many, from which it is told how common a word is."""


def _samples(file: HubFile) -> Iterator[str]:
    number = crc32(f"{file.path} {file.blob}".encode("utf-8", "surrogateescape"))
    yield from (name for name, share in SAMPLES.items() if number % share == 0)


def mark(name: str, value: str) -> str:
    """Return the lexeme of each entry whose field has a value; the blank keeps it from being a word of a text."""
    return f" {name}:{plain_text(str(value))[:_LONGEST_MARK]}"


def title_mark(term: str) -> str:
    """Return the lexeme of each entry whose title holds a term."""
    return f" ={term}"


def wing_mark(wing: int) -> str:
    """Return the lexeme that each entry of a wing holds; the blank keeps it from being a word of a text."""
    return f" w{wing}"


def lexeme(term: str) -> str:
    """Return a term as the text of a `tsvector` or a `tsquery` has it."""
    if "'" in term or "\\" in term:
        term = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{term}'"


def plain_text(text: str) -> str:
    """Return a text without what PostgreSQL keeps in none: zeros, and half characters."""
    return _UNSTORED.sub("\ufffd", text.replace("\0", "\ufffd"))


def _plain_or_none(text: str | None) -> str | None:
    return plain_text(text) if text is not None else None


def stored_path(path: str) -> str:
    """Return a path or an address as a column keeps it: bytes that are no UTF-8 are written with a mark."""
    if _MARK not in path and path.isprintable():
        return path
    marked = path.replace(_MARK, _MARK * 2)
    return _UNSTORED.sub(lambda found: f"{_MARK}{ord(found[0]) & 0xFF:02x}", marked.replace("\0", "\ufffd"))


def is_storable(path: str) -> bool:
    """Say whether an index takes a path or an address; no file system has a longer one in an entry's place."""
    return len(stored_path(path).encode()) <= _LONGEST


def path_of(stored: str) -> str:
    """Return the path or address of which `stored_path` made a text."""
    if _MARK not in stored:
        return stored
    return _MARKED.sub(lambda found: chr(0xDC00 + int(found[1], 16)) if found[1] else _MARK, stored)
