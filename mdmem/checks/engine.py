"""Run the checks on a case, and cache the facts and findings of single files, by path and content."""

from __future__ import annotations

import re
import sys
import traceback
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

import mdmem
from mdmem import SETTINGS_NAME
from mdmem.checks.case import Case, Link
from mdmem.checks.check import NO_WING, Check, codes_of, find_check, find_severity, get_check, get_checks
from mdmem.checks.prose import FileFacts
from mdmem.errors import MdmemError, try_call
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.text import text_hash, visible
from mdmem.record import grouped
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.files import read_packed, write_packed
from mdmem.store.tree import TreeFile

# The largest number of findings of one check in one file that are reported one by one.
_MAX_ALIKE = 100
_UNUSED, _CRASHED = "unused-suppression", "check-crashed"
# The number of characters of an exception's message that are shown.
_SHOWN = 200
_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}


class CheckReport(Struct, frozen=True):
    """The result of one run: the findings in order, the number of entries, and the paths that could not be read.

    `known` are the findings that the baseline excuses, `hidden` the infos that are only counted. `fixed` are findings
    that were fixed, or would be with `is_dry`; `later` of them were found only after other fixes.
    An old finding, which the tree `base` also has, fails the run only with `old_fails`, and is reported one by one only
    with `shows_old`.
    """

    tree: str
    checked: int
    findings: tuple[Finding, ...]
    incomplete: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    later: int = 0
    base: str | None = None
    fixed: tuple[Finding, ...] = ()
    fail_on: Severity = Severity.ERROR
    old_fails: bool = False
    shows_old: bool = False
    is_dry: bool = False

    def is_old(self, finding: Finding) -> bool:
        """Return whether the base has the same finding; never for an unreadable file, which may hide other findings."""
        return self.base is not None and not finding.new and not is_incomplete(finding)

    def fails(self, finding: Finding) -> bool:
        """Return whether a finding fails the run."""
        return finding.level.rank <= self.fail_on.rank and (self.old_fails or not self.is_old(finding))

    @property
    def reported(self) -> tuple[Finding, ...]:
        """Return the findings to report one by one: new findings, and those that fail the run."""
        return tuple(one for one in self.findings if self.shows_old or not self.is_old(one) or self.fails(one))

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Return the old findings that are only counted."""
        return tuple(one for one in self.findings if not (self.shows_old or self.fails(one)) and self.is_old(one))


def is_incomplete(finding: Finding) -> bool:
    """Return whether a finding means that something was not read, so that other findings may be missing."""
    check = find_check(finding.code)
    return check is not None and check.incomplete


def try_check(check: Check, case: Case) -> list[Finding] | Exception:
    """Return the findings of one check, or the exception that the check raised; an MdmemError is raised again."""
    found = try_call(lambda: list(check.find(case)))
    if isinstance(found, MdmemError):
        raise found
    return found


def run_checks(
    case: Case,
    codes: Collection[str],
    *,
    by_wing: bool = True,
    without: Collection[str] = (),
    is_debugging: bool = False,
) -> list[Finding]:
    """Return the findings that no suppression excuses, with severity, sorted by file, place and code.

    With `by_wing`, a check runs only for files whose wing's settings enable it. Findings with a former code in
    `without` are left out. A check that crashes becomes a finding, unless `is_debugging`.
    """
    run = _Run(case, by_wing=by_wing, without=without)
    for code in codes:
        if code != _UNUSED:
            run.take(get_check(code), is_debugging=is_debugging)
    if _UNUSED in codes:
        run.take_unused()
    return sorted(set(run.found), key=lambda finding: finding.sort_key)


class _Run:
    """One run: the findings so far, the checks that did not crash, and the suppressions that excused a finding."""

    def __init__(self, case: Case, *, by_wing: bool, without: Collection[str]) -> None:
        self._case, self._by_wing, self._without = case, by_wing, without
        self._codes = cache(lambda wing: codes_of(case.settings, f"{wing}/"))
        self._suppressions = [one for one in case.suppressions if one.fault is None]
        self._excused = {(one.place.path, one.code) for one in self._suppressions}
        self._used: set[tuple[str, str]] = set()
        self._uncached = replace(case, focus=frozenset(file.path for file in case.catalog.files) - case.cached.keys())
        self._cached = grouped((one.code, one) for facts in case.cached.values() for one in facts.findings)
        self._ran: set[str] = set()
        self.found: list[Finding] = []

    def take(self, check: Check, *, is_debugging: bool) -> None:
        found = try_check(check, self._uncached if check.per_file else self._case)
        if isinstance(found, Exception):
            if is_debugging:
                raise found
            self._add(crash_of(check.code, found, self._case), get_check(_CRASHED))
            return
        self._ran.add(check.code)
        per_path = Counter[str]()
        for finding in (*self._cached.get(check.code, ()), *found) if check.per_file else found:
            path = finding.place.path
            if finding.former in self._without:
                continue
            excuses = {(path, code) for code in (finding.code, finding.former)} & self._excused
            self._used |= excuses
            if not excuses and self._runs(path, finding.code, finding.former):
                per_path[path] += 1
                if per_path[path] <= _MAX_ALIKE:
                    self._add(finding, check)
        for path, number in per_path.items():
            if number > _MAX_ALIKE:
                message = f"the file has {number} such findings; {_MAX_ALIKE} are shown"
                rest = Finding(check.code, message, Place(path), "fix these first, then run this again")
                self._add(replace(rest, count=number - _MAX_ALIKE), check)

    def take_unused(self) -> None:
        """Report each suppression that excused nothing although its check ran; call this after all other checks."""
        for one in self._suppressions:
            check, path = get_check(one.code), one.place.path
            is_certain = check.code in self._ran and not check.asks_git and (path, one.code) not in self._used
            former = one.code if one.code != check.code else ""
            if is_certain and self._runs(path, check.code, former) and self._runs(path, _UNUSED):
                message = f"`{one.code}` finds nothing here that could be ignored"
                self._add(Finding(_UNUSED, message, one.place, "remove it", one.address), get_check(_UNUSED))

    def _runs(self, path: str, code: str, former: str = "") -> bool:
        """Return whether the settings enable a check for a file, and do not ignore the former code of a finding."""
        codes = self._codes(path.partition("/")[0])
        # Without tables for wings, the root's settings have already decided which checks run.
        if not self._by_wing or (code not in codes and not self._case.settings.wings):
            return True
        return code in codes and (not former or former in codes)

    def _add(self, finding: Finding, check: Check) -> None:
        """Add a finding with its severity: the wing's setting, else the root's, else the check's own.

        On deprecated and superseded entries it is one level lower, unless the rule itself set the severity. In a wing
        of another repository it is info, unless the wing's table in the settings sets it.
        """
        settings, elsewhere = self._case.settings, self._case.fetched_wings
        if finding.fix is not None and any(edit.path.partition("/")[0] in elsewhere for edit in finding.fix.edits):
            finding = replace(finding, fix=None)
        wing = finding.place.path.partition("/")[0]
        severity = find_severity(settings, wing, finding.code, finding.former) or finding.severity or check.severity
        named = settings.wings.get(wing, NO_WING).severity.keys() & {finding.code, finding.former}
        if wing in elsewhere and not named:
            severity = Severity.INFO
        elif check.weighs_less_when_ended and finding.severity is None and settings.ended == "lower":
            is_lower = finding.address is not None and has_ended(self._case.catalog, finding.address)
            severity = _LESS[severity] if is_lower else severity
        finding = finding.in_one_line()
        self.found.append(finding if finding.severity is severity else replace(finding, severity=severity))


def has_ended(catalog: Catalog, address: str) -> bool:
    """Return whether an entry is deprecated or superseded; False if its supersession fields are invalid."""
    entry = catalog.entries.get(address)
    if entry is None or not {"supersedes", "superseded_by"}.isdisjoint(entry.unread):
        return False
    return entry.status is Status.DEPRECATED or (entry.is_in_force and not catalog.lineage.is_current(address))


def crash_of(code: str, error: Exception, case: Case) -> Finding:
    """Return the finding for a check that crashed, at the file that it was reading, or else at the settings."""
    text = visible(" ".join(str(error).split())[:_SHOWN])
    message = f"the check `{code}` failed: {type(error).__name__}{': ' if text else ''}{text}"
    help_ = f"run it again with `--ignore {code}` to go on without it; `MDMEM_DEBUG=1` shows where it failed"
    paths = {file.path for file in case.all_files}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    # Search the variables of the functions in the traceback for a path, beginning with the innermost function.
    values = (value for frame in reversed(frames) for value in frame.f_locals.values())
    files = (value.entry if isinstance(value, Link) else value for value in values)
    names = (value.path if isinstance(value, Entry | Document | TreeFile) else value for value in files)
    tried = (one for name in names if isinstance(name, str) for one in (name, f"{name}.md"))
    path = next((one for one in tried if one in paths), SETTINGS_NAME)
    address = path.removesuffix(".md")
    known = address if address in case.catalog.addresses else None
    return Finding(_CRASHED, message, Place(path), help_, known, quotable=False)


_NUMBER = re.compile(r"`[^`]*`|\d+")
_QUOTED = re.compile(r"`([^`]*)`")


def mark_new(
    findings: Iterable[Finding], base_findings: Iterable[Finding], *, moves: Mapping[str, str] = MappingProxyType({})
) -> list[Finding]:
    """Return the findings, with those marked as new that the base does not have.

    Findings with an equal `comparison_key` are the same. If there are more of them than before, the last ones are new,
    and so is one that is more severe. `moves` has the new address of each moved entry by the old one.
    """

    def moved(found: re.Match[str]) -> str:
        return f"`{moves.get(found[1], found[1])}`"

    left = Counter[tuple[str, str, str, int]]()
    for finding in base_findings:
        code, where, text = comparison_key(finding)
        text = _QUOTED.sub(moved, text) if moves else text
        left[code, moves.get(where, where), text, finding.level.rank] += finding.count
    marked = []
    for finding in findings:
        ranks = range(finding.level.rank, -1, -1)
        keys = ((*comparison_key(finding), rank) for rank in ranks)
        known = next((key for key in keys if left[key] >= finding.count), None)
        if known is not None:
            left[known] -= finding.count
        marked.append(replace(finding, new=known is None))
    return marked


def comparison_key(finding: Finding) -> tuple[str, str, str]:
    """Return the key of a finding for comparisons: code, place, and message without the numbers outside quotes."""
    text = _NUMBER.sub(lambda found: found.group() if found.group().startswith("`") else "#", finding.message)
    return finding.code, finding.address or finding.place.path, text + finding.distinct_by


_NAME = "checks.mdmem"
# The only libraries outside this package that the findings of a single file depend on.
_LIBRARIES = ("yaml", "pydantic_core")
# The number of documents that are in memory at the same time.
_CHUNK = 1_000

_Known = dict[str, FileFacts]


class FileCache(Struct):
    """The facts of a root's files, by hash and path; an editor sets `is_written=False` to keep them in memory only."""

    folder: Path
    is_written: bool = True
    _known: _Known | None = None

    def with_facts(self, case: Case, progress: Callable[[int, int], None] | None = None) -> Case:
        """Return a case with the facts of its files; unchanged for a caller who sees only some wings.

        `progress` gets the numbers of known and of all files. Reading the files takes most of the time of a check.
        """
        if case.catalog.access.is_narrow:
            return case
        if self._known is None:
            self._known = read_packed(self.folder / _NAME, _version(), _Known) or {}
        keys = {path: f"{digest} {path}" for path, digest in case.catalog.file_digests.items()}
        found = {path: self._known[key] for path, key in keys.items() if key in self._known}
        made, missing = _Known(), [path for path in keys if path not in found]
        report = progress or (lambda *_: None)
        for start in range(0, len(missing), _CHUNK):
            report(len(found) + start, len(keys))
            made |= _make_facts(case, missing[start : start + _CHUNK])
        report(len(keys), len(keys))
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
    return f"checks {text_hash(repr(read))}"


def _make_facts(whole: Case, paths: Sequence[str]) -> _Known:
    """Return the facts of the files that did not change since the listing; none if a check crashes."""
    case = replace(whole, catalog=whole.catalog.with_own_documents(), cached={}, focus=frozenset(paths), is_base=False)
    findings: dict[str, list[Finding]] = {}
    for check in get_checks().values():
        found = try_check(check, case) if check.per_file else []
        if isinstance(found, Exception):
            return {}
        for one in found:
            findings.setdefault(one.place.path, []).append(one)
    made: _Known = {}
    for path in paths:
        own = findings.get(path, []) if is_entry_place(path) else []
        digest = case.catalog.digest_of(path, case.catalog.document(path).data)
        is_own = all(one.fix is None or one.fix.paths == (path,) for one in own)
        if is_own and digest == whole.catalog.file_digests[path]:
            made[path] = replace(case.file_facts(path), findings=tuple(own))
    return made
