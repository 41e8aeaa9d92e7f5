"""The first look at the files of a large memory: each is parsed, judged by what it says alone, and let go.

Half of that is done by a second process where a core is free; what comes back are records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from pathlib import Path

from mdmem.catalog import LoadedFile, interpret, part_of
from mdmem.catalog.content import read_moments
from mdmem.checks.case import Case
from mdmem.checks.extract import KeptExtract
from mdmem.checks.kept_findings import ExtractStore, extracts_of, is_large, version
from mdmem.dataclass import dataclass
from mdmem.record import StoredRecord, pack, unpack
from mdmem.settings import Settings
from mdmem.tree import Tree, Unreadable

# So many documents are held at once, and so many looked at before there are two processes.
_TOGETHER, _FIRST = 250, 16


class SeenFile(StoredRecord, frozen=True, array_like=True):
    """What a file means, the identity of its bytes, and its extract, where no check fails."""

    loaded: LoadedFile
    digest: str
    extract: KeptExtract | None = None


_Seen = dict[str, SeenFile]
_Contents = Mapping[str, bytes | Unreadable]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """Reads the files of a large memory for its catalog, and keeps the extracts that it takes from them."""

    cache: Path

    def __call__(
        self, tree: Tree, paths: Sequence[str], former: Mapping[str, LoadedFile]
    ) -> Mapping[str, tuple[LoadedFile, str]] | None:
        """Return what files mean and the identity of their bytes; None where they are few."""
        # Two processes cannot read from one git.
        contents = dict(tree.read(paths)) if paths else {}
        if not is_large(len(contents), sum(len(one) for one in contents.values() if isinstance(one, bytes))):
            return None
        seen = _looked_at(_Looking(tree, former), contents)
        digests = {path: one.digest for path, one in seen.items()}
        made = {path: one.extract for path, one in seen.items() if one.extract is not None}
        ExtractStore(self.cache).load().keep(made, digests)
        return {path: (one.loaded, one.digest) for path, one in seen.items()}


def _looked_at(looking: _Looking, contents: _Contents) -> _Seen:
    """Return what is seen in files, in the order of their paths."""
    # Imported here: few runs need it.
    from mdmem.index import fork

    # What a look imports is then imported in both processes.
    first = dict(islice(contents.items(), _FIRST))
    seen = looking.at(first)
    rest = {path: content for path, content in contents.items() if path not in first}
    if not fork.is_free():
        return seen | looking.at(rest)
    ours, theirs = (dict(islice(rest.items(), place, None, 2)) for place in (0, 1))
    with fork.beside(lambda: pack(version(), looking.at(theirs))) as wait:
        seen |= looking.at(ours)
        told = unpack(wait(), version(), _Seen)
    is_told = told is not None and read_moments((one.loaded for one in told.values()), ())
    seen |= told if told is not None and is_told else looking.at(theirs)
    return {path: seen[path] for path in contents}


@dataclass(frozen=True, slots=True)
class _Looking:
    """Looks at files of a tree; `former` is what some of them meant before."""

    tree: Tree
    former: Mapping[str, LoadedFile]

    def at(self, contents: _Contents) -> _Seen:
        """Return what is seen in files, no more than some of whose documents are held at once."""
        left = iter(contents.items())
        return {
            path: one for _ in range(0, len(contents), _TOGETHER) for path, one in self._some(islice(left, _TOGETHER))
        }

    def _some(self, contents: Iterator[tuple[str, bytes | Unreadable]]) -> Iterator[tuple[str, SeenFile]]:
        # Where no file changed none is parsed.
        from mdmem.document.parse import parse_document, unreadable_document

        documents = {
            path: unreadable_document(path, one.reason) if isinstance(one, Unreadable) else parse_document(path, one)
            for path, one in contents
        }
        loaded = {path: interpret(document, self.former.get(path)) for path, document in documents.items()}
        digests = {path: self.tree.identity(path, document.data) for path, document in documents.items()}
        open_ = {path: digest for path, digest in digests.items() if not loaded[path].is_closed}
        # What a check says of one file hangs on no settings and no day.
        case = Case(part_of(self.tree, documents, loaded), Settings(), date.min)
        extracts = extracts_of(case, open_) or {}
        for path, one in loaded.items():
            yield path, SeenFile(one, digests[path], extracts.get(path))
