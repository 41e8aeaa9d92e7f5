"""A document to the terms of each of its fields, passage by passage."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mdmem.entry.headings import sections_of
from mdmem.index.analysis import analyse
from mdmem.index.fields import DATES, EXACT, SCORED, TAGS, TITLES, Terms
from mdmem.index.protocol import IndexDocument

# A section of two lines is no passage: it would win over whatever says more.
_SHORTEST = 1000


def terms_of(document: IndexDocument) -> tuple[Terms, ...]:
    """Return what each field of a document holds, by passage; fields without a term are left out."""
    titles = {name: analyse(_text(document, name)) for name in TITLES}
    tags = {name: analyse(_text(document, name)) for name in TAGS}
    stated: dict[str, Mapping[str, int]] = {
        **{name: Counter(words) for name, (words, _) in titles.items()},
        **{name: Counter(words + wholes) for name, (words, wholes) in tags.items()},
        "wing": exact([document.wing]),
        "room": exact([document.room]),
    }
    stated |= {name: exact(document.fields.get(name, ())) for name in EXACT if name not in stated}
    stated |= {name: exact(document.fields.get(given, ())) for name, given in DATES.items()}
    passages: list[dict[str, Mapping[str, int]]] = []
    named = [whole for _, wholes in titles.values() for whole in wholes]
    for headings, text in passages_of(document.body):
        words, wholes = analyse(text)
        # Headings are part of the body, and their identifiers would count twice.
        passages.append(
            {
                "headings": Counter(analyse("\n".join(headings))[0]),
                "identifiers": Counter([*named, *wholes]),
                "body": Counter(words),
            }
        )
        named = []
    passages[0] |= stated
    return tuple({name: counts for name, counts in passage.items() if counts} for passage in passages)


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


def _text(document: IndexDocument, name: str) -> str:
    return "\n".join(document.fields.get(name, ()))


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


def exact(values: Iterable[str | None]) -> dict[str, int]:
    """Return the one-term content of a field that is compared as a whole."""
    return {" ".join(value.casefold().split()): 1 for value in values if value and value.strip()}
