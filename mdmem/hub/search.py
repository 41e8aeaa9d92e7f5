"""Find entries in all repositories by words, and find everything that depends on an entry.

PostgreSQL finds and ranks the entries (migrations/0003_search.sql).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Question
from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.connection import dict_rows
from mdmem.hub.contents import lexeme
from mdmem.hub.repositories import get_repository
from mdmem.markdown.front_matter import body_of
from mdmem.model.access import Access
from mdmem.record import grouped
from mdmem.store.catalog.model import Redaction, known_addresses
from mdmem.store.index.analysis import ask, snippet


class Pin(Struct, frozen=True, order=True):
    """The repository that pins a wing of another repository, its name for that wing, and the pinned commit."""

    repository: str
    wing: str
    commit: str


class HubEntry(Struct, frozen=True):
    """An entry of any repository in the hub. `place` and `folder` identify its wing in all repositories that read it.

    If the repository of a pinned wing is not in the hub, `repository_id` is None, and `repository` and `wing` are those
    of the first repository that pins the wing. `search_hub` sets the score and the passage with the most matching
    words. `who` sets `dependents`, the entries that link to this entry, each with the `field` of the link.
    """

    id: int
    wing_id: int
    repository_id: int | None
    repository: str
    commit: str
    pushed_at: datetime | None
    wing: str
    wing_owners: tuple[str, ...]
    place: str
    folder: str
    path: str
    blob: str | None
    type: str
    status: str
    title: str
    owner: str | None
    pins: tuple[Pin, ...] = ()
    score: float = 0.0
    snippet: str = ""
    field: str = ""
    dependents: tuple[HubEntry, ...] = ()

    @property
    def address(self) -> str:
        """Return the address of the entry in its repository."""
        return f"{self.wing}/{self.path.removesuffix('.md')}"

    @property
    def file(self) -> str:
        """Return the path of the file from the top of its repository."""
        return f"{self.folder}/{self.path}".removeprefix("/")


class HubResult(Struct, frozen=True):
    """The best entries for a question, how many were ranked (None for an address), and whether these are all matches.

    `beginnings` are words that no entry contains, and that were searched as the beginnings of longer words.
    """

    query: str
    entries: tuple[HubEntry, ...] = ()
    matches: int | None = 0
    is_all: bool = True
    beginnings: tuple[str, ...] = ()


def search_hub(cursor: Any, question: Question, *, repositories: Sequence[str] = (), limit: int = 10) -> HubResult:
    """Return the entries that match words best, from some repositories or from all that the caller may read.

    The filters use only stored fields, which do not tell whether an entry is current.
    """
    asked, filters = ask(question.words), question.filters
    terms = list(asked.terms)
    if not terms:
        return HubResult(question.words)
    wings = _find_wings(cursor, repositories, filters.wings)
    more = [("draft", filters.include_drafts), ("deprecated", filters.include_deprecated)]
    current = ("active", "under_review", *(name for name, is_wanted in more if is_wanted))
    fields = (filters.rooms, filters.labels, filters.owners, filters.focuses, filters.tags)
    narrowed = [list(map(str, values)) or None for values in (filters.types, filters.statuses or current, *fields)]
    # Entries of a pinned wing are there twice if its own repository is also in the hub. So ask for more.
    words = [list(map(lexeme, some)) for some in (terms, asked.wholes)]
    rows = cursor.execute(
        "SELECT * FROM search_entries(%s, %s, %s::int[], %s, %s, %s, %s, %s, %s, %s, %s)",
        (*words, wings, 2 * limit, *narrowed),
    ).fetchall()
    if not rows:
        return HubResult(question.words)
    scores = {row[0]: round(row[1], 6) for row in rows}
    _, _, matches, is_all, beginnings = rows[0]
    found = _deduplicated(load_entries(cursor, scores))
    best = sorted(found, key=lambda one: (-scores[one.id], one.repository, one.address))[:limit]
    passages = _snippets(cursor, best, [*terms, *asked.wholes])
    return HubResult(
        question.words,
        tuple(replace(one, score=scores[one.id], snippet=passages.get(one.id, "")) for one in best),
        matches - (len(rows) - len(found)),
        is_all,
        tuple(asked.typed[terms[place - 1]] for place in beginnings),
    )


_ANY_WING = (
    "(SELECT id, name, repository_id FROM wing UNION ALL SELECT wing_id, name, repository_id FROM visible_pin()) AS one"
)


def _find_wings(cursor: Any, repositories: Sequence[str], names: Sequence[str]) -> list[int] | None:
    """Return the ids of wings, also pinned ones, with some names in some repositories; None means all wings."""
    if not repositories and not names:
        return None
    ids = [get_repository(cursor, name).id for name in repositories]
    rows = cursor.execute(
        f"SELECT DISTINCT id FROM {_ANY_WING}"
        " WHERE (%s::int[] IS NULL OR repository_id = ANY (%s)) AND (%s::text[] IS NULL OR name = ANY (%s)) ORDER BY 1",
        (*[ids or None] * 2, *[list(names) or None] * 2),
    ).fetchall()
    if names and not rows:
        raise UsageError(f"no repository that you may read has a wing {' or '.join(names)}")
    return [id_ for (id_,) in rows]


def load_entries(cursor: Any, ids: Collection[int]) -> list[HubEntry]:
    """Return the visible entries with these ids, each with its repository and the repositories that pin its wing."""
    cursor.execute(
        "SELECT file.id, wing_id, repository_id, repository.name AS repository,"
        " coalesce(repository.commit, wing.commit, '') AS commit, pushed_at, wing.name AS wing,"
        " wing.owners AS wing_owners, coalesce(url, repository.name, nullif(source, ''), wing.commit) AS place,"
        " coalesce(ltrim(root || '/' || wing.name, '/'), source_path) AS folder, path, blob, type, status, title,"
        " file.owner"
        " FROM file JOIN wing ON wing.id = wing_id LEFT JOIN repository ON repository.id = repository_id"
        " WHERE file.id = ANY (%s) AND type IS NOT NULL",
        (list(ids),),
        binary=True,
    )
    rows = dict_rows(cursor)
    pins = find_pins(cursor, {row["wing_id"] for row in rows if row["repository_id"] is None})
    found = []
    for row in rows:
        row["wing_owners"], row["pins"] = tuple(row["wing_owners"]), pins.get(row["wing_id"], ())
        if row["pins"]:
            row["repository"], row["wing"] = row["pins"][0].repository, row["pins"][0].wing
        found.append(HubEntry(**row))
    return found


def find_pins(cursor: Any, wings: Collection[int]) -> dict[int, tuple[Pin, ...]]:
    """Return the pins of each of some wings, by the id of the wing; only of repositories that the caller may see."""
    rows = cursor.execute(
        "SELECT wing.id, repository.name, pin.name, wing.commit FROM visible_pin() AS pin"
        " JOIN wing ON wing.id = wing_id JOIN repository ON repository.id = pin.repository_id"
        " WHERE wing_id = ANY (%s) ORDER BY 2, 3",
        (list(wings),),
    ).fetchall()
    return {id_: tuple(pins) for id_, pins in grouped((id_, Pin(*pin)) for id_, *pin in rows).items()}


def _deduplicated(found: Iterable[HubEntry]) -> list[HubEntry]:
    """Return each entry once: that of a pinned wing only if the wing's own repository has other content.

    If two repositories claim the same place, keep both, because neither may hide the other.
    """
    alike = grouped(((one.place, one.folder, one.path, one.blob), one) for one in found)
    kept = []
    for group in alike.values():
        own = [one for one in group if one.repository_id is not None]
        pins = tuple(sorted({pin for one in group for pin in one.pins}))
        kept += [replace(one, pins=pins) for one in own or group[:1]]
    return kept


def _snippets(cursor: Any, entries: Sequence[HubEntry], terms: Collection[str]) -> dict[int, str]:
    """Return the best passage of each entry, without links to wings that the caller may not see."""
    rows = cursor.execute(
        "SELECT id, content FROM file WHERE id = ANY (%s)", ([one.id for one in entries],), binary=True
    ).fetchall()
    contents = {id_: bytes(content) for id_, content in rows}
    # The wings that the caller may see of each repository that the caller may see only in part.
    readable = dict(
        cursor.execute(
            "SELECT repository_id, array_agg(name) FROM wing"
            " WHERE repository_id = ANY (%s) AND NOT reads_whole(repository_id) GROUP BY 1",
            (list({one.repository_id for one in entries if one.repository_id is not None}),),
        ).fetchall()
    )
    found = {}
    for one in entries:
        body = body_of(contents[one.id])
        if one.repository_id in readable:
            access = Access.to_wings(readable[one.repository_id], may_write=False)
            body = Redaction(access, known_addresses(frozenset(), access, frozenset())).body(body, one.address)
        found[one.id] = snippet(body, terms)
    return found


_BEST = 3


def who(cursor: Any, query: str, *, repositories: Sequence[str]) -> HubResult:
    """Return entries with their owners and dependents: those at an address, or the best three that match words."""
    named, _, address = query.strip().rpartition(":")
    if address.count("/") == 2 and " " not in query.strip():
        wing, _, rest = address.removesuffix(".md").partition("/")
        ids = [get_repository(cursor, name).id for name in (*repositories, *filter(None, [named]))]
        rows = cursor.execute(
            f"SELECT DISTINCT file.id FROM {_ANY_WING} JOIN file ON wing_id = one.id"
            " WHERE name = %s AND path = %s AND (%s::int[] IS NULL OR one.repository_id = ANY (%s))",
            (wing, f"{rest}.md", *[ids or None] * 2),
        ).fetchall()
        found = sorted(load_entries(cursor, [id_ for (id_,) in rows]), key=lambda one: (one.repository, one.address))
        result = HubResult(query, tuple(found), matches=None)
    else:
        result = search_hub(cursor, Question(words=query), repositories=repositories, limit=_BEST)
    if not result.entries:
        raise NotFoundError(f"no entry that you may read is at `{query}`, or contains one of its words")
    return replace(result, entries=tuple(_with_dependents(cursor, one) for one in result.entries))


def _with_dependents(cursor: Any, entry: HubEntry) -> HubEntry:
    """Return an entry with its dependents in its own repository and in repositories that pin its wing at any commit."""
    copies = cursor.execute(
        "SELECT id FROM wing WHERE id = %s OR (repository_id IS NULL AND source = %s AND source_path = %s)",
        (entry.wing_id, entry.place, entry.folder),
    ).fetchall()
    pins = tuple(sorted({pin for some in find_pins(cursor, {id_ for (id_,) in copies}).values() for pin in some}))
    rest = entry.path.removesuffix(".md")
    own = [(entry.repository, entry.wing)] if entry.repository_id is not None else []
    named = {(name, f"{wing}/{rest}") for name, wing in (*own, *((one.repository, one.wing) for one in pins))}
    names, targets = map(list, zip(*sorted(named), strict=True)) if named else ([], [])
    wings = [id_ for (id_,) in copies]
    rows = cursor.execute(
        "SELECT field, file_id FROM link JOIN wing ON wing.id = wing_id"
        " JOIN repository ON repository.id = repository_id"
        " JOIN unnest(%s::text[], %s::text[]) AS one (reader, linked) ON reader = repository.name AND linked = target"
        " UNION SELECT field, file_id FROM link WHERE wing_id = ANY (%s) AND target = %s",
        (names, targets, wings, f"{entry.wing}/{rest}"),
    ).fetchall()
    by_id = {one.id: one for one in load_entries(cursor, {id_ for _, id_ in rows})}
    dependents = [replace(by_id[id_], field=field) for field, id_ in rows if id_ in by_id]
    dependents.sort(key=lambda one: (one.repository, one.address, one.field))
    return replace(entry, dependents=tuple(dependents), pins=pins)
