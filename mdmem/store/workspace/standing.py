"""How what is read stands to the default branch: the same there, proposed on this branch, or changed on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from mdmem.errors import MdmemError
from mdmem.model.standing import Standing
from mdmem.store.catalog import is_entry_place
from mdmem.store.git import Blob, Repository, UnknownRevisionError, resolve
from mdmem.store.git.discovery import DefaultBranch, find_default_branch
from mdmem.store.git.merge import merge_base
from mdmem.store.git.status import last_touches, list_changed_on_disk, list_differing
from mdmem.store.tree import SETTINGS_NAME, FileKind, GitTree, path_of
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.store.git.status import Touch

_MANIFEST = re.compile(r"[^/]+/README\.md")


class Standings(Struct, frozen=True):
    """How the files of a tree stand to the default branch, by path from the root; what is not named is the same there.

    `displaced` are the files of the default branch, with their digests, that a proposal changed or took away. What the
    default branch alone has added or changed since this one left it is no proposal: those that are older here are
    outdated, those that are not here are not missed. `settings` is the digest of its settings, None where it has none;
    what is read `is_agreed` where it was the default branch's itself, now or then.
    """

    branch: DefaultBranch
    found: Mapping[str, Standing] = field(default_factory=dict)
    displaced: Mapping[str, str] = field(default_factory=dict)
    touches: Mapping[str, Touch] = field(default_factory=dict)
    settings: str | None = None
    is_agreed: bool = False


def find_standings(workspace: Workspace) -> Standings | None:
    """Return how the tree of a workspace stands; None where that cannot be told, as before the first commit.

    A commit in the history of the default branch was binding itself. Of the index and of a merge nothing is told.
    """
    snapshot, repository = workspace.snapshot, workspace.location.repository
    if repository is None or snapshot.staged or snapshot.merge_into is not None:
        return None
    try:
        branch = find_default_branch(repository)
        if branch is None:
            return None
        return _StandingScan(workspace, repository, branch).standings()
    # What cannot be told is left out: an answer without it is an answer.
    except (MdmemError, OSError, ValueError):
        return None


class _StandingScan(Struct, frozen=True, dict=True):
    """One comparison of a tree with the default branch; paths count from the root."""

    workspace: Workspace
    repository: Repository
    branch: DefaultBranch

    def standings(self) -> Standings | None:
        if self._commit is None:
            return None
        if self.workspace.snapshot.is_dated or (not self._is_disk and self._base == self._commit):
            return Standings(self.branch, is_agreed=True)
        found = dict(self._found())
        binding = self._binding
        # What is read as it binds is not displaced.
        candidates = sorted(self._unlike_binding[1] | (binding.keys() & found.keys()))
        displaced = {path: binding[path] for path in candidates if self._is_displaced(path, found)}
        is_proposed = Standing.PROPOSED in found.values()
        touches = self._touches() if is_proposed else {}
        return Standings(self.branch, found, displaced, touches, self._binding.get(SETTINGS_NAME))

    @property
    def _is_disk(self) -> bool:
        return self.workspace.snapshot.is_working_tree

    @cached_property
    def _commit(self) -> str | None:
        """The commit that is read, or that the files on disk come from; None before the first one."""
        if self._is_disk and self.branch.is_here:
            return self.branch.commit
        try:
            return resolve(self.repository, self.workspace.snapshot.revision or "HEAD")
        except UnknownRevisionError:
            return None

    @cached_property
    def _base(self) -> str | None:
        """The commit at which the branch left the default one; None where a shallow clone, or nothing, has it."""
        if self._commit == self.branch.commit:
            return self._commit
        try:
            return merge_base(self.repository, self.branch.commit, self._commit or "")
        except MdmemError:
            return None

    @cached_property
    def _binding(self) -> Mapping[str, str]:
        """The digest of each file of the default branch."""
        listed = GitTree(self.repository, self.workspace.location.under, self.branch.commit, self.branch.ref).files()
        return {one.path: one.digest or "" for one in listed if one.kind is FileKind.FILE}

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.workspace.location.under}/") if self.workspace.location.under else path

    def _from_top(self, path: str) -> str:
        return f"{self.workspace.location.under}/{path}" if self.workspace.location.under else path

    def _differing(self, one: str) -> dict[str, Blob | None]:
        listed = list_differing(self.repository, one, self._commit or "", self.workspace.location.under)
        return {self._from_root(path): blob for path, blob in listed.items()}

    @cached_property
    def _unlike(self) -> dict[str, Blob | None]:
        """What the commit holds where it differs from the default branch."""
        return {} if self._commit == self.branch.commit else self._differing(self.branch.commit)

    @cached_property
    def _changed_here(self) -> frozenset[str]:
        """The files that the commits of this branch changed; of unknown history every difference counts."""
        if self._base in (None, self.branch.commit):
            return frozenset(self._unlike)
        return frozenset(self._differing(self._base or "") if self._base != self._commit else ())

    def _committed(self, path: str) -> str | None:
        """Return the digest of what the commit holds at a path."""
        if path not in self._unlike:
            return self._binding.get(path)
        blob = self._unlike[path]
        return blob.digest if blob is not None else None

    @cached_property
    def _read(self) -> dict[str, str]:
        """The digest of each file that is read and may bind; an unreadable one has none that git knows.

        Wings of other repositories are left out: what stands there was agreed upon there.
        """
        catalog = self.workspace.catalog
        # What holds an entry was read: where all do, none of thousands is looked up.
        found = catalog.file_digests
        if catalog.broken:
            found = dict.fromkeys(map(path_of, catalog.files), "") | found
        elsewhere = catalog.fetched_wings
        if not elsewhere:
            return found
        return {path: one for path, one in found.items() if path.partition("/")[0] not in elsewhere}

    @cached_property
    def _changed_on_disk(self) -> frozenset[str]:
        if not self._is_disk:
            return frozenset()
        unlike = [*self._differing_from_binding, *self._unlike.keys()]
        read = {path: self._read[path] for path in unlike if path in self._read}
        doubtful = [path for path, digest in read.items() if digest != (self._committed(path) or digest)]
        if not doubtful:
            return frozenset()
        paths = list(map(self._from_top, doubtful))
        changed = list_changed_on_disk(self.repository, paths, self.workspace.location.under)
        return frozenset(map(self._from_root, changed))

    @cached_property
    def _differing_from_binding(self) -> tuple[str, ...]:
        return self._unlike_binding[0]

    @cached_property
    def _unlike_binding(self) -> tuple[tuple[str, ...], Set[str]]:
        """The files read that are not as the default branch has them, in their order, and those that are not read."""
        read, binding = self._read, self._binding
        return tuple(path for path, digest in read.items() if binding.get(path) != digest), binding.keys() - read.keys()

    def _found(self) -> Iterator[tuple[str, Standing]]:
        for path in self._differing_from_binding:
            committed = self._committed(path)
            if self._is_disk and (committed is None or path in self._changed_on_disk):
                yield path, Standing.UNCOMMITTED
            elif path in self._changed_here:
                yield path, Standing.PROPOSED
            elif committed != self._binding.get(path):
                yield path, Standing.OUTDATED

    def _is_displaced(self, path: str, found: Mapping[str, Standing]) -> bool:
        is_read = path in self._read
        if is_read and (path not in found or not found[path].is_proposal):
            return False
        if not _is_read(path) or not self.workspace.access.sees(path):
            return False
        if path.startswith(self._unreadable):
            return False
        return is_read or path in self._changed_here or self._committed(path) is not None

    @cached_property
    def _unreadable(self) -> tuple[str, ...]:
        """What cannot be read on disk, and what lies below it: it is neither changed nor gone, but a problem."""
        catalog = self.workspace.catalog
        unlisted = (file.path for file in catalog.others if file.kind is FileKind.UNREADABLE)
        folders = ("" if path == "." else f"{path}/" for path in unlisted)
        return (*folders, *(path for path, one in catalog.broken.items() if one.is_closed))

    def _touches(self) -> Mapping[str, Touch]:
        since, tip = self._base or self.branch.commit, self._commit or ""
        touched = last_touches(self.repository, since, tip, self.workspace.location.under)
        return {self._from_root(path): touch for path, touch in touched.items()}


def _is_read(path: str) -> bool:
    """Say whether what stands at a path of the default branch may bind."""
    return is_entry_place(path) or _MANIFEST.fullmatch(path) is not None
