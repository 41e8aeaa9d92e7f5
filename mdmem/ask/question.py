"""Define the question that commands and tools ask a memory, and helpers to read requests."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, convert, field
from msgspec.structs import fields

from mdmem.errors import UsageError
from mdmem.store.workspace.scope import Filters


class Question(Struct, frozen=True, kw_only=True):
    """A question: words, paths of code from the repository's top, and filters.

    `work_paths` are the files of the current work if the question is one of several in a call. They decide which wing
    is active and which invariants apply, but an entry does not match because of them. With `syntax`, the words are
    parsed as query syntax.
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


_Request = TypeVar("_Request", bound=Struct)


def read_request(kind: type[_Request], values: Mapping[str, object]) -> _Request:
    """Convert named values to a request of class `kind`. Raises UsageError if a required one is missing.

    None and blank texts count as absent, and white space in a text becomes single spaces.
    """
    tidied = {name: tidy(value) for name, value in values.items()}
    if missing := [one.name for one in fields(kind) if one.required and not tidied.get(one.name)]:
        raise UsageError(f"`{missing[0]}` is missing; write a text")
    return convert({name: value for name, value in tidied.items() if value is not None and value != ""}, kind)


def tidy(value: object) -> Any:
    """Replace white space in a text by single spaces; return any other value unchanged.

    A list becomes a tuple of such values, without duplicates and empty texts.
    """
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, (list, tuple)):
        return tuple(dict.fromkeys(filter(None, map(tidy, value))))
    return value


class Tier(StrEnum):
    """Where an entry belongs: to the scope's focus (a part of a project), to a project, or to a shared wing.

    The closest tier is the first.
    """

    FOCUS = "focus"
    PROJECT = "project"
    SHARED = "shared"


class Coverage(StrEnum):
    """How far the current invariants and decisions cover a question."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"
