"""A repository's copy as a workspace: its rows are the tree, their records the catalog, the server the full text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.hub.origins import Origins, WingOrigin
from mdmem.hub.reader import Reader, SeenRepository, SeenRow
from mdmem.hub.rows import unpacked_file, unpacked_wing
from mdmem.hub.text import CopyText
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import Wing
from mdmem.store.catalog import Catalog, LoadedFile, load_cached
from mdmem.store.catalog.remote_wings import NotHere, with_remote_wings
from mdmem.store.catalog.snapshot import EntryCache, FileRow
from mdmem.store.settings.model import WingSettings
from mdmem.store.tree import SETTINGS_NAME, FileKind, Tree, TreeFile, Unreadable, digest_of, path_of
from mdmem.store.workspace.location import Location
from mdmem.store.workspace.snapshot import Snapshot
from mdmem.store.workspace.workspace import IndexSlot, Parts, Workspace

NOWHERE = Path(os.devnull)
"""Where no file is, nor can be: a copy lies in no folder."""

_NOT_COPIED = "is not in the hub, or not for you"


class CopiedFiles:
    """The files of some rows, by their paths as the tree counts them, and the settings; bytes are asked for late."""

    def __init__(
        self,
        name: str,
        rows: Mapping[str, SeenRow],
        reader: Reader,
        *,
        settings: bytes = b"",
        held: Mapping[int, bytes] | None = None,
    ) -> None:
        """Take the rows, what reads their bytes, and those that were read already."""
        self.name, self._rows, self._reader, self._settings = name, rows, reader, settings
        self._held = held or {}

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything that was pushed, sorted by path."""
        return self._listed

    @cached_property
    def _listed(self) -> tuple[TreeFile, ...]:
        files = [TreeFile(path, FileKind(row.kind), row.blob) for path, row in self._rows.items()]
        stated = [TreeFile(SETTINGS_NAME, FileKind.FILE, digest_of(self._settings))] if self._settings else []
        return tuple(sorted([*files, *stated], key=path_of))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked, the server being asked once."""
        wanted = [self._rows[path].id for path in paths if path in self._rows]
        missing = [one for one in wanted if one not in self._held]
        found = {**self._held, **self._reader.contents(missing)} if missing else self._held
        for path in paths:
            row = self._rows.get(path)
            content = self._settings if path == SETTINGS_NAME else found.get(row.id) if row is not None else None
            yield path, Unreadable("No such file or directory") if content is None else content

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the blob of each file."""
        return {file.path: file.digest for file in files if file.digest is not None}

    def identity(self, path: str, content: bytes) -> str:
        """Return the blob of a row, whose bytes never change while it is asked."""
        row = self._rows.get(path)
        return digest_of(content) if row is None or row.blob is None else row.blob


class RecordCache(EntryCache):
    """What rows of the hub hold of their files, by path, and of manifests, by digest; the others are parsed."""

    def __init__(self, files: Mapping[str, LoadedFile], wings: Mapping[str, Wing | None]) -> None:
        """Take what the rows hold in our format."""
        super().__init__()
        self._files, self._stated = files, wings

    def loaded(self, path: str, digest: str | None) -> LoadedFile | None:
        """Return what the row of a file holds."""
        return self._files.get(path) or super().loaded(path, digest)

    def manifest(self, path: str, digest: str | None) -> FileRow | None:
        """Return what the row of a manifest holds."""
        if digest is not None and digest in self._stated:
            return FileRow(digest, wing=self._stated[digest], is_loaded=True)
        return super().manifest(path, digest)


class CopyWorkspace(Workspace, frozen=True, eq=False):
    """What a hub has of one or more repositories, opened as if it were a root: everything in it is agreed upon."""

    records: RecordCache = field(default_factory=lambda: RecordCache({}, {}))
    tracked: frozenset[str] = frozenset()

    def _loaded(self) -> Catalog:
        """Return the entries, of which none is only proposed: what is pushed is the default branch's."""
        return replace(load_cached(self.tree, self.records), stances={})

    def tracked_files(self) -> frozenset[str]:
        """Return those of the tracked files that say which shared wings bind."""
        return self.tracked


class RepositoryCopy(Struct, frozen=True):
    """A repository as the hub has it, the workspace that answers for it, and where its wings come from, by name."""

    repository: SeenRepository
    workspace: CopyWorkspace
    origins: Mapping[str, WingOrigin]


def open_copy(reader: Reader, name: str, *, today: date) -> RepositoryCopy:
    """Return the copy of a repository; raises NotFoundError for one that the hub does not have, or does not show."""
    return copy_of(reader, reader.get_repository(name), today=today)


def copy_of(reader: Reader, repository: SeenRepository, *, today: date) -> RepositoryCopy:
    """Return the copy of a repository that was found."""
    settings, tracked = reader.settings(repository.id)
    own = {wing.id: wing for wing in reader.wings_of([repository.id])}
    pins = {pin.name: pin.wing_id for pin in reader.pins_of([repository.id])}
    # One that several pin may be called otherwise by each.
    called = {key: name for name, key in pins.items()}
    pinned = {key: replace(wing, name=called[key]) for key, wing in reader.wings(pins.values()).items()}
    wings = own | pinned
    rows = {f"{wings[row.wing_id].name}/{row.path}": row for row in reader.files_of(wings)}
    said = f"{repository.name} ({repository.commit[:10]})"
    inner = {path: row for path, row in rows.items() if row.wing_id in own}

    def find(named: str, stated: WingSettings) -> Tree | NotHere:
        wing = wings.get(pins.get(named, 0))
        if wing is None or wing.commit != stated.commit:
            return NotHere(_NOT_COPIED, "a push of this repository brings it")
        files = {row.path: row for row in rows.values() if row.wing_id == wing.id}
        return CopiedFiles(f"{named} ({(wing.commit or '')[:10]})", files, reader)

    tree = with_remote_wings(CopiedFiles(said, inner, reader, settings=settings), find)
    names = {wing.name for wing in own.values()} | pins.keys()
    workspace = workspace_over(
        tree,
        records_of(rows),
        today=today,
        said=said,
        commit=repository.commit,
        typed=f"mdmem hub {{}} --repository {repository.name}",
    )
    workspace = replace(
        workspace,
        tracked=frozenset(tracked),
        access=EVERYTHING if reader.read_whole([repository.id]) else Access.to_wings(names, may_write=False),
        parts=replace(workspace.parts, index=IndexSlot(CopyText(reader, wings))),
    )
    of = Origins(reader, wings).of
    here = {wing.name: key for key, wing in own.items()} | {name: key for name, key in pins.items() if key in of}
    origins = {name: replace(of[key], wing=name) for name, key in here.items()}
    return RepositoryCopy(repository, workspace, origins)


def workspace_over(
    tree: Tree, records: RecordCache, *, today: date, said: str, commit: str, typed: str = "mdmem hub {}"
) -> CopyWorkspace:
    """Return a workspace over files of a hub."""
    return CopyWorkspace(
        location=Location(NOWHERE / "hub" / "memory", f"the hub's copy of {said}", source="hub", typed=typed),
        environment={},
        cwd=NOWHERE,
        today=today,
        snapshot=Snapshot(revision=commit),
        parts=Parts(tree),
        records=records,
    )


def records_of(rows: Mapping[str, SeenRow]) -> RecordCache:
    """Return what rows hold of what their files mean, by their paths."""
    files: dict[str, LoadedFile] = {}
    wings: dict[str, Wing | None] = {}
    for path, row in rows.items():
        if is_entry_row(row):
            if (loaded := unpacked_file(row.record)) is not None:
                files[path] = loaded.at(path)
        elif row.blob is not None and (wing := unpacked_wing(row.record)) is not None:
            wings[row.blob] = wing
    return RecordCache(files, wings)


def is_entry_row(row: SeenRow) -> bool:
    """Say whether a row is a file in an entry's place."""
    return row.path.count("/") == 1
