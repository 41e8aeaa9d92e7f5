"""The files that git lists, in its index, in a commit or in the result of a merge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from mdmem import SETTINGS_NAME
from mdmem.store.git.process import BlobReader, Repository
from mdmem.store.git.status import Blob, list_left_out, list_revision, list_staged
from mdmem.store.tree.model import FileKind, TreeFile, Unreadable, is_wing_manifest

_KINDS = {"120000": FileKind.SYMLINK, "160000": FileKind.SUBMODULE}


class GitTree(Struct, dict=True):
    """The files that git lists below a root, in its index or in a commit; never those on disk.

    `commit` may be a tree, too; None is the index. `only` are the paths from the top that count, None for all.
    """

    repository: Repository
    under: str
    commit: str | None
    name: str
    index: Path | None = None
    only: frozenset[str] | None = None
    _digests: dict[str, str] = field(default_factory=dict)
    _orphans: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _reader(self) -> BlobReader:
        return BlobReader(self.repository)

    def files(self) -> tuple[TreeFile, ...]:
        """Return the listed files, sorted by path."""
        return self._listed

    @cached_property
    def _listed(self) -> tuple[TreeFile, ...]:
        if self.commit is None:
            blobs = list_staged(self.repository, self.under, index=self.index)
        else:
            blobs = list_revision(self.repository, self.commit, self.under)
        prefix = f"{self.under}/" if self.under else ""
        found: dict[str, TreeFile] = {}
        for blob in blobs:
            # A link or a file at the root's own path is no root.
            if blob.path.startswith(prefix):
                path = blob.path.removeprefix(prefix)
                self._digests[path] = blob.digest
                if path[0] != "." and "/." not in path:
                    found[path] = TreeFile(path, _kind_of(blob), blob.digest)
        if not self.under:
            wings = self._wings_in(found)
            self._orphans = {
                path: file.digest or ""
                for path, file in found.items()
                if path not in wings and file.kind is FileKind.FILE and _may_be_entry(path)
            }
            found = wings
        if self.only is not None:
            found = {path: file for path, file in found.items() if f"{prefix}{path}" in self.only}
        links = [file for file in found.values() if file.kind is FileKind.SYMLINK]
        for file, (_, target) in zip(links, self._reader.read([one.digest or "" for one in links]), strict=False):
            found[file.path] = file.with_changes(target=os.fsdecode(target or b""))
        return tuple(found[path] for path in sorted(found))

    def _wings_in(self, found: dict[str, TreeFile]) -> dict[str, TreeFile]:
        """Return the settings and the files in wings, which at a repository's top are the folders with a manifest."""
        manifests = {
            path: file.digest or ""
            for path, file in found.items()
            if path.endswith("/README.md") and path.count("/") == 1 and file.kind in (FileKind.FILE, FileKind.UNMERGED)
        }
        content = dict(self._reader.read(list(manifests.values())))
        # A manifest that cannot be read may be that of a wing.
        wings = {
            path.partition("/")[0]
            for path, digest in manifests.items()
            if (read := content.get(digest)) is None or is_wing_manifest(read)
        }
        return {path: file for path, file in found.items() if path.partition("/")[0] in wings or path == SETTINGS_NAME}

    def orphans(self) -> Iterator[tuple[str, bytes]]:
        """Yield the Markdown files at `x/y/z.md` of a repository's top that are in no wing, with their bytes."""
        self.files()
        content = dict(self._reader.read(list(self._orphans.values())))
        for path, digest in self._orphans.items():
            if (read := content.get(digest)) is not None:
                yield path, read

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the given order, from one git process."""
        self.files()
        listed = [path for path in paths if path in self._digests]
        blobs = self._reader.read([self._digests[path] for path in listed])
        content = {path: blob for path, (_, blob) in zip(listed, blobs, strict=False)}
        for path in paths:
            found = content.get(path)
            yield path, Unreadable("the blob is missing from the repository") if found is None else found

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digests that git listed."""
        return {file.path: file.digest for file in files if file.digest}


def left_out_of(repository: Repository, under: str) -> GitTree | None:
    """Return the files of the index that a sparse checkout leaves out, or None where there are none."""
    paths = list_left_out(repository, under)
    return GitTree(repository, under, None, "sparse checkout", only=paths) if paths else None


def _may_be_entry(path: str) -> bool:
    return path.count("/") == 2 and path.endswith(".md") and not path.endswith("/README.md")


def _kind_of(blob: Blob) -> FileKind:
    return FileKind.UNMERGED if blob.stage else _KINDS.get(blob.mode, FileKind.FILE)
