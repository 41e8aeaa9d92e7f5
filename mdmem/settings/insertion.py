"""Putting one key into a file of settings, every other byte as it was."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.settings.model import Settings, dotted_keys
from mdmem.settings.parse import parse_settings


def with_baseline(content: bytes, name: str) -> bytes:
    """Return a file of settings that names a baseline.

    Raises SettingsError where the file is written in a way that leaves no certain place for the key.
    """
    before = parse_settings(content)
    meant = replace(before, baseline=name)
    for tried in _attempts(content, name):
        if reads_as(tried, meant):
            return tried
    hint = f'write `baseline = "{name}"` below `[check]` yourself'
    raise SettingsError(f"mdmem.toml: there is no certain place for the baseline's name; {hint}")


def reads_as(content: bytes, meant: Settings) -> bool:
    """Say whether a file of settings says what is meant."""
    try:
        return parse_settings(content) == meant
    except SettingsError:
        return False


def _attempts(content: bytes, name: str) -> Iterator[bytes]:
    """Yield the file with the key below the table's head, beside a key of the table, and with a table at its end."""
    lines = content.decode("utf-8").splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    keys = list(dotted_keys([line.removeprefix("\ufeff") for line in lines]))
    for number, key in enumerate(keys):
        if key == "check":
            yield _with_line(lines, number + 1, f'baseline = "{name}"{ending}')
        elif key.startswith("check."):
            yield _with_line(lines, number, f'check.baseline = "{name}"{ending}')
    head = [*lines[:-1], _ended(lines[-1], ending), ending] if lines else []
    yield "".join([*head, f'[check]{ending}baseline = "{name}"{ending}']).encode()


def _with_line(lines: list[str], number: int, line: str) -> bytes:
    return "".join([*lines[:number], line, *lines[number:]]).encode()


def _ended(line: str, ending: str) -> str:
    return line if line.endswith(("\n", "\r")) else line + ending
