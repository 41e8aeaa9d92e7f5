"""The settings name a default wing that is none.

Every question and every write without `--wing` goes to that wing, so that `retrieve` answers nothing while the checks
would be green.

Fails:

    default_wing = "teem"      (the wing is `team`)

Fix: write the name of a wing, or remove the line.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.spelling import nearest
from mdmem.store.tree import SETTINGS_NAME

CODE = "default-wing-unknown"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding where `default_wing` is neither a wing's name nor its project's; one not read may be it."""
    name, wings = case.settings.default_wing, case.catalog.wings
    if name is None or case.catalog.access.is_narrow or case.catalog.closed or name in case.catalog.missing_wings:
        return
    folded = "".join(character if character.isalnum() else "_" for character in name.casefold())
    if wings.keys() & {name, folded} or any(wing.project_id == name for wing in wings.values()):
        return
    close = nearest(name, tuple(wings))
    help_ = f"write `{close}`" if close else "write the name of a wing, or remove the line"
    place = Place(SETTINGS_NAME, case.settings.line_of("default_wing"))
    yield Finding(CODE, f"`default_wing` is `{name}`, and there is no such wing", place, help_)
