"""Which wing a name means, and which shared ones a wing reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

from mdmem.errors import UsageError
from mdmem.model.entry import Wing


def find_wing(name: str, wings: Mapping[str, Wing]) -> str | None:
    """Return the wing that a name or a `project_id` means, or None.

    A manifest's `project_id` comes first, then the wing's name, then the name with other characters as `_`;
    a wing whose manifest claims another id is no match for the last.
    """
    by_id = [wing.name for wing in wings.values() if wing.project_id == name]
    if by_id or name in wings:
        return by_id[0] if by_id else name
    folded = "".join(character if character.isalnum() else "_" for character in name.casefold())
    wing = wings.get(folded)
    return folded if wing is not None and wing.project_id in (None, name) else None


def get_wing(name: str, wings: Mapping[str, Wing]) -> str:
    """Return the wing that a name means; raises UsageError with the nearest names."""
    found = find_wing(name, wings)
    if found is None:
        raise UsageError(not_there("wing", name, wings))
    return found


def not_there(kind: str, name: str, known: Collection[str], where: str = "") -> str:
    """Return the sentence about a name that means nothing, with the nearest of those that do."""
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    listed = " or ".join(f"`{one}`" for one in close) if close else ", ".join(f"`{one}`" for one in sorted(known)[:12])
    hint = f"did you mean {listed}?" if close else f"there is {listed}" if known else f"there is no {kind} yet"
    return f"there is no {kind} `{name}`{where}; {hint}"


def shared_of(wings: Mapping[str, Wing], name: str) -> tuple[str, ...]:
    """Return the shared wings a wing reads, in its order: all where its manifest names none, none for a shared one."""
    wing = wings.get(name, Wing(name=name))
    if wing.is_shared and wing.shared_wings is None:
        return ()
    if wing.shared_wings is None:
        return tuple(name for name, other in wings.items() if other.is_shared)
    return tuple(name for name in wing.shared_wings if name in wings and name != wing.name)
