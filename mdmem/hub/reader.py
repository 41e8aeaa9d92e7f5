"""What is read of a hub for one question: rows, as plain values; what a caller may not see is in none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from mdmem.errors import NotFoundError
from mdmem.hub.rows import SCORED, Lengths, path_of, stored_path, unpacked_lengths

if TYPE_CHECKING:
    from psycopg import Cursor

_REPOSITORY = "id, name, root, url, commit, pushed_at, serial"
_WING = "id, repository_id, name, source, source_path, commit, is_shared, owners, documents, passages, lengths"


class SeenRepository(Struct, frozen=True):
    """A memory that was pushed: its folder from the repository's top, and the commit that the hub has since when."""

    id: int
    name: str
    root: str
    url: str | None
    commit: str
    pushed_at: datetime
    serial: int


class SeenWing(Struct, frozen=True):
    """A wing of a repository, or, without one, of another place at the commit that some repositories pin it to."""

    id: int
    repository_id: int | None
    name: str
    source: str | None
    source_path: str | None
    commit: str | None
    is_shared: bool
    owners: tuple[str, ...]
    documents: int
    passages: int
    lengths: tuple[int, ...]


class SeenRow(NamedTuple):
    """A file of a wing; `path` counts from the wing's folder."""

    id: int
    wing_id: int
    path: str
    kind: str
    blob: str | None
    record: bytes | None


class SeenPin(NamedTuple):
    """A repository that reads a wing of another place, and under which name."""

    repository_id: int
    wing_id: int
    name: str


class PlacedRow(NamedTuple):
    """Where a file is, and its blob, without what it means."""

    id: int
    wing_id: int
    path: str
    blob: str | None


class HubStated(NamedTuple):
    """What an entry states of itself."""

    wing_id: int
    path: str
    type: str
    status: str
    title: str
    owner: str | None


class HubDependent(NamedTuple):
    """An entry that links another, and in which field."""

    wing_id: int
    path: str
    field: str
    type: str
    status: str
    title: str
    owner: str | None


class HeldTerms(NamedTuple):
    """Where an entry holds some terms, and how long its passages are; None where the hub has it in another format."""

    id: int
    wing_id: int
    path: str
    blob: str | None
    lengths: Lengths | None
    held: Mapping[str, str]


def rows_of(cursor: Cursor[Any], statement: str, values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return what a statement finds; hundreds of ids go there as one text, which takes a tenth of the time of each."""
    given = [f"{{{','.join(map(str, one))}}}" if _are_ids(one) else one for one in values]
    return cursor.execute(statement, given, binary=True).fetchall()


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], int)


class Reader:
    """Asks the server within one transaction, so that all that it tells is of one state."""

    def __init__(self, cursor: Cursor[Any]) -> None:
        """Take the cursor of the transaction."""
        self._cursor = cursor

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        return rows_of(self._cursor, statement, values)

    def find_repository(self, name: str) -> SeenRepository | None:
        """Return the repository of a name, or of one that it had before; None for one without a commit, too."""
        found = self.rows(
            f"SELECT {_REPOSITORY} FROM repository WHERE commit IS NOT NULL AND id = repository_named(%s)", name
        )
        return SeenRepository(*found[0]) if found else None

    def get_repository(self, name: str) -> SeenRepository:
        """Return the repository of a name; raises NotFoundError for one that is not there, or not for you."""
        found = self.find_repository(name)
        if found is None:
            raise NotFoundError(f"the hub has no repository `{name}`; `mdmem hub status` names those that you may read")
        return found

    def had(self, repository: int, commit: str) -> bool:
        """Say whether the hub has a commit of a repository, or had it."""
        return bool(self.rows("SELECT FROM push WHERE repository_id = %s AND commit = %s", repository, commit))

    def repositories(self, ids: Collection[int] | None = None) -> dict[int, SeenRepository]:
        """Return repositories by their ids, all that are seen where none are named."""
        which, values = ("", ()) if ids is None else (" AND id = ANY(%s)", (list(ids),))
        found = self.rows(
            f"SELECT {_REPOSITORY} FROM repository WHERE commit IS NOT NULL{which} ORDER BY name", *values
        )
        return {row[0]: SeenRepository(*row) for row in found}

    def settings(self, repository: int) -> tuple[bytes, tuple[str, ...]]:
        """Return the settings of a repository, and the tracked files that say which shared wings bind there."""
        found = self.rows("SELECT settings_of(id), tracked FROM repository WHERE id = %s", repository)
        return bytes(found[0][0] or b""), tuple(found[0][1])

    def settings_about(self, key: str, repositories: Collection[int]) -> dict[int, bytes]:
        """Return the settings of those of some repositories that may say something about a key."""
        found = self.rows(
            "SELECT id, said FROM repository, LATERAL settings_of(id) AS said"
            " WHERE id = ANY(%s) AND position(%s::bytea IN said) > 0",
            *(list(repositories), key.encode()),
        )
        return {id_: bytes(said) for id_, said in found}

    def wings(self, ids: Collection[int]) -> dict[int, SeenWing]:
        """Return wings by their ids."""
        return {wing.id: wing for wing in self._wings("id = ANY(%s)", list(ids))}

    def wings_of(self, repositories: Collection[int]) -> list[SeenWing]:
        """Return the own wings of repositories."""
        return self._wings("repository_id = ANY(%s)", list(repositories))

    def wings_from(self, source: str, folder: str) -> list[SeenWing]:
        """Return the wings that are pinned of one place, at whatever commit."""
        return self._wings("repository_id IS NULL AND source = %s AND source_path = %s", source, folder)

    def wings_named(self, names: Collection[str]) -> list[SeenWing]:
        """Return the wings of some names, wherever they are."""
        return self._wings("name = ANY(%s)", list(names))

    def visible_wings(self) -> list[int]:
        """Return all wings that are seen."""
        return [row[0] for row in self.rows("SELECT id FROM wing")]

    def _wings(self, condition: str, *values: Any) -> list[SeenWing]:
        found = self.rows(f"SELECT {_WING} FROM wing WHERE {condition} ORDER BY id", *values)
        return [_wing(row) for row in found]

    def pins_of(self, repositories: Collection[int]) -> list[SeenPin]:
        """Return what repositories read of others."""
        return self._pins("repository_id", repositories)

    def pins_on(self, wings: Collection[int]) -> list[SeenPin]:
        """Return who reads some wings."""
        return self._pins("wing_id", wings)

    def _pins(self, column: str, ids: Collection[int]) -> list[SeenPin]:
        found = self.rows(
            f"SELECT repository_id, wing_id, name FROM visible_pin() WHERE {column} = ANY(%s) ORDER BY 1, 3", list(ids)
        )
        return [SeenPin(*row) for row in found]

    def files_of(self, wings: Collection[int]) -> list[SeenRow]:
        """Return all files of some wings."""
        return self._files("wing_id = ANY(%s)", list(wings))

    def files(self, ids: Collection[int]) -> list[SeenRow]:
        """Return files by their ids."""
        return self._files("id = ANY(%s)", list(ids)) if ids else []

    def files_at(self, places: Iterable[tuple[int, str]]) -> list[SeenRow]:
        """Return the files at some places, each a wing and a path as it is stored."""
        wanted = list(places)
        wings, paths = [wing for wing, _ in wanted], [stored_path(path) for _, path in wanted]
        among = "(wing_id, path) IN (SELECT * FROM unnest(%s::int[], %s::text[]))"
        return self._files(among, wings, paths) if wanted else []

    def _files(self, condition: str, *values: Any) -> list[SeenRow]:
        found = self.rows(f"SELECT id, wing_id, path, kind, blob, record FROM file WHERE {condition}", *values)
        return [SeenRow(row[0], row[1], path_of(row[2]), *row[3:]) for row in found]

    def places(self, ids: Collection[int]) -> list[PlacedRow]:
        """Return where files are, by their ids."""
        found = self.rows("SELECT id, wing_id, path, blob FROM file WHERE id = ANY(%s)", list(ids)) if ids else []
        return [PlacedRow(id_, wing, path_of(path), blob) for id_, wing, path, blob in found]

    def contents(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of files that have some."""
        found = self.rows("SELECT id, content FROM file WHERE id = ANY(%s) AND content IS NOT NULL", list(ids))
        return dict(found)

    def lengths(self, wings: Collection[int]) -> Iterator[tuple[int, int, str, Lengths | None]]:
        """Yield of the entries of some wings their id, wing and path, and how long their passages are.

        The last is None where the hub has them in another format.
        """
        asked = "SELECT id, wing_id, path, lengths FROM file WHERE wing_id = ANY(%s) AND type IS NOT NULL"
        for key, wing, path, lengths in self.rows(asked, list(wings)):
            yield key, wing, path_of(path), unpacked_lengths(lengths)

    def holdings(self, ids: Collection[int], wanted: Collection[str]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield of entries where they hold some terms."""
        return ((row[0], held) for row, held in self._taken(ids, sorted(wanted), ""))

    def terms(self, ids: Collection[int], wanted: Collection[str]) -> Iterator[HeldTerms]:
        """Yield of entries of any wings where they hold some terms, and how long their passages are."""
        for (key, wing, path, blob, lengths), held in self._taken(
            ids, sorted(wanted), ", wing_id, path, blob, lengths"
        ):
            yield HeldTerms(key, wing, path_of(path), blob, unpacked_lengths(lengths), held)

    def _taken(
        self, ids: Collection[int], terms: Sequence[str], columns: str
    ) -> Iterator[tuple[tuple[Any, ...], dict[str, str]]]:
        # Unpacked once, and not for each term; `||` makes it a value of the memory's.
        inner = (
            f"SELECT id{columns}, terms || '{{}}'::jsonb AS held FROM file"
            " WHERE id = ANY(%s) AND type IS NOT NULL OFFSET 0"
        )
        taken = "".join([", held ->> %s"] * len(terms))
        stated = 1 + columns.count(",")
        for row in self.rows(f"SELECT id{columns}{taken} FROM ({inner}) AS one", *terms, list(ids)):
            yield row[:stated], {term: places for term, places in zip(terms, row[stated:], strict=True) if places}

    def links_from(self, rows: Collection[SeenRow], fields: Sequence[str]) -> list[tuple[int, str]]:
        """Return what some fields of files link, each with the wing that the file is of."""
        # An index tells of hidden rows, unless it begins with the wing.
        found = self.rows(
            _each("int[], bigint[]", "wing_id, target", "file_id = place"),
            *([row.wing_id for row in rows], [row.id for row in rows], list(fields)),
        )
        return [(wing, path_of(target)) for wing, target in found]

    def links_to(self, targets: Iterable[tuple[int, str]], fields: Sequence[str]) -> set[int]:
        """Return the files of some wings that link an address in some fields; each wing comes with an address."""
        wanted = list(targets)
        found = self.rows(
            _each("int[], text[]", "file_id", "target = place"),
            *([wing for wing, _ in wanted], [stored_path(target) for _, target in wanted], list(fields)),
        )
        return {row[0] for row in found}

    def dependents(self, target: str, wings: Collection[int]) -> list[HubDependent]:
        """Return what entries of some wings link an address as it is counted there."""
        found = self.rows(
            "SELECT file.wing_id, file.path, field, file.type, file.status, file.title, file.owner FROM link"
            " JOIN file ON file.id = link.file_id"
            " WHERE link.wing_id = ANY(%s) AND target = %s ORDER BY 1, 2, 3",
            *(list(wings), stored_path(target)),
        )
        return [HubDependent(row[0], path_of(row[1]), *row[2:]) for row in found]

    def stated(self, ids: Collection[int]) -> dict[int, HubStated]:
        """Return what entries state of themselves, by the ids of their rows."""
        asked = "SELECT id, wing_id, path, type, status, title, owner FROM file WHERE id = ANY(%s) AND type IS NOT NULL"
        return {row[0]: HubStated(row[1], path_of(row[2]), *row[3:]) for row in self.rows(asked, list(ids))}

    def totals(self, wings: Collection[int] | None) -> tuple[int, int, list[int]]:
        """Return how many entries and passages some wings have, all where none are named, and how long these are."""
        sums = ", ".join(f"coalesce(sum(lengths[{place}]), 0)::bigint" for place in range(1, len(SCORED) + 1))
        row = self.rows(
            f"SELECT coalesce(sum(documents), 0)::bigint, coalesce(sum(passages), 0)::bigint, {sums} FROM wing"
            " WHERE %s::int[] IS NULL OR id = ANY(%s)",
            *([None if wings is None else list(wings)] * 2),
        )[0]
        return row[0], row[1], list(row[2:])

    def terms_beginning(self, begun: str, ids: Collection[int], *, most: int) -> list[str]:
        """Return the terms of some entries that begin so, the commonest first."""
        found = self.rows(
            "SELECT term FROM file, jsonb_object_keys(terms) AS term WHERE id = ANY(%s) AND starts_with(term, %s)"
            " GROUP BY term ORDER BY count(*) DESC, term LIMIT %s",
            *(list(ids), begun, most),
        )
        return [row[0] for row in found]

    def read_whole(self, repositories: Collection[int]) -> set[int]:
        """Return those of some repositories of which every wing is seen."""
        asked = "SELECT DISTINCT repository_id FROM visible_scope() WHERE wing IS NULL AND repository_id = ANY(%s)"
        return {row[0] for row in self.rows(asked, list(repositories))} if repositories else set()


def _each(kinds: str, columns: str, condition: str) -> str:
    """Return the statement that reads links by some wings, each with a place in it, and by their fields."""
    wings, places = (f"%s::{kind}" for kind in kinds.split(", "))
    # One by one by the index: PostgreSQL, which is told nothing of how many there are, would go through all links.
    inner = f"SELECT {columns} FROM link WHERE wing_id = wing AND {condition} AND field = ANY(%s) OFFSET 0"
    return f"SELECT DISTINCT {columns} FROM unnest({wings}, {places}) AS one (wing, place), LATERAL ({inner}) AS found"


def _wing(row: Sequence[Any]) -> SeenWing:
    key, owner, name, source, folder, commit, is_shared, owners, documents, passages, lengths = row
    figures = (documents, passages, tuple(lengths))
    return SeenWing(key, owner, name, source, folder, commit, is_shared, tuple(owners), *figures)
