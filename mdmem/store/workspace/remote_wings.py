"""Which wings are read from other repositories, how old they are, and that nobody writes them here."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from mdmem.errors import SettingsError, UsageError
from mdmem.store.catalog.load import place_of
from mdmem.store.state.local_records import find_pin
from mdmem.store.workspace.workspace import Workspace


class Borrowed(Struct, frozen=True):
    """A wing that is read from another repository: from where, at which commit, and when it was last asked for."""

    name: str
    git: str
    commit: str
    asked: date


def borrowed_wings(workspace: Workspace) -> tuple[Borrowed, ...]:
    """Return the wings that are read from other repositories, by name."""
    found = []
    for name, stated in workspace.settings.remote_wings.items() if workspace.catalog.fetched_wings else ():
        pin = find_pin(workspace.cache_folder, place_of(stated, workspace.location.root), stated.commit or "")
        if pin is not None and name in workspace.catalog.fetched_wings:
            found.append(Borrowed(name, stated.git or "", pin.commit, pin.asked))
    return tuple(found)


# In days: what is binding elsewhere seldom changes faster.
_AGED = 30


def aged_wings(workspace: Workspace) -> tuple[str, ...]:
    """Return a sentence for each wing that was last asked for long ago; none where the settings cannot be read."""
    try:
        borrowed = borrowed_wings(workspace)
    except SettingsError:
        return ()
    ages = ((one, (workspace.today - one.asked).days) for one in borrowed)
    return tuple(
        f"the wing `{one.name}` of {one.git} was last fetched {days} days ago; `mdmem sync --wings` fetches it again"
        for one, days in ages
        if days > _AGED
    )


def refuse_remote(workspace: Workspace, wing: str) -> None:
    """Raise UsageError for a wing that lives in another repository."""
    stated = workspace.settings.remote_wings.get(wing)
    if stated is not None:
        raise UsageError(f"the wing `{wing}` lives in {stated.git}: change it there, then type `mdmem sync --wings`")
