"""What one connection was given: an entry comes whole once, and then as a line as long as it does not change."""

from __future__ import annotations

from collections.abc import Mapping

# Address to digest of what an answer handed over.
Given = Mapping[str, str]
NOTHING: Given = {}


class Session:
    """The answers of one client that stays connected; `given` is what they handed over so far."""

    given: Given = NOTHING

    def give(self, gave: Given) -> None:
        """Note what an answer handed over; a call that is under way keeps what it started with."""
        self.given = {**self.given, **gave}
