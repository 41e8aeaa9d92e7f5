"""Whether a finding counts where it stands, and how much: root, wing, and whether the entry is still in force."""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property

from mdmem.checks.registry import CODES, FAMILIES, ON_REQUEST
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import Catalog
from mdmem.store.settings import Ended, Settings, WingSettings

# The first three are read by agents and clones whatever the status; the last is about nothing but ended entries.
_ALWAYS = frozenset({"secret-like-text", "hidden-instruction", "link-not-tracked", "deprecated-at-missing"})
_LOWERED = frozenset((*FAMILIES["schema and content"], *FAMILIES["links"], *FAMILIES["dates"])) - _ALWAYS
_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}


_NO_WING = WingSettings()


def codes_of(settings: Settings, path: str) -> frozenset[str]:
    """Return the codes that the settings choose for a file: what its wing selects, else the root's less its own."""
    wing = _wing(settings, path)
    select = wing.select or settings.select or _usual_codes(settings, wing)
    return frozenset(select) - {*wing.ignore, *(() if wing.select else settings.ignore)}


def _usual_codes(settings: Settings, wing: WingSettings) -> Set[str]:
    """Return all codes but those that the settings would have to ask for: by a severity, or by budgets of their own."""
    asked = settings.severity.keys() | wing.severity.keys() | ({"entry-too-long"} if settings.entry_tokens else set())
    return frozenset(CODES) - (ON_REQUEST - asked)


def _wing(settings: Settings, path: str) -> WingSettings:
    return settings.wings.get(path.partition("/")[0], _NO_WING)


class SeverityPolicy:
    """What the settings of a root and of its wings make of findings; asked for each of ten thousand."""

    def __init__(
        self, settings: Settings, catalog: Catalog, *, by_wing: bool = True, elsewhere: frozenset[str] = frozenset()
    ) -> None:
        """Take the settings; `by_wing` says whether each wing's own choice of codes holds.

        `elsewhere` are the wings that are written in other repositories.
        """
        self._elsewhere = elsewhere
        self._settings = settings
        self._catalog = catalog
        self._chooses = by_wing and bool(settings.wings)
        self._chosen: dict[str, frozenset[str]] = {}
        self._over: dict[str, bool] = {}

    def counts(self, code: str, path: str) -> bool:
        """Say whether a check is asked for at a file; everywhere where no wing has settings."""
        if not self._chooses:
            return True
        wing = path.partition("/")[0]
        if wing not in self._chosen:
            self._chosen[wing] = codes_of(self._settings, path)
        return code in self._chosen[wing]

    def severity(self, finding: Finding, default: Severity) -> Severity:
        """Return what a finding weighs: the wing's word, the root's, the check's own; one level less on what ended.

        What a check sets on a finding itself is never lowered. What nobody can mend here weighs least, unless the
        wing's own word is another.
        """
        code = finding.code
        if self.is_elsewhere(finding.place.path):
            return _wing(self._settings, finding.place.path).severity.get(code) or Severity.INFO
        weight = self._stated(finding) or finding.severity or default
        if finding.severity is None and code in _LOWERED and self._lowers and self._is_over(finding.address):
            return _LESS[weight]
        return weight

    def is_elsewhere(self, *paths: str) -> bool:
        """Say whether any of some files is written in another repository."""
        return bool(self._elsewhere) and any(path.partition("/")[0] in self._elsewhere for path in paths)

    def _stated(self, finding: Finding) -> Severity | None:
        settings = self._settings
        of_wing = _wing(settings, finding.place.path).severity if settings.wings else {}
        return of_wing.get(finding.code) or settings.severity.get(finding.code)

    @cached_property
    def _lowers(self) -> bool:
        return self._settings.ended is Ended.LOWER

    def _is_over(self, address: str | None) -> bool:
        if address is None:
            return False
        if address not in self._over:
            self._over[address] = is_over(self._catalog, address)
        return self._over[address]


def is_over(catalog: Catalog, address: str) -> bool:
    """Say whether an entry bound once and binds no more; one whose supersession cannot be read is not known to."""
    entry = catalog.entries.get(address)
    if entry is None or not {"supersedes", "superseded_by"}.isdisjoint(entry.unread):
        return False
    return entry.status is Status.DEPRECATED or (entry.is_in_force and not catalog.lineage.is_current(address))
