"""Where each page lies in the folder of the site, and how pages link to each other."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from urllib.parse import quote

START, ALL, LINEAGE, TIMELINE, CODE, BOARD, DIFF = (
    f"{name}.html" for name in ("index", "all", "lineage", "timeline", "code", "board", "diff")
)
MENU = (
    (START, "Current rules"),
    (TIMELINE, "Timeline"),
    (LINEAGE, "Lineage"),
    (CODE, "Code"),
    (BOARD, "Board"),
    (ALL, "All entries"),
)
# Most file systems allow 255 bytes for a name.
_LONGEST = 200


def _file_name(name: str) -> str:
    """Return a file name for a name; its hash where it is too long, unprintable, or could be another page's."""
    content = os.fsencode(name)
    if len(content) <= _LONGEST and name.isprintable() and "~" not in name and name.casefold() != START:
        return name
    return f"~{hashlib.sha256(content).hexdigest()[:32]}"


@lru_cache(maxsize=16_384)
def page_of(address: str) -> str:
    """Return the page of an entry."""
    return f"entries/{'/'.join(map(_file_name, address.split('/')))}.html"


def page_of_wing(wing: str) -> str:
    """Return the page of a wing."""
    return f"wings/{_file_name(wing)}.html"


def page_of_room(wing: str, room: str) -> str:
    """Return the page of a room."""
    return f"rooms/{_file_name(wing)}/{_file_name(room)}.html"


def up_from(page: str) -> str:
    """Return the relative path from a page to the folder of the site."""
    return "../" * page.count("/")


@lru_cache(maxsize=16_384)
def quoted(page: str) -> str:
    """Return the path of a page as a link contains it."""
    return quote(page, safe="/")
