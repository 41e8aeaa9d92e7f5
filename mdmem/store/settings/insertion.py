"""Putting one key into a file of settings, every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.store.settings.model import Settings, dotted_keys
from mdmem.store.settings.parse import parse_settings

_VALUE = r"""\s*=\s*)("[^"\n]*"|'[^'\n]*')"""


def with_baseline(content: bytes, name: str) -> bytes:
    """Return a file of settings that names a baseline.

    Raises SettingsError where the file is written in a way that leaves no certain place for the key.
    """
    found = _first_that_means(replace(parse_settings(content), baseline=name), _with_baseline(content, name))
    if found is None:
        hint = f'write `baseline = "{name}"` below `[check]` yourself'
        raise SettingsError(f"mdmem.toml: the place for the baseline's name is unclear; {hint}")
    return found


def with_pin(content: bytes, wing: str, commit: str) -> bytes:
    """Return a file of settings that pins a wing from elsewhere to a commit.

    Raises SettingsError where the file says it in a way that cannot be changed for certain.
    """
    before = parse_settings(content)
    meant = replace(before, wings={**before.wings, wing: replace(before.wings[wing], commit=commit)})
    found = content if meant == before else _first_that_means(meant, _with_pin(content, wing, commit))
    if found is None:
        line = before.line_of(f"wings.{wing}.git")
        hint = f'write `commit = "{commit}"` below `[wings.{wing}]` yourself'
        raise SettingsError(f"mdmem.toml:{line}: `wings.{wing}` cannot be pinned automatically; {hint}", line=line)
    return found


def _first_that_means(meant: Settings, attempts: Iterable[bytes]) -> bytes | None:
    for tried in attempts:
        try:
            if parse_settings(tried) == meant:
                return tried
        except SettingsError:
            continue
    return None


def _lines_and_keys(content: bytes) -> tuple[list[str], list[str]]:
    """Return the lines of a file, and the dotted key or table that each sets."""
    lines = content.decode("utf-8").splitlines(keepends=True)
    return lines, list(dotted_keys([line.removeprefix("\ufeff") for line in lines]))


def _with_baseline(content: bytes, name: str) -> Iterator[bytes]:
    """Yield the file with the key below the table's head, beside a key of the table, and with a table at its end."""
    lines, keys = _lines_and_keys(content)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for number, key in enumerate(keys):
        if key == "check":
            yield _joined(lines[: number + 1], f'baseline = "{name}"{ending}', lines[number + 1 :])
        elif key.startswith("check."):
            yield _joined(lines[:number], f'check.baseline = "{name}"{ending}', lines[number:])
    missing = "" if not lines or lines[-1].endswith(("\n", "\r")) else ending
    blank = ending if lines else ""
    yield _joined(lines, f'{missing}{blank}[check]{ending}baseline = "{name}"{ending}', [])


def _with_pin(content: bytes, wing: str, commit: str) -> Iterator[bytes]:
    """Yield the file with its commit replaced, with a line for it put in, and with it put into a table in one line."""
    lines, keys = _lines_and_keys(content)
    table = f"wings.{wing}"
    for number, key in enumerate(keys):
        if key in (f"{table}.commit", table):
            line = re.sub(r"(\bcommit" + _VALUE, rf'\g<1>"{commit}"', lines[number], count=1)
            yield _joined(lines[:number], line, lines[number + 1 :])
    # The commit follows the key that it is the commit of.
    for name in ("ref", "git"):
        for number, key in enumerate(keys):
            if key == f"{table}.{name}":
                yield _joined(lines[:number], _followed(lines[number], commit), lines[number + 1 :])
    for number, key in enumerate(keys):
        if key == table:
            line = re.sub(r"(\bgit" + _VALUE, rf'\g<0>, commit = "{commit}"', lines[number], count=1)
            yield _joined(lines[:number], line, lines[number + 1 :])


def _joined(above: list[str], text: str, below: list[str]) -> bytes:
    return "".join([*above, text, *below]).encode()


def _followed(line: str, commit: str) -> str:
    """Return a line that states a key with another one below it, written alike and ended alike."""
    bare = line.rstrip("\r\n")
    ending = line[len(bare) :] or "\n"
    key = re.sub(r"(git|ref)([\"']?)\s*\Z", r"commit\2", bare.partition("=")[0].rstrip())
    return f'{bare}{ending}{key} = "{commit}"{line[len(bare) :]}'
