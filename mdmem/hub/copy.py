"""Open the hub's copy of a repository as a workspace, so that the usual functions can answer questions about it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.hub.connection import HubConnection, one_row, transaction
from mdmem.hub.repositories import HubRepository, get_repository
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.text import text_hash
from mdmem.store.catalog.load import UnavailableWing, load, with_remote_wings
from mdmem.store.catalog.model import Catalog
from mdmem.store.index import Progress
from mdmem.store.index.fulltext import FOLDER, FullTextIndex
from mdmem.store.settings import WingSettings
from mdmem.store.state.files import StateFolders, state_folders
from mdmem.store.tree import FileKind, MemoryTree, Tree, TreeFile, digest_of
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.workspace import Workspace

_NOWHERE = Path(os.devnull)
_MISSING = UnavailableWing("is not in the hub, or you may not read it", "a push of this repository sends it")


class CopyWorkspace(Workspace, frozen=True, eq=False):
    """The hub's copy of a repository, opened as a workspace.

    All entries count as approved, because the pushed commit is taken for the default branch.
    """

    tracked: frozenset[str] = frozenset()
    folders: StateFolders = StateFolders(_NOWHERE, _NOWHERE, _NOWHERE)

    @property
    def _places(self) -> StateFolders:
        return self.folders

    def reread(self) -> Self:
        """Return the same workspace, because a copy does not change."""
        return self

    def _loaded(self) -> Catalog:
        """Return the entries. Parsed entries are cached in the user's cache folder."""
        cache, tree = self.entry_cache, self.tree
        digests = tree.digests(tree.files())
        # Drop the files of earlier pushes from the cache, so that it reads the new files.
        cache.save({path for path, row in cache.rows.items() if digests.get(path) == row.digest})
        return replace(load(tree, cache), branch_states={})

    def tracked_files(self) -> frozenset[str]:
        """Return the files of the repository that the hub knows."""
        return self.tracked


class CopyKey(Struct, frozen=True):
    """The key of a cached copy of a repository: its last pushed state, and the wings that the caller may see.

    `wings` are the repository's own, `pins` those of other repositories, each with its id in the hub and its name.
    """

    repository: HubRepository
    wings: tuple[tuple[int, str], ...]
    pins: tuple[tuple[int, str], ...]
    is_whole: bool


def copy_key(cursor: Any, name: str) -> CopyKey:
    """Return the cache key of a repository's copy. Raises NotFoundError if the caller may not see the repository."""
    repository = get_repository(cursor, name)
    own = "SELECT id, name FROM wing WHERE repository_id = %s ORDER BY 1"
    pinned = "SELECT wing_id, name FROM visible_pin() WHERE repository_id = %s ORDER BY 1, 2"
    wings, pins = (tuple(cursor.execute(sql, (repository.id,)).fetchall()) for sql in (own, pinned))
    (is_whole,) = one_row(cursor.execute("SELECT reads_whole(%s)", (repository.id,)))
    return CopyKey(repository, wings, pins, is_whole)


def open_copy(connection: HubConnection, name: str, **opening: Any) -> CopyWorkspace:
    """Return the copy of a repository (see `load_copy`); raises NotFoundError unless it was pushed and is visible."""
    with transaction(connection, is_snapshot=True) as cursor:
        return load_copy(cursor, copy_key(cursor, name), **opening)


def load_copy(
    cursor: Any, key: CopyKey, *, environment: Mapping[str, str], today: date, progress: Progress | None = None
) -> CopyWorkspace:
    """Return a copy as a workspace with the files that this transaction sees; its index is in the user's cache."""
    repository, commit = key.repository, key.repository.commit or ""
    settings, tracked, pushed_at = one_row(
        cursor.execute("SELECT settings_of(id), tracked, pushed_at FROM repository WHERE id = %s", (repository.id,))
    )
    title = f"{repository.name} ({commit[:10]})"
    own = _tree(cursor, title, dict(key.wings), settings=bytes(settings or b""))
    commits = dict(
        cursor.execute("SELECT id, commit FROM wing WHERE id = ANY (%s)", ([id_ for id_, _ in key.pins],)).fetchall()
    )
    pins = {name: id_ for id_, name in key.pins}

    def find(name: str, table: WingSettings) -> Tree | UnavailableWing:
        id_ = pins.get(name)
        if id_ is None or commits.get(id_) != table.commit:
            return _MISSING
        return _tree(cursor, f"{name} ({(table.commit or '')[:10]})", {id_: ""})

    tree = with_remote_wings(own, find)
    names = {name for _, name in (*key.wings, *key.pins)}
    info = cursor.connection.info
    server = f"{info.host} {info.port} {info.dbname} {repository.id}"
    remark = (
        f"copy of {repository.name} in the hub at {commit[:10]}, pushed {pushed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    )
    # The path does not exist. It only makes the names of the caches different.
    root = _NOWHERE / "hub" / text_hash(server)[:16]
    workspace = CopyWorkspace(
        location=Location(
            root,
            f"the hub's copy of {repository.name}",
            source="hub",
            typed=f"mdmem {{}} --repository {repository.name}",
        ),
        # Private memories are not part of the copy.
        environment={},
        # Paths of code are relative to the repository's top.
        cwd=root.parent,
        today=today,
        snapshot=Snapshot(revision=commit, remarks=(remark,)),
        progress=progress,
        access=EVERYTHING if key.is_whole else Access.to_wings(names, may_write=False),
        given_tree=tree,
        tracked=frozenset(tracked),
        folders=state_folders(root, None, environment),
    )
    index = FullTextIndex(workspace.folders.index / FOLDER, progress=progress)
    return workspace.with_index(index)


def _tree(cursor: Any, name: str, wings: Mapping[int, str], *, settings: bytes = b"") -> MemoryTree:
    """Return the files of some wings, with the name of the wing as the first part of each path."""
    contents = {SETTINGS_NAME: settings} if settings else {}
    files = [TreeFile(SETTINGS_NAME, FileKind.FILE, digest_of(settings))] if settings else []
    rows = cursor.execute(
        "SELECT wing_id, path, kind, blob, content FROM file WHERE wing_id = ANY (%s)", (list(wings),), binary=True
    ).fetchall()
    for wing, stored, kind, blob, content in rows:
        path = f"{wings[wing]}/{stored}".removeprefix("/")
        if content is not None:
            contents[path] = bytes(content)
            # Compute the hash here, because the pushed value may be wrong.
            blob = digest_of(contents[path])
        files.append(TreeFile(path, FileKind(kind), blob))
    return MemoryTree(name, tuple(sorted(files, key=lambda file: file.path)), contents)
