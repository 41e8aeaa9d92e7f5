"""Copies of repositories as workspaces: their wings, their files, and those that a server keeps loaded."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from functools import cached_property
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.hub.connection import HubError, connected, is_current, require, transaction
from mdmem.hub.permissions import require_known
from mdmem.hub.reader import Reader, SeenRepository, SeenRow, SeenWing, rows_of
from mdmem.hub.rows import unpacked_file, unpacked_wing
from mdmem.hub.text import CopyText
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import Wing
from mdmem.store.catalog import Catalog, LoadedFile, load_cached
from mdmem.store.catalog.load import NotHere, with_remote_wings
from mdmem.store.catalog.snapshot import EntryCache, FileRow
from mdmem.store.settings.model import WingSettings
from mdmem.store.tree import SETTINGS_NAME, FileKind, Tree, TreeFile, Unreadable, digest_of, path_of
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.workspace import IndexSlot, Parts, Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


SLASH = "\u2215"
"""Stands in a wing's name for the slash of its repository's: an address has two of its own."""

_NUMBER = "\u2216"
_NUMBERED = re.compile(rf"{_NUMBER}\d+")


def shown_label(text: str) -> str:
    """Return a text with the labels of wings in it as people read them."""
    return _NUMBERED.sub("", text).replace(SLASH, "/")


class WingOrigin(Struct, frozen=True):
    """Where a wing comes from: the repository by name, or the place of one, its commit, and the wing's folder there.

    `pushed_at` is when the hub got it, None of a wing that others pin.
    """

    repository: str
    commit: str
    folder: str
    wing: str
    repository_id: int | None
    pushed_at: datetime | None = None
    number: int = 0

    @property
    def name(self) -> str:
        """Return the repository by name, one that is not in the hub with the commit at which it is read."""
        return self.repository if self.repository_id is not None else f"{self.repository}@{self.commit[:10]}"

    @property
    def label(self) -> str:
        """Return the name under which the wing stands among all, whatever those who push call theirs."""
        return _in_line(f"{self.name}:{self.wing}").replace("/", SLASH) + f"{_NUMBER}{self.number}"

    def path(self, inner: str) -> str:
        """Return a file of the wing, counted from its folder, as it is counted from the top of the repository."""
        return f"{self.folder}/{inner}".removeprefix("/")


class Origins:
    """The wings that one answer is about, with where each comes from."""

    def __init__(self, reader: Reader, wings: Collection[int] | Mapping[int, SeenWing]) -> None:
        """Ask for the wings, so far as only their ids are known, and their repositories."""
        self.wings: Mapping[int, SeenWing] = wings if isinstance(wings, Mapping) else reader.wings(wings)
        owners = {wing.repository_id for wing in self.wings.values() if wing.repository_id is not None}
        self.repositories: Mapping[int, SeenRepository] = reader.repositories(owners) if owners else {}
        self.of = {key: self._origin(wing) for key, wing in self.wings.items()}
        self.labels = {key: one.label for key, one in self.of.items()}
        self.by_label = {self.labels[key]: one for key, one in self.of.items()}

    def _origin(self, wing: SeenWing) -> WingOrigin:
        owner = self.repositories.get(wing.repository_id or 0)
        if owner is None:
            # One that lives in a folder of somebody's machine has no place but its name.
            place = wing.source or wing.name
            return WingOrigin(place, wing.commit or "", wing.source_path or "", wing.name, None, number=wing.id)
        folder = f"{owner.root}/{wing.name}".removeprefix("/")
        return WingOrigin(owner.name, owner.commit, folder, wing.name, owner.id, owner.pushed_at, wing.id)

    def place(self, wing: int) -> tuple[str, str]:
        """Return where a wing is at home: its repository's place, else the commit, and its folder there."""
        one, origin = self.wings[wing], self.of[wing]
        owner = self.repositories.get(one.repository_id or 0)
        return (owner.url or owner.name if owner is not None else one.source or origin.commit), origin.folder

    def address(self, wing: int, path: str) -> str:
        """Return the address among all of a file of a wing, which passes for no line of ours."""
        return f"{self.labels[wing]}/{_in_line(path.removesuffix('.md'))}"


def _in_line(text: str) -> str:
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


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


QUESTION_SECONDS = 2
"""So long a statement may take, and so long is waited for a server that does not answer: who asks has a clone, too."""

ANSWER_SECONDS = 4
"""So long all statements of an answer may take together: less than a call may, so that the clone still answers it."""

KEPT_FILES = 50_000
"""The copies that stay loaded hold so many files at most, of some 3 KB each."""

KEPT_BYTES = 64_000_000
"""So much of their contents is kept, too: what a server shows of ten hits is ten files."""

# A repository of so few files is read at once, not file by file as they are shown.
_FEW_FILES = 3_000

SLOW_SECONDS, PAUSE_SECONDS = 1.0, 10.0
"""Who was waited for so long in vain is not asked for a while."""


class OverdueHubError(HubError):
    """An answer asks for more than the time for it lets through; the server itself is well."""


_Key = tuple[SeenRepository, date, tuple[int, ...], bool]


class _Opened(Struct, frozen=True):
    """A connection, and what closes it."""

    connection: HubConnection
    closing: ExitStack


class _SharedReader(Reader):
    """Reads in the transaction of whichever thread asks, so that what was loaded once serves all of them."""

    def __init__(self) -> None:
        # Of the thread: the cursor, and the moment after which it asks no more.
        self.held = threading.local()
        self._contents: OrderedDict[int, bytes] = OrderedDict()
        self._turn, self._bytes = threading.Lock(), 0

    def begin(self, cursor: Any) -> None:
        """Ask by a cursor, and for as long as an answer may take."""
        self.held.cursor = cursor
        self.hurry()

    def hurry(self, *, is_bound: bool = True) -> None:
        """Count the time for an answer from now on, or not at all."""
        self.held.until = monotonic() + ANSWER_SECONDS if is_bound else inf

    def contents(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of files that have some; a file never changes, another content is another one."""
        with self._turn:
            known = {one: self._contents[one] for one in ids if one in self._contents}
        asked = [one for one in ids if one not in known]
        found = super().contents(asked) if asked else {}
        with self._turn:
            for one, content in found.items():
                self._bytes += len(content) - len(self._contents.pop(one, b""))
                self._contents[one] = content
            while self._bytes > KEPT_BYTES:
                self._bytes -= len(self._contents.popitem(last=False)[1])
        return known | found

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a statement finds; raises OverdueHubError for one that comes too late."""
        if monotonic() > self.held.until:
            raise OverdueHubError(f"this takes the hub longer than {ANSWER_SECONDS} s; ask less at once")
        return rows_of(self.held.cursor, statement, values)


class ServedHub:
    """A hub as a server asks it; every question is answered from one state of it."""

    def __init__(self, dsn: str, token: str | None) -> None:
        """Take where it is and who asks; nothing is opened yet."""
        self._dsn, self._token = dsn, token
        self._reader = _SharedReader()
        self._idle: list[_Opened] = []
        # A server and what it asks name each other, and such a ring is taken apart in any order.
        weakref.finalize(self, _close, self._idle)
        self._copies: OrderedDict[_Key, RepositoryCopy] = OrderedDict()
        self._turn = threading.Lock()
        self._paused: tuple[float, HubError] | None = None

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give what reads one state of the hub; raises HubError where that does not answer, or not in time."""
        began = monotonic()
        try:
            opened = self._taken()
            with opened.closing as closing:
                with transaction(opened.connection, is_snapshot=True) as cursor:
                    self._reader.begin(cursor)
                    yield self._reader
                # Whatever goes wrong before closes it: nobody knows what it is in the middle of.
                kept = replace(opened, closing=closing.pop_all())
        except OverdueHubError:
            raise
        except HubError as error:
            self._note(error, monotonic() - began)
            raise
        self._idle.append(kept)

    def copy(self, reader: Reader, repository: SeenRepository, *, today: date) -> RepositoryCopy:
        """Return the copy of a repository, that of a question before where what is seen of it is the same."""
        seen = [wing.id for wing in reader.wings_of([repository.id])]
        seen += [pin.wing_id for pin in reader.pins_of([repository.id])]
        # Who does not see all is told of nothing else, also where all that there is now is seen.
        key = (repository, today, tuple(seen), bool(reader.read_whole([repository.id])))
        with self._turn:
            known = self._copies.get(key)
            if known is not None:
                self._copies.move_to_end(key)
                return known
        # However large it is: it serves the questions behind this one, too.
        self._reader.hurry(is_bound=False)
        made = copy_of(reader, repository, today=today)
        entries = reader.rows("SELECT id FROM file WHERE wing_id = ANY(%s) AND type IS NOT NULL", seen)
        if len(entries) <= _FEW_FILES:
            reader.contents([row[0] for row in entries])
        self._reader.hurry()
        with self._turn:
            for old in [one for one in self._copies if one[0].id == repository.id and one[:2] != key[:2]]:
                del self._copies[old]
            self._copies[key] = made
            while len(self._copies) > 1 and sum(map(_files_in, self._copies.values())) > KEPT_FILES:
                self._copies.popitem(last=False)
        return made

    def _taken(self) -> _Opened:
        """Return a connection that answers: one of before, or a new one."""
        while (opened := self._unused()) is not None:
            if is_current(opened.connection):
                return opened
            opened.closing.close()
        if self._paused is not None and monotonic() < self._paused[0]:
            raise self._paused[1]
        with ExitStack() as stack:
            seconds = QUESTION_SECONDS
            how = connected(self._dsn, token=self._token, statement_seconds=seconds, connect_seconds=seconds)
            connection = stack.enter_context(how)
            require(connection)
            require_known(connection)
            return _Opened(connection, stack.pop_all())

    def _unused(self) -> _Opened | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _note(self, error: HubError, seconds: float) -> None:
        """Let the next questions not wait for a server that was waited for in vain a moment ago."""
        if seconds > SLOW_SECONDS:
            self._paused = (monotonic() + PAUSE_SECONDS, error)


def _close(idle: list[_Opened]) -> None:
    for opened in idle:
        opened.closing.close()


def _files_in(copy: RepositoryCopy) -> int:
    return len(copy.workspace.tree.files())
