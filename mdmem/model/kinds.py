"""Describe the keys of a front matter: the kind of value, which files have the key, and how search reads it."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Annotated, TypeAlias

from msgspec import Struct


class Kind(StrEnum):
    """The kind of a value: it decides how the value is parsed, written, stored and described."""

    TYPE = auto()
    STATUS = auto()
    WING_KIND = auto()
    TEXT = auto()
    TEXTS = auto()
    NAMES = auto()
    LINKS = auto()
    GLOBS = auto()
    MOMENT = auto()
    VERSION = auto()
    SHARE = auto()
    PAIRS = auto()
    RELATIONS = auto()


class Holder(StrEnum):
    """Which files have a field: every entry, entries of one type, notes with one label, or a wing's manifest."""

    ENTRY = auto()
    INVARIANT = auto()
    DECISION = auto()
    PATTERN = auto()
    NOTE = auto()
    SESSION = auto()
    ENTITY = auto()
    WING = auto()

    @property
    def type(self) -> str:
        """Return the type of these entries, or the holder itself where there is no single type."""
        return "note" if self in (Holder.SESSION, Holder.ENTITY) else self.value

    @property
    def words(self) -> str:
        """Return the files in words."""
        if self in (Holder.SESSION, Holder.ENTITY):
            return f"notes labelled `{self}`"
        return {Holder.ENTRY: "every entry", Holder.WING: "a wing's manifest"}.get(self, f"{self}s")


class Searched(StrEnum):
    """How full-text search reads a field: as words with the weight of a title or tag, as one value, or as a date."""

    TITLE = auto()
    TAG = auto()
    WHOLE = auto()
    DATE = auto()


class Field(Struct, frozen=True):
    """One key of a front matter, as the annotation of an attribute of `Entry` or `Wing` describes it.

    `mdmem.model.fields` adds the name, the kind and `in_manifest` (a wing's manifest has the key, too), and puts the
    name in front of the example.
    """

    meaning: str
    example: str
    set_by: str = "its writer"
    searched: Searched | None = None
    holder: Holder = Holder.ENTRY
    required: bool = False
    name: str = ""
    kind: Kind = Kind.TEXT
    in_manifest: bool = False

    @property
    def is_of_wings(self) -> bool:
        """Return whether a wing's manifest has the key."""
        return self.in_manifest or self.holder is Holder.WING

    @property
    def is_list(self) -> bool:
        """Return whether the value is a list; a list of one may be written as the value itself."""
        return self.kind in _LISTS


_LISTS = frozenset({Kind.TEXTS, Kind.NAMES, Kind.LINKS, Kind.GLOBS, Kind.RELATIONS})

Text: TypeAlias = Annotated[str | None, Kind.TEXT]
Texts: TypeAlias = Annotated[tuple[str, ...], Kind.TEXTS]
Names: TypeAlias = Annotated[tuple[str, ...] | None, Kind.NAMES]
Links: TypeAlias = Annotated[tuple[str, ...], Kind.LINKS]
Globs: TypeAlias = Annotated[tuple[str, ...], Kind.GLOBS]
Version: TypeAlias = Annotated[int | None, Kind.VERSION]
Share: TypeAlias = Annotated[float | None, Kind.SHARE]
Pairs: TypeAlias = Annotated[tuple[tuple[str, str], ...], Kind.PAIRS]
