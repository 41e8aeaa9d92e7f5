"""A cache of the facts and findings of single files, by path and content.

The cache file can be deleted at any time. A damaged file, or one of another version of mdmem, counts as missing.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

import mdmem
from mdmem.checks.case import Case
from mdmem.checks.check import get_checks
from mdmem.checks.engine import try_check
from mdmem.checks.prose import FileFacts
from mdmem.model.finding import Finding
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.state.files import read_packed, write_packed

_VERSION = "4"
_NAME = "checks.mdmem"
# The only libraries outside this package that the findings of a single file depend on.
_LIBRARIES = ("yaml", "pydantic_core")
# The number of documents that are in memory at the same time.
_CHUNK = 2_000

_Known = dict[str, FileFacts]


class FileCache(Struct):
    """The facts of a root's files, by hash and path; all trees of the root share them.

    An editor, in which texts change with each key, sets `is_written=False` to keep the facts in memory only.
    """

    folder: Path
    is_written: bool = True
    _known: _Known | None = None

    def with_facts(self, case: Case) -> Case:
        """Return a case with the facts of its files; facts that are not cached are computed and added to the cache.

        For a caller who sees only some wings the cache is not used, because it has facts about all wings.
        """
        if case.catalog.access.is_narrow:
            return case
        if self._known is None:
            self._known = read_packed(self.folder / _NAME, _version(), _Known) or {}
        keys = {path: f"{digest} {path}" for path, digest in case.catalog.file_digests.items()}
        found = {path: self._known[key] for path, key in keys.items() if key in self._known}
        made = _make_facts(case, [path for path in keys if path not in found])
        found |= made
        if made:
            self._known |= {keys[path]: facts for path, facts in made.items()}
            if len(self._known) > 4 * len(keys) + 4000:
                self._known = {keys[path]: facts for path, facts in found.items()}
            if self.is_written:
                write_packed(self.folder / _NAME, _version(), self._known)
        return replace(case, cached=found)


@cache
def _version() -> str:
    """Return a text that changes with mdmem's sources and with the libraries in `_LIBRARIES`."""
    sources = sorted(Path(mdmem.__file__).parent.rglob("*.py"))
    libraries = [Path(spec.origin) for name in _LIBRARIES if (spec := find_spec(name)) and spec.origin]
    stats = [(str(path), stat.st_size, stat.st_mtime_ns) for path in (*sources, *libraries) if (stat := path.stat())]
    read = (mdmem.__version__, sys.version, unicodedata.unidata_version, stats)
    return f"checks {_VERSION} {hashlib.sha256(repr(read).encode()).hexdigest()}"


def _make_facts(whole: Case, paths: Sequence[str]) -> _Known:
    """Return the facts of the files that did not change since the listing. If a check crashes, leave some files out."""
    made: _Known = {}
    for start in range(0, len(paths), _CHUNK):
        part = paths[start : start + _CHUNK]
        case = replace(whole, catalog=whole.catalog.with_own_documents(), cached={}, focus=frozenset(part))
        findings: dict[str, list[Finding]] = {}
        for check in get_checks().values():
            found = try_check(check, case) if check.per_file else []
            if isinstance(found, Exception):
                break
            for one in found:
                findings.setdefault(one.place.path, []).append(one)
        else:
            for path in part:
                own = findings.get(path, []) if is_entry_place(path) else []
                digest = case.catalog.digest_of(path, case.catalog.document(path).data)
                is_own = all(one.fix is None or one.fix.paths == (path,) for one in own)
                if is_own and digest == whole.catalog.file_digests[path]:
                    made[path] = replace(case.file_facts(path), findings=tuple(own))
    return made
