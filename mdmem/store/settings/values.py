"""How one value of `mdmem.toml` is read; each reader raises SettingsError naming the key and what was expected."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from mdmem.errors import SettingsError
from mdmem.model.entry import EntryType, Status
from mdmem.store.settings.model import AGENT_STATUS, ROOMS

_ROOM = re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")
_WING = re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z")
# What would end a link of Markdown, or be read as something else there, is no part of it.
_PAGE = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%-]+(?:\{(?:change|run|view)\}[\w.~:/?#@!$&*+,;=%-]*)*", re.ASCII)
_Choice = TypeVar("_Choice", bound=StrEnum)


def text(key: str, value: object) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise SettingsError(f"mdmem.toml: `{key}` must be a text, found {value!r}")
    return value


def files(key: str, value: object) -> str:
    """Read the address below which a host shows the files of a repository, `{view}` being how."""
    if not _PAGE.fullmatch(text(key, value)) or str(value).count("{view}") != 1:
        wanted = "an address such as `https://host.example/team/memory/{view}/main`"
        raise SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")
    return str(value).rstrip("/")


def page(key: str, value: object) -> str:
    """Read the address of a page; `{change}` and `{run}` may stand in it."""
    if not _PAGE.fullmatch(stated := text(key, value)) or "{view}" in stated:
        wanted = (
            "an address such as `https://pages.example/{change}/diff.html`, with {change} and {run} to be filled in"
        )
        raise SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")
    return stated


def count(key: str, value: object) -> int:
    """Read a whole number from 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SettingsError(f"mdmem.toml: `{key}` must be a whole number from 0, found {value!r}")
    return value


def flag(key: str, value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise SettingsError(f"mdmem.toml: `{key}` must be true or false, found {value!r}")
    return value


def number_in(least: int, most: int, unit: str) -> Callable[[str, object], int]:
    """Return a reader of whole numbers between two bounds."""

    def read_number(key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            wanted = f"a whole number of {unit} from {least} to {most}"
            raise SettingsError(f"mdmem.toml: `{key}` must be {wanted}, found {value!r}")
        return value

    return read_number


def wing(key: str, value: object) -> str:
    """Read the name of a wing."""
    name = text(key, value)
    if name != name.lower() or not _WING.match(name):
        raise SettingsError(f"mdmem.toml: `{key}` must be the name of a wing, such as `shared`, found {value!r}")
    return name


def rooms(key: str, value: object) -> dict[str, str]:
    """Read the rooms by kind, with the defaults of the others."""
    stated = table(text)(key, value)
    for kind, room in stated.items():
        if kind not in ROOMS:
            close = difflib.get_close_matches(kind, ROOMS, n=1, cutoff=0.5)
            hint = f"did you mean `{key}.{close[0]}`?" if close else f"known kinds are {', '.join(ROOMS)}"
            raise SettingsError(f"mdmem.toml has an unknown key `{key}.{kind}`; {hint}")
        if room != room.lower() or not _ROOM.match(room):
            wanted = "the name of a room, such as `anti-patterns`"
            raise SettingsError(f"mdmem.toml: `{key}.{kind}` must be {wanted}, found {room!r}")
    return {**ROOMS, **stated}


def choice(closed_set: type[_Choice]) -> Callable[[str, object], _Choice]:
    """Return a reader of one of a closed set."""

    def read_choice(key: str, value: object) -> _Choice:
        try:
            return closed_set(str(value))
        except ValueError as error:
            allowed = ", ".join(f"`{member}`" for member in closed_set)
            raise SettingsError(f"mdmem.toml: `{key}` must be one of {allowed}, found {value!r}") from error

    return read_choice


def below_root(key: str, value: object) -> str:
    """Read a path that every clone has: below the root, in `/` form, and not in git's own folder."""
    path = text(key, value)
    refused = {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or refused:
        raise SettingsError(
            f"mdmem.toml: `{key}` must be a path below the root, such as `.baseline.json`, found {path!r}"
        )
    return path


def texts(key: str, value: object) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SettingsError(f"mdmem.toml: `{key}` must be a list of texts, found {value!r}")
    return tuple(value)


def table(read: Callable[[str, object], Any]) -> Callable[[str, object], dict[str, Any]]:
    """Return a reader of a table whose values are all read alike."""

    def read_table(key: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SettingsError(f"mdmem.toml: `{key}` must be a table, found {value!r}")
        return {name: read(f"{key}.{name}", inner) for name, inner in value.items()}

    return read_table


def statuses(key: str, value: object) -> dict[EntryType, Status]:
    """Read the statuses by type, with the defaults of the others."""
    stated = table(text)(key, value)
    found = {
        EntryType(_one_of(EntryType, key, kind)): Status(_one_of(Status, f"{key}.{kind}", status))
        for kind, status in stated.items()
    }
    return {**AGENT_STATUS, **found}


def _one_of(closed_set: type[StrEnum], key: str, value: str) -> str:
    allowed = [member.value for member in closed_set]
    if value not in allowed:
        raise SettingsError(f"mdmem.toml: `{key}` must name one of {', '.join(allowed)}, found {value!r}")
    return value
