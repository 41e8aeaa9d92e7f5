"""Facts that answers and reports mention: the age of entries, due hygiene, wings of other repositories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from mdmem.errors import SettingsError, UsageError
from mdmem.model.entry import Entry, day_of
from mdmem.model.fields import origin_in
from mdmem.store.catalog.load import place_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.local_records import Tally, find_pin, read_times, record_shown, tally_shown
from mdmem.store.workspace.scope import find_wing
from mdmem.store.workspace.workspace import Workspace


def record_given(workspace: Workspace, way: str, addresses: Sequence[str]) -> None:
    """Record which entries an agent got, by which tool or hook, unless `consultations` is off; ignore errors."""
    if addresses and _is_counted(workspace):
        record_shown(workspace.state_folder, way, addresses, datetime.now(UTC))


def tally_of(workspace: Workspace) -> Tally:
    """Return how often agents got each entry in the last thirty days; empty if `consultations` is off."""
    return tally_shown(workspace.state_folder, datetime.now(UTC)) if _is_counted(workspace) else Tally()


def _is_counted(workspace: Workspace) -> bool:
    try:
        return workspace.settings.consultations
    except SettingsError:
        return False


class Freshness(StrEnum):
    """How long ago an entry was verified or created: at most 30 days (current), at most 180 (recent), or longer."""

    CURRENT = "current"
    RECENT = "recent"
    STALE = "stale"


def last_review(entry: Entry) -> date | None:
    """Return the later day of verification and creation; None without a date, or if `verified_at` is invalid."""
    if "verified_at" in entry.unread:
        return None
    stated = [day_of(moment) for moment in (entry.verified_at, entry.created_at) if moment is not None]
    return max(stated, default=None)


def age_of(entry: Entry, today: date) -> int | None:
    """Return the days since an entry was created or verified (the later one); None without a valid date."""
    day = last_review(entry)
    return None if day is None else max(0, (today - day).days)


def freshness_on(entry: Entry, today: date) -> Freshness:
    """Return the freshness of an entry on a day; an entry without a valid date is stale."""
    age = age_of(entry, today)
    if age is None or age > 180:
        return Freshness.STALE
    return Freshness.CURRENT if age <= 30 else Freshness.RECENT


class LastHygiene(Struct, frozen=True):
    """The day of the last full run of hygiene (None for never), and whether the next run is due."""

    day: date | None = None
    is_due: bool = False


def is_hygiene_due(workspace: Workspace, project: str) -> bool:
    """Return whether a project's wing had no hygiene for 30 days; false if the wing does not exist."""
    name = find_wing(project, workspace.catalog.wings)
    return name is not None and last_hygiene(workspace, name).is_due


def last_hygiene(workspace: Workspace, active: str | None) -> LastHygiene:
    """Return the last hygiene of the active wing; without an active wing, of the wing with the oldest run.

    A wing without a run is due if it has an entry that is at least 30 days old and was not imported.
    """
    catalog, times = workspace.catalog, read_times(workspace.state_folder)
    days: dict[str, date | None] = {}
    for name in (name for name in catalog.wings if active in (None, name)):
        # The day of the last full run is in the wing's manifest or in the local state.
        stated = (catalog.wings[name].last_hygiene_at, times.last(name))
        days[name] = max((day_of(moment) for moment in stated if moment is not None), default=None)
    known = [day for day in days.values() if day is not None]
    day = min(known, default=None) if len(known) == len(days) else None
    # The contract states the 30 days.
    latest = workspace.today - timedelta(days=30)
    return LastHygiene(day, any(day <= latest if day else _is_old(catalog, one, latest) for one, day in days.items()))


def _is_old(catalog: Catalog, wing: str, latest: date) -> bool:
    """Return whether a wing has an entry from `latest` or before, or without a date; imported entries do not count."""
    own = (one for one in catalog.entries.values() if one.wing == wing)
    old = [one.path for one in own if one.created_at is None or day_of(one.created_at) <= latest]
    contents = (content for path in old for _, content in catalog.tree.read([path]))
    return any(not isinstance(one, bytes) or origin_in(one.decode("utf-8", "replace")) is None for one in contents)


class Borrowed(Struct, frozen=True):
    """A wing that is read from another repository: its URL or path, its commit, and the day of the last fetch."""

    name: str
    git: str
    commit: str
    asked: date


def borrowed_wings(workspace: Workspace) -> tuple[Borrowed, ...]:
    """Return the wings that are read from other repositories, sorted by name; raises SettingsError."""
    fetched = workspace.catalog.fetched_wings
    found = []
    for name, stated in workspace.settings.remote_wings.items() if fetched else ():
        pin = find_pin(workspace.cache_folder, place_of(stated, workspace.location.root), stated.commit or "")
        if pin is not None and name in workspace.catalog.fetched_wings:
            found.append(Borrowed(name, stated.git or "", stated.commit or "", pin.asked))
    return tuple(found)


def refuse_remote(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing of another repository, since its files cannot be changed here."""
    stated = workspace.settings.remote_wings.get(wing)
    if stated is not None:
        raise UsageError(f"the wing `{wing}` is in {stated.git}: change it there, then type `mdmem sync --wings`")
