"""The state of a hub, and the comparison of a repository's rows with its clone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError
from mdmem.hub.connection import REBUILD, SCHEMA, expected, one_row, transaction
from mdmem.hub.contents import Contents, HubWing, narrow_settings
from mdmem.hub.names import remote_place
from mdmem.hub.push import WingFigures
from mdmem.hub.repositories import own_repository
from mdmem.hub.rows import COLUMNS, FORMAT, HubFile, columns_of, path_of, plain_text, stored_path, words_of
from mdmem.model.entry import Wing
from mdmem.model.finding import Finding, Place
from mdmem.store.git.fetch import has_commit
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class RepositoryState(Struct, frozen=True):
    """One repository: where its memory is, the commit that the hub has, when it was pushed, and what there is of it.

    `age_seconds` is by the server's clock; without a commit nothing was pushed yet. `is_ours` says that this mdmem
    reads what was packed without parsing it anew.
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
    """The repositories that are seen, by name, the version of the tables, and for their owner the bytes on disk."""

    version: int
    repositories: tuple[RepositoryState, ...]
    bytes: int | None


def status(connection: HubConnection) -> HubReport:
    """Return how the hub stands, as whoever asks may see it."""
    with transaction(connection, is_snapshot=True) as cursor:
        rows = cursor.execute(_REPOSITORIES, binary=True).fetchall()
        (size,) = one_row(cursor.execute(_SIZE, (SCHEMA,)))
    return HubReport(expected(), tuple(map(_state, rows)), int(size) if size is not None else None)


def _state(row: tuple[Any, ...]) -> RepositoryState:
    name, root, url, commit, committed_at, pushed_at, age, serial, wings, entries, pins, former, format_ = row
    # Clocks may be set back; what was pushed is never from the future.
    seconds = max(0, int(age)) if age is not None else None
    counts = serial, wings, int(entries), tuple(map(path_of, pins)), tuple(former)
    return RepositoryState(
        name, path_of(root), url, commit, committed_at, pushed_at, seconds, *counts, is_ours=format_ == FORMAT
    )


_REPOSITORIES = """
SELECT repository.name, root, url, commit, committed_at, pushed_at, extract(epoch FROM now() - pushed_at), serial,
    coalesce(wings, 0), coalesce(entries, 0), coalesce(pins, '{}'), coalesce(former, '{}'), format
FROM repository
LEFT JOIN (SELECT repository_id, count(*), sum(documents) FROM wing GROUP BY 1) AS one (id, wings, entries) USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM visible_pin() GROUP BY 1) AS two (id, pins)
    USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM former_name GROUP BY 1) AS three (id, former)
    USING (id)
ORDER BY repository.name"""
# How much others have is nobody's but the owner's to know.
_SIZE = """
SELECT CASE WHEN pg_has_role(nspowner, 'MEMBER') THEN (
    SELECT sum(pg_total_relation_size(held.oid)) FROM pg_class AS held
    WHERE relnamespace = pg_namespace.oid AND relkind = 'r'
) END FROM pg_namespace WHERE nspname = %s"""


_PORTION = 200


class VerifyReport(Struct, frozen=True):
    """What of a repository differs between the hub and the commit that it says it has; `checked` counts the files.

    `missing` are the sentences about wings of other repositories that are not at hand, and so not compared.
    """

    repository: str
    commit: str
    checked: int
    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()


def verify(workspace: Workspace, connection: HubConnection, repository: str | None = None) -> VerifyReport:
    """Compare every row of a repository, its figures and its pins with the commit that the hub says it has.

    Raises NotFoundError where the hub has nothing of it, and EnvironmentFaultError where the commit is not here.
    """
    with transaction(connection, is_snapshot=True) as cursor:
        held = own_repository(cursor, workspace.location, given=repository)
        commit = held.commit or ""
        if not has_commit(workspace.location.get_repository(), commit):
            raise EnvironmentFaultError(f"`{held.name}` is at {commit[:10]} in the hub, which is not here; fetch first")
        contents = Contents(workspace, commit)
        comparison = _Comparison(cursor, held.id, contents)
        findings = sorted(comparison.findings(), key=lambda finding: finding.sort_key)
    return VerifyReport(held.name, commit, comparison.checked, tuple(findings), contents.missing_said)


class _Comparison:
    def __init__(self, cursor: Any, repository: int, contents: Contents) -> None:
        self._cursor, self._repository, self._contents = cursor, repository, contents
        self.checked = 0

    def findings(self) -> Iterator[Finding]:
        yield from self._stated()
        wings = {path_of(name): (id_, rest) for name, id_, *rest in self._rows(_WINGS, self._repository)}
        pins = {path_of(name): (id_, rest) for name, id_, *rest in self._rows(_PINS, self._repository)}
        for name, wing in self._contents.wings.items():
            source, had = wing.source, (wings if wing.source is None else pins).pop(name, None)
            stored = [stored_path(source.place), stored_path(source.path), source.commit] if source is not None else []
            if had is None or (source is not None and had[1][:3] != stored):
                yield _finding("wing-missing", name, "the hub has not this wing as it is pinned, or not at all")
            elif had[1][3] != FORMAT:
                yield _finding("other-format", name, "another mdmem packed it", "`mdmem hub push` writes it anew")
            else:
                yield from self._wing(wing, had[0], had[1][4:])
        awaited = {one.name for one in self._contents.missing}
        for name in (wings.keys() | pins.keys()) - awaited:
            yield _finding("wing-left-over", name, "the commit has no such wing")

    def _stated(self) -> Iterator[Finding]:
        """Yield what the repository's own row says otherwise than the commit and the clone."""
        asked = f"SELECT {', '.join(_STATED)}, reads_whole(id), settings_of(id) FROM repository WHERE id = %s"
        ((*had, is_whole, settings),) = self._rows(asked, self._repository)
        contents, place = self._contents, remote_place(self._contents.remote)
        if is_whole and settings != contents.settings:
            yield _finding("row-differs", SETTINGS_NAME, "the settings differ")
        wanted = {
            "root": contents.workspace.location.under,
            # A clone without a remote does not say where its repository is.
            "url": place or had[_STATED.index("url")],
            "tracked": list(map(plain_text, contents.tracked)),
            "narrow_settings": narrow_settings(contents.settings),
        }
        differing = [name for name, value in zip(_STATED, had, strict=True) if value != wanted[name]]
        if differing:
            yield _finding("row-differs", ".", f"the row of the repository differs in {', '.join(differing)}")

    def _wing(self, wing: HubWing, id_: int, had: Sequence[object]) -> Iterator[Finding]:
        figures, stated = WingFigures(), Wing(name=wing.name)
        paths = {path_of(path) for (path,) in self._rows("SELECT path FROM file WHERE wing_id = %s", id_)}
        for path in sorted(paths - wing.files.keys()):
            yield _finding("row-left-over", f"{wing.name}/{path}", "the commit has no such file")
        for portion in _portions(self._contents.files(wing, wing.files.keys())):
            self.checked += len(portion)
            for file in portion:
                figures.add_file(file)
                stated = file.wing or stated
            yield from self._files(wing.name, id_, portion)
        lengths = figures.lengths if figures.documents else had[2]
        wanted = [figures.documents, figures.passages, lengths, stated.is_shared, list(map(plain_text, stated.owners))]
        if list(had) != wanted:
            yield _finding("figures-differ", wing.name, f"the wing's row says {had}, its files {wanted}")

    def _files(self, name: str, id_: int, files: Sequence[HubFile]) -> Iterator[Finding]:
        paths = [stored_path(file.path) for file in files]
        words = [words_of(file, id_) for file in files]
        held = {path: rest for path, *rest in self._rows(_FILES, paths, words, id_)}
        for file, path in zip(files, paths, strict=True):
            place = f"{name}/{file.path}"
            if path not in held:
                yield _finding("row-missing", place, "the hub has no row of this file")
                continue
            has_words, links, *columns = held[path]
            pairs = zip(COLUMNS, columns, columns_of(file), strict=True)
            differing = [column for column, had, wanted in pairs if had != _as_read(column, wanted)]
            linked = {(field, target) for field, target in links or ()}
            wanted_links = {(field, plain_text(stored_path(target))) for field, target in file.links}
            differing += [] if has_words else ["words"]
            differing += [] if linked == wanted_links else ["links"]
            if differing:
                yield _finding("row-differs", place, f"the row differs in {', '.join(differing)}")

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._cursor.execute(query, values).fetchall()
        return found


def _as_read(column: str, value: object) -> object:
    """Return what reading a column gives where a value was written."""
    return json.loads(value) if column == "terms" and isinstance(value, str) else value


def _finding(code: str, path: str, message: str, help_: str = REBUILD) -> Finding:
    return Finding(code, message, Place(path), help_, None)


def _portions(files: Iterable[HubFile]) -> Iterator[list[HubFile]]:
    rest = iter(files)
    while portion := list(islice(rest, _PORTION)):
        yield portion


_STATED = ("root", "url", "tracked", "narrow_settings")
_WING = "source, source_path, wing.commit, wing.format, documents, passages, lengths, is_shared, owners"
_WINGS = f"SELECT name, id, {_WING} FROM wing WHERE repository_id = %s"
_PINS = f"SELECT pin.name, id, {_WING} FROM visible_pin() AS pin JOIN wing ON id = wing_id WHERE pin.repository_id = %s"
_FILES = (
    "SELECT path, words IS NOT DISTINCT FROM wanted::tsvector,"
    " (SELECT array_agg(ARRAY[field, target]) FROM link WHERE link.wing_id = file.wing_id AND file_id = file.id),"
    f" {', '.join(COLUMNS)}"
    " FROM unnest(%s::text[], %s::text[]) AS one (named, wanted) JOIN file ON path = named AND wing_id = %s"
)
