"""Find entries that say nearly the same as a new text, or that have the same subject, as hints for people."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from math import log

from msgspec import Struct

from mdmem.markdown.body import without_comments
from mdmem.markdown.parse import parse_document, rationale_of, rationale_span, without_code
from mdmem.markdown.similarity import MAY_OVERLAP, jaccard, words_of
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.text import text_hash
from mdmem.store.catalog.addresses import load_entry
from mdmem.store.index.analysis import text_terms
from mdmem.store.workspace.scope import shared_of
from mdmem.store.workspace.workspace import Workspace

# The contract of `save_decision` fixes these numbers: from .70 a decision is a successor, from .50 a person decides.
SUPERSEDES_FROM = 0.70
REVIEW_FROM = 0.50
# The number of full-text matches that are compared.
_CANDIDATES = 5
# The number of words of a new text to search for. More words find the same entries but take longer.
_WORDS = 40
# A memory with at most this number of entries is compared entry by entry. A larger memory uses the search index.
_FEW = 200
_NAMED = 3


class DedupOutcome(StrEnum):
    """The result of comparing a new record with existing records, in the words of the MCP contract."""

    NEW = "new"
    DUPLICATE_SKIP = "duplicate_skip"
    SUPERSEDE = "supersede"
    MANUAL_REVIEW = "manual_review"


# Punctuation that has no meaning. `C#`, `.env`, `3.5` and `-1` stay as they are.
_QUOTES, _DASHES = "\"'`“”‘’„‚«»‹›", "-–—"
_OPENING, _CLOSING = f"{_QUOTES}([{{¿¡", f"{_QUOTES})]}}.,;:!?…、。"


class Subject(Struct, frozen=True):
    """The parts of a record that are compared: the title and the rationale."""

    title: str
    rationale: str

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 hash of title and rationale without case, white space, and punctuation around words."""
        return text_hash(_plain(self.text))

    @property
    def words(self) -> frozenset[str]:
        """Return the set of NFKC case-folded words of title and rationale."""
        return words_of(self.text)

    @property
    def text(self) -> str:
        """Return the title and the rationale as one text."""
        return f"{self.title}\n{self.rationale}"


def _plain(text: str) -> str:
    """Return a text in NFKC, case-folded and on one line, without punctuation around words."""
    words = (word.lstrip(_OPENING).rstrip(_CLOSING) for word in unicodedata.normalize("NFKC", text).casefold().split())
    return " ".join(word for word in words if word.strip(_DASHES))


class Verdict(Struct, frozen=True):
    """What to do with a new record, and the most similar record, if any; `similarity` is the share of common words."""

    outcome: DedupOutcome
    candidate: str | None = None
    similarity: float = 0.0


def subject_of(entry: Entry, body: str) -> Subject:
    """Return the title and the rationale (code included) of an entry, or the trigger and the steps of a pattern."""
    if entry.type is EntryType.PATTERN:
        steps = (*entry.repeatable_steps, *(f"not: {one}" for one in entry.exclusions))
        return Subject(entry.trigger or entry.title, "\n".join(steps) or body)
    start, end = rationale_span(without_code(body))
    return Subject(entry.title, body[start:end].strip())


def compare(
    workspace: Workspace, subject: Subject, wings: Collection[str], *, distinct: frozenset[str], is_stated: bool
) -> Verdict:
    """Compare a new decision with the decisions in some wings, by fingerprint, then by the words of the best matches.

    A match that is current or a draft takes precedence over other matches. If the match is not current, its current
    successor is reported. Decisions in `distinct` do not count, unless they are current or drafts and have the same
    fingerprint. With `is_stated`, the caller already says which decision is superseded, so words are not compared.
    """
    catalog, lineage = workspace.catalog, workspace.catalog.lineage
    among = [one.address for one in catalog.entries.values() if one.type is EntryType.DECISION and one.wing in wings]

    def has_ended(address: str) -> bool:
        return catalog.entries[address].status is not Status.DRAFT and not lineage.is_current(address)

    def reported(address: str) -> str:
        heads = (head for head in lineage.heads(address) if head != address)
        return next(heads, address) if has_ended(address) else address

    def is_distinct(address: str) -> bool:
        return not distinct.isdisjoint({address, reported(address)})

    # Compare the titles first, so that only few bodies have to be read.
    text, fingerprint = _plain(subject.text), subject.fingerprint
    titled = [one for one in among if text.startswith(_plain(catalog.entries[one].title))]
    bodies = ((one, body) for one, body, _ in catalog.bodies(titled) if not (has_ended(one) and is_distinct(one)))
    equal = [one for one, body in bodies if subject_of(catalog.entries[one], body).fingerprint == fingerprint]
    if equal:
        nearest = min(equal, key=lambda one: (has_ended(one), one))
        outcome = DedupOutcome.MANUAL_REVIEW if has_ended(nearest) else DedupOutcome.DUPLICATE_SKIP
        return Verdict(outcome, reported(nearest), 1.0)
    if is_stated or not among:
        return Verdict(DedupOutcome.NEW)
    shares = {}
    for match in workspace.find_text(_first_words(subject.text), among).matches[:_CANDIDATES]:
        known = subject_of(catalog.entries[match.key], catalog.body(match.key))
        share = jaccard(subject.words, known.words)
        if share >= REVIEW_FROM and not is_distinct(match.key):
            shares[match.key] = share
    if not shares:
        return Verdict(DedupOutcome.NEW)
    nearest = min(shares, key=lambda one: (has_ended(one), -shares[one], one))
    is_successor = shares[nearest] >= SUPERSEDES_FROM and not has_ended(nearest)
    outcome = DedupOutcome.SUPERSEDE if is_successor else DedupOutcome.MANUAL_REVIEW
    return Verdict(outcome, reported(nearest), shares[nearest])


class SimilarEntry(Struct, frozen=True):
    """An entry that says nearly the same as a new entry. `similarity` is the share of common words, from 0 to 1."""

    entry: Entry
    similarity: float


def find_near(workspace: Workspace, address: str, text: str) -> tuple[SimilarEntry, ...]:
    """Return up to five entries that say nearly the same as a new text, by title, whole text or rationale.

    No index is built for this. In a large memory without an index, the result is empty.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = load_entry(document).entry
    if new is None:
        return ()
    known, found = _candidates(workspace, f"{new.title} {document.body}"), []
    for other, body, _ in workspace.catalog.bodies(tuple(known)):
        old, pairs = known[other], ((new, document.body), (known[other], body))
        shares = [
            jaccard(words_of(new.title), words_of(old.title)),
            jaccard(*(words_of(f"{one.title}\n{text}") for one, text in pairs)),
        ]
        if (new.type, new.wing) == (old.type, old.wing):
            shares.append(jaccard(*(Subject(one.title, rationale_of(without_code(text))).words for one, text in pairs)))
        if max(shares) >= REVIEW_FROM:
            found.append(SimilarEntry(old, max(shares)))
    return tuple(sorted(found, key=lambda one: (-one.similarity, one.entry.address))[:_CANDIDATES])


def find_on_subject(workspace: Workspace, address: str, text: str, near: Iterable[SimilarEntry]) -> tuple[Entry, ...]:
    """Return up to three entries not in `near` that share terms, from the new entry's wing and its shared wings."""
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = load_entry(document).entry
    if new is None or not text_terms(new.title):
        return ()
    first_paragraph = without_comments(document.body).strip().partition("\n\n")[0]
    lead = f"{new.title} {first_paragraph}"
    wings = (new.wing, *shared_of(workspace.catalog.wings, new.wing))
    left_out = {address, *new.supersedes, *(one.entry.address for one in near)}
    found = {other: one for other, one in _candidates(workspace, lead).items() if one.wing in wings}
    bodies = workspace.catalog.bodies(tuple(found))
    terms = {other: text_terms(f"{found[other].title}\n{body}") for other, body, _ in bodies}
    by_title, by_lead = _shares(text_terms(new.title), terms), _shares(text_terms(lead), terms)
    shares = {other: max(by_title[other], by_lead[other]) for other in terms.keys() - left_out}
    best = sorted((-share, other) for other, share in shares.items() if share >= MAY_OVERLAP)
    return tuple(found[other] for _, other in best[:_NAMED])


def _shares(asked: frozenset[str], texts: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return, for each text, the weighted share of the given terms that it contains."""
    counts = Counter(term for terms in texts.values() for term in terms & asked)
    weights = {term: log(1 + (len(texts) + 1) / (counts[term] + 1)) for term in asked}
    whole = sum(weights.values())
    return {other: sum(weights[term] for term in terms & asked) / whole for other, terms in texts.items()}


def _candidates(workspace: Workspace, text: str) -> dict[str, Entry]:
    """Return the entries to compare with a text: those not deprecated, or in a large memory the best search results."""
    entries = workspace.catalog.entries
    known = {address: one for address, one in entries.items() if one.status is not Status.DEPRECATED}
    if len(entries) <= _FEW:
        return known
    state = workspace.index.state(live=workspace.catalog.digests)
    if not state.usable or state.stale > _FEW:
        return {}
    answer = workspace.find_text(_first_words(text), known.keys())
    return {match.key: entries[match.key] for match in answer.matches[:_CANDIDATES]}


def _first_words(text: str) -> str:
    return " ".join(list(dict.fromkeys(text.split()))[:_WORDS])
