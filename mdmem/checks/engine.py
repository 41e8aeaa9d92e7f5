"""Runs the checks over a case: one that fails stops no other, findings come weighed and in the order of reading."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.check import CHECKS, Check
from mdmem.checks.registry import ASKS_GIT, CODES, INCOMPLETE_CODES, KEPT
from mdmem.checks.rules.run import crash_of, unused, unused_suppression
from mdmem.checks.severity import SeverityPolicy, codes_of
from mdmem.checks.suppressions import Suppressions
from mdmem.errors import MdmemError, SettingsError, UsageError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.settings import Settings, WingSettings

# Nobody reads more of one kind in one file, and to show 95,000 took half a minute.
_MOST_ALIKE = 100
# Loaded in this order until a check is known.
_THEMES = (
    *("file", "names", "front_matter", "content", "links", "scope"),
    *("supersession", "dates", "change", "wings", "run"),
)


class CheckReport(Struct, frozen=True):
    """What one run found: the findings in order, how many entries were read, and whether anything was left unread.

    `known` are those that a baseline keeps out. `base` is what the tree was compared with, `fixed` what was mended
    before these findings were left; with `is_dry` that was only tried. At `fail_on` a finding fails the run; one that
    was there before does so only with `old_fails`. `shows_old` tells those in full.
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

    def is_old(self, finding: Finding) -> bool:
        """Say whether a finding was there before the change; without anything to compare with none is old.

        What could not be looked at is none: nobody knows what it would have shown.
        """
        return self.base is not None and not finding.new and finding.code not in INCOMPLETE_CODES

    def fails(self, finding: Finding) -> bool:
        """Say whether a finding fails the run."""
        return finding.weight.rank <= self.fail_on.rank and (self.old_fails or not self.is_old(finding))

    @property
    def is_failing(self) -> bool:
        """Say whether any finding fails the run."""
        return any(map(self.fails, self.findings))

    @property
    def told(self) -> tuple[Finding, ...]:
        """Return the findings that are told one by one: what the change brought, and what fails the run."""
        return tuple(one for one in self.findings if self.shows_old or not self.is_old(one) or self.fails(one))

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Return the findings that were there before and are only counted."""
        return tuple(one for one in self.findings if not (self.shows_old or self.fails(one)) and self.is_old(one))


@cache
def get_check(code: str) -> Check:
    """Return the check of a code; raises UsageError naming the nearest code."""
    if code not in CODES:
        raise UsageError(f"there is no check `{code}`; {_nearest(code)}")
    for theme in _THEMES:
        if code in CHECKS:
            break
        import_module(f"mdmem.checks.rules.{theme}")
    return CHECKS[code]


def _nearest(code: str) -> str:
    close = difflib.get_close_matches(code, CODES, n=3, cutoff=0.4)
    named = " or ".join(f"`{one}`" for one in close)
    return f"did you mean {named}?" if close else "`mdmem check --explain all` lists them"


def chosen_codes(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the codes to run, in the registry's order; with `select` given, no choice of the settings holds.

    Raises UsageError for a given code that does not exist, SettingsError with the line for one of the settings.
    """
    for code in (*select, *ignore):
        if code not in CODES:
            raise UsageError(f"there is no check `{code}`; {_nearest(code)}")
    _require_known_codes(settings)
    if select:
        wanted = frozenset(select)
    else:
        wanted = codes_of(settings, "").union(*(codes_of(settings, f"{wing}/") for wing in settings.wings))
    return tuple(code for code in CODES if code in wanted.difference(ignore))


def _require_known_codes(settings: Settings) -> None:
    for key, code in _stated_codes(settings):
        if code not in CODES:
            # A code that weighs something is a key, one that is listed is a text.
            line = settings.line_of(f"{key}.{code}" if key.endswith("severity") else key, code)
            message = f"mdmem.toml:{line}: `{key}` names `{code}`, which is no check; {_nearest(code)}"
            raise SettingsError(message, readable=settings, line=line)


def _stated_codes(settings: Settings) -> Iterator[tuple[str, str]]:
    tables: list[tuple[str, Settings | WingSettings]] = [("check", settings)]
    for table, stated in (*tables, *((f"wings.{name}.check", wing) for name, wing in settings.wings.items())):
        for key, codes in (("select", stated.select), ("ignore", stated.ignore), ("severity", stated.severity)):
            yield from ((f"{table}.{key}", code) for code in codes)


def require_known_wings(settings: Settings, wings: Collection[str]) -> None:
    """Raise SettingsError for a table of a wing that is not among those of the memory, naming the nearest."""
    for name in settings.wings:
        if name not in wings and settings.wings[name].git is None:
            close = difflib.get_close_matches(name, sorted(wings), n=1, cutoff=0.4)
            hint = f"did you mean `{close[0]}`?" if close else "remove the table"
            line = settings.line_of(f"wings.{name}")
            message = f"mdmem.toml:{line}: `wings.{name}` is about a wing that is not there; {hint}"
            raise SettingsError(message, readable=settings, line=line)


def ask(code: str, case: Case) -> list[Finding] | Exception:
    """Return what one check finds, or what it raised; raises MdmemError, which is no fault of the check."""
    try:
        return list(get_check(code).find(case))
    except MdmemError:
        raise
    # A fault in one check of a hundred must not hide what the others find.
    except Exception as error:  # noqa: BLE001  # the caller tells of it
        return error


def run_checks(
    case: Case,
    codes: Collection[str],
    *,
    by_wing: bool = True,
    is_debugging: bool = False,
    step: Callable[[int], None] | None = None,
) -> list[Finding]:
    """Return what the checks find and no file keeps back, sorted by file, place and code, each with its severity.

    `by_wing` says whether the wings' own choice of codes holds, which it does not for codes that somebody asked for.
    A check that raises is a finding, too, unless `is_debugging`. `step` is told how many checks are done.
    """
    policy = SeverityPolicy(case.settings, case.catalog, by_wing=by_wing, elsewhere=case.fetched_wings)
    run = _Run(case, policy, is_debugging=is_debugging)
    for number, code in enumerate(codes, 1):
        if code != unused_suppression.code:
            run.take(code)
        if step is not None:
            step(number)
    if unused_suppression.code in codes:
        run.take_unused()
    return sorted(set(run.found), key=lambda finding: finding.sort_key)


class _Run:
    """One run: what was found so far, which checks ended well, and which suppressions kept something back."""

    def __init__(self, case: Case, policy: SeverityPolicy, *, is_debugging: bool) -> None:
        self._case, self._policy, self._is_debugging = case, policy, is_debugging
        self._suppressions = Suppressions(case.suppressions)
        self._rest = replace(case, focus=frozenset({file.path for file in case.catalog.files} - case.kept.keys()))
        self._ran: set[str] = set()
        self.found: list[Finding] = []

    def take(self, code: str) -> None:
        found = self._found(code)
        if isinstance(found, Exception):
            if self._is_debugging:
                raise found
            self._add(crash_of(code, found, self._case), Severity.ERROR)
            return
        self._ran.add(code)
        if not found:
            return
        check = get_check(code)
        told = Counter[str]()
        for finding in found:
            if not self._suppressions.keeps_back(finding) and self._policy.counts(code, finding.place.path):
                told[finding.place.path] += 1
                if told[finding.place.path] <= _MOST_ALIKE:
                    self._add(finding, check.severity)
        for path, number in told.items():
            if number > _MOST_ALIKE:
                message = f"the file has {number} such findings, of which {_MOST_ALIKE} are told"
                rest = Finding(code, message, Place(path), "mend these first, then run this again")
                self._add(replace(rest, count=number - _MOST_ALIKE), check.severity)

    def _found(self, code: str) -> list[Finding] | Exception:
        if code not in KEPT:
            return ask(code, self._case)
        kept = self._kept.get(code, [])
        if not self._rest.has_work(code):
            # To import a check costs more than what it would not find.
            return kept
        found = ask(code, self._rest)
        return found if isinstance(found, Exception) else [*kept, *found]

    @cached_property
    def _kept(self) -> dict[str, list[Finding]]:
        """What was found in files before, by code."""
        found: dict[str, list[Finding]] = {}
        for one in self._case.kept.values():
            for finding in one.findings:
                found.setdefault(finding.code, []).append(finding)
        return found

    def _add(self, finding: Finding, default: Severity) -> None:
        severity = self._policy.severity(finding, default)
        if finding.fix is not None and self._policy.is_elsewhere(*(edit.path for edit in finding.fix.edits)):
            finding = replace(finding, fix=None)
        finding = finding.in_one_line()
        self.found.append(finding if finding.severity is severity else replace(finding, severity=severity))

    def take_unused(self) -> None:
        """Take the suppressions that kept nothing back, where their check ran: what all the other checks tell."""
        not_used = [
            one
            for one in self._suppressions.unused()
            if one.code in self._ran - ASKS_GIT and self._policy.counts(one.code, one.place.path)
        ]
        self._case = replace(self._case, faults=(*self._case.faults, *unused(not_used)))
        self.take(unused_suppression.code)


_NUMBER = re.compile(r"`[^`]*`|\d+")
_NAMED = re.compile(r"`([^`]*)`")


def mark_new(
    findings: Iterable[Finding], base_findings: Iterable[Finding], *, moves: Mapping[str, str] = MappingProxyType({})
) -> list[Finding]:
    """Return the findings, those marked new of which the base has fewer of the same.

    The same are of one code and file and say the same but for numbers that are not quoted, so that neither a shifted
    line nor a longer text makes one new; of several alike the last ones are new, and one that weighs more than before
    is another. `moves` are the addresses that the base has elsewhere, old to new.
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
    """Return what two tellings of one fact share: code, place, and the words but for numbers that are not quoted."""
    said = _NUMBER.sub(lambda found: found.group() if found.group().startswith("`") else "#", finding.message)
    return finding.code, finding.address or finding.place.path, said + finding.unsaid


def _moved(same: tuple[str, str, str], moves: Mapping[str, str]) -> tuple[str, str, str]:
    if not moves:
        return same
    code, where, said = same
    named = _NAMED.sub(lambda found: f"`{moves.get(found[1], found[1])}`", said)
    return code, moves.get(where, where), named


def first_sentences() -> dict[str, str]:
    """Return what each check finds, in its own first sentence."""
    return {code: get_check(code).explanation.splitlines()[0] for code in CODES}
