"""The workspace of a server: entries that were loaded once are kept as long as no file changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mdmem.access import Access
from mdmem.catalog import Catalog
from mdmem.tree import FileKind, Tree, TreeFile
from mdmem.workspace.workspace import Workspace

# So many callers' views are kept.
_VIEWS = 8


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the files were when a catalog was loaded from them; looked at before that, so that it is never too new."""

    files: tuple[TreeFile, ...]
    digests: Mapping[str, str]

    @classmethod
    def of(cls, tree: Tree) -> _Seen:
        files = tree.files()
        return cls(files, tree.digests([file for file in files if file.kind is FileKind.FILE]))


class CatalogCache:
    """The catalog that was loaded last, for each root and each view that a caller may have of its files."""

    def __init__(self) -> None:
        """Start without any."""
        self._turn = threading.Lock()
        self._known: dict[tuple[Path, Access], tuple[_Seen, Catalog]] = {}

    def catalog(self, workspace: Workspace) -> Catalog:
        """Return the entries as the files are now."""
        # A caller's own memory is read beside the team's.
        tree, view = workspace.tree, (workspace.location.root, workspace.access)
        seen = _Seen.of(tree)
        with self._turn:
            before = self._known.get(view)
        if before is not None and before[0] == seen:
            return before[1].over(tree)
        loaded = workspace.load_entries()
        with self._turn:
            while len(self._known) >= _VIEWS:
                self._known.pop(next(iter(self._known)))
            self._known[view] = (seen, loaded)
        return loaded


@dataclass(frozen=True)
class ServedWorkspace(Workspace):
    """A workspace of a server; replaced, it shares what was loaded."""

    recent: CatalogCache = field(default_factory=CatalogCache, repr=False, compare=False)

    def _loaded(self) -> Catalog:
        """Return the entries, those of the call before where nothing changed."""
        if not self.snapshot.is_working_tree:
            return self.load_entries()
        return self.recent.catalog(self)
