"""Where each page lies, counted from the folder of the site, and how pages lead to one another."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container
from functools import lru_cache, partial
from urllib.parse import quote

START, ALL, LINEAGE, TIMELINE, CODE, BOARD, DIFF = (
    "index.html", "all.html", "lineage.html", "timeline.html", "code.html", "board.html", "diff.html",
)  # fmt: skip
MENU = (
    (START, "What binds"),
    (TIMELINE, "Timeline"),
    (LINEAGE, "Lineage"),
    (CODE, "Code"),
    (BOARD, "Board"),
    (ALL, "All"),
)


# Most file systems hold 255 bytes; the end of a page's name comes after it.
_LONGEST = 200


def _held(name: str) -> str:
    """Return what a file can be called after a name: where that is too long, hidden or the start of a folder, its hash.

    No two names give the same.
    """
    content = os.fsencode(name)
    if len(content) <= _LONGEST and name.isprintable() and "~" not in name and name.casefold() != START:
        return name
    return f"~{hashlib.sha256(content).hexdigest()[:32]}"


@lru_cache(maxsize=16_384)
def page_of(address: str) -> str:
    """Return the page of an entry; no entry's name is that of a page of ours."""
    return f"entries/{'/'.join(map(_held, address.split('/')))}.html"


def page_of_folder(folder: str) -> str:
    """Return the page of a folder of code."""
    return "/".join(("code", *map(_held, filter(None, folder.split("/"))), START))


def page_of_wing(wing: str) -> str:
    """Return the page of a wing."""
    return f"wings/{_held(wing)}.html"


def page_of_room(wing: str, room: str) -> str:
    """Return the page of a room."""
    return f"rooms/{_held(wing)}/{_held(room)}.html"


def page_of_month(month: str) -> str:
    """Return the page of a month, `2026-11`."""
    return f"months/{month}.html"


def up_from(page: str) -> str:
    """Return the way from a page to the folder of the site."""
    return "../" * page.count("/")


def href_from(page: str, target: str) -> str:
    """Return a link from one page to another, as a browser reads it."""
    return up_from(page) + _quoted(target)


# A page is led to from hundreds of others.
_quoted = lru_cache(maxsize=16_384)(partial(quote, safe="/"))


def entry_links(page: str, known: Container[str]) -> Callable[[str], str | None]:
    """Return what gives the link from a page to an entry, None for an address that is none."""
    return lambda address: href_from(page, page_of(address)) if address in known else None
