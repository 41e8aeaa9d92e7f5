"""Documents that the index on disk does not hold as they are: analysed now, and scored beside it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress, count

from mdmem.index.corpus import Corpus
from mdmem.index.fields import SCORED, Terms
from mdmem.index.postings import MemoryPostings
from mdmem.index.protocol import Read
from mdmem.index.scoring import Query
from mdmem.index.store import OpenIndex
from mdmem.index.terms import lengths_of, terms_of

Passages = tuple[Terms, ...]


def analysed(
    keys: Sequence[str], live: Mapping[str, str], read: Read, *, known: Mapping[tuple[str, str], Passages]
) -> dict[tuple[str, str], Passages]:
    """Return the passages of documents by key and digest, those that are known already unread."""
    found = {(key, live[key]): known[key, live[key]] for key in keys if (key, live[key]) in known}
    unread = [key for key in keys if (key, live[key]) not in known]
    for document in read(unread) if unread else ():
        if document.key in unread:
            found[document.key, document.digest] = terms_of(document)
    return found


def scanned(query: Query, live: Mapping[str, str], read: Read) -> Corpus:
    """Return all live documents, analysed now."""
    fresh = MemoryPostings()
    documents = (document for document in read(sorted(live)) if document.key in live)
    analysed = ((document.key, terms_of(document)) for document in documents)
    keys, lengths = _taken_in(fresh, 0, query.wanted, analysed)
    return Corpus(keys, lengths, (fresh,))


def beside(
    opened: OpenIndex, wanted: Collection[str] | None, dropped: Collection[str], analysed: Mapping[str, Passages]
) -> Corpus:
    """Return the index without the dropped keys, and with what was analysed beside it, of which terms may be wanted."""
    manifest = opened.manifest
    fresh = MemoryPostings()
    added, sizes = _taken_in(fresh, len(manifest.keys), wanted, analysed.items())
    dead = list(compress(count(), map(dropped.__contains__, manifest.keys)))
    lengths = {name: [*manifest.lengths[name], *sizes[name]] for name in SCORED}
    keys = [*manifest.keys, *added]
    for number in dead:
        keys[number] = None
        for column in lengths.values():
            column[number] = 0
    return Corpus(keys, lengths, (opened.postings, fresh), base=opened.corpus)


def _taken_in(
    postings: MemoryPostings, start: int, wanted: Collection[str] | None, analysed: Iterable[tuple[str, Passages]]
) -> tuple[list[str], dict[str, list[int]]]:
    """Add documents to postings under numbers from `start` on, and return their keys and lengths.

    Of their terms those that are `wanted` are taken in, or all.
    """
    keys: list[str] = []
    lengths: dict[str, list[int]] = {name: [] for name in SCORED}
    for key, passages in analysed:
        for terms in passages:
            postings.add(start + len(keys), terms, wanted=wanted)
            keys.append(key)
            for name, length in zip(SCORED, lengths_of(terms), strict=True):
                lengths[name].append(length)
    return keys, lengths
