"""The door to python-frontmatter: a handler with an exact fence and the strict reader."""

from __future__ import annotations

from frontmatter.default_handlers import BaseHandler

from mdmem.document.split import FENCE, has_front_matter, split_text
from mdmem.document.strict import Fields, read_fields


class StrictHandler(BaseHandler):
    """Reads front matter between two lines that are exactly `---`; a carriage return before the line's end is allowed.

    Usable with python-frontmatter itself: `frontmatter.load(path, handler=StrictHandler())`.
    """

    FM_BOUNDARY = FENCE
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        """Say whether the text begins with an exact fence."""
        return has_front_matter(text)

    def split(self, text: str) -> tuple[str, str]:
        """Return front matter and body, byte for byte; raises FenceError."""
        return split_text(text)

    def load(self, fm: str, **_: object) -> Fields:
        """Return the fields; raises ValueError with the first fault."""
        fields, troubles = read_fields(fm)
        if fields is None:
            raise ValueError(troubles[0].message)
        return fields
