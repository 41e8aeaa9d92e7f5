"""Define checks with a decorator, list them by code, and choose the checks that run."""

from __future__ import annotations

import difflib
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import SettingsError, UsageError
from mdmem.model.finding import CURRENT_CODES, FORMER_CODES, Finding, Fix, Severity
from mdmem.model.spelling import nearest
from mdmem.store.settings import Settings, WingSettings

# A rule is a generator that takes a `Case`. The type is `Any`, because the module of `Case` imports this one.
Rule = Callable[[Any], Iterator[Finding]]

# The modules of `mdmem.checks.rules`, each with its title, in the order in which the checks are listed.
THEMES = {
    "file": "files and names",
    "front_matter": "front matter",
    "content": "content",
    "links": "links",
    "supersession": "supersession",
    "dates": "dates",
    "change": "change",
    "scope": "scope and wings",
    "run": "run and settings",
}


# There may be thousands of findings, and a fix takes time, so only the first findings of a check get one: so many in
# each file, and so many in the whole memory for fixes that rename a file.
_MAX_FIXES, _MAX_RENAMES = 25, 100


class LateFix(Fix, frozen=True):
    """A fix that is computed only for the first findings of a check, to save time; only `renames` is known before."""

    make: Callable[[], Fix | None] = lambda: None


class Check(Struct, frozen=True, kw_only=True):
    """One check: its code, its default severity, and the generator (`rule`) that yields its findings.

    - `per_file`: the findings depend only on the file itself, so they are cached by its content.
    - `asks_git`: the result depends on git, which may know less in another clone.
    - `incomplete`: a finding means that something could not be read.
    - `on_request`: the check runs only if the settings enable it.
    - `same_when_ended`: the severity of a finding is not lowered on deprecated and superseded entries.
    """

    code: str
    severity: Severity
    rule: Rule
    per_file: bool = False
    asks_git: bool = False
    incomplete: bool = False
    on_request: bool = False
    same_when_ended: bool = False

    def find(self, case: Any) -> Iterator[Finding]:
        """Yield the findings in a case with the code of the check; the severity is decided later."""
        fixes = Counter[str]()
        for finding in self.rule(case):
            fix = finding.fix
            if isinstance(fix, LateFix):
                key, most = ("", _MAX_RENAMES) if fix.renames else (finding.place.path, _MAX_FIXES)
                fixes[key] += 1
                fix = fix.make() if fixes[key] <= most and not case.is_base else None
            yield replace(finding, code=self.code, fix=fix)

    @property
    def theme(self) -> str:
        """Return the title of the check's theme."""
        return THEMES[self.module]

    @property
    def module(self) -> str:
        """Return the module of the check's rule, which is its theme."""
        return self.rule.__module__.rpartition(".")[2]

    @property
    def is_excusable(self) -> bool:
        """Return whether a suppression in a file, or a baseline, may excuse a finding."""
        # Otherwise a change could excuse itself.
        return not self.incomplete and self.module not in ("change", "run")

    @property
    def needs_base(self) -> bool:
        """Return whether the check compares a change with its base."""
        return self.module == "change"

    @property
    def weighs_less_when_ended(self) -> bool:
        """Return whether a finding about a deprecated or superseded entry may be one level less severe."""
        return self.module in ("front_matter", "content", "links", "dates", "scope") and not self.same_when_ended

    @property
    def explanation(self) -> str:
        """Return the docstring of the rule, which `--explain` prints; its example is a code block in Markdown."""
        return inspect.cleandoc(self.rule.__doc__ or "").replace("\nFails:\n", "\nFails:\n\n")

    @property
    def summary(self) -> str:
        """Return the first line of the explanation."""
        return self.explanation.partition("\n")[0]


_CHECKS: dict[str, Check] = {}


def check(code: str, severity: Severity, **traits: Any) -> Callable[[Rule], Check]:
    """Return a decorator that registers a generator as a check; it must not print, read files or ask for the time."""
    return lambda rule: _CHECKS.setdefault(code, Check(code=code, severity=severity, rule=rule, **traits))


@cache
def get_checks() -> dict[str, Check]:
    """Return every check by code, sorted by theme."""
    for module in THEMES:
        import_module(f"mdmem.checks.rules.{module}")
    order = list(THEMES)
    return dict(sorted(_CHECKS.items(), key=lambda item: order.index(item[1].module)))


def find_check(code: str) -> Check | None:
    """Return the check with a code, which may be a former code; None if there is none."""
    return get_checks().get(CURRENT_CODES.get(code, code))


def get_check(code: str) -> Check:
    """Return the check with a code, which may be a former code; raises UsageError that suggests similar codes."""
    found = find_check(code)
    if found is None:
        raise UsageError(f"there is no check `{code}`; {nearest_codes(code)}")
    return found


def nearest_codes(code: str) -> str:
    """Return the hint for an unknown code: up to three similar codes, or else the command that lists all codes."""
    close = " or ".join(f"`{one}`" for one in difflib.get_close_matches(code, get_checks(), n=3, cutoff=0.4))
    return f"did you mean {close}?" if close else "`mdmem check --explain all` lists them"


NO_WING = WingSettings()


def codes_of(settings: Settings, path: str) -> frozenset[str]:
    """Return the codes that the settings enable for a file; a former code enables only the findings that had it."""
    wing = settings.wings.get(path.partition("/")[0], NO_WING)
    select: Collection[str] = wing.select or settings.select
    if not select:
        budgets = ("entry-too-long",) if settings.entry_tokens else ()
        requested = {*settings.severity, *wing.severity, *budgets}
        select = [one.code for one in get_checks().values() if not one.on_request or one.code in requested]
    names = {name for code in select for name in (code, CURRENT_CODES.get(code, code), *FORMER_CODES.get(code, ()))}
    ignored = (*wing.ignore, *(() if wing.select else settings.ignore))
    return frozenset(names).difference(name for code in ignored for name in (code, *FORMER_CODES.get(code, ())))


def find_severity(settings: Settings, wing: str, code: str, former: str = "") -> Severity | None:
    """Return the severity in the settings, or None: the wing's before the general one, former codes first."""
    tables = (settings.wings.get(wing, NO_WING).severity, settings.severity)
    return next((table[one] for table in tables for one in (former, code) if one in table), None)


def chosen_codes(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the codes to run, sorted by theme; raises UsageError and SettingsError for an unknown code."""
    selected = {get_check(code).code for code in select}
    for code in ignore:
        get_check(code)
    for key, code, line in _stated_codes(settings):
        if find_check(code) is None:
            message = f"mdmem.toml:{line}: `{key}` contains `{code}`, which is not a check; {nearest_codes(code)}"
            raise SettingsError(message, readable=settings, line=line)
    wanted = selected or codes_of(settings, "").union(*(codes_of(settings, f"{wing}/") for wing in settings.wings))
    return tuple(code for code in get_checks() if code in wanted and code not in ignore)


def _stated_codes(settings: Settings) -> Iterator[tuple[str, str, int]]:
    tables: dict[str, Settings | WingSettings] = {"check": settings}
    tables |= {f"wings.{name}.check": wing for name, wing in settings.wings.items()}
    for table, stated in tables.items():
        for key in (f"{table}.select", f"{table}.ignore", f"{table}.severity"):
            for code in getattr(stated, key.rpartition(".")[2]):
                own = f"{key}.{code}" if key.endswith(".severity") else key
                yield key, code, settings.line_of(own)


def require_known_wings(settings: Settings, wings: Collection[str]) -> None:
    """Raise SettingsError, with a similar name, for a table in the settings about a wing that does not exist."""
    for name, stated in settings.wings.items():
        if name not in wings and stated.git is None:
            close = nearest(name, tuple(wings))
            hint = f"did you mean `{close}`?" if close else "remove the table"
            line = settings.line_of(f"wings.{name}")
            message = f"mdmem.toml:{line}: `wings.{name}` is for a wing that does not exist; {hint}"
            raise SettingsError(message, readable=settings, line=line)
