"""List what the hub has, and compare a repository's rows with its commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import EnvironmentFaultError
from mdmem.hub.connection import REBUILD, SCHEMA, expected, named_rows, one_row, transaction
from mdmem.hub.contents import (
    COLUMNS,
    FORMAT,
    Contents,
    HubFile,
    HubWing,
    narrow_settings,
    path_of,
    plain_text,
    stored_path,
)
from mdmem.hub.push import link_target
from mdmem.hub.repositories import own_repository, remote_place
from mdmem.model.entry import Wing
from mdmem.model.finding import Finding, Place
from mdmem.store.git.process import has_commit
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class RepositoryState(Struct, frozen=True):
    """One repository of the hub. Its age counts by the server's clock; without a commit nothing was pushed yet.

    `is_ours` says that its words were made as this mdmem makes them.
    """

    name: str
    root: str
    url: str | None
    commit: str | None
    committed_at: datetime | None
    pushed_at: datetime | None
    age_seconds: int | None
    pushes: int
    wings: int
    entries: int
    pins: tuple[str, ...]
    former_names: tuple[str, ...]
    is_ours: bool


class HubReport(Struct, frozen=True):
    """The visible repositories by name, the version of the tables, and for the owner the bytes on disk."""

    version: int
    repositories: tuple[RepositoryState, ...]
    bytes: int | None


def status(connection: HubConnection) -> HubReport:
    """Return the state of the hub as the caller may see it."""
    with transaction(connection, is_snapshot=True) as cursor:
        rows = named_rows(cursor.execute(_REPOSITORIES, (FORMAT,), binary=True))
        # The size tells how much others have.
        (size,) = one_row(
            cursor.execute(
                "SELECT CASE WHEN pg_has_role(nspowner, 'MEMBER') THEN (SELECT sum(pg_total_relation_size(one.oid))"
                " FROM pg_class AS one WHERE relnamespace = pg_namespace.oid AND relkind = 'r') END"
                " FROM pg_namespace WHERE nspname = %s",
                (SCHEMA,),
            )
        )
    return HubReport(expected(), tuple(map(_state, rows)), None if size is None else int(size))


def _state(row: dict[str, Any]) -> RepositoryState:
    age = row["age_seconds"]
    row |= {
        "root": path_of(row["root"]),
        # A clock may be set back, but nothing was pushed in the future.
        "age_seconds": None if age is None else max(0, int(age)),
        "entries": int(row["entries"]),
        "pins": tuple(map(path_of, row["pins"])),
        "former_names": tuple(row["former_names"]),
    }
    return RepositoryState(**row)


_REPOSITORIES = """
SELECT repository.name, root, url, commit, committed_at, pushed_at,
    extract(epoch FROM now() - pushed_at) AS age_seconds, serial AS pushes, coalesce(wings, 0) AS wings,
    coalesce(entries, 0) AS entries, coalesce(pins, '{}') AS pins, coalesce(former, '{}') AS former_names,
    format = %s AS is_ours
FROM repository
LEFT JOIN (SELECT repository_id, count(*), sum(documents) FROM wing GROUP BY 1) AS one (id, wings, entries) USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM visible_pin() GROUP BY 1) AS two (id, pins)
    USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM former_name GROUP BY 1) AS three (id, former)
    USING (id)
ORDER BY repository.name"""


class VerifyReport(Struct, frozen=True):
    """The differences between the hub's rows of a repository and its commit; `missing` wings were not compared."""

    repository: str
    commit: str
    checked: int
    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()


def verify(workspace: Workspace, connection: HubConnection, repository: str | None = None) -> VerifyReport:
    """Compare every row of a repository with the commit that the hub says it has.

    Raises NotFoundError if the hub has nothing of it, and EnvironmentFaultError if the commit is not in this clone.
    """
    with transaction(connection, is_snapshot=True) as cursor:
        stored = own_repository(cursor, workspace.location, given=repository)
        commit = stored.commit or ""
        if not has_commit(workspace.location.get_repository(), commit):
            raise EnvironmentFaultError(
                f"`{stored.name}` is at {commit[:10]} in the hub, which is not here; fetch first"
            )
        contents = Contents(workspace, commit)
        comparison = _Comparison(cursor, stored.id, contents)
        findings = sorted(comparison.findings(), key=lambda finding: finding.sort_key)
    return VerifyReport(stored.name, commit, comparison.checked, tuple(findings), contents.missing_sentences)


_WING = "source, source_path, wing.commit, wing.format, documents, is_shared, owners"


class _Comparison:
    """Compares the rows of one repository, and counts the files."""

    def __init__(self, cursor: Any, repository: int, contents: Contents) -> None:
        self._cursor, self._repository, self._contents = cursor, repository, contents
        self.checked = 0

    def findings(self) -> Iterator[Finding]:
        """Yield every difference."""
        yield from self._settings()
        own = f"SELECT name, id, {_WING} FROM wing WHERE repository_id = %s"
        pinned = (
            f"SELECT pin.name, id, {_WING} FROM visible_pin() AS pin JOIN wing ON id = wing_id"
            " WHERE pin.repository_id = %s"
        )
        wings, pins = (
            {path_of(name): row for name, *row in self._rows(asked, self._repository)} for asked in (own, pinned)
        )
        for name, wing in self._contents.wings.items():
            source, had = wing.source, (wings if wing.source is None else pins).pop(name, None)
            stored = [stored_path(source.place), stored_path(source.path), source.commit] if source is not None else []
            if had is None or (source is not None and had[1:4] != stored):
                yield _finding("wing-missing", name, "the hub does not have this wing as it is pinned, or not at all")
            elif had[4] != FORMAT:
                yield _finding("other-format", name, "another mdmem sent it", "`mdmem hub push` sends it again")
            else:
                yield from self._wing(wing, had[0], had[5:])
        awaited = {one.name for one in self._contents.missing}
        for name in (wings.keys() | pins.keys()) - awaited:
            yield _finding("wing-left-over", name, "the commit has no such wing")

    def _settings(self) -> Iterator[Finding]:
        """Yield differences of the repository's own row."""
        place = remote_place(self._contents.remote)
        wanted = {
            "root": self._contents.workspace.location.under,
            "url": place,
            "tracked": list(map(plain_text, self._contents.tracked)),
            "narrow_settings": narrow_settings(self._contents.settings),
        }
        asked = f"SELECT {', '.join(wanted)}, reads_whole(id), settings_of(id) FROM repository WHERE id = %s"
        ((*had, is_whole, settings),) = self._rows(asked, self._repository)
        if is_whole and settings != self._contents.settings:
            yield _finding("row-differs", SETTINGS_NAME, "the settings differ")
        # A clone without a remote does not know the repository's place.
        compared = ((name, value) for name, value in wanted.items() if name != "url" or place is not None)
        stored = dict(zip(wanted, had, strict=True))
        differing = [name for name, value in compared if stored[name] != value]
        if differing:
            yield _finding("row-differs", ".", f"the row of the repository differs in {', '.join(differing)}")

    def _wing(self, wing: HubWing, id_: int, had: Sequence[object]) -> Iterator[Finding]:
        entries, stated = 0, Wing(name=wing.name)
        paths = {path_of(path) for (path,) in self._rows("SELECT path FROM file WHERE wing_id = %s", id_)}
        for path in sorted(paths - wing.files.keys()):
            yield _finding("row-left-over", f"{wing.name}/{path}", "the commit has no such file")
        for batch in self._contents.batches(wing, wing.files.keys()):
            self.checked += len(batch)
            entries += sum(file.entry is not None for file in batch)
            stated = next((file.wing for file in batch if file.wing is not None), stated)
            yield from self._files(wing.name, id_, batch)
        wanted = [entries, stated.is_shared, list(map(plain_text, stated.owners))]
        if list(had) != wanted:
            yield _finding("figures-differ", wing.name, f"the wing's row says {had}, its files {wanted}")

    def _files(self, name: str, id_: int, files: Sequence[HubFile]) -> Iterator[Finding]:
        asked = (
            "SELECT path, words IS NOT DISTINCT FROM wanted::tsvector || array_to_tsvector(ARRAY[' w' || wing_id]),"
            " (SELECT array_agg(ARRAY[field, target]) FROM link"
            "  WHERE link.wing_id = file.wing_id AND file_id = file.id),"
            f" {', '.join(COLUMNS[1:-1])}"
            " FROM unnest(%s::text[], %s::text[]) AS one (named, wanted) JOIN file ON path = named AND wing_id = %s"
        )
        paths = [stored_path(file.path) for file in files]
        rows = self._rows(asked, paths, [file.words for file in files], id_)
        stored = {path: rest for path, *rest in rows}
        for file, path in zip(files, paths, strict=True):
            if path not in stored:
                yield _finding("row-missing", f"{name}/{file.path}", "the hub has no row of this file")
                continue
            has_words, links, *columns = stored[path]
            pairs = zip(COLUMNS[1:-1], columns, file.columns[1:-1], strict=True)
            differing = [column for column, had, wanted in pairs if had != wanted]
            differing += [] if has_words else ["words"]
            linked = {(field, target) for field, target in links or ()}
            differing += [] if linked == {(field, link_target(to)) for field, to in file.links} else ["links"]
            if differing:
                yield _finding("row-differs", f"{name}/{file.path}", f"the row differs in {', '.join(differing)}")

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._cursor.execute(query, values).fetchall()
        return found


def _finding(code: str, path: str, message: str, help_: str = REBUILD) -> Finding:
    return Finding(code, message, Place(path), help_, None)
