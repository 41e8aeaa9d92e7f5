"""What was taken from files and found in them, in the cache of a root: by path and content, so that it is true again.

A file of the cache is derived: one that is torn, of another version or of other sources counts as none.
"""

from __future__ import annotations

import hashlib
import os
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

import mdmem
from mdmem.checks.case import Case
from mdmem.checks.engine import ask
from mdmem.checks.extract import KeptExtract, kept_extract
from mdmem.checks.registry import KEPT
from mdmem.model.finding import Finding
from mdmem.store.catalog import is_entry_place
from mdmem.store.state import read_packed, write_packed

_VERSION = "3"
_ALL, _RECENT = "checks.mdmem", "checks-recent.mdmem"
# Until so many were learned only the small file is written: at 10,000 entries the large one takes as long as 100 files.
_RECENT_LIMIT = 100
# Findings of one file depend on nothing else that is outside of this package.
_LIBRARIES = ("yaml", "pydantic_core")

# Files of which the documents are held at once.
_TOGETHER = 2_000

_Known = dict[str, KeptExtract]


class ExtractStore(Struct):
    """The extracts of a root's files, of all its trees, by the identity of their content and their path.

    An editor, whose texts change with each key, keeps what it learns in memory alone: its store is not `is_written`.
    """

    folder: Path
    is_written: bool = True
    _known: _Known = field(default_factory=dict)
    _recent: _Known = field(default_factory=dict)

    def load(self) -> ExtractStore:
        """Read what is there, and return self."""
        self._known, self._recent = self._read(_ALL), self._read(_RECENT)
        return self

    def _read(self, name: str) -> _Known:
        return read_packed(self.folder / name, version(), _Known) or {}

    def _write(self, name: str, known: _Known) -> bool:
        return self.is_written and write_packed(self.folder / name, version(), known)

    def find(self, digests: Mapping[str, str]) -> _Known:
        """Return what is known of files of such content, by path."""
        known = self._known | self._recent if self._recent else self._known
        keys = ((path, f"{digest} {path}") for path, digest in digests.items())
        return {path: known[key] for path, key in keys if key in known}

    def keep(self, made: Mapping[str, KeptExtract], digests: Mapping[str, str]) -> None:
        """Keep what was made of files of such content; `digests` are those of all files of the tree."""
        self._recent |= {f"{digests[path]} {path}": one for path, one in made.items()}
        if len(self._recent) <= _RECENT_LIMIT < len(self._known):
            self._write(_RECENT, self._recent)
            return
        known = self._known | self._recent
        if len(known) > 4 * len(digests) + 4000:
            used = {f"{digest} {path}" for path, digest in digests.items()}
            known = {key: one for key, one in known.items() if key in used}
        self._known, self._recent = known, {}
        if self._write(_ALL, known):
            self._write(_RECENT, {})


def version() -> str:
    """Return what must be the same for a file of the cache to count."""
    return f"checks {_VERSION} {sources()}"


@cache
def sources() -> str:
    """Return what tells this program's sources, and those that it parses with, from any others."""
    folder = Path(mdmem.__file__).parent
    read = (folder, *(folder / name for name in ("checks", "checks/fixes", "checks/rules", "markdown", "model")))
    read += tuple(folder / "store" / name for name in ("catalog", "settings", "tree"))
    stats = [*(_stat(item) for one in read for item in sorted(os.scandir(one), key=lambda item: item.name))]
    libraries = [_stat(Path(spec.origin)) for name in _LIBRARIES if (spec := find_spec(name)) and spec.origin]
    told = (mdmem.__version__, sys.version, unicodedata.unidata_version, *filter(None, stats), *libraries)
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _stat(item: os.DirEntry[str] | Path) -> tuple[str, int, int] | None:
    if not item.name.endswith((".py", ".so", ".pyd")):
        return None
    stat = item.stat()
    return os.fspath(item), stat.st_size, stat.st_mtime_ns


def with_extracts(case: Case, store: ExtractStore) -> Case:
    """Return a case that knows of each file what the checks want of it alone; nothing of it where a check fails.

    What is learned is kept. Who sees a part of the memory is told nothing by what was kept of the whole.
    """
    if case.catalog.access.is_narrow:
        return case
    digests = case.catalog.file_digests
    kept = store.find(digests)
    fresh = {path: digest for path, digest in digests.items() if path not in kept}
    made = _made_of_all(case, fresh) if fresh else {}
    if made is None:
        return replace(case, kept=kept)
    if made:
        store.keep(made, digests)
    return replace(case, kept={**kept, **made})


def _made_of_all(case: Case, fresh: Mapping[str, str]) -> _Known | None:
    """Return what `extracts_of` does, of so many files at a time that their documents take little."""
    made: _Known = {}
    for start in range(0, len(fresh), _TOGETHER):
        part = dict(islice(fresh.items(), start, start + _TOGETHER))
        # What few files say is asked for again by other checks.
        one = case if len(part) == len(fresh) else replace(case, catalog=replace(case.catalog, _documents={}))
        if (some := extracts_of(one, part)) is None:
            return None
        made |= some
    return made


def extracts_of(case: Case, fresh: Mapping[str, str]) -> _Known | None:
    """Return the extracts of files that were read as they were listed; None where a check fails."""
    case = replace(case, kept={}, focus=frozenset(filter(is_entry_place, fresh)))
    findings: dict[str, list[Finding]] = {}
    for code in KEPT:
        found = ask(code, case)
        if isinstance(found, Exception):
            return None
        for one in found:
            findings.setdefault(one.place.path, []).append(one)
    made = {}
    for path, digest in fresh.items():
        document, told = case.catalog.document(path), findings.get(path, [])
        is_same = case.catalog.digest_of(path, document.data) == digest
        if is_same and _is_its_own(path, told):
            own = tuple(told) if is_entry_place(path) else ()
            made[path] = kept_extract(case.extract(path), own)
    return made


def _is_its_own(path: str, told: Sequence[Finding]) -> bool:
    """Say whether findings are of one file alone, their fixes included: others are never kept."""
    return all(one.fix is None or one.fix.paths == (path,) for one in told)
