"""Answers from the copy of one repository: as the clone's, each entry with commit and path, and the copy's age."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mdmem.render.entries import entry_list, search_text, shown_text
from mdmem.render.history import why_text
from mdmem.render.hub_answers import ages_text, from_hub, told
from mdmem.render.json import dump, entries_json, pack_json, search_json, why_json
from mdmem.render.retrieval import pack_text

if TYPE_CHECKING:
    from mdmem.entry.model import Entry
    from mdmem.history.why import WhyReport
    from mdmem.hub.repository_copy import RepositoryCopy
    from mdmem.render.ink import Ink
    from mdmem.retrieval.entries import ShownEntry
    from mdmem.retrieval.pack import Pack
    from mdmem.retrieval.question import Hit, SearchResult


Found = Sequence[tuple["RepositoryCopy", tuple["ShownEntry", ...]]]
"""Entries by the copy that has them, in the order that was asked."""


def copy_search_json(
    copy: RepositoryCopy, found: SearchResult, *, limit: int, snippet_of: Callable[[Hit], str], now: datetime
) -> str:
    """Return the hits of a search."""
    return _json(copy, search_json(found, limit=limit, snippet_of=snippet_of), now)


def copy_search_text(
    copy: RepositoryCopy, found: SearchResult, *, limit: int, snippet_of: Callable[[Hit], str], ink: Ink, now: datetime
) -> str:
    """Return the hits of a search as text."""
    return _text(copy, search_text(found, limit=limit, snippet_of=snippet_of, ink=ink), ink, now)


def copy_pack_json(copy: RepositoryCopy, pack: Pack, *, now: datetime) -> str:
    """Return a retrieval."""
    return _json(copy, pack_json(pack), now)


def copy_pack_text(copy: RepositoryCopy, pack: Pack, *, ink: Ink, now: datetime) -> str:
    """Return a retrieval as text."""
    return _text(copy, pack_text(from_hub(pack), ink=ink), ink, now)


def copy_entries_json(copy: RepositoryCopy, shown: tuple[ShownEntry, ...], *, now: datetime) -> str:
    """Return entries as their files state them."""
    return _json(copy, entries_json(shown), now)


def copies_entries_json(found: Found, *, now: datetime) -> str:
    """Return entries of some repositories as their files state them."""
    parts = [told(entries_json(shown), copy.origins, now) for copy, shown in found]
    repositories = {one["repository"]: one for part in parts for one in part["repositories"]}
    return dump(
        {"entries": [one for part in parts for one in part["entries"]], "repositories": list(repositories.values())}
    )


def copies_shown_text(found: Found, *, ink: Ink, now: datetime) -> str:
    """Return entries of some repositories in full as text, each with the file that it is."""
    blocks = [
        f"{shown_text([one], ink)}\n\n  {ink.dim(_file_of(copy, one.entry))}" for copy, shown in found for one in shown
    ]
    ages = ages_text((origin for copy, _ in found for origin in copy.origins.values()), now)
    return "\n\n".join([*blocks, *([ink.dim(ages)] if ages else [])])


def _file_of(copy: RepositoryCopy, entry: Entry) -> str:
    origin, (_, inner) = copy.origins[entry.wing], entry.address.split("/", 1)
    return f"{origin.repository} at {origin.commit[:10]}: {origin.path(inner)}.md"


def copy_list_text(
    copy: RepositoryCopy, listed: Sequence[Entry], *, ink: Ink, now: datetime, columns: int | None
) -> str:
    """Return entries, one line each."""
    return _text(copy, entry_list(listed, ink, {}, columns=columns), ink, now)


def copy_why_json(copy: RepositoryCopy, explained: WhyReport, *, now: datetime) -> str:
    """Return the chain of an entry."""
    return _json(copy, why_json(explained), now)


def copy_why_text(copy: RepositoryCopy, explained: WhyReport, *, ink: Ink, now: datetime) -> str:
    """Return the chain of an entry as text."""
    return _text(copy, why_text(explained, ink), ink, now)


def _json(copy: RepositoryCopy, content: dict[str, Any], now: datetime) -> str:
    return dump(told(content, copy.origins, now))


def _text(copy: RepositoryCopy, text: str, ink: Ink, now: datetime) -> str:
    return "\n\n".join(filter(None, [text, ink.dim(ages_text(copy.origins.values(), now))]))
