"""Find the entries that say nearly the same as a new text, or that are about the same subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from math import log

from msgspec import Struct

from mdmem.markdown.parse import parse_document, rationale_of, rationale_span, without_code
from mdmem.markdown.sentences import without_comments
from mdmem.markdown.similarity import CANDIDATES, MAY_OVERLAP, REVIEW_FROM, Subject, jaccard, words_of
from mdmem.model.entry import Entry, EntryType, Status, of_kind
from mdmem.store.catalog import interpret
from mdmem.store.index.analysis import text_terms
from mdmem.store.state import read_json, write_json
from mdmem.store.workspace.scope import shared_of
from mdmem.store.workspace.workspace import Workspace

# Raised when `subject_of` or the fingerprint changes.
_VERSION, _FILE = "3", "subjects.json"
# Up to so many unknown entries are read again at each call; more are kept in the cache.
_WORTH_KEEPING = 32
# The words of a new text that the index is asked for: more words find the same entries, later.
_WORDS = 40
# Up to so many entries are compared one by one; with more, the index is asked.
_FEW = 200
_NAMED = 3


def subject_of(entry: Entry, body: str) -> Subject:
    """Return the title and the reasons of an entry, with its code, so that saving and reading agree."""
    if entry.type is EntryType.PATTERN:
        steps = (*entry.repeatable_steps, *(f"not: {one}" for one in entry.exclusions))
        return Subject(entry.trigger or entry.title, "\n".join(steps) or body)
    start, end = rationale_span(without_code(body))
    return Subject(entry.title, body[start:end].strip())


def fingerprints(workspace: Workspace, addresses: Collection[str]) -> dict[str, str]:
    """Return the fingerprint of each entry's subject, by address."""
    catalog, folder = workspace.catalog, workspace.cache_folder
    keys = {address: f"{catalog.digests[address]} {address}" for address in addresses if address in catalog.digests}
    known = {key: str(value) for key, value in read_json(folder / _FILE, _VERSION).items()}
    missing = [address for address, key in keys.items() if key not in known]
    for address, body, digest in catalog.bodies(missing):
        known[f"{digest} {address}"] = subject_of(catalog.entries[address], body).fingerprint
    if len(missing) >= _WORTH_KEEPING:
        write_json(folder / _FILE, _VERSION, {key: known[key] for key in keys.values() if key in known})
    return {address: known[key] for address, key in keys.items() if key in known}


def similar_subjects(workspace: Workspace, subject: Subject, among: Collection[str]) -> Iterator[tuple[str, Subject]]:
    """Yield the five best full-text matches for a subject, best first, each with its own subject."""
    catalog = workspace.catalog
    answer = workspace.find_text(_first_words(f"{subject.title}\n{subject.rationale}"), among)
    for match in islice(answer.matches, CANDIDATES):
        yield match.key, subject_of(catalog.entries[match.key], catalog.body(match.key))


class SimilarEntry(Struct, frozen=True):
    """An entry that says nearly the same as a new one; `similarity` is the share of common words."""

    entry: Entry
    similarity: float


def find_near(workspace: Workspace, address: str, text: str) -> tuple[SimilarEntry, ...]:
    """Return up to five entries that say nearly the same as a new text, the nearest first.

    No index is built for this: without one, a large memory has none.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None:
        return ()
    known = _candidates(workspace, f"{new.title} {document.body}")
    found = []
    for other, body in workspace.catalog.plain_bodies(tuple(known)):
        share = _similarity(new, document.body, known[other], body)
        if share >= REVIEW_FROM:
            found.append(SimilarEntry(known[other], share))
    return tuple(sorted(found, key=lambda one: (-one.similarity, one.entry.address))[:CANDIDATES])


def find_on_subject(workspace: Workspace, address: str, text: str, near: Iterable[SimilarEntry]) -> tuple[Entry, ...]:
    """Return up to three more entries about the subject of a new one, from its wing and its shared wings.

    They contain most terms of its title, or of its title and first paragraph; a rare term weighs more.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None or not text_terms(new.title):
        return ()
    first_paragraph = without_comments(document.body).strip().partition("\n\n")[0]
    lead = f"{new.title} {first_paragraph}"
    wings = (new.wing, *shared_of(workspace.catalog.wings, new.wing))
    left_out = {address, *new.supersedes, *(one.entry.address for one in near)}
    found = {other: one for other, one in _candidates(workspace, lead).items() if one.wing in wings}
    terms = {
        other: text_terms(f"{found[other].title}\n{body}")
        for other, body in workspace.catalog.plain_bodies(tuple(found))
    }
    by_title, by_lead = _shares(text_terms(new.title), terms), _shares(text_terms(lead), terms)
    shares = {other: max(by_title[other], by_lead[other]) for other in terms.keys() - left_out}
    best = sorted((-share, other) for other, share in shares.items() if share >= MAY_OVERLAP)
    return tuple(found[other] for _, other in best[:_NAMED])


def _shares(asked: frozenset[str], texts: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the share of some terms that each text contains, by weight."""
    counts = Counter(term for terms in texts.values() for term in terms & asked)
    weights = {term: log(1 + (len(texts) + 1) / (counts[term] + 1)) for term in asked}
    whole = sum(weights.values())
    return {other: sum(weights[term] for term in terms & asked) / whole for other, terms in texts.items()}


def _candidates(workspace: Workspace, text: str) -> dict[str, Entry]:
    """Return the entries to compare with a text: all that did not end in a small memory, else the best matches."""
    entries = workspace.catalog.entries
    if len(entries) <= _FEW:
        return {address: one for address, one in entries.items() if one.status is not Status.DEPRECATED}
    state = workspace.index.state(live=workspace.catalog.digests)
    if not state.usable or state.stale > _FEW:
        return {}
    answer = workspace.find_text(_first_words(text), frozenset(entries.keys() - of_kind(entries, Status.DEPRECATED)))
    return {match.key: entries[match.key] for match in answer.matches[:CANDIDATES]}


def _first_words(text: str) -> str:
    return " ".join(list(dict.fromkeys(text.split()))[:_WORDS])


def _similarity(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    """Compare titles and whole texts, and rationales as saving does where type and wing are the same."""
    pairs = ((new, new_body), (old, old_body))
    shares = [
        jaccard(words_of(new.title), words_of(old.title)),
        jaccard(*(words_of(f"{entry.title}\n{body}") for entry, body in pairs)),
    ]
    if (new.type, new.wing) == (old.type, old.wing):
        shares.append(jaccard(*(Subject(one.title, rationale_of(without_code(body))).words for one, body in pairs)))
    return max(shares)


def near_remarks(near: Iterable[SimilarEntry]) -> Iterator[str]:
    """Yield a sentence that lists the entries which say nearly the same; none without any."""
    listed = [f"{one.entry.address} ({one.entry.type.value}, {round(one.similarity * 100)} %)" for one in near]
    if listed:
        yield f"much the same is said by {', '.join(listed)}; `mdmem show {listed[0].split(' ')[0]}` shows it"


def subject_remarks(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a sentence that lists the entries about the same subject; none without any."""
    listed = [f"{one.address} ({one.type.value})" for one in entries]
    if listed:
        yield f"on this subject: {', '.join(listed)}; `mdmem show {listed[0].split(' ')[0]}` shows it"
