"""Entries in force that nobody verified since the code they apply to changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date

from mdmem.model.entry import Entry
from mdmem.model.finding import Finding
from mdmem.model.globs import fixed_part, matches
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.remarks import looked_at

CODE = "unverified-since-change"


def outgrown(
    catalog: Catalog, held: Iterable[Entry], changes: Callable[[Sequence[str], date], Mapping[str, date]]
) -> Iterator[Finding]:
    """Yield one finding for each entry of which files that `applies_to` covers changed on a later day.

    `changes` is asked once, for all entries.
    """
    asked = [(entry, day) for entry in held if entry.applies_to and (day := looked_at(entry)) is not None]
    places = _outermost(
        {part for entry, _ in asked for glob in entry.applies_to if (part := fixed_part(glob)) is not None}
    )
    if not places:
        return
    covered = _Covered(changes(places, min(day for _, day in asked)))
    for entry, day in asked:
        newer = covered.after(day, entry.applies_to)
        if newer:
            yield _finding(catalog, entry, day, newer)


def _finding(catalog: Catalog, entry: Entry, day: date, newer: Mapping[str, date]) -> Finding:
    last = max(newer.values())
    path = min(path for path, changed in newer.items() if changed == last)
    more = f", with {len(newer) - 1} more" if len(newer) > 1 else ""
    verb = "verified" if entry.verified_at is not None else "written"
    message = f"`{path}` changed on {last}{more}, after it was {verb} on {day}"
    help_ = f"read it against the code, then type `mdmem verify {entry.address}`, or supersede it"
    return Finding(CODE, message, catalog.place(entry.address, "applies_to"), help_, entry.address)


def _outermost(places: Iterable[str]) -> list[str]:
    """Return the paths that lie below no other of them; only the top, which is empty, where it is among them."""
    kept: list[str] = []
    for place in sorted(places, key=lambda one: one.split("/")):
        if place == "":
            return [""]
        if not kept or not f"{place}/".startswith(f"{kept[-1]}/"):
            kept.append(place)
    return kept


class _Covered:
    """Changed paths by the globs that cover them; a glob that many entries name is matched once."""

    def __init__(self, days: Mapping[str, date]) -> None:
        self._days = days
        self._paths = sorted(days)
        self._by_glob: dict[str, list[str]] = {}

    def after(self, day: date, globs: Iterable[str]) -> dict[str, date]:
        """Return the covered paths that changed after a day."""
        paths = {path for glob in globs for path in self._of(glob)}
        return {path: self._days[path] for path in paths if self._days[path] > day}

    def _of(self, glob: str) -> list[str]:
        if glob not in self._by_glob:
            self._by_glob[glob] = [path for path in self._below(fixed_part(glob)) if matches(glob, path)]
        return self._by_glob[glob]

    def _below(self, part: str | None) -> Iterator[str]:
        if part is None:
            return
        for index in range(bisect_left(self._paths, part), len(self._paths)):
            if not self._paths[index].startswith(part):
                return
            yield self._paths[index]
