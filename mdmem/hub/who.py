"""Find the owners of an entry and everything that depends on it, in all repositories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from mdmem.ask.question import Question
from mdmem.errors import NotFoundError
from mdmem.hub.contents import stored_path
from mdmem.hub.push import link_target
from mdmem.hub.repositories import get_pushed
from mdmem.hub.search import HubEntry, Pin, find_pins, load_entries, search_hub

_BEST = 3


class Dependent(Struct, frozen=True):
    """An entry that links another one, and the field that does."""

    field: str
    entry: HubEntry


class OwnedEntry(Struct, frozen=True):
    """An entry with what depends on it and the repositories that read its wing."""

    entry: HubEntry
    dependents: tuple[Dependent, ...]
    pinned_by: tuple[Pin, ...]


class WhoReport(Struct, frozen=True):
    """The entries at an address, or the best three for words; then `matches` says how many match."""

    query: str
    entries: tuple[OwnedEntry, ...]
    matches: int | None = None
    is_all: bool = True


def who(cursor: Any, query: str, *, repositories: Sequence[str] = ()) -> WhoReport:
    """Return owners and dependents of the entries at an address, or of those that match words best.

    Raises NotFoundError if nothing is found.
    """
    matches, is_all = None, True
    if is_address(query):
        found = entries_at(cursor, query, repositories)
    else:
        result = search_hub(cursor, Question(words=query), repositories=repositories, limit=_BEST)
        found, matches, is_all = [hit.entry for hit in result.hits], result.matches, result.is_all
    if not found:
        raise NotFoundError(f"no entry that you may read is at `{query}`, or holds a word of it")
    return WhoReport(query, tuple(_owned(cursor, one) for one in found), matches, is_all)


def is_address(query: str) -> bool:
    """Say whether a query is a full address, with or without its repository, and not words."""
    return query.rpartition(":")[2].count("/") == 2 and " " not in query.strip()


def entries_at(cursor: Any, query: str, repositories: Sequence[str] = ()) -> list[HubEntry]:
    """Return the entries at a full address, of the repositories that are named, or of all."""
    named, _, address = query.strip().rpartition(":")
    wing, _, rest = address.removesuffix(".md").partition("/")
    ids = [get_pushed(cursor, name).id for name in (*repositories, *filter(None, [named]))]
    rows = cursor.execute(
        "SELECT DISTINCT file.id FROM (SELECT id, name, repository_id FROM wing"
        " UNION ALL SELECT wing_id, name, repository_id FROM visible_pin()) AS one JOIN file ON wing_id = one.id"
        " WHERE name = %s AND path = %s AND (%s::int[] IS NULL OR one.repository_id = ANY (%s))",
        (stored_path(wing), f"{stored_path(rest)}.md", *[ids or None] * 2),
    ).fetchall()
    return sorted(load_entries(cursor, [id_ for (id_,) in rows]), key=lambda one: (one.repository, one.address))


def _owned(cursor: Any, entry: HubEntry) -> OwnedEntry:
    """Return an entry with its dependents: in its own repository, and in those that pin its wing at any commit."""
    copies = cursor.execute(
        "SELECT id FROM wing WHERE id = %s OR (repository_id IS NULL AND source = %s AND source_path = %s)",
        (entry.wing_id, stored_path(entry.place), stored_path(entry.folder)),
    ).fetchall()
    pins = tuple(sorted({pin for some in find_pins(cursor, {id_ for (id_,) in copies}).values() for pin in some}))
    rest = entry.path.removesuffix(".md")
    own = [(entry.repository, entry.wing)] if entry.repository_id is not None else []
    named = {
        (name, link_target(f"{wing}/{rest}")) for name, wing in (*own, *((one.repository, one.wing) for one in pins))
    }
    names, targets = map(list, zip(*sorted(named), strict=True)) if named else ([], [])
    wings = [id_ for (id_,) in copies]
    rows = cursor.execute(
        "SELECT field, file_id FROM link JOIN wing ON wing.id = wing_id"
        " JOIN repository ON repository.id = repository_id"
        " JOIN unnest(%s::text[], %s::text[]) AS one (reader, linked) ON reader = repository.name AND linked = target"
        " UNION SELECT field, file_id FROM link WHERE wing_id = ANY (%s) AND target = %s",
        (names, targets, wings, link_target(f"{entry.wing}/{rest}")),
    ).fetchall()
    by_id = {one.id: one for one in load_entries(cursor, {id_ for _, id_ in rows})}
    dependents = [Dependent(field, by_id[id_]) for field, id_ in rows if id_ in by_id]
    dependents.sort(key=lambda one: (one.entry.repository, one.entry.address, one.field))
    return OwnedEntry(entry, tuple(dependents), pins)
