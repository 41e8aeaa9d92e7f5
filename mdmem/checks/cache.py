"""A cache of the facts and findings of single files, by path and content.

The cache file can be deleted at any time. A damaged file, or one of another version of mdmem, counts as missing.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from collections.abc import Mapping
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

        If a check crashes, the facts of these files are left out. For a caller who sees only some wings the cache is
        not used, because it has facts about all wings.
        """
        if case.catalog.access.is_narrow:
            return case
        if self._known is None:
            self._known = read_packed(self.folder / _NAME, _version(), _Known) or {}
        digests = case.catalog.file_digests
        known = {path: facts for path, digest in digests.items() if (facts := self._known.get(f"{digest} {path}"))}
        fresh = {path: digest for path, digest in digests.items() if path not in known}
        made = _facts_of_all(case, fresh) if fresh else {}
        if made:
            self._add({f"{digests[path]} {path}": facts for path, facts in made.items()}, digests)
        return replace(case, cached={**known, **made})

    def _add(self, made: _Known, digests: Mapping[str, str]) -> None:
        known = {**(self._known or {}), **made}
        if len(known) > 4 * len(digests) + 4000:
            used = {f"{digest} {path}" for path, digest in digests.items()}
            known = {key: facts for key, facts in known.items() if key in used}
        self._known = known
        if self.is_written:
            write_packed(self.folder / _NAME, _version(), known)


@cache
def _version() -> str:
    """Return a text that changes with mdmem's sources and with the libraries in `_LIBRARIES`."""
    sources = sorted(Path(mdmem.__file__).parent.rglob("*.py"))
    libraries = [Path(spec.origin) for name in _LIBRARIES if (spec := find_spec(name)) and spec.origin]
    stats = [(str(path), stat.st_size, stat.st_mtime_ns) for path in (*sources, *libraries) if (stat := path.stat())]
    read = (mdmem.__version__, sys.version, unicodedata.unidata_version, stats)
    return f"checks {_VERSION} {hashlib.sha256(repr(read).encode()).hexdigest()}"


def _facts_of_all(case: Case, fresh: Mapping[str, str]) -> _Known:
    made: _Known = {}
    paths = list(fresh)
    for start in range(0, len(paths), _CHUNK):
        part = {path: fresh[path] for path in paths[start : start + _CHUNK]}
        catalog = case.catalog.with_own_documents()
        made |= _facts_of(replace(case, catalog=catalog, cached={}, focus=frozenset(part)), part)
    return made


def _facts_of(case: Case, fresh: Mapping[str, str]) -> _Known:
    """Return the facts of the files that did not change since the listing; none if a check crashes."""
    findings: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        found = try_check(check, case) if check.per_file else []
        if isinstance(found, Exception):
            return {}
        for one in found:
            findings.setdefault(one.place.path, []).append(one)
    made = {}
    for path, digest in fresh.items():
        own = findings[path] if path in findings and is_entry_place(path) else []
        is_same = case.catalog.digest_of(path, case.catalog.document(path).data) == digest
        if is_same and all(one.fix is None or one.fix.paths == (path,) for one in own):
            made[path] = replace(case.file_facts(path), findings=tuple(own))
    return made
