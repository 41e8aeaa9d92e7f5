"""The files that git lists, in its index, in a commit or in the result of a merge."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from mdmem import SETTINGS_NAME
from mdmem.store.git import Blob, BlobReader, Repository, list_apart, list_left_out, list_revision, list_staged
from mdmem.store.tree.model import FileKind, TreeFile, Unreadable, digest_of, is_wing_manifest


class GitTree(Struct, dict=True):
    """The files that git lists below a root, in its index or in a commit; never what is on disk.

    `commit` may be a tree, too; None is the index. `only` are the paths from the top that count, None for all.
    `beside` is the index that a commit has most in common with, so that only what differs need be listed.
    """

    repository: Repository
    under: str
    commit: str | None
    name: str
    index: Path | None = None
    only: frozenset[str] | None = None
    beside: GitTree | None = None
    _listed: tuple[TreeFile, ...] | None = None
    _digests: dict[str, str] = field(default_factory=dict)
    _orphans: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _reader(self) -> BlobReader:
        """The one reader of this tree's blobs."""
        return BlobReader(self.repository)

    def files(self) -> tuple[TreeFile, ...]:
        """Return the listed files, sorted by path."""
        if self._listed is None:
            self._listed = (self._list_beside(self.beside) if self.beside is not None else None) or self._list()
        return self._listed

    def _list_beside(self, index: GitTree) -> tuple[TreeFile, ...] | None:
        """Return the files of the index but for what the commit has otherwise; None where that is more than entries."""
        files = {file.path: file for file in index.files()}
        apart = list_apart(self.repository, self.commit or "", self.under, index=index.index)
        if apart is None or not files:
            return None
        digests, wings = dict(index._digests), {path.partition("/")[0] for path in files}
        for path, blob in apart.items():
            name = path.removeprefix(f"{self.under}/") if self.under else path
            # A manifest decides what is a wing, and a name with a dot in front is left out.
            if not _may_be_entry(name) or "/." in f"/{name}" or name.partition("/")[0] not in wings:
                return None
            files.pop(name, None)
            digests.pop(name, None)
            if blob is not None:
                files[name], digests[name] = TreeFile(name, _kind_of(blob), blob.digest), blob.digest
        self._digests, self._orphans = digests, index._orphans
        return tuple(files[path] for path in sorted(files))

    def _list(self) -> tuple[TreeFile, ...]:
        prefix = f"{self.under}/" if self.under else ""
        found: dict[str, TreeFile] = {}
        digests, start = self._digests, len(prefix)
        for blob in self._blobs():
            whole, mode, digest, stage = blob
            # What stands at the root's own path, as a link or a file, is no root.
            if whole.startswith(prefix):
                path = whole[start:]
                digests[path] = digest
                if path[0] != "." and "/." not in path:
                    is_plain = mode[:3] == "100" and not stage
                    found[path] = TreeFile(path, FileKind.FILE if is_plain else _kind_of(blob), digest)
        if not self.under:
            wings = self._wings_only(found)
            apart = (file for path, file in found.items() if path not in wings) if len(wings) < len(found) else ()
            plain = (file for file in apart if file.kind is FileKind.FILE and _may_be_entry(file.path))
            self._orphans = {file.path: file.digest or "" for file in plain}
            found = wings
        if self.only is not None:
            found = {path: file for path, file in found.items() if f"{prefix}{path}" in self.only}
        found |= self._targets(found)
        return tuple(found[path] for path in sorted(found))

    def _blobs(self) -> list[Blob]:
        if self.commit is None:
            return list_staged(self.repository, self.under, index=self.index)
        return list_revision(self.repository, self.commit, self.under)

    def _wings_only(self, found: dict[str, TreeFile]) -> dict[str, TreeFile]:
        manifests = {
            path: file.digest or ""
            for path, file in found.items()
            if path.endswith("/README.md") and path.count("/") == 1 and file.kind in (FileKind.FILE, FileKind.UNMERGED)
        }
        content = dict(self._reader.read(list(manifests.values())))
        # What cannot be read may be a wing, and then a wing is missing.
        wings = {
            path.partition("/")[0]
            for path, digest in manifests.items()
            if (read := content.get(digest)) is None or is_wing_manifest(read)
        }
        return {path: file for path, file in found.items() if path.partition("/")[0] in wings or path == SETTINGS_NAME}

    def _targets(self, found: dict[str, TreeFile]) -> dict[str, TreeFile]:
        links = [file for file in found.values() if file.kind is FileKind.SYMLINK]
        blobs = self._reader.read([file.digest or "" for file in links])
        said = (os.fsdecode(content or b"") for _, content in blobs)
        return {file.path: file.with_changes(target=target) for file, target in zip(links, said, strict=False)}

    def orphans(self) -> Iterator[tuple[str, bytes]]:
        """Yield the Markdown files that a repository's top holds at `x/y/z.md` in no wing, with their bytes."""
        self.files()
        content = dict(self._reader.read(list(self._orphans.values())))
        for path, digest in self._orphans.items():
            if (read := content.get(digest)) is not None:
                yield path, read

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, in the order asked, from one git process; one that is not listed, too."""
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

    def identity(self, path: str, content: bytes) -> str:
        """Return the digest that git listed."""
        return self._digests.get(path) or digest_of(content)


def left_out_of(repository: Repository, under: str) -> GitTree | None:
    """Return the files of the index that a sparse checkout leaves out, or None where there are none."""
    paths = list_left_out(repository, under)
    return GitTree(repository, under, None, "sparse checkout", only=paths) if paths else None


def _may_be_entry(path: str) -> bool:
    return path.count("/") == 2 and path.endswith(".md") and not path.endswith("/README.md")


def _kind_of(blob: Blob) -> FileKind:
    if blob.stage:
        return FileKind.UNMERGED
    return _KINDS.get(blob.mode, FileKind.FILE)


_KINDS = {"120000": FileKind.SYMLINK, "160000": FileKind.SUBMODULE}
