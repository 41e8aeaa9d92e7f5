"""One opened root: where it is, which moment of it is read, and the parts that every verb needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from mdmem.budget import content_of
from mdmem.catalog import Catalog, load, load_cached, settings_bytes
from mdmem.entry.model import Entry
from mdmem.errors import GitError, SettingsError
from mdmem.finding import Place
from mdmem.gitrepo import resolve, staged_index
from mdmem.index.protocol import FullText, IndexDocument, Progress
from mdmem.settings import Settings, parse_settings
from mdmem.state import Places, StatCache, places
from mdmem.tree import SETTINGS_NAME, FileKind, GitTree, Tree, Unreadable, WorkingTree, read_one
from mdmem.workspace.location import Location


@dataclass(frozen=True, slots=True)
class Moment:
    """Which state of the files is read: the working tree, git's index, or a revision."""

    revision: str | None = None
    staged: bool = False


@dataclass(frozen=True)
class Opened:
    """One root at one moment and on one day: each part is built once, when it is first needed."""

    location: Location
    environment: Mapping[str, str]
    cwd: Path
    today: date
    moment: Moment = Moment()
    progress: Progress | None = None

    @cached_property
    def tree(self) -> Tree:
        """Return the files of the moment; raises GitError without git and UsageError for no revision."""
        if self.moment.staged or self.moment.revision is not None:
            return self._git_tree()
        location = self.location
        is_top = location.repository is not None and location.under == ""
        return WorkingTree(location.root, is_top, StatCache(self._places.index / "stat.json").load())

    def _git_tree(self) -> GitTree:
        repository = self.location.repository
        if repository is None:
            raise GitError(self.location.git_fault or f"{self.location.root} is in no git repository")
        if self.moment.revision is None:
            index = staged_index(repository, self.environment, self.cwd)
            return GitTree(repository, self.location.under, None, "git index", index)
        commit = resolve(repository, self.moment.revision)
        return GitTree(repository, self.location.under, commit, f"{self.moment.revision} ({commit[:10]})")

    @cached_property
    def settings(self) -> Settings:
        """Return the settings of the tree that is read; raises SettingsError."""
        content = settings_bytes(self.tree)
        if isinstance(content, Unreadable):
            raise SettingsError(f"{SETTINGS_NAME} cannot be read: {content.reason.lower()}")
        return parse_settings(content)

    @cached_property
    def catalog(self) -> Catalog:
        """Return the entries, through the cache of parsed ones."""
        return load_cached(self.tree, self._places.shared)

    @cached_property
    def index(self) -> FullText:
        """Return the full-text index; one of another tree than the working tree is never written."""
        from mdmem.index.whoosh_index import WhooshIndex

        return WhooshIndex(self._places.index / "text", persist=self._is_working_tree, progress=self.progress)

    @cached_property
    def _places(self) -> Places:
        return places(self.location.root, self.location.repository, self.environment)

    @property
    def _is_working_tree(self) -> bool:
        return not self.moment.staged and self.moment.revision is None

    @cached_property
    def whole_catalog(self) -> Catalog:
        """Return the entries with every file parsed, as the checks need them."""
        return load(self.tree)

    def texts(self, addresses: Sequence[str]) -> Iterator[IndexDocument]:
        """Yield what the index takes in of entries; one whose file went away meanwhile is left out."""
        for address, body, digest in self.catalog.bodies(addresses):
            yield _indexed(self.catalog.entries[address], digest, body)

    @cached_property
    def _plain_files(self) -> frozenset[str]:
        """The files that can be opened: to open a pipe would wait for ever."""
        return frozenset(file.path for file in self.tree.files() if file.kind is FileKind.FILE)

    def line_of(self, place: Place) -> str | None:
        """Return the line of a file that a place is in, or None where the file cannot be read as text."""
        if place.path not in self._plain_files:
            return None
        content = read_one(self.tree, place.path)
        if isinstance(content, Unreadable):
            return None
        lines = content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return lines[place.line - 1] if place.line <= len(lines) else None


def _indexed(entry: Entry, digest: str, body: str) -> IndexDocument:
    return IndexDocument(
        key=entry.address,
        digest=digest,
        title=entry.title,
        body=content_of(entry, body),
        type=entry.type.value,
        status=entry.status.value,
        wing=entry.wing,
        room=entry.room,
        label=entry.label,
        focus=entry.focus,
        owner=entry.owner,
        topic=entry.topic,
        tags=entry.tags,
        created_at=entry.created_at.isoformat() if entry.created_at else None,
        verified_at=entry.verified_at.isoformat() if entry.verified_at else None,
    )
