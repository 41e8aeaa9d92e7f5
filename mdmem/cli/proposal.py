"""What a command says of an entry that it wrote, and that waits for the default branch before it binds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmem.cli.common import Globals, open_workspace
from mdmem.store.workspace.proposals import view_of

if TYPE_CHECKING:
    from mdmem.write.write import WriteResult


def remark_if_proposed(given: Globals, written: WriteResult, form: str) -> None:
    """Say it of entries that a write put in force, or else the first of its changes, and that wait for a commit."""
    if written.changes and not written.is_dry and form != "json":
        changed = [one.to.removesuffix(".md") for one in written.changes]
        waiting = _waiting(given, [one for one in changed if one in written.approved] or changed[:1])
        if waiting:
            verb, them = ("is", "it") if len(waiting) == 1 else ("are", "them")
            named = f"{', '.join(waiting[:-1])} and {waiting[-1]}" if len(waiting) > 1 else waiting[0]
            given.remark(f"{named} {verb} only proposed until a commit of the default branch has {them}")


def is_proposed(given: Globals, address: str) -> bool:
    """Say whether an entry, as it was just written, waits for the default branch before it binds."""
    return bool(_waiting(given, [address]))


def _waiting(given: Globals, addresses: Sequence[str]) -> list[str]:
    """Return those of some entries, as they were just written, that wait for the default branch before they bind."""
    catalog = view_of(open_workspace(given)).checkout.catalog
    stances = ((one, catalog.stance(one)) for one in addresses)
    return [one for one, stance in stances if stance is not None and stance.standing.is_proposal]
