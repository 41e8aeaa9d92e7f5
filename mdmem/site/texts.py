"""The text of each entry as the pages show it, and as their search finds it."""

from __future__ import annotations

from mdmem.model.entry import Entry
from mdmem.site.facts import SiteFacts
from mdmem.site.kept import Kept
from mdmem.site.shards import TITLE
from mdmem.store.index import analysis

TermCounts = dict[str, int]
# Raised whenever the same text becomes other markup.
_MARKUP = 3
# Raised whenever the same text has other terms, but for those of the index, which has a number of its own.
_TERMS = 1


def markups(facts: SiteFacts) -> Kept[str]:
    """Return the body of each entry as `marked` gives it, without the heading that its page shows already."""

    def make(entry: Entry, body: str) -> str:
        # A build with nothing new needs no reader of Markdown, whose import takes a tenth of a second.
        from mdmem.site.markup import marked

        return marked(_without_title(body, entry.title))

    return Kept(facts, "site-markup", str(_MARKUP), dict[str, str], make)


def terms(facts: SiteFacts) -> Kept[TermCounts]:
    """Return the terms of each entry with how often they stand in it, in its title `TITLE` times."""

    def make(entry: Entry, body: str) -> TermCounts:
        found = term_counts(body)
        return {**found, **{term: found.get(term, 0) + TITLE * n for term, n in term_counts(entry.title).items()}}

    return Kept(facts, "site-terms", f"{analysis.VERSION}.{_TERMS}", dict[str, TermCounts], make)


def term_counts(text: str) -> TermCounts:
    """Return the terms of a text with how often they stand in it."""
    return {term: len(places) for term, places in analysis.positions_of(text).items()}


def _without_title(body: str, title: str) -> str:
    first, _, rest = body.lstrip().partition("\n")
    return rest if first.lstrip("# ").strip() == title.strip() and first.startswith("#") else body
