"""What was taken from files and found in them, in the cache of a root: by path and content, so that it is true again.

A file of the cache is derived: one that is torn, of another version or of other sources counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mdmem
from mdmem.checks.amendment_sentences import AmendmentSentence, EntryName
from mdmem.checks.extract import KeptExtract, WrittenLink
from mdmem.checks.suppressions import Suppression
from mdmem.document.links import BodyLink
from mdmem.finding import Edit, Finding, Fix, Place, Severity
from mdmem.state import read_json, write_json

_VERSION = "1"
_FOREIGN = (AttributeError, KeyError, IndexError, TypeError, ValueError)
_ALL, _RECENT = "checks.json", "checks-recent.json"
# Until so many were learned only the small file is written: at 10,000 entries the large one takes as long as 100 files.
_RECENT_LIMIT = 100
# Findings of one file depend on nothing else that is outside of this package.
_LIBRARIES = ("yaml", "pydantic_core")


@dataclass(slots=True)
class ExtractStore:
    """The extracts of a root's files, of all its trees, by the identity of their content and their path."""

    folder: Path
    _known: dict[str, Any] = field(default_factory=dict)
    _recent: dict[str, Any] = field(default_factory=dict)
    _read: dict[str, KeptExtract] = field(default_factory=dict)

    def load(self) -> ExtractStore:
        """Read what is there, and return self."""
        self._known = read_json(self.folder / _ALL, self._version)
        self._recent = read_json(self.folder / _RECENT, self._version)
        return self

    @property
    def _version(self) -> str:
        return f"{_VERSION} {sources()}"

    def find(self, digests: Mapping[str, str]) -> dict[str, KeptExtract]:
        """Return what is known of files of such content, by path."""
        found = {}
        for path, digest in digests.items():
            one = self._find(f"{digest} {path}", path)
            if one is not None:
                found[path] = one
        return found

    def _find(self, key: str, path: str) -> KeptExtract | None:
        stored = self._known.get(key) or self._recent.get(key)
        if stored is not None and key not in self._read:
            with contextlib.suppress(*_FOREIGN):
                self._read[key] = _from_json(path, stored)
        return self._read.get(key)

    def keep(self, made: Mapping[str, KeptExtract], digests: Mapping[str, str]) -> None:
        """Keep what was made of files of such content; `digests` are those of all files of the tree."""
        self._recent |= {f"{digests[path]} {path}": _to_json(one) for path, one in made.items()}
        if len(self._recent) <= _RECENT_LIMIT and len(self._known) > _RECENT_LIMIT:
            write_json(self.folder / _RECENT, self._version, self._recent)
            return
        known = self._known | self._recent
        if len(known) > 4 * len(digests) + 4000:
            used = {f"{digest} {path}" for path, digest in digests.items()}
            known = {key: stored for key, stored in known.items() if key in used}
        if write_json(self.folder / _ALL, self._version, known):
            self._known, self._recent = known, {}
            write_json(self.folder / _RECENT, self._version, {})


@cache
def sources() -> str:
    """Return what tells this program's sources, and those that it parses with, from any others."""
    folder = Path(mdmem.__file__).parent
    read = (folder, *(folder / name for name in ("catalog", "checks", "checks/fixes", "checks/rules")))
    read += tuple(folder / name for name in ("document", "entry", "settings", "tree"))
    stats = [*(_stat(item) for one in read for item in sorted(os.scandir(one), key=lambda item: item.name))]
    libraries = [_stat(Path(spec.origin)) for name in _LIBRARIES if (spec := find_spec(name)) and spec.origin]
    told = (mdmem.__version__, sys.version, unicodedata.unidata_version, *filter(None, stats), *libraries)
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _stat(item: os.DirEntry[str] | Path) -> tuple[str, int, int] | None:
    if not item.name.endswith((".py", ".so", ".pyd")):
        return None
    stat = item.stat()
    return os.fspath(item), stat.st_size, stat.st_mtime_ns


def _to_json(one: KeptExtract) -> list[Any]:
    """Return an extract in short, without what is empty at its end."""
    suppressions = [
        [found.code, found.reason, found.place.line, found.place.column, found.place.width, found.address, found.fault]
        for found in one.suppressions
    ]
    references = [[link.target, link.offset, link.width, link.is_path] for link in one.references]
    findings = {code: [_of_finding(finding) for finding in found] for code, found in one.findings.items()}
    said: list[Any] = [one.size, one.links, one.gives_reason, findings, references, suppressions, one.amendments]
    while said and not said[-1]:
        said.pop()
    return [len(said), *said]


def _of_finding(one: Finding) -> list[Any]:
    place, other, fix = one.place, one.other, one.fix
    said: list[Any] = [one.code, one.message, one.help, place.line, place.column, place.width, one.address]
    rest: list[Any] = [
        other and [other.path, other.line, other.column, other.width],
        one.severity,
        one.quotable,
        one.measure,
        one.unsaid,
        fix and [fix.title, fix.is_safe, [[e.path, e.start, e.end, e.content.decode("latin-1")] for e in fix.edits]],
    ]
    return [*said, *rest] if rest != _PLAIN else said


_PLAIN: list[Any] = [None, None, True, 0, "", None]


def _from_json(path: str, stored: list[Any]) -> KeptExtract:
    number, *said = stored
    if not isinstance(stored, list) or number != len(said):
        raise ValueError("no record of ours")
    size, links, reason, findings, references, suppressions, amendments = [*said, *_EMPTY[len(said) :]]
    return KeptExtract(
        tuple(WrittenLink(*link) for link in links),
        tuple(BodyLink(*link) for link in references),
        tuple(
            Suppression(code, reason, Place(path, line, column, width), address, fault and (fault[0], fault[1]))
            for code, reason, line, column, width, address, fault in suppressions
        ),
        tuple(
            AmendmentSentence(at, start, end, tuple(EntryName(*name) for name in names))
            for at, start, end, names in amendments
        ),
        reason,
        size,
        {code: tuple(_finding(path, one) for one in found) for code, found in findings.items()},
    )


_EMPTY: tuple[Any, ...] = (0, (), False, {}, (), (), ())


def _finding(path: str, stored: list[Any]) -> Finding:
    code, message, help_, line, column, width, address, *rest = stored
    other, severity, quotable, measure, unsaid, fix = rest or _PLAIN
    return Finding(
        code,
        message,
        Place(path, line, column, width),
        help_,
        address,
        other and Place(*other),
        severity and Severity(severity),
        quotable=quotable,
        measure=measure,
        unsaid=unsaid,
        fix=fix and Fix(fix[0], tuple(_edits(fix[2])), fix[1]),
    )


def _edits(stored: list[Any]) -> Iterator[Edit]:
    return (Edit(path, start, end, content.encode("latin-1")) for path, start, end, content in stored)
