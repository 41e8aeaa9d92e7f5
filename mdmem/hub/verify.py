"""List the content of the hub, and compare the rows of a repository with its commit."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import EnvironmentFaultError
from mdmem.hub.connection import EXPECTED, REBUILD, SCHEMA, named_rows, one_row, transaction
from mdmem.hub.contents import COLUMNS, FORMAT, Contents, HubWing, narrow_settings, plain_text
from mdmem.hub.repositories import own_repository, remote_place
from mdmem.model.entry import Wing
from mdmem.model.finding import Finding, Place
from mdmem.store.git.process import has_commit
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class RepositoryState(Struct, frozen=True):
    """One repository in the hub. `commit` is None if nothing was pushed yet. The age is measured by the server's clock.

    `is_ours` says that the search words were made by the same version of the analysis as in this program.
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
    pins: list[str]
    former_names: list[str]
    is_ours: bool


class HubReport(Struct, frozen=True):
    """The visible repositories, sorted by name; `version` is that of the tables.

    `bytes` is the size of all tables on disk, or None if the caller is not the hub's owner.
    """

    version: int
    repositories: tuple[RepositoryState, ...]
    bytes: int | None


def status(connection: HubConnection) -> HubReport:
    """Return the state of the hub, with the repositories that the caller may see."""
    with transaction(connection, is_snapshot=True) as cursor:
        rows = named_rows(cursor.execute(_REPOSITORIES, (FORMAT,), binary=True))
        # Only the owner may see the size, because it tells how much other repositories have.
        (size,) = one_row(
            cursor.execute(
                "SELECT CASE WHEN pg_has_role(nspowner, 'MEMBER') THEN (SELECT sum(pg_total_relation_size(one.oid))"
                " FROM pg_class AS one WHERE relnamespace = pg_namespace.oid AND relkind = 'r') END"
                " FROM pg_namespace WHERE nspname = %s",
                (SCHEMA,),
            )
        )
    return HubReport(EXPECTED, tuple(RepositoryState(**row) for row in rows), None if size is None else int(size))


_REPOSITORIES = """
SELECT repository.name, root, url, commit, committed_at, pushed_at,
    -- A clock may be set back, but nothing was pushed in the future.
    CASE WHEN pushed_at <= now() THEN floor(extract(epoch FROM now() - pushed_at))::bigint
        WHEN pushed_at > now() THEN 0 END AS age_seconds,
    serial AS pushes, coalesce(wings, 0) AS wings, coalesce(entries, 0)::bigint AS entries,
    coalesce(pins, '{}') AS pins, coalesce(former, '{}') AS former_names,
    format = %s AS is_ours
FROM repository
LEFT JOIN (SELECT repository_id, count(*), sum(documents) FROM wing GROUP BY 1) AS one (id, wings, entries) USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM visible_pin() GROUP BY 1) AS two (id, pins)
    USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM former_name GROUP BY 1) AS three (id, former)
    USING (id)
ORDER BY repository.name"""


class VerifyReport(Struct, frozen=True):
    """The differences between the rows of a repository and its commit.

    `checked` is the number of files that were compared. `missing` has a sentence for each wing that was not compared.
    """

    repository: str
    commit: str
    checked: int
    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()


def verify(workspace: Workspace, connection: HubConnection, repository: str | None = None) -> VerifyReport:
    """Compare every row of a repository with the commit that was pushed last; raises NotFoundError if there is none."""
    with transaction(connection, is_snapshot=True) as cursor:
        stored = own_repository(cursor, workspace.location, given=repository)
        commit = stored.commit or ""
        if not has_commit(workspace.location.get_repository(), commit):
            raise EnvironmentFaultError(
                f"the hub has `{stored.name}` at commit {commit[:10]}, which is not in this clone; `git fetch` first"
            )
        contents = Contents(workspace, commit)
        findings = sorted(_compare(cursor, stored.id, contents), key=lambda finding: finding.sort_key)
    skipped = {one.place.path for one in findings if one.code in ("wing-missing", "other-format")}
    checked = sum(len(wing.files) for name, wing in contents.wings.items() if name not in skipped)
    return VerifyReport(stored.name, commit, checked, tuple(findings), contents.missing_sentences)


_WING = "name, id, source, source_path, wing.commit, wing.format, documents, is_shared, owners"
_OWN = f"SELECT {_WING} FROM wing WHERE repository_id = %s"
_PINNED = f"SELECT pin.{_WING} FROM visible_pin() AS pin JOIN wing ON id = wing_id WHERE pin.repository_id = %s"
_FILES = (
    f"SELECT path, {', '.join(COLUMNS[1:-1])},"
    " words IS NOT DISTINCT FROM wanted::tsvector || array_to_tsvector(ARRAY[' w' || wing_id]),"
    " (SELECT array_agg(ARRAY[field, target]) FROM link WHERE link.wing_id = file.wing_id AND file_id = file.id)"
    " FROM unnest(%s::text[], %s::text[]) AS one (named, wanted) JOIN file ON path = named AND wing_id = %s"
)


def _compare(cursor: Any, repository: int, contents: Contents) -> Iterator[Finding]:
    """Yield a finding for every difference between the rows of a repository and a commit."""
    place = remote_place(contents.remote)
    asked = "SELECT root, url, tracked, narrow_settings, reads_whole(id), settings_of(id) FROM repository WHERE id = %s"
    root, url, tracked, narrow, is_whole, settings = one_row(cursor.execute(asked, (repository,)))
    if is_whole and settings != contents.settings:
        yield _finding("row-differs", SETTINGS_NAME, "the settings differ")
    stated = (contents.workspace.location.under, list(map(plain_text, contents.tracked)))
    # A clone without a remote does not know the URL of the repository.
    if (root, tracked, narrow) != (*stated, narrow_settings(contents.settings)) or place not in (None, url):
        yield _finding("row-differs", ".", "the row of the repository differs")
    wings, pins = ({row[0]: row[1:] for row in cursor.execute(asked, (repository,))} for asked in (_OWN, _PINNED))
    for name, wing in contents.wings.items():
        source, had = wing.source, (wings if wing.source is None else pins).pop(name, None)
        if had is None or (source is not None and had[1:4] != (source.place, source.path, source.commit)):
            yield _finding("wing-missing", name, "the hub does not have this wing, or has it at another pin")
        elif had[4] != FORMAT:
            yield _finding("other-format", name, "another version of mdmem sent it", "`mdmem hub push` sends it again")
        else:
            yield from _compare_wing(cursor, contents, wing, had[0], had[5:])
    for name in (wings.keys() | pins.keys()) - contents.tree.missing_wings.keys():
        yield _finding("wing-left-over", name, "the commit has no such wing")


def _compare_wing(
    cursor: Any, contents: Contents, wing: HubWing, id_: int, had: tuple[object, ...]
) -> Iterator[Finding]:
    entries, stated = 0, Wing(name=wing.name)
    paths = {path for (path,) in cursor.execute("SELECT path FROM file WHERE wing_id = %s", (id_,))}
    for path in sorted(paths - wing.files.keys()):
        yield _finding("row-left-over", f"{wing.name}/{path}", "the commit has no such file")
    for batch in contents.batches(wing, wing.files.keys()):
        entries += sum(file.entry is not None for file in batch)
        stated = next((file.wing for file in batch if file.wing is not None), stated)
        rows = cursor.execute(_FILES, ([file.path for file in batch], [file.words for file in batch], id_))
        stored = {row_path: rest for row_path, *rest in rows}
        for file in batch:
            path = f"{wing.name}/{file.path}"
            if file.path not in stored:
                yield _finding("row-missing", path, "the hub has no row of this file")
                continue
            *columns, has_words, links = stored[file.path]
            in_row = (*columns, has_words, {(field, target) for field, target in links or ()})
            if in_row != (*file.columns[1:-1], True, file.links):
                yield _finding("row-differs", path, "the row differs from the file")
    if had != (entries, stated.is_shared, list(map(plain_text, stated.owners))):
        yield _finding("figures-differ", wing.name, "the row of the wing differs from its files")


def _finding(code: str, path: str, message: str, help_: str = REBUILD) -> Finding:
    return Finding(code, message, Place(path), help_, None)
