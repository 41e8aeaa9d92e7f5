"""The origin of an imported entry: the path of the old file, a part of the file, and the start of its hash."""

from __future__ import annotations

import re
from hashlib import sha1

from msgspec import Struct

KEY = "x-imported-from"
_WRITTEN = re.compile(r"(?P<path>[^#]+?)(?:#(?P<part>[^@]*))?@(?P<digest>[0-9a-f]{12})\Z")
LINE = re.compile(rf"^{KEY}:[ \t]+(?P<value>.+?)[ \t]*\r?$", re.MULTILINE)


class Origin(Struct, frozen=True):
    """The file (from the project's top), or part of one, that was imported; `digest` begins git's blob hash."""

    path: str
    part: str
    digest: str

    def __str__(self) -> str:
        """Return the origin as it is written in a front matter. `read_origin` parses this text."""
        path = self.path.replace("%", "%25").replace("#", "%23")
        return f"{path}{f'#{self.part}' if self.part else ''}@{self.digest}"

    def is_of(self, content: bytes) -> bool:
        """Return whether some content is the imported content. Different line ends do not count."""
        return self.digest == content_digest(content)


def content_digest(content: bytes) -> str:
    """Return the first 12 digits of git's blob hash for some content, with line ends converted to LF."""
    plain = content.replace(b"\r\n", b"\n")
    return sha1(b"blob %d\0" % len(plain) + plain, usedforsecurity=False).hexdigest()[:12]


def read_origin(written: object) -> Origin | None:
    """Parse the value of `x-imported-from`. Return None if the value is not an origin."""
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    path = found["path"].replace("%23", "#").replace("%25", "%")
    return Origin(path, found["part"] or "", found["digest"])


def origin_in(text: str) -> Origin | None:
    """Return the origin in the text of an entry's file, or None. The front matter is searched, not parsed as YAML."""
    found = LINE.search(text.partition("\n---")[0])
    return read_origin(found["value"].strip("\"'")) if found else None
