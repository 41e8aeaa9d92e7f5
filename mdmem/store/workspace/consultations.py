"""What agents were told of a memory, counted on this machine where its settings do not forbid that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from mdmem.errors import SettingsError
from mdmem.store.state.journal import Consultation, Tally, note, told_lately
from mdmem.store.workspace.workspace import Workspace


def note_told(workspace: Workspace, way: str, addresses: Sequence[str]) -> None:
    """Note that entries reached an agent by a way; that this fails is no matter."""
    if addresses and _is_counted(workspace):
        note(workspace.state_folder, Consultation(when=datetime.now(UTC), way=way, addresses=addresses))


def tally_of(workspace: Workspace) -> Tally:
    """Return what agents were told lately; nothing where that is not counted."""
    return told_lately(workspace.state_folder, datetime.now(UTC)) if _is_counted(workspace) else Tally()


def _is_counted(workspace: Workspace) -> bool:
    try:
        return workspace.settings.consultations
    except SettingsError:
        return False
