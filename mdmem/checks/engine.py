"""Runs the checks over a case: one that fails stops no other, and findings come sorted with their severity."""

from __future__ import annotations

import difflib
import re
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case, Link
from mdmem.checks.check import Check, find_check, get_check, get_checks, nearest_codes
from mdmem.checks.severity import SeverityPolicy, codes_of
from mdmem.checks.suppressions import Suppressions
from mdmem.errors import MdmemError, SettingsError
from mdmem.markdown.parse import Document
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.settings import Settings, WingSettings
from mdmem.store.tree import SETTINGS_NAME, TreeFile

# Nobody reads more findings of one check in one file.
_MOST_ALIKE = 100
_UNUSED = "unused-suppression"
_CRASHED = "check-crashed"
# Characters of an exception's text.
_SHOWN = 200


class CheckReport(Struct, frozen=True):
    """What one run found: the findings in order, how many entries were read, and the paths that were not.

    `known` are the findings that a baseline keeps out, `fixed` those that were fixed, or would be with `is_dry`.
    `base` is the tree to compare with. A finding at `fail_on` or above fails the run, one that the base has, too, only
    with `old_fails`; with `shows_old` those are reported one by one. `remarks` are about former codes.
    """

    tree: str
    checked: int
    findings: tuple[Finding, ...]
    incomplete: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    base: str | None = None
    fixed: tuple[Finding, ...] = ()
    fail_on: Severity = Severity.ERROR
    old_fails: bool = False
    shows_old: bool = False
    is_dry: bool = False
    remarks: tuple[str, ...] = ()

    def is_old(self, finding: Finding) -> bool:
        """Say whether a finding was there before the change.

        Without a base none is old, and neither is a file that could not be read: nobody knows what it would have shown.
        """
        return self.base is not None and not finding.new and not is_incomplete(finding)

    def fails(self, finding: Finding) -> bool:
        """Say whether a finding fails the run."""
        return finding.weight.rank <= self.fail_on.rank and (self.old_fails or not self.is_old(finding))

    @property
    def is_failing(self) -> bool:
        """Say whether any finding fails the run."""
        return any(map(self.fails, self.findings))

    @property
    def reported(self) -> tuple[Finding, ...]:
        """Return the findings to report one by one: what the change brought, and what fails the run."""
        return tuple(one for one in self.findings if self.shows_old or not self.is_old(one) or self.fails(one))

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Return the findings that were there before and are only counted."""
        return tuple(one for one in self.findings if not (self.shows_old or self.fails(one)) and self.is_old(one))


def is_incomplete(finding: Finding) -> bool:
    """Say whether a finding means that something was not read, so that other findings may be missing."""
    check = find_check(finding.code)
    return check is not None and check.incomplete


def chosen_codes(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the codes to run, in the order of the themes; `select` takes the place of the settings' choice.

    Raises UsageError for a given code that does not exist, SettingsError with the line for one in the settings.
    """
    given = [get_check(code).code for code in select]
    for code in ignore:
        get_check(code)
    for key, code in _stated_codes(settings):
        if find_check(code) is None:
            line = _line_of(settings, key, code)
            message = f"mdmem.toml:{line}: `{key}` names `{code}`, which is no check; {nearest_codes(code)}"
            raise SettingsError(message, readable=settings, line=line)
    wanted = given or codes_of(settings, "").union(*(codes_of(settings, f"{wing}/") for wing in settings.wings))
    return tuple(code for code in get_checks() if code in wanted and code not in ignore)


def former_codes(settings: Settings, given: Sequence[str] = ()) -> list[str]:
    """Return a line for each code in the settings or in the options that its check had before."""
    stated = [(f"mdmem.toml:{_line_of(settings, key, code)}: ", code) for key, code in _stated_codes(settings)]
    named = [(where, code, find_check(code)) for where, code in (*(("", code) for code in given), *stated)]
    return [
        f"{where}the check `{code}` is called `{check.code}` now"
        for where, code, check in named
        if check is not None and check.code != code
    ]


def _stated_codes(settings: Settings) -> Iterator[tuple[str, str]]:
    tables: list[tuple[str, Settings | WingSettings]] = [("check", settings)]
    for table, stated in (*tables, *((f"wings.{name}.check", wing) for name, wing in settings.wings.items())):
        for key, codes in (("select", stated.select), ("ignore", stated.ignore), ("severity", stated.severity)):
            yield from ((f"{table}.{key}", code) for code in codes)


def _line_of(settings: Settings, key: str, code: str) -> int:
    # A code with a severity is a key, in a list it is a text.
    return settings.line_of(f"{key}.{code}" if key.endswith("severity") else key, code)


def require_known_wings(settings: Settings, wings: Collection[str]) -> None:
    """Raise SettingsError with the nearest name for a table about a wing that does not exist."""
    for name in settings.wings:
        if name not in wings and settings.wings[name].git is None:
            close = difflib.get_close_matches(name, sorted(wings), n=1, cutoff=0.4)
            hint = f"did you mean `{close[0]}`?" if close else "remove the table"
            line = settings.line_of(f"wings.{name}")
            message = f"mdmem.toml:{line}: `wings.{name}` is about a wing that is not there; {hint}"
            raise SettingsError(message, readable=settings, line=line)


def try_check(check: Check, case: Case) -> list[Finding] | Exception:
    """Return the findings of one check, or the exception that it raised; raises MdmemError, which is no fault of it."""
    try:
        return list(check.find(case))
    except MdmemError:
        raise
    # A fault in one check of a hundred must not hide the findings of the others.
    except Exception as error:  # noqa: BLE001  # the caller reports it
        return error


def run_checks(
    case: Case,
    codes: Collection[str],
    *,
    by_wing: bool = True,
    without: Collection[str] = (),
    is_debugging: bool = False,
    step: Callable[[int], None] | None = None,
) -> list[Finding]:
    """Return the findings that no file excuses, sorted by file, place and code, each with its severity.

    Without `by_wing` the settings' choice of codes does not count, as for codes that somebody asked for. Findings
    that had a code in `without` are left out. A check that raises is a finding, too, unless `is_debugging`. `step` is
    called with the number of checks that are done.
    """
    run = _Run(case, by_wing=by_wing, without=without, is_debugging=is_debugging)
    for number, code in enumerate(codes, 1):
        if code != _UNUSED:
            run.take(get_check(code))
        if step is not None:
            step(number)
    if _UNUSED in codes:
        run.take_unused()
    return sorted(set(run.found), key=lambda finding: finding.sort_key)


class _Run:
    """One run: the findings so far, the checks that did not fail, and the suppressions that excused something."""

    def __init__(self, case: Case, *, by_wing: bool, without: Collection[str], is_debugging: bool) -> None:
        self._case, self._without, self._is_debugging = case, without, is_debugging
        self._policy = SeverityPolicy(case.settings, case.catalog, by_wing=by_wing, elsewhere=case.fetched_wings)
        self._suppressions = Suppressions(case.suppressions)
        self._uncached = replace(case, focus=frozenset(file.path for file in case.catalog.files) - case.cached.keys())
        self._cached: dict[str, list[Finding]] = {}
        for finding in (finding for facts in case.cached.values() for finding in facts.findings):
            self._cached.setdefault(finding.code, []).append(finding)
        self._ran: set[str] = set()
        self.found: list[Finding] = []

    def take(self, check: Check) -> None:
        found = try_check(check, self._uncached if check.per_file else self._case)
        if isinstance(found, Exception):
            if self._is_debugging:
                raise found
            self._add(crash_of(check.code, found, self._case), get_check(_CRASHED))
            return
        self._ran.add(check.code)
        per_path = Counter[str]()
        for finding in (*self._cached.get(check.code, ()), *found) if check.per_file else found:
            if (
                finding.former not in self._without
                and not self._suppressions.excuses(finding)
                and self._policy.runs(finding)
            ):
                per_path[finding.place.path] += 1
                if per_path[finding.place.path] <= _MOST_ALIKE:
                    self._add(finding, check)
        for path, number in per_path.items():
            if number > _MOST_ALIKE:
                message = f"the file has {number} such findings; {_MOST_ALIKE} are shown"
                rest = Finding(check.code, message, Place(path), "fix these first, then run this again")
                self._add(replace(rest, count=number - _MOST_ALIKE), check)

    def _add(self, finding: Finding, check: Check) -> None:
        severity = self._policy.severity(finding, check.severity, may_weigh_less=check.weighs_less_when_ended)
        if finding.fix is not None and self._policy.is_elsewhere(*(edit.path for edit in finding.fix.edits)):
            finding = replace(finding, fix=None)
        finding = finding.in_one_line()
        self.found.append(finding if finding.severity is severity else replace(finding, severity=severity))

    def take_unused(self) -> None:
        """Report the suppressions that excused nothing though their check ran; all other checks must have run."""
        for one in self._suppressions.unused():
            check = get_check(one.code)
            expected = Finding(check.code, "", one.place, former=one.code if one.code != check.code else "")
            if check.code in self._ran and not check.asks_git and self._policy.runs(expected):
                message = f"`{one.code}` finds nothing here that could be ignored"
                finding = Finding(_UNUSED, message, one.place, "remove it", one.address)
                if self._policy.runs(finding):
                    self._add(finding, get_check(_UNUSED))


def crash_of(code: str, error: Exception, case: Case) -> Finding:
    """Return the finding for a check that raised, at the file it was looking at if that is known."""
    text = visible(" ".join(str(error).split())[:_SHOWN])
    message = f"the check `{code}` failed: {type(error).__name__}{': ' if text else ''}{text}"
    path = _path_in_hand(error, case)
    help_ = f"run it again with `--ignore {code}` to go on without it; `MDMEM_DEBUG=1` shows where it failed"
    address = (path or "").removesuffix(".md")
    known = address if address in case.catalog.addresses else None
    return Finding(_CRASHED, message, Place(path or SETTINGS_NAME), help_, known, quotable=False)


def _path_in_hand(error: Exception, case: Case) -> str | None:
    """Return the file that is in a variable of the innermost function that has one."""
    paths = {file.path for file in case.all_files}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    values = (value for frame in reversed(frames) for value in frame.f_locals.values())
    named = (path for value in values for path in (_path_of(value), f"{_path_of(value)}.md"))
    return next((path for path in named if path in paths), None)


def _path_of(value: object) -> str:
    if isinstance(value, Link):
        return value.entry.path
    if isinstance(value, Entry | Document | TreeFile):
        return value.path
    return value if isinstance(value, str) else ""


_NUMBER = re.compile(r"`[^`]*`|\d+")
_QUOTED = re.compile(r"`([^`]*)`")


def mark_new(
    findings: Iterable[Finding], base_findings: Iterable[Finding], *, moves: Mapping[str, str] = MappingProxyType({})
) -> list[Finding]:
    """Return the findings, those marked new that the base does not have.

    Two findings are the same if `sameness` is: neither a shifted line nor a longer text makes one new. Of several that
    are the same the last ones are new. One that weighs more than before is new. `moves` are the addresses that the
    change moved, old to new.
    """
    left = Counter[tuple[tuple[str, str, str], int]]()
    for finding in base_findings:
        left[_moved(sameness(finding), moves), finding.weight.rank] += finding.count
    marked = []
    for finding in findings:
        key, own = sameness(finding), finding.weight.rank
        rank = next((rank for rank in range(own, -1, -1) if left[key, rank] >= finding.count), None)
        if rank is not None:
            left[key, rank] -= finding.count
        marked.append(replace(finding, new=rank is None))
    return marked


def sameness(finding: Finding) -> tuple[str, str, str]:
    """Return what two findings about one fact share: code, place, and the message but for numbers outside quotes."""
    text = _NUMBER.sub(lambda found: found.group() if found.group().startswith("`") else "#", finding.message)
    return finding.code, finding.address or finding.place.path, text + finding.unsaid


def _moved(same: tuple[str, str, str], moves: Mapping[str, str]) -> tuple[str, str, str]:
    code, where, text = same
    text = _QUOTED.sub(lambda found: f"`{moves.get(found[1], found[1])}`", text) if moves else text
    return code, moves.get(where, where), text
