"""Where an imported entry came from: the file, the part of it, and what it held then."""

from __future__ import annotations

import re
from hashlib import sha1

from msgspec import Struct

KEY = "x-imported-from"
_WRITTEN = re.compile(r"(?P<path>[^#]+?)(?:#(?P<part>[^@]*))?@(?P<digest>[0-9a-f]{12})\Z")
LINE = re.compile(rf"^{KEY}:[ \t]+(?P<value>.+?)[ \t]*\r?$", re.MULTILINE)


class Origin(Struct, frozen=True):
    """A file, from the project's top, or a part of one; `digest` begins the name that git gives its content."""

    path: str
    part: str
    digest: str

    def __str__(self) -> str:
        """Return it as a front matter holds it; `read_origin` reads it back."""
        path = self.path.replace("%", "%25").replace("#", "%23")
        return f"{path}{f'#{self.part}' if self.part else ''}@{self.digest}"

    def is_of(self, content: bytes) -> bool:
        """Say whether that is what was imported, however its lines end."""
        return self.digest == content_digest(content)


def content_digest(content: bytes) -> str:
    """Return the start of the name that git gives a content, its lines ending as git stores them."""
    plain = content.replace(b"\r\n", b"\n")
    # No secret: the name by which git finds the same content.
    return sha1(b"blob %d\0" % len(plain) + plain, usedforsecurity=False).hexdigest()[:12]


def read_origin(written: object) -> Origin | None:
    """Return what a front matter says of its origin, None for what is none."""
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    path = found["path"].replace("%23", "#").replace("%25", "%")
    return Origin(path, found["part"] or "", found["digest"])


def origin_in(text: str) -> Origin | None:
    """Return the origin that the text of an entry's file states, without reading all of its front matter."""
    found = LINE.search(text.partition("\n---")[0])
    return read_origin(found["value"].strip("\"'")) if found else None
