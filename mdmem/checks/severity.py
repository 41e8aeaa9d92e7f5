"""Which checks run at a file, and how much a finding weighs there: the settings of the root and of the wing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mdmem.checks.check import find_check, get_checks
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import Catalog
from mdmem.store.settings import Ended, Settings, WingSettings

_LESS = {Severity.ERROR: Severity.WARNING, Severity.WARNING: Severity.INFO, Severity.INFO: Severity.INFO}
_NO_WING = WingSettings()


def codes_of(settings: Settings, path: str) -> frozenset[str]:
    """Return the codes that run at a file, present and former ones: its wing's, else the root's, without the ignored.

    A former code means the findings alone that had it.
    """
    wing = _wing(settings, path)
    select = wing.select or settings.select or _usual_codes(settings, wing)
    names = {name for code in select for name in _meant(code)} | {_present(code) for code in select}
    return frozenset(names).difference(*map(_meant, (*wing.ignore, *(() if wing.select else settings.ignore))))


def _meant(code: str) -> tuple[str, ...]:
    """Return a code with the former ones of its check; a former one alone."""
    check = find_check(code)
    return (code, *check.aliases) if check is not None and check.code == code else (code,)


def _present(code: str) -> str:
    check = find_check(code)
    return check.code if check is not None else code


def _usual_codes(settings: Settings, wing: WingSettings) -> Collection[str]:
    """Return all codes but those that the settings have to ask for, by a severity or by budgets."""
    asked = {*settings.severity, *wing.severity, *(("entry-too-long",) if settings.entry_tokens else ())}
    return [one.code for one in get_checks().values() if not one.on_request or one.code in asked]


def stated_severity(severities: Mapping[str, Severity], code: str, former: str = "") -> Severity | None:
    """Return the severity that settings give to a former code, else to the present one."""
    return severities.get(former) or severities.get(code)


def _wing(settings: Settings, path: str) -> WingSettings:
    return settings.wings.get(path.partition("/")[0], _NO_WING)


class SeverityPolicy:
    """What the settings of a root and of its wings say about findings."""

    def __init__(
        self, settings: Settings, catalog: Catalog, *, by_wing: bool = True, elsewhere: frozenset[str] = frozenset()
    ) -> None:
        """Take the settings; without `by_wing` the wings' own choice of codes does not count.

        `elsewhere` are the wings that are written in other repositories.
        """
        self._elsewhere = elsewhere
        self._settings = settings
        self._catalog = catalog
        self._by_wing = by_wing
        self._chosen: dict[str, frozenset[str]] = {}

    def runs(self, finding: Finding) -> bool:
        """Say whether the check of a finding runs at its file, and whether its former code is not ignored there."""
        if not self._by_wing:
            return True
        wing = finding.place.path.partition("/")[0]
        if wing not in self._chosen:
            self._chosen[wing] = codes_of(self._settings, finding.place.path)
        names = self._chosen[wing]
        if finding.code not in names:
            # Without settings of wings the root's choice of checks is made before they run.
            return not self._settings.wings
        return not finding.former or finding.former in names

    def severity(self, finding: Finding, default: Severity, *, may_weigh_less: bool) -> Severity:
        """Return the severity of a finding: the wing's setting, the root's, the check's own; one less on ended entries.

        A severity that a check sets itself is never lowered. In a wing of another repository it is info, unless
        the wing's settings say otherwise.
        """
        wing = _wing(self._settings, finding.place.path)
        of_wing = stated_severity(wing.severity, finding.code, finding.former)
        if of_wing is None and self.is_elsewhere(finding.place.path):
            return Severity.INFO
        stated = of_wing or stated_severity(self._settings.severity, finding.code, finding.former)
        weight = stated or finding.severity or default
        lowers = may_weigh_less and finding.severity is None and self._settings.ended is Ended.LOWER
        is_lower = lowers and finding.address is not None and has_ended(self._catalog, finding.address)
        return _LESS[weight] if is_lower else weight

    def is_elsewhere(self, *paths: str) -> bool:
        """Say whether any of some files is written in another repository."""
        return bool(self._elsewhere) and any(path.partition("/")[0] in self._elsewhere for path in paths)


def has_ended(catalog: Catalog, address: str) -> bool:
    """Say whether an entry is deprecated or superseded; False if its supersession cannot be read."""
    entry = catalog.entries.get(address)
    if entry is None or not {"supersedes", "superseded_by"}.isdisjoint(entry.unread):
        return False
    return entry.status is Status.DEPRECATED or (entry.is_in_force and not catalog.lineage.is_current(address))
