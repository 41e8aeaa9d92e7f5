"""A document to the terms of each of its fields, passage by passage."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from mdmem.entry.fields import Searched, searched_as
from mdmem.entry.headings import sections_of
from mdmem.index.analysis import analyse, counted
from mdmem.index.fields import DATES, SCORED, TAGS, TITLES, Terms
from mdmem.index.protocol import IndexDocument

_WHOLE = {name: name for name in searched_as(Searched.WHOLE)} | DATES

# A section of two lines is no passage: it would win over whatever says more.
_SHORTEST = 1000


def terms_of(document: IndexDocument) -> tuple[Terms, ...]:
    """Return what each field of a document holds, by passage; fields without a term are left out."""
    given = document.fields
    titles = {name: counted("\n".join(given[name])) for name in TITLES if name in given}
    tags = {name: counted("\n".join(given[name])) for name in TAGS if name in given}
    stated = {
        **{name: words for name, (words, _) in titles.items()},
        **{name: _added(*counts) for name, counts in tags.items()},
        "wing": _exact((document.wing,)),
        "room": _exact((document.room,)),
        **{name: _exact(given[source]) for name, source in _WHOLE.items() if source in given},
    }
    named = _added(*(wholes for _, wholes in titles.values()))
    passages: list[Terms] = []
    for headings, text in passages_of(document.body):
        words, wholes = counted(text)
        # Headings are part of the body, and their identifiers would count twice.
        headed, _ = counted("\n".join(headings))
        passage = {"headings": headed, "identifiers": _added(wholes, named), "body": words} | stated
        passages.append({name: counts for name, counts in passage.items() if counts})
        stated, named = {}, {}
    return tuple(passages)


def _added(*counts: Mapping[str, int]) -> Mapping[str, int]:
    held = [each for each in counts if each]
    return sum(map(Counter, held), Counter[str]()) if len(held) > 1 else next(iter(held), {})


def passages_of(body: str) -> list[tuple[list[str], str]]:
    """Return the passages of a body, each with its headings: sections, of which short ones go together."""
    edges, headings = [0], [list[str]()]
    for section in sections_of(body):
        if section.span[0] - edges[-1] >= _SHORTEST and len(body) - section.span[0] >= _SHORTEST:
            edges.append(section.span[0])
            headings.append([])
        headings[-1].append(section.heading)
    return [
        (named, body[start:end]) for named, start, end in zip(headings, edges, [*edges[1:], len(body)], strict=True)
    ]


def lengths_of(terms: Terms) -> tuple[int, ...]:
    """Return how many words each of the scored fields holds."""
    return tuple(sum(terms[name].values()) if name in terms else 0 for name in SCORED)


def sequences_of(document: IndexDocument, fields: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of each of the given fields in their order, stop words left out."""
    texts: dict[str, Iterable[str]] = {
        "headings": [section.heading for section in sections_of(document.body)],
        "body": [document.body],
    }
    texts |= {name: document.fields.get(name, ()) for name in (*TITLES, *TAGS)}
    for field in fields:
        for text in texts.get(field, ()):
            yield analyse(text)[0]


def exact(values: Iterable[str]) -> dict[str, int]:
    """Return the one-term content of a field that is compared as a whole."""
    return {" ".join(value.casefold().split()): 1 for value in values if value and value.strip()}


# Thousands of entries are of one wing, of one type and of a few days.
_exact = lru_cache(4096)(exact)
