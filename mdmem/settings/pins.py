"""Writing the commit that a wing from elsewhere is pinned to: one line changes, or one is put in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.settings.insertion import reads_as
from mdmem.settings.model import dotted_keys
from mdmem.settings.parse import parse_settings

_VALUE = r"""\s*=\s*)("[^"\n]*"|'[^'\n]*')"""


def with_pin(content: bytes, wing: str, commit: str) -> bytes:
    """Return a file of settings that pins a wing to a commit, every other byte as it was.

    Raises SettingsError where the file says it in a way that cannot be changed for certain.
    """
    before = parse_settings(content)
    pinned = replace(before.wings[wing], commit=commit)
    meant = replace(before, wings={**before.wings, wing: pinned})
    if meant == before:
        return content
    for tried in _attempts(content, wing, commit):
        if reads_as(tried, meant):
            return tried
    line = before.line_of(f"wings.{wing}.git")
    hint = f'write `commit = "{commit}"` below `[wings.{wing}]` yourself'
    raise SettingsError(f"mdmem.toml:{line}: `wings.{wing}` cannot be pinned for certain; {hint}", line=line)


def _attempts(content: bytes, wing: str, commit: str) -> Iterator[bytes]:
    """Yield the file with its commit replaced, with a line for it put in, and with it put into a table in one line."""
    lines = content.decode("utf-8").splitlines(keepends=True)
    keys = list(dotted_keys([line.removeprefix("\ufeff") for line in lines]))
    table = f"wings.{wing}"
    for number, key in enumerate(keys):
        if key in (f"{table}.commit", table):
            yield _with_line(lines, number, re.sub(r"(\bcommit" + _VALUE, rf'\g<1>"{commit}"', lines[number], count=1))
    # The commit follows what it is the commit of.
    places = [number for name in ("ref", "git") for number, key in enumerate(keys) if key == f"{table}.{name}"]
    for number in places:
        yield _with_line(lines, number, _followed(lines[number], commit))
    for number, key in enumerate(keys):
        if key == table:
            put = re.sub(r"(\bgit" + _VALUE, rf'\g<0>, commit = "{commit}"', lines[number], count=1)
            yield _with_line(lines, number, put)


def _with_line(lines: list[str], number: int, text: str) -> bytes:
    return "".join([*lines[:number], text, *lines[number + 1 :]]).encode()


def _followed(line: str, commit: str) -> str:
    """Return a line that states a key with another one below it, written alike and ended alike."""
    bare = line.rstrip("\r\n")
    ending = line[len(bare) :] or "\n"
    key = re.sub(r"(git|ref)([\"']?)\s*\Z", r"commit\2", bare.partition("=")[0].rstrip())
    return f'{bare}{ending}{key} = "{commit}"{line[len(bare) :]}'
