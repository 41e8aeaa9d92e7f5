"""When hygiene ran over the wings of a root, and whether it is due; a small file is all that is read for it."""

from __future__ import annotations

from mdmem.hygiene.due import hygiene_due, last_hygiene
from mdmem.scope import find_wing
from mdmem.state.times import read_times
from mdmem.workspace.model import LastHygiene
from mdmem.workspace.opened import Opened


def is_due(workspace: Opened, project: str) -> bool:
    """Say whether the wing of a project was without hygiene for 30 days; one that is not there never is."""
    name = find_wing(project, workspace.catalog.wings)
    if name is None:
        return False
    return hygiene_due(workspace.catalog, name, read_times(workspace.state_folder), today=workspace.today)


def last_of(workspace: Opened, active: str | None) -> LastHygiene:
    """Return how the active wing stands; without one, as the wing does that waits longest."""
    catalog, times = workspace.catalog, read_times(workspace.state_folder)
    counted = [name for name in catalog.wings if active in (None, name)]
    days = [last_hygiene(catalog.wings[name], times) for name in counted]
    known = [day for day in days if day is not None]
    day = min(known, default=None) if len(known) == len(days) else None
    return LastHygiene(day, any(hygiene_due(catalog, name, times, today=workspace.today) for name in counted))
