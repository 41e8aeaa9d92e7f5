"""How alike two texts are: a signal for people, never a verdict."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from mdmem.model.entry import Entry, EntryType, Wing

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=8192)
def words_of(text: str) -> frozenset[str]:
    """Return the set of NFKC case-folded words of a text."""
    return words_once(text)


def words_once(text: str) -> frozenset[str]:
    """Return the words as `words_of` does, and remember nothing: for texts that are looked at once."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words two sets have in common, 0 to 1; 0 for two empty ones (Jaccard 1901)."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0


# entry-model: from .55 two entries of one type may overlap.
MAY_OVERLAP = 0.55

# Hundreds of entries about one subject are a series; the first of them are enough to see it.
_COMPARED = 500
_NAMED = 20


class Overlap(Struct, frozen=True):
    """A project's entry, the shared one whose subject it covers, and what shows it."""

    project: Entry
    shared: Entry
    why: str


def undeclared_overlaps(entries: Iterable[Entry], wings: Mapping[str, Wing]) -> Iterator[Overlap]:
    """Yield the pairs of one type, project and shared, that cover one subject without `overrides`, by address.

    Two entries cover one subject when they bear the same entry-id or their titles share at least .55 of their words.
    Only shared wings that the project reads count. Of one entry, 500 shared ones are looked at, those of its entry-id
    and of its rarest words first, and 20 pairs are yielded; the last then says that there may be more.
    """
    if not any(wing.is_shared for wing in wings.values()):
        return
    ordered = sorted(entries, key=lambda entry: entry.address)
    shared = [_subject(entry) for entry in ordered if wings[entry.wing].is_shared]
    if not shared:
        return
    frequency = Counter(word for subject in shared for word in subject.words)
    by_key: dict[tuple[EntryType, str], list[_Subject]] = {}
    for subject in shared:
        for key in subject.keys(frequency):
            by_key.setdefault(key, []).append(subject)
    for entry in ordered:
        wing = wings[entry.wing]
        if not wing.is_shared:
            subject = _subject(entry)
            sharing = (other for key in subject.keys(frequency) for other in by_key.get(key, ()))
            yield from _overlaps_of(subject, sharing, wing)


class _Subject(Struct, frozen=True):
    """An entry, its entry-id, and the words of its title."""

    entry: Entry
    entry_id: str
    words: frozenset[str]

    def keys(self, frequency: Mapping[str, int]) -> Iterator[tuple[EntryType, str]]:
        """Yield the entry-id and the rarest words, as many as make two titles that overlap share one of them.

        Titles that share .55 of their words share one of these (prefix filtering, Chaudhuri et al., ICDE 2006); by
        all words, every title with «use» would be compared with every other.
        """
        ordered = sorted(self.words, key=lambda word: (frequency.get(word, 0), word))
        # The words that may differ, and one more; the small difference guards against .55 having no exact float.
        kept = len(ordered) - math.ceil(MAY_OVERLAP * len(ordered) - 1e-9) + 1
        yield self.entry.type, f"/{self.entry_id}"
        yield from ((self.entry.type, word) for word in ordered[:kept])


def _subject(entry: Entry) -> _Subject:
    return _Subject(entry, entry.address.rsplit("/", 1)[-1], words_of(entry.title))


def _overlaps_of(subject: _Subject, sharing: Iterator[_Subject], wing: Wing) -> Iterator[Overlap]:
    entry = subject.entry
    declared = {*entry.overrides, *entry.amends, *entry.see, *entry.contradicts}
    # One that shares several keys comes several times.
    near = {other.entry.address: other for other in islice(sharing, _COMPARED)}
    read = (other for other in near.values() if wing.shared_wings is None or other.entry.wing in wing.shared_wings)
    undeclared = (other for other in read if other.entry.address not in declared)
    found = [Overlap(entry, other.entry, why) for other in undeclared if (why := _why(subject, other))]
    found.sort(key=lambda overlap: overlap.shared.address)
    is_cut = len(found) > _NAMED or next(sharing, None) is not None
    yield from found[: _NAMED - 1]
    for last in found[_NAMED - 1 : _NAMED]:
        yield replace(last, why=f"{last.why}; more like it are not named") if is_cut else last


def _why(subject: _Subject, other: _Subject) -> str:
    if subject.entry_id == other.entry_id:
        return "both bear the same entry-id"
    share = jaccard(subject.words, other.words)
    return f"their titles share {share:.0%} of their words" if share >= MAY_OVERLAP else ""


# The contract of `save_decision` fixes these: from .70 a successor, from .50 for a person to decide.
SUPERSEDES_FROM = 0.70
REVIEW_FROM = 0.50
# So many of the best full-text matches are compared.
CANDIDATES = 5


class DedupOutcome(StrEnum):
    """What comparing a new record with the known ones gave, in the words of the contract."""

    NEW = "new"
    DUPLICATE_SKIP = "duplicate_skip"
    SUPERSEDE = "supersede"
    MANUAL_REVIEW = "manual_review"


# What stands before, behind and between words and says nothing: `C#`, `.env`, `3.5` and `-1` stay what they are.
_QUOTES, _DASHES = "\"'`“”‘’„‚«»‹›", "-–—"
_OPENING, _CLOSING = f"{_QUOTES}([{{¿¡", f"{_QUOTES})]}}.,;:!?…、。"


class Subject(Struct, frozen=True):
    """What is compared of a record: its title and its reasons."""

    title: str
    rationale: str

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of title and rationale, NFKC, case-folded, without the marks that end or enclose words."""
        text = unicodedata.normalize("NFKC", self.text).casefold()
        plain = (word.lstrip(_OPENING).rstrip(_CLOSING) for word in text.split())
        words = (word for word in plain if word.strip(_DASHES))
        return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def words(self) -> frozenset[str]:
        """Return the set of NFKC case-folded words of title and rationale."""
        return words_of(self.text)

    @property
    def text(self) -> str:
        """Return title and rationale."""
        return f"{self.title}\n{self.rationale}"


class Known(Struct, frozen=True):
    """A record that is there; one that has ended is answered for by its head, or by itself where it has none."""

    address: str
    subject: Subject
    ended: bool = False
    head: str | None = None


class DedupVerdict(Struct, frozen=True):
    """What is to be done, which record made it so, and how alike the two are."""

    outcome: DedupOutcome
    candidate: str | None = None
    similarity: float = 0.0


def judge(subject: Subject, exact: Iterable[Known], similar: Callable[[], Iterable[Known]]) -> DedupVerdict:
    """Return what to do with a new record.

    `exact` are all records of its type and wing; `similar` gives the best full-text matches among them, best first,
    and is asked only where no fingerprint is equal. Records in force and drafts decide before those that ended.
    """
    fingerprint = subject.fingerprint
    equal = sorted((one for one in exact if one.subject.fingerprint == fingerprint), key=_ended_last)
    if equal:
        return _of_equal(equal[0])
    compared = [(jaccard(subject.words, one.subject.words), one) for one in similar()]
    alike = [(share, one) for share, one in compared if share >= REVIEW_FROM]
    if not alike:
        return DedupVerdict(DedupOutcome.NEW, None, max((share for share, _ in compared), default=0.0))
    share, nearest = min(alike, key=lambda pair: (pair[1].ended, -pair[0], pair[1].address))
    if nearest.ended:
        return DedupVerdict(DedupOutcome.MANUAL_REVIEW, nearest.head or nearest.address, share)
    return DedupVerdict(
        DedupOutcome.SUPERSEDE if share >= SUPERSEDES_FROM else DedupOutcome.MANUAL_REVIEW, nearest.address, share
    )


def _of_equal(known: Known) -> DedupVerdict:
    if known.ended:
        return DedupVerdict(DedupOutcome.MANUAL_REVIEW, known.head or known.address, 1.0)
    return DedupVerdict(DedupOutcome.DUPLICATE_SKIP, known.address, 1.0)


def _ended_last(known: Known) -> tuple[bool, str]:
    return (known.ended, known.address)
