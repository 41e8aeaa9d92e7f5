"""The decorator that makes a generator of findings a check, and the checks by code."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.model.finding import Finding, Severity

# A rule takes a `Case`, which imports this module.
Rule = Callable[[Any], Iterator[Finding]]

# The modules of `mdmem.checks.rules`, each with its title, in the order in which the checks are listed.
THEMES = {
    "file": "file",
    "names": "names and places",
    "front_matter": "front matter",
    "schema": "schema",
    "content": "content",
    "links": "links",
    "supersession": "supersession",
    "dates": "dates",
    "change": "change",
    "scope": "scope and wings",
    "run": "run and settings",
}
# A file or a baseline cannot excuse these: no change excuses itself.
_NEVER_EXCUSED = ("change", "run")


class Check(Struct, frozen=True, kw_only=True):
    """One check: its code, its default severity, and the generator that yields its findings.

    `aliases` are codes that parts of it had before: a finding to which the rule gives one of them is still found by it
    in settings, suppressions and baselines. With `per_file` its findings depend on nothing but the file, so they are
    cached by its content. With `asks_git` finding nothing proves nothing: git may know less here than elsewhere. With
    `incomplete` a finding means that something was not read. With `on_request` it runs only if the settings enable
    it. With `same_when_ended` its findings keep their severity on deprecated or superseded entries.
    """

    code: str
    severity: Severity
    rule: Rule
    aliases: tuple[str, ...] = ()
    per_file: bool = False
    asks_git: bool = False
    incomplete: bool = False
    on_request: bool = False
    same_when_ended: bool = False

    def find(self, case: Any) -> Iterator[Finding]:
        """Yield the findings of a case under the code of the check; their severity is not decided yet."""
        for finding in self.rule(case):
            former = finding.code if finding.code != self.code else ""
            yield replace(finding, code=self.code, former=former)

    @property
    def theme(self) -> str:
        """Return the title of the module that the check is in."""
        return THEMES[self._module]

    @property
    def _module(self) -> str:
        return self.rule.__module__.rpartition(".")[2]

    @property
    def is_excusable(self) -> bool:
        """Return whether a file or a baseline may excuse a finding."""
        return not self.incomplete and self._module not in _NEVER_EXCUSED

    @property
    def needs_base(self) -> bool:
        """Return whether the check is about what a change did."""
        return self._module == "change"

    @property
    def weighs_less_when_ended(self) -> bool:
        """Return whether a finding about an entry that has ended may be one level less severe."""
        return self._module in ("schema", "content", "links", "dates", "scope") and not self.same_when_ended

    @property
    def explanation(self) -> str:
        """Return the docstring of the rule, which `--explain` prints."""
        return inspect.cleandoc(self.rule.__doc__ or "")

    @property
    def summary(self) -> str:
        """Return the first line of the explanation."""
        return self.explanation.partition("\n")[0]


_CHECKS: dict[str, Check] = {}


def check(code: str, severity: Severity, **traits: Any) -> Callable[[Rule], Check]:
    """Make a generator of findings a check with the traits that `Check` lists.

    A rule never prints, reads a file or asks the clock.
    """

    def register(rule: Rule) -> Check:
        _CHECKS[code] = Check(code=code, severity=severity, rule=rule, **traits)
        return _CHECKS[code]

    return register


@cache
def get_checks() -> dict[str, Check]:
    """Return every check by code, in the order of the themes."""
    for module in THEMES:
        import_module(f"mdmem.checks.rules.{module}")
    order = list(THEMES.values())
    return dict(sorted(_CHECKS.items(), key=lambda item: order.index(item[1].theme)))


@cache
def _former_codes() -> dict[str, Check]:
    return {alias: one for one in get_checks().values() for alias in one.aliases}


def find_check(code: str) -> Check | None:
    """Return the check of a code, which may be a former one; None if there is none."""
    return get_checks().get(code) or _former_codes().get(code)


def get_check(code: str) -> Check:
    """Return the check of a code, which may be a former one; raises UsageError with the nearest codes."""
    found = find_check(code)
    if found is None:
        raise UsageError(f"there is no check `{code}`; {nearest_codes(code)}")
    return found


def nearest_codes(code: str) -> str:
    """Return the help for an unknown code: the codes that are spelled alike."""
    close = difflib.get_close_matches(code, get_checks(), n=3, cutoff=0.4)
    named = " or ".join(f"`{one}`" for one in close)
    return f"did you mean {named}?" if close else "`mdmem check --explain all` lists them"


def nearest_excusable(code: str) -> str | None:
    """Return the code nearest to another that a file or a baseline may excuse."""
    excusable = [one.code for one in get_checks().values() if one.is_excusable]
    return next(iter(difflib.get_close_matches(code, excusable, n=1, cutoff=0.4)), None)
