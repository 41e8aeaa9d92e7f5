"""What is read of a hub for one question: rows, as plain values; what a caller may not see is in none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem.dataclass import dataclass
from mdmem.hub.rows import path_of

if TYPE_CHECKING:
    from psycopg import Cursor

_REPOSITORY = "id, name, root, url, commit, pushed_at, serial"
_WING = "id, repository_id, name, source, source_path, commit, is_shared, owners, documents, passages, lengths"


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A memory that was pushed: its folder from the repository's top, and the commit that the hub has since when."""

    id: int
    name: str
    root: str
    url: str | None
    commit: str
    pushed_at: datetime
    serial: int


@dataclass(frozen=True, slots=True)
class HubWing:
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


class HubRow(NamedTuple):
    """A file of a wing; `path` counts from the wing's folder."""

    id: int
    wing_id: int
    path: str
    kind: str
    blob: str | None
    record: bytes | None


class HubPin(NamedTuple):
    """A repository that reads a wing of another place, and under which name."""

    repository_id: int
    wing_id: int
    name: str


class Reader:
    """Asks the server within one transaction, so that all that it tells is of one state."""

    def __init__(self, cursor: Cursor[Any]) -> None:
        """Take the cursor of the transaction."""
        self._cursor = cursor

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a statement finds."""
        return self._cursor.execute(statement, values, binary=True).fetchall()

    def find_repository(self, name: str) -> HubRepository | None:
        """Return the repository of a name, or of one that it had before; None for one without a commit, too."""
        found = self.rows(
            f"SELECT {_REPOSITORY} FROM repository WHERE commit IS NOT NULL AND (name = %s"
            " OR id = (SELECT repository_id FROM former_name WHERE former_name.name = %s)) ORDER BY name <> %s LIMIT 1",
            *(name, name, name),
        )
        return HubRepository(*found[0]) if found else None

    def had(self, repository: int, commit: str) -> bool:
        """Say whether the hub has a commit of a repository, or had it."""
        return bool(self.rows("SELECT FROM push WHERE repository_id = %s AND commit = %s", repository, commit))

    def repositories(self, ids: Collection[int] | None = None) -> dict[int, HubRepository]:
        """Return repositories by their ids, all that are seen where none are named."""
        which, values = ("", ()) if ids is None else (" AND id = ANY(%s)", (list(ids),))
        found = self.rows(f"SELECT {_REPOSITORY} FROM repository WHERE commit IS NOT NULL{which} ORDER BY name", *values)
        return {row[0]: HubRepository(*row) for row in found}

    def settings(self, ids: Collection[int]) -> dict[int, tuple[bytes, tuple[str, ...]]]:
        """Return the settings file of repositories, and the tracked files that say which shared wings bind there."""
        found = self.rows("SELECT id, settings, tracked FROM repository WHERE id = ANY(%s)", list(ids))
        return {row[0]: (row[1], tuple(row[2])) for row in found}

    def wings(self, ids: Collection[int]) -> dict[int, HubWing]:
        """Return wings by their ids."""
        return {wing.id: wing for wing in self._wings("id = ANY(%s)", list(ids))}

    def wings_of(self, repositories: Collection[int]) -> list[HubWing]:
        """Return the own wings of repositories."""
        return self._wings("repository_id = ANY(%s)", list(repositories))

    def wings_named(self, names: Collection[str]) -> list[HubWing]:
        """Return the wings of some names, wherever they are."""
        return self._wings("name = ANY(%s)", list(names))

    def _wings(self, condition: str, *values: Any) -> list[HubWing]:
        found = self.rows(f"SELECT {_WING} FROM wing WHERE {condition} ORDER BY id", *values)
        return [HubWing(*row[:7], tuple(row[7]), *row[8:10], tuple(row[10])) for row in found]

    def pins_of(self, repositories: Collection[int]) -> list[HubPin]:
        """Return what repositories read of others."""
        return self._pins("repository_id", repositories)

    def pins_on(self, wings: Collection[int]) -> list[HubPin]:
        """Return who reads some wings."""
        return self._pins("wing_id", wings)

    def _pins(self, column: str, ids: Collection[int]) -> list[HubPin]:
        found = self.rows(
            f"SELECT repository_id, wing_id, name FROM pin WHERE {column} = ANY(%s) ORDER BY 1, 3", list(ids)
        )
        return [HubPin(*row) for row in found]

    def files_of(self, wings: Collection[int]) -> list[HubRow]:
        """Return all files of some wings."""
        return self._files("wing_id = ANY(%s)", list(wings))

    def files(self, ids: Collection[int]) -> list[HubRow]:
        """Return files by their ids."""
        return self._files("id = ANY(%s)", list(ids)) if ids else []

    def files_at(self, places: Iterable[tuple[int, str]]) -> list[HubRow]:
        """Return the files at some places, each a wing and a path as it is stored."""
        wanted = list(places)
        wings, paths = [wing for wing, _ in wanted], [path for _, path in wanted]
        among = "(wing_id, path) IN (SELECT * FROM unnest(%s::int[], %s::text[]))"
        return self._files(among, wings, paths) if wanted else []

    def _files(self, condition: str, *values: Any) -> list[HubRow]:
        found = self.rows(f"SELECT id, wing_id, path, kind, blob, record FROM file WHERE {condition}", *values)
        return [HubRow(row[0], row[1], path_of(row[2]), *row[3:]) for row in found]

    def contents(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of files that have some."""
        found = self.rows("SELECT id, content FROM file WHERE id = ANY(%s) AND content IS NOT NULL", list(ids))
        return dict(found)

    def terms(self, ids: Collection[int]) -> Iterator[tuple[int, int, str, bytes | None]]:
        """Yield of entries their id, their wing, their path, and the packed terms of their passages."""
        found = self.rows("SELECT id, wing_id, path, terms FROM file WHERE id = ANY(%s) AND type IS NOT NULL", list(ids))
        return ((key, wing, path_of(path), terms) for key, wing, path, terms in found)

    def reads_whole(self, repository: int) -> bool:  # noqa: ARG002
        """Say whether every wing of a repository is seen."""
        return True
