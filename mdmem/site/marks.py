"""Marked HTML: where the name of an entry stands, it becomes a link once it is known which entries there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

# Between control characters, which no shown text has: the address, and what is shown in the link or stands instead of
# the tag that begins it.
_MARK = re.compile("\x02([^\x03\x05]*)([\x03\x05])([^\x04]*)\x04")


def around(address: str, shown: str) -> str:
    """Return the mark of what is a link where there is such an entry."""
    return f"\x02{address}\x03{shown}\x04"


def instead(address: str, tag: str) -> str:
    """Return the mark of a tag that begins a link, to the entry where there is one."""
    return f"\x02{address}\x05{tag}\x04"


def linked(markup: str, href: Callable[[str], str | None]) -> str:
    """Return marked HTML with its links; `href` gives the page of an address, None for what is none."""

    def link(found: re.Match[str]) -> str:
        target = href(found[1])
        if target is None:
            return found[3]
        begin = f'<a href="{escape(target)}">'
        return begin if found[2] == "\x05" else f"{begin}{found[3]}</a>"

    return _MARK.sub(link, markup)


def named_in(markup: str) -> frozenset[str]:
    """Return what may be the address of an entry in marked HTML."""
    return frozenset(found[1] for found in _MARK.finditer(markup))
