"""The fix that moves files: every link to them, and every short or relative link in them, is rewritten with it."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.checks.case import Case
from mdmem.checks.fixing import with_renames
from mdmem.checks.moves import Move, below
from mdmem.checks.twins import composed
from mdmem.finding import Finding


def with_move(finding: Finding, case: Case, moves: Mapping[str, str], title: str) -> Finding:
    """Return a finding with the fix that moves files to paths where nothing is; without one where something is."""
    return _with(finding, Move(case, moves), title)


def _with(finding: Finding, move: Move, title: str) -> Finding:
    if not move.moves or move.unmovable or move.taken or move.untold:
        return finding
    return with_renames(finding, title, move.moves, move.edits())


def with_name(finding: Finding, case: Case, place: str, name: str) -> Finding:
    """Return a finding with the fix that gives an entry, a room or a wing another name."""
    folder, _, old = place.rpartition("/")
    is_entry = place.count("/") == 2
    new = f"{folder}/{name}".lstrip("/") + (".md" if is_entry else "")
    if not folder and case.settings.source and old in case.settings.source.decode("utf-8", "replace"):
        # The settings may name the wing, and no fix writes them.
        return finding
    moves = {place: new} if is_entry else below(case, place, new)
    # A folder of that name has entries of its own, and to put two wings together is no renaming.
    is_free = is_entry or not below(case, new, place)
    move = Move(case, moves, folders={} if is_entry else {place: new})
    return _with(finding, move, f"Rename it to `{name}`") if is_free else finding


def apart(finding: Finding, case: Case, place: str) -> Finding:
    """Return a finding with the fix that gives an entry a number, so that its name is no other's."""
    taken = {file.path.lower() for file in (*case.catalog.files, *case.catalog.others)}
    if place.count("/") != 2 or not place.endswith(".md"):
        return finding
    stem = composed(place.removesuffix(".md")).lower()
    free = next(number for number in range(2, len(taken) + 3) if f"{stem}-{number}.md" not in taken)
    name = f"{stem.rsplit('/', 1)[-1]}-{free}"
    return with_move(finding, case, {place: f"{place.rsplit('/', 1)[0]}/{name}.md"}, f"Rename it to `{name}`")
