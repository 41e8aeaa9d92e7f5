"""Is this new, a duplicate, a successor, or for a person to decide?"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from mdmem.similarity import jaccard, words_of

# The contract of `save_decision` fixes these: from .70 a successor, from .50 for a person to decide.
SUPERSEDES_FROM = 0.70
REVIEW_FROM = 0.50
# So many of the best full-text matches are compared.
CANDIDATES = 5


class Outcome(StrEnum):
    """What comparing a new record with the known ones gave, in the words of the contract."""

    NEW = "new"
    DUPLICATE_SKIP = "duplicate_skip"
    SUPERSEDE = "supersede"
    MANUAL_REVIEW = "manual_review"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is compared of a record: its title and its reasons."""

    title: str
    rationale: str

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of title and rationale, NFKC, case-folded, blanks run together."""
        text = unicodedata.normalize("NFKC", f"{self.title}\n{self.rationale}").casefold()
        return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def words(self) -> frozenset[str]:
        """Return the set of NFKC case-folded words of title and rationale."""
        return words_of(f"{self.title}\n{self.rationale}")


@dataclass(frozen=True, slots=True)
class Known:
    """A record that is there; one that has ended is answered for by its head, or by itself where it has none."""

    address: str
    subject: Subject
    ended: bool = False
    head: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done, which record made it so, and how alike the two are."""

    outcome: Outcome
    candidate: str | None = None
    similarity: float = 0.0


def judge(subject: Subject, exact: Iterable[Known], similar: Callable[[], Iterable[Known]]) -> Verdict:
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
        return Verdict(Outcome.NEW, None, max((share for share, _ in compared), default=0.0))
    share, nearest = min(alike, key=lambda pair: (pair[1].ended, -pair[0], pair[1].address))
    if nearest.ended:
        return Verdict(Outcome.MANUAL_REVIEW, nearest.head or nearest.address, share)
    return Verdict(Outcome.SUPERSEDE if share >= SUPERSEDES_FROM else Outcome.MANUAL_REVIEW, nearest.address, share)


def _of_equal(known: Known) -> Verdict:
    if known.ended:
        return Verdict(Outcome.MANUAL_REVIEW, known.head or known.address, 1.0)
    return Verdict(Outcome.DUPLICATE_SKIP, known.address, 1.0)


def _ended_last(known: Known) -> tuple[bool, str]:
    return (known.ended, known.address)
