"""A document to the terms of each of its fields."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from mdmem.entry.fields import Searched, searched_as
from mdmem.index.analysis import analyse
from mdmem.index.protocol import IndexDocument

_TITLES, _TAGS = searched_as(Searched.TITLE), searched_as(Searched.TAG)

SCORED = (*_TITLES, "headings", "identifiers", *_TAGS, "body")
"""The fields whose words count for the score, in the order in which they are summed."""

EXACT = ("wing", "room", *searched_as(Searched.WHOLE))
"""The fields that hold one value as it stands, but for case."""

DATES = {name.removesuffix("_at"): name for name in searched_as(Searched.DATE)}
"""The fields that hold a date, with the field of the front matter that they are taken from."""

FIELDS = (*SCORED, *EXACT, *DATES)

_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

Terms = Mapping[str, Mapping[str, int]]
"""Field to term to how often the field holds it."""


def terms_of(document: IndexDocument) -> Terms:
    """Return what each field of a document holds; fields without a term are left out."""
    titles = {name: analyse(_text(document, name)) for name in _TITLES}
    tags = {name: analyse(_text(document, name)) for name in _TAGS}
    headings, _ = analyse("\n".join(iter_headings(document.body)))
    body, body_wholes = analyse(document.body)
    title_wholes = [whole for _, wholes in titles.values() for whole in wholes]
    found: dict[str, Mapping[str, int]] = {
        **{name: Counter(words) for name, (words, _) in titles.items()},
        "headings": Counter(headings),
        # Headings are part of the body, and would count twice.
        "identifiers": Counter(title_wholes + body_wholes),
        **{name: Counter(words + wholes) for name, (words, wholes) in tags.items()},
        "body": Counter(body),
        "wing": exact([document.wing]),
        "room": exact([document.room]),
    }
    found |= {name: exact(document.fields.get(name, ())) for name in EXACT if name not in found}
    found |= {name: exact(document.fields.get(stated, ())) for name, stated in DATES.items()}
    return {name: counts for name, counts in found.items() if counts}


def _text(document: IndexDocument, name: str) -> str:
    return "\n".join(document.fields.get(name, ()))


def lengths_of(terms: Terms) -> tuple[int, ...]:
    """Return how many words each of the scored fields holds."""
    return tuple(sum(terms[name].values()) if name in terms else 0 for name in SCORED)


def sequences_of(document: IndexDocument, fields: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of each of the given fields in their order, stop words left out."""
    texts: dict[str, Iterable[str]] = {"headings": iter_headings(document.body), "body": [document.body]}
    texts |= {name: document.fields.get(name, ()) for name in (*_TITLES, *_TAGS)}
    for field in fields:
        for text in texts.get(field, ()):
            yield analyse(text)[0]


def exact(values: Iterable[str | None]) -> dict[str, int]:
    """Return the one-term content of a field that is compared as a whole."""
    return {" ".join(value.casefold().split()): 1 for value in values if value and value.strip()}


def iter_headings(markdown: str) -> Iterator[str]:
    """Yield the text of each heading of a Markdown text, code blocks left out."""
    fence = previous = ""
    for line in markdown.splitlines():
        if opened := _FENCE.match(line):
            mark = opened.group(1)
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not line.strip(mark[0] + " \t"):
                fence = ""
        elif not fence:
            # The cheap test first: one line of thirty is a heading.
            if line.lstrip(" ").startswith("#") and (heading := _ATX.match(line)):
                yield heading.group(1) or ""
            elif previous.strip() and _SETEXT.match(line):
                yield previous
        previous = "" if fence else line
