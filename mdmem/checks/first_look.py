"""The first look at the files of a large memory: each is parsed, judged by what it says alone, and let go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from mdmem.catalog import LoadedFile, interpret, part_of
from mdmem.checks.case import Case
from mdmem.checks.extract import KeptExtract
from mdmem.checks.kept_findings import ExtractStore, extracts_of, is_large
from mdmem.dataclass import dataclass, field
from mdmem.hint import load_engine
from mdmem.settings import Settings
from mdmem.tree import Tree, Unreadable, WorkingTree

# So many documents are held at once.
_TOGETHER = 250


class SeenFile(NamedTuple):
    """What a file means, the identity of its bytes, and its extract, where no check fails."""

    loaded: LoadedFile
    digest: str
    extract: KeptExtract | None = None


_Contents = Mapping[str, bytes | Unreadable]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """Reads the files of a large memory for its catalog, and keeps the extracts that it takes from them."""

    store: ExtractStore

    def __call__(
        self, tree: Tree, paths: Sequence[str], former: Mapping[str, LoadedFile]
    ) -> Mapping[str, tuple[LoadedFile, str]] | None:
        """Return what files mean and the identity of their bytes; None where they are few."""
        looking = _Looking(tree, former)
        if not looking.is_worth_it(paths):
            return None
        load_engine()
        seen = dict(looking.at(paths))
        digests = {path: one.digest for path, one in seen.items()}
        made = {path: one.extract for path, one in seen.items() if one.extract is not None}
        self.store.keep(made, digests)
        return {path: (one.loaded, one.digest) for path, one in seen.items()}


@dataclass(frozen=True, slots=True)
class _Looking:
    """Looks at files of a tree; `former` is what some of them meant before, `held` the bytes of the first of them."""

    tree: Tree
    former: Mapping[str, LoadedFile]
    held: dict[str, bytes | Unreadable] = field(default_factory=dict)

    def is_worth_it(self, paths: Sequence[str]) -> bool:
        """Say whether files are so many, or so long, that none of their documents is held on to."""
        listed = self.tree.unread_size(paths) if isinstance(self.tree, WorkingTree) else None
        if listed is not None:
            return is_large(len(paths), listed)
        size = 0
        for contents in self._read(paths):
            self.held.update(contents)
            size += sum(len(one) for one in contents.values() if isinstance(one, bytes))
            if is_large(len(self.held), size):
                return True
        return False

    def at(self, paths: Sequence[str]) -> Iterator[tuple[str, SeenFile]]:
        """Yield what is seen in files, of which no more than some documents are held at once."""
        for contents in self._read(paths):
            yield from self._some(contents)

    def _read(self, paths: Sequence[str]) -> Iterator[_Contents]:
        for start in range(0, len(paths), _TOGETHER):
            part = paths[start : start + _TOGETHER]
            held = {path: self.held[path] for path in part if path in self.held}
            yield held | dict(self.tree.read([path for path in part if path not in held]))

    def _some(self, contents: _Contents) -> Iterator[tuple[str, SeenFile]]:
        # Where no file changed none is parsed.
        from mdmem.document.parse import parse_document, unreadable_document

        documents = {
            path: unreadable_document(path, one.reason) if isinstance(one, Unreadable) else parse_document(path, one)
            for path, one in contents.items()
        }
        loaded = {path: interpret(document, self.former.get(path)) for path, document in documents.items()}
        digests = {path: self.tree.identity(path, document.data) for path, document in documents.items()}
        open_ = {path: digest for path, digest in digests.items() if not loaded[path].is_closed}
        # What a check says of one file hangs on no settings and no day.
        case = Case(part_of(self.tree, documents, loaded), Settings(), date.min)
        extracts = extracts_of(case, open_, is_read=True) or {}
        for path, one in loaded.items():
            yield path, SeenFile(one, digests[path], extracts.get(path))
