"""The change makes the checks of the memory milder, or takes an owner away.

A change that switches off what it would fail by passes unseen. Reported are a check that no longer runs, a severity
that is lowered, a `fail_on` that lets more through, an owner who is removed from a wing, an `agent_status` that lets
agents put in force what they only drafted before, a `one_sided` that lets a claim hide what is in force, and a wing of
another repository that is named no more.

Fails:

    base:    ignore = []
    now:     ignore = ["dangling-link"]

Fix: take it back, or make it a change of its own that an owner approves, with the reason in its message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mdmem.checks.approvals import names_the_same
from mdmem.checks.case import Base, Case
from mdmem.checks.engine import get_check
from mdmem.checks.registry import CODES
from mdmem.checks.severity import codes_of
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.settings import Ended, Old, OneSided, Settings, WingSettings
from mdmem.store.tree import SETTINGS_NAME

CODE = "settings-loosened"
SEVERITY = Severity.WARNING
_OFF = "switched off"
_HELP = "take it back, or let an owner approve it as a change of its own"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each thing that the settings or a manifest let through and those of the base did not."""
    if case.base is None:
        return
    if SETTINGS_NAME not in case.unmerged:
        yield from _of_checks(case.base.settings, case.settings, case.catalog.wings)
        yield from _of_levels(case.base.settings, case.settings)
        yield from _of_remote_wings(case.base.settings, case.settings, case.catalog.wings)
    yield from _of_owners(case, case.base)


def _of_checks(before: Settings, after: Settings, wings: Collection[str]) -> Iterator[Finding]:
    """Yield each check that no longer runs or weighs less: in the whole memory, or else in one wing."""
    everywhere = dict(_milder(before, after, ""))
    stated = sorted({*before.wings, *after.wings}.intersection(wings))
    in_wings = [(wing, change) for wing in stated for change in _milder(before, after, wing)]
    for code, what in everywhere.items():
        yield _of_check(after, "", code, what)
    for wing, (code, what) in in_wings:
        if everywhere.get(code) != what:
            yield _of_check(after, wing, code, what)


def _milder(before: Settings, after: Settings, wing: str) -> Iterator[tuple[str, str]]:
    """Yield each code that a wing's files are spared, or are told at a lower severity, and which of the two."""
    if before == after:
        return
    ran, runs = (codes_of(settings, f"{wing}/") for settings in (before, after))
    for code in CODES:
        if code in ran and code not in runs:
            yield code, _OFF
        elif code in ran:
            was, now = (_level(settings, wing, code) for settings in (before, after))
            if now.rank > was.rank:
                yield code, f"lowered from {was} to {now}"


def _level(settings: Settings, wing: str, code: str) -> Severity:
    own = settings.wings[wing].severity if wing in settings.wings else {}
    return own.get(code) or settings.severity.get(code) or get_check(code).SEVERITY


def _of_check(after: Settings, wing: str, code: str, what: str) -> Finding:
    table = f"wings.{wing}.check" if wing else "check"
    where = f"the wing `{wing}`" if wing else "the whole memory"
    stated: Settings | WingSettings = after.wings.get(wing, WingSettings()) if wing else after
    if what != _OFF:
        line = after.line_of(f"{table}.severity.{code}")
    elif code in stated.ignore:
        line = after.line_of(f"{table}.ignore", code)
    else:
        line = after.line_of(f"{table}.select")
    return _at(line, f"`{code}` is {what} in {where}")


def _of_levels(before: Settings, after: Settings) -> Iterator[Finding]:
    if after.fail_on.rank < before.fail_on.rank:
        message = f"`fail_on` is raised from {before.fail_on} to {after.fail_on}"
        yield _at(after.line_of("check.fail_on"), message)
    if before.ended is Ended.SAME and after.ended is Ended.LOWER:
        yield _at(after.line_of("check.ended"), "what ended is told at a lower severity than before")
    if before.old is Old.FAIL and after.old is Old.PASS:
        yield _at(after.line_of("check.old"), "what was there before a change does not fail it any more")
    if before.one_sided is OneSided.CLAIM and after.one_sided is OneSided.FACT:
        message = "what only a newer entry says it replaces is hidden, and was shown before"
        yield _at(after.line_of("lineage.one_sided"), message)
    for kind, status in before.agent_status.items():
        now = after.agent_status[kind]
        if status is Status.DRAFT and now is not Status.DRAFT:
            message = f"what an agent writes as {kind} becomes `{now}` at once, and was a draft"
            yield _at(after.line_of(f"governance.agent_status.{kind}"), message)


def _of_remote_wings(before: Settings, after: Settings, wings: Collection[str]) -> Iterator[Finding]:
    """Yield each wing of another repository that is not named any more and that did not move here."""
    for name, stated in before.remote_wings.items():
        if name not in after.remote_wings and name not in wings:
            yield _at(1, f"the wing `{name}` of {stated.git} is not read any more")


def _of_owners(case: Case, base: Base) -> Iterator[Finding]:
    """Yield one finding for each wing that lost an owner; of a manifest that cannot be read nothing is known."""
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")} | case.unmerged
    for name, wing in base.catalog.wings.items():
        manifest = f"{name}/README.md"
        if name not in case.catalog.wings or manifest in faulty:
            continue
        owners = case.catalog.wings[name].owners
        removed = [owner for owner in wing.owners if not any(names_the_same(owner, other) for other in owners)]
        if removed:
            listed = " and ".join(f"`{owner}`" for owner in removed)
            has_manifest = case.catalog.wings[name].has_manifest
            place = case.catalog.document(manifest).place("owners") if has_manifest else Place(manifest)
            yield Finding(CODE, f"{listed} no longer answers for the wing `{name}`", place, _HELP)


def _at(line: int, message: str) -> Finding:
    return Finding(CODE, message, Place(SETTINGS_NAME, line), _HELP)
