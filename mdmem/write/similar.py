"""Find the entries that say nearly the same as a new text, or speak of the same subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log

from msgspec import Struct

from mdmem.markdown.parse import parse_document, rationale_of, without_code
from mdmem.markdown.sentences import without_comments
from mdmem.markdown.similarity import CANDIDATES, MAY_OVERLAP, REVIEW_FROM, Subject, jaccard, words_once
from mdmem.model.entry import Entry, Status, of_kind
from mdmem.store.catalog import interpret
from mdmem.store.index.analysis import text_terms
from mdmem.store.workspace.scope import (
    shared_of,
)
from mdmem.store.workspace.workspace import Workspace

_PARAGRAPH = "\n\n"


# So many entries are compared one by one; with more, the index that is there is asked.
_FEW = 200


# Words of a new text that the index is asked for: more of them find the same entries, later.
_ASKED = 40


# Of what speaks of the same subject, so many are named.
_NAMED = 3


class SimilarEntry(Struct, frozen=True):
    """An entry that says nearly the same as a new one; `similarity` is the share of words they have in common."""

    entry: Entry
    similarity: float


def find_near(workspace: Workspace, address: str, text: str) -> tuple[SimilarEntry, ...]:
    """Return the entries that say nearly the same as a text for an address, the nearest first, at most five.

    An index that is not there, or far behind, is not built for it: then there are none.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None:
        return ()
    found = []
    known = {one.address: one for one in _candidates(workspace, f"{new.title} {document.body}") if _is_alive(one)}
    for other, body in workspace.catalog.plain_bodies(tuple(known)):
        share = _similarity(new, document.body, known[other], body)
        if share >= REVIEW_FROM:
            found.append(SimilarEntry(known[other], share))
    return tuple(sorted(found, key=lambda one: (-one.similarity, one.entry.address))[:CANDIDATES])


def find_on_subject(workspace: Workspace, address: str, text: str, near: Iterable[SimilarEntry]) -> tuple[Entry, ...]:
    """Return up to three more entries that speak of what a new one is about, those of its wing and its shared wings.

    They hold most of what its title says, or its title and first paragraph, each word weighed by its rarity among the
    entries that are looked at.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None or not text_terms(new.title):
        return ()
    lead = f"{new.title} {without_comments(document.body).strip().partition(_PARAGRAPH)[0]}"
    beside = {address, *new.supersedes, *(one.entry.address for one in near)}
    wings = (new.wing, *shared_of(workspace.catalog.wings, new.wing))
    found = {one.address: one for one in _candidates(workspace, lead) if _is_alive(one) and one.wing in wings}
    held = {
        other: text_terms(f"{found[other].title}\n{body}")
        for other, body in workspace.catalog.plain_bodies(tuple(found))
    }
    by_title, by_lead = _shares(text_terms(new.title), held), _shares(text_terms(lead), held)
    shares = {other: max(by_title[other], by_lead[other]) for other in held}
    best = sorted((-share, other) for other, share in shares.items() if share >= MAY_OVERLAP and other not in beside)
    return tuple(found[other] for _, other in best[:_NAMED])


def _shares(asked: frozenset[str], held: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the share of some terms that each of some texts holds, by weight."""
    counts = Counter(term for terms in held.values() for term in terms & asked)
    weights = {term: log(1 + (len(held) + 1) / (counts[term] + 1)) for term in asked}
    whole = sum(weights.values())
    return {other: sum(weights[term] for term in terms & asked) / whole for other, terms in held.items()}


def _is_alive(entry: Entry) -> bool:
    return entry.status is not Status.DEPRECATED


def _candidates(workspace: Workspace, text: str) -> Iterable[Entry]:
    entries = workspace.catalog.entries
    if len(entries) <= _FEW:
        return entries.values()
    state = workspace.index.state(live=workspace.catalog.digests)
    if not state.usable or state.stale > _FEW:
        return ()
    alive = frozenset(entries.keys() - of_kind(entries, Status.DEPRECATED))
    question = " ".join(list(dict.fromkeys(text.split()))[:_ASKED])
    answer = workspace.find_text(question, alive)
    return (entries[match.key] for match in answer.matches[:CANDIDATES])


def _similarity(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    """Compare titles and all that they say, and as saving does where both are of one kind and wing."""
    titles = jaccard(words_once(new.title), words_once(old.title))
    if (new.type, new.wing) == (old.type, old.wing):
        pairs = ((new, new_body), (old, old_body))
        one, other = (Subject(entry.title, rationale_of(without_code(body))).words for entry, body in pairs)
        return max(titles, jaccard(one, other), _of_all(new, new_body, old, old_body))
    return max(titles, _of_all(new, new_body, old, old_body))


def _of_all(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    return jaccard(words_once(f"{new.title}\n{new_body}"), words_once(f"{old.title}\n{old_body}"))


def near_remarks(near: Iterable[SimilarEntry]) -> Iterator[str]:
    """Yield the sentence that names what says nearly the same; none where nothing does."""
    told = [f"{one.entry.address} ({one.entry.type.value}, {one.similarity:.0%})".replace("%)", " %)") for one in near]
    if told:
        yield f"much the same is said by {', '.join(told)}; `mdmem show {told[0].split(' ')[0]}` shows it"


def subject_remarks(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the sentence that names what speaks of the same subject; none where nothing does."""
    if entries:
        named = ", ".join(f"{one.address} ({one.type.value})" for one in entries)
        yield f"on this subject: {named}; `mdmem show {entries[0].address}` shows it"
