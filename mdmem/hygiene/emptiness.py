"""Rooms that hold no entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mdmem.catalog import Catalog
from mdmem.finding import Finding, Place

CODE = "empty-room"


def empty_rooms(catalog: Catalog, rooms: Iterable[str]) -> Iterator[Finding]:
    """Yield one finding for each folder of a room that holds nothing but a README, by path.

    A folder with other files than entries is no empty room: pictures lie there, or what the checks name.
    """
    listed = [file.path for file in (*catalog.files, *catalog.others) if file.path.count("/") >= 2]
    held = {_room(path) for path in listed if path.count("/") > 2 or not path.endswith("/README.md")}
    for room in sorted({*rooms, *map(_room, listed)} - held):
        help_ = f"write an entry with `mdmem new TYPE {room}`, or remove the folder"
        yield Finding(CODE, "holds no entry", Place(room), help_)


def _room(path: str) -> str:
    wing, room, _ = path.split("/", 2)
    return f"{wing}/{room}"
