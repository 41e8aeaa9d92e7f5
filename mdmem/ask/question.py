"""Define the question that every asking command and tool puts to a memory."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, convert, field

from mdmem.errors import UsageError
from mdmem.store.workspace.scope import Filters


class Question(Struct, frozen=True, kw_only=True):
    """Words, paths of code from the repository's top, and filters.

    `work_paths` are the files at hand where the question is one of several in a call: they decide which wing is active
    and which invariants apply, but they bring no entry in. `syntax` reads the words as query syntax.
    """

    words: str = ""
    paths: tuple[str, ...] = ()
    work_paths: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    syntax: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether the question has neither words nor paths, so that every current entry answers it."""
        return not self.words.strip() and not self.paths

    @property
    def is_words_only(self) -> bool:
        """Return whether the question has words, and neither files nor filters."""
        return bool(self.words.strip()) and not self.paths and not self.work_paths and self.filters == Filters()


_Request = TypeVar("_Request", bound=Struct)


def read_request(kind: type[_Request], stated: Mapping[str, object]) -> _Request:
    """Return a request from keyword values; each text becomes one line, and None or a blank text counts as absent.

    Raises UsageError if the goal is missing.
    """
    tidied = {name: tidy(value) for name, value in stated.items()}
    if not tidied.get("goal"):
        raise UsageError("`goal` is missing; write a text")
    return convert({name: value for name, value in tidied.items() if value is not None and value != ""}, kind)


def tidy(value: object) -> Any:
    """Return a text on one line, a list of texts without blanks and duplicates, or any other value unchanged."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (list, tuple)):
        return tuple(dict.fromkeys(filter(None, map(tidy, value))))
    return value


class Tier(StrEnum):
    """How close an entry is to the active scope, the closest first."""

    FOCUS = "focus"
    PROJECT = "project"
    SHARED = "shared"

    @property
    def rank(self) -> int:
        """Return 0 for the closest."""
        return ("focus", "project", "shared").index(self.value)


class Coverage(StrEnum):
    """Whether a current invariant or decision covers a question."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
