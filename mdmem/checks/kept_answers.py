"""What checks answered to whole cases, in the cache of a root: under all that they read, so that it is true again.

What a check found is kept under everything that a finding, its place and its fix may be made of. That it found nothing
is kept under less, for it depends on less: the names of the files, or what these say outside their bodies. What a check
asked git is asked again, and the answer holds if git says the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from mdmem.catalog import Catalog
from mdmem.catalog.addresses import is_manifest
from mdmem.checks.case import Base, Case, Facts
from mdmem.checks.engine import Ask, ask
from mdmem.checks.kept_findings import version
from mdmem.checks.paths import may_link
from mdmem.checks.registry import ANSWERED, FRONT_ONLY, READS
from mdmem.dataclass import dataclass, field, replace
from mdmem.finding import Finding
from mdmem.git.history import FileDays
from mdmem.record import StoredRecord
from mdmem.state import read_packed, write_packed
from mdmem.tree import FileKind, TreeFile, path_of

_NAME = "answers.mdmem"
# Those of the working tree, of git's index and of what each is compared with.
_MOST_CASES = 12


class KeptAnswer(StoredRecord, frozen=True):
    """What a check found, and what it asked git for that: a fact, of which path, and the digest of what git said."""

    findings: tuple[Finding, ...] = ()
    asked: tuple[tuple[str, str, str], ...] = ()


_Answers = dict[str, dict[str, KeptAnswer]]


@dataclass(slots=True)
class AnswerStore:
    """The answers to cases of one root, by code below the digest of what was read, the newest last."""

    folder: Path
    _known: _Answers = field(default_factory=dict)
    _asked: list[_Asking] = field(default_factory=list)

    def load(self) -> AnswerStore:
        """Read what is there, and return self."""
        self._known = read_packed(self.folder / _NAME, version(), _Answers) or {}
        return self

    def asking(self, case: Case) -> Ask:
        """Return what asks a check of a case, or this store where the answer is known."""
        read = _Read(case)
        if case.catalog.access.is_narrow or case.merge is not None or not read.is_told:
            return ask
        self._asked.append(_Asking(self._known, read))
        return self._asked[-1].ask

    def save(self) -> None:
        """Write what is known, the oldest left out, if anything was learned of files that are as they were listed."""
        learned = [one.learned for one in self._asked if one.learned and one.read.case.catalog.is_as_listed()]
        for digest, answers in ((digest, found) for one in learned for digest, found in one.items()):
            # What is asked again goes behind the others.
            self._known[digest] = self._known.pop(digest, {}) | answers
        if learned:
            known = dict(list(self._known.items())[-_MOST_CASES:])
            write_packed(self.folder / _NAME, version(), known)


@dataclass
class _Asking:
    """Asks the checks of one case."""

    known: _Answers
    read: _Read
    learned: _Answers = field(default_factory=dict)

    def ask(self, code: str, case: Case) -> list[Finding] | Exception:
        """Return what a check finds, as it is known or as it says now."""
        if code not in ANSWERED:
            return ask(code, case)
        narrow = self.read.said if code in FRONT_ONLY else self.read.narrow(READS[code])
        whole = self.read.whole
        for known in (self.known.get(digest, {}).get(code) for digest in (narrow, whole)):
            if known is not None and all(self._says(fact, path) == said for fact, path, said in known.asked):
                return list(known.findings)
        if self._facts is not None:
            self._facts.asked.clear()
        found = ask(code, self._watched)
        if not isinstance(found, Exception):
            asked = tuple((*one, self._says(*one)) for one in (self._facts.asked if self._facts is not None else ()))
            self.learned.setdefault(whole if found else narrow, {})[code] = KeptAnswer(tuple(found), asked)
        return found

    def _says(self, fact: str, path: str) -> str:
        """Return the digest of what git says."""
        told = getattr(self.read.case.facts, fact)
        return _digest(fact, (repr(_sorted(told(path) if path else told)),))

    @cached_property
    def _facts(self) -> _WatchedFacts | None:
        told = self.read.case.facts
        return None if told is None else _WatchedFacts(told)

    @cached_property
    def _watched(self) -> Case:
        return replace(self.read.case, facts=self._facts)


def _sorted(told: object) -> object:
    if isinstance(told, FileDays):
        return _sorted(told.added), _sorted(told.ended)
    if isinstance(told, Mapping):
        return sorted(told.items())
    return sorted(told) if isinstance(told, frozenset) else told


@dataclass
class _WatchedFacts:
    """What git knows, and what of it was asked, by fact and path."""

    told: Facts
    asked: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def tracked(self) -> frozenset[str]:
        """Return the paths in git's index."""
        return self._asked("tracked").tracked

    @property
    def tracked_in_repository(self) -> frozenset[str]:
        """Return every path of git's index, counted from the repository's top."""
        return self._asked("tracked_in_repository").tracked_in_repository

    def committed(self, path: str) -> bytes | None:
        """Return what the last commit has of a file; None where it has none."""
        return self._asked("committed", path).committed(path)

    @property
    def ignored(self) -> frozenset[str]:
        """Return the paths below the root that git ignores."""
        return self._asked("ignored").ignored

    @property
    def not_added(self) -> frozenset[str]:
        """Return the paths on disk that git neither knows nor ignores."""
        return self._asked("not_added").not_added

    @property
    def deleted(self) -> Mapping[str, tuple[str, str | None]]:
        """Return what became of files that are gone."""
        return self._asked("deleted").deleted

    @property
    def days(self) -> FileDays:
        """Return when files came and when they ended."""
        return self._asked("days").days

    def _asked(self, fact: str, path: str = "") -> Facts:
        self.asked[fact, path] = None
        return self.told


@dataclass
class _Read:
    """What there is to read of one case, as digests."""

    case: Case

    @cached_property
    def listed(self) -> tuple[TreeFile, ...]:
        return (*self.case.catalog.files, *self.case.catalog.others)

    @cached_property
    def is_on_disk(self) -> bool:
        return any(file.digest is None for file in self.listed)

    @cached_property
    def content(self) -> dict[str, str]:
        return self.case.catalog.file_digests

    @cached_property
    def is_told(self) -> bool:
        """Say whether all that was read is known by its content."""
        return self.content.keys() <= self.case.kept.keys()

    def narrow(self, kind: str) -> str:
        """Return the digest of what a check reads to find nothing."""
        return {"names": self.names, "file": self.whole}.get(kind, self.said)

    @cached_property
    def names(self) -> str:
        """The digest of what files there are, of which kind, which git tracks, and of the settings and the day."""
        case, catalog = self.case, self.case.catalog
        odd = [repr(file) for file in self.listed if file.kind is not FileKind.FILE]
        facts = case.facts if self.is_on_disk else None
        paths = set(map(path_of, self.listed)) if facts is not None else set()
        tracked = facts.tracked if facts is not None else frozenset()
        wings = (*sorted(catalog.wings), 0, *sorted(case.fetched_wings), 0, *sorted(catalog.missing_wings))
        told = (case.settings, case.settings.source, catalog.one_end_suffices)
        stated = (case.facts is None, case.today, case.in_ci, told, wings)
        apart = (*sorted(paths - tracked), "", *sorted(tracked - paths))
        return _digest("names", (*map(path_of, self.listed), *odd, *apart, repr(stated)))

    @cached_property
    def said(self) -> str:
        """The digest of what files say outside their bodies, and of the bodies that links depend on."""
        catalog, kept, content = self.case.catalog, self.case.kept, self.content
        files = (kept[file.path].said or content[file.path] for file in catalog.files if file.path in content)
        return _digest(self.names, (*files, *self._manifests(), *sorted(catalog.broken)))

    @cached_property
    def whole(self) -> str:
        """The digest of all content, and of what it is compared with."""
        base = self.case.base
        compared = _apart(base, self.case.catalog) if base is not None else ""
        files = (self.content.get(file.path, "") for file in self.case.catalog.files)
        return _digest(self.names, (*files, *self._texts(), compared))

    def _texts(self) -> Iterator[str]:
        """Yield the digests of manifests, and of other texts: whoever renames a file mends the links in them, too."""
        texts = [file for file in self.case.catalog.others if may_link(file)]
        digests = self.case.catalog.tree.digests(texts)
        return (digests.get(file.path, "") for file in texts)

    def _manifests(self) -> Iterator[str]:
        others = (file for file in self.case.catalog.others if is_manifest(file))
        return (self.content.get(file.path, "") for file in others)


def _apart(base: Base, after: Catalog) -> str:
    """Return the digest of what a base has otherwise than the tree that is compared with it: most is the same."""
    content, now = base.catalog.file_digests, after.file_digests
    listed = (*base.catalog.files, *(file for file in base.catalog.others if is_manifest(file)))
    other = sorted(f"{digest} {path}" for path, digest in content.items() - now.items())
    closed = (f"{file.kind} {file.path}" for file in listed if file.path not in content)
    return _digest("base", (*other, "", *sorted(now.keys() - content.keys()), "", *closed, repr(base.settings)))


def _digest(head: str, parts: Iterable[str]) -> str:
    return hashlib.sha1("\0".join((head, *parts)).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
