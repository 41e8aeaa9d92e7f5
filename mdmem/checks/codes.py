"""The choice of checks: which codes run at a file, and the severities that the settings give them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from mdmem.checks.check import find_check, get_check, get_checks, nearest_codes
from mdmem.errors import SettingsError
from mdmem.model.finding import Severity
from mdmem.model.spelling import nearest
from mdmem.store.settings import Settings, WingSettings

NO_WING = WingSettings()


def codes_of(settings: Settings, path: str) -> frozenset[str]:
    """Return the codes that run at a file, present and former ones: its wing's, else the root's, without the ignored.

    A former code means only the findings that had it.
    """
    wing = settings.wings.get(path.partition("/")[0], NO_WING)
    select: Collection[str] = wing.select or settings.select
    if not select:
        budgets = ("entry-too-long",) if settings.entry_tokens else ()
        requested = {*settings.severity, *wing.severity, *budgets}
        select = [one.code for one in get_checks().values() if not one.on_request or one.code in requested]
    names = {name for code in select for name in _with_aliases(code)}
    names |= {check.code for code in select if (check := find_check(code)) is not None}
    ignored = (*wing.ignore, *(() if wing.select else settings.ignore))
    return frozenset(names).difference(*map(_with_aliases, ignored))


def _with_aliases(code: str) -> tuple[str, ...]:
    check = find_check(code)
    return (code, *check.aliases) if check is not None and check.code == code else (code,)


def stated_severity(severities: Mapping[str, Severity], code: str, former: str = "") -> Severity | None:
    """Return the severity that settings give to a former code, else to the present one."""
    return severities.get(former) or severities.get(code)


def chosen_codes(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the codes to run, in the order of the themes; `select` replaces the choice of the settings.

    Raises UsageError for a given code that does not exist, SettingsError with the line for one in the settings.
    """
    selected = {get_check(code).code for code in select}
    for code in ignore:
        get_check(code)
    for key, code, line in _stated_codes(settings):
        if find_check(code) is None:
            message = f"mdmem.toml:{line}: `{key}` names `{code}`, which is not a check; {nearest_codes(code)}"
            raise SettingsError(message, readable=settings, line=line)
    wanted = selected or codes_of(settings, "").union(*(codes_of(settings, f"{wing}/") for wing in settings.wings))
    return tuple(code for code in get_checks() if code in wanted and code not in ignore)


def renamed_codes(settings: Settings, given: Sequence[str] = ()) -> list[str]:
    """Return a remark for each former code of a check in the options or in the settings."""
    stated = [(f"mdmem.toml:{line}: ", code) for _, code, line in _stated_codes(settings)]
    return [
        f"{where}the check `{code}` is called `{check.code}` now"
        for where, code in [*(("", code) for code in given), *stated]
        if (check := find_check(code)) is not None and check.code != code
    ]


def _stated_codes(settings: Settings) -> Iterator[tuple[str, str, int]]:
    """Yield each code in the settings with its key and its line."""
    tables: dict[str, Settings | WingSettings] = {"check": settings}
    tables |= {f"wings.{name}.check": wing for name, wing in settings.wings.items()}
    for table, stated in tables.items():
        for code in stated.select:
            yield f"{table}.select", code, settings.line_of(f"{table}.select", code)
        for code in stated.ignore:
            yield f"{table}.ignore", code, settings.line_of(f"{table}.ignore", code)
        for code in stated.severity:
            yield f"{table}.severity", code, settings.line_of(f"{table}.severity.{code}", code)


def require_known_wings(settings: Settings, wings: Collection[str]) -> None:
    """Raise SettingsError with the nearest name for a table about a wing that does not exist."""
    for name, stated in settings.wings.items():
        if name not in wings and stated.git is None:
            close = nearest(name, tuple(wings))
            hint = f"did you mean `{close}`?" if close else "remove the table"
            line = settings.line_of(f"wings.{name}")
            message = f"mdmem.toml:{line}: `wings.{name}` is about a wing that is not there; {hint}"
            raise SettingsError(message, readable=settings, line=line)
