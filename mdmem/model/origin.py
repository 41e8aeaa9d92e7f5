"""The origin of an imported entry: the file, or a part of one, and the start of its digest."""

from __future__ import annotations

import re
from hashlib import sha1

from msgspec import Struct

KEY = "x-imported-from"
_WRITTEN = re.compile(r"(?P<path>[^#]+?)(?:#(?P<part>[^@]*))?@(?P<digest>[0-9a-f]{12})\Z")
LINE = re.compile(rf"^{KEY}:[ \t]+(?P<value>.+?)[ \t]*\r?$", re.MULTILINE)


class Origin(Struct, frozen=True):
    """A file, by its path from the project's top, or a part of it; `digest` is the start of git's blob name."""

    path: str
    part: str
    digest: str

    def __str__(self) -> str:
        """Return the origin as a front matter has it; `read_origin` parses it."""
        path = self.path.replace("%", "%25").replace("#", "%23")
        return f"{path}{f'#{self.part}' if self.part else ''}@{self.digest}"

    def is_of(self, content: bytes) -> bool:
        """Return whether a content is the imported one, with any line ends."""
        return self.digest == content_digest(content)


def content_digest(content: bytes) -> str:
    """Return the start of git's name for a content with its line ends as git stores them."""
    plain = content.replace(b"\r\n", b"\n")
    return sha1(b"blob %d\0" % len(plain) + plain, usedforsecurity=False).hexdigest()[:12]


def read_origin(written: object) -> Origin | None:
    """Parse the value of the key; return None for another form."""
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    path = found["path"].replace("%23", "#").replace("%25", "%")
    return Origin(path, found["part"] or "", found["digest"])


def origin_in(text: str) -> Origin | None:
    """Return the origin in the text of an entry's file, without parsing its front matter."""
    found = LINE.search(text.partition("\n---")[0])
    return read_origin(found["value"].strip("\"'")) if found else None
