"""Changes of files as one patch that `git apply` takes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from mdmem.render.ink import Ink

_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_NO_NEWLINE = "\\ No newline at end of file\n"


class FilePatch(Struct, frozen=True):
    """One file before and after; None where it is not there, `was` is its path before where it moves."""

    path: str
    before: bytes | None
    after: bytes | None
    was: str | None = None


def diff_text(changes: Sequence[FilePatch], ink: Ink) -> str:
    """Return the changes as a unified diff, by path, without its last newline; what does not change is left out.

    Bytes that are no UTF-8 stand as lone surrogates, and a file with a NUL is only named.
    """
    told = [_file(change, ink) for change in sorted(changes, key=lambda change: change.path) if _changes(change)]
    return "".join(told).removesuffix("\n")


def _changes(change: FilePatch) -> bool:
    return change.before != change.after or change.was not in (None, change.path)


def _file(change: FilePatch, ink: Ink) -> str:
    old, new = _name("a", change.was or change.path), _name("b", change.path)
    head = [f"diff --git {old} {new}", *_header(change)]
    if b"\0" in (change.before or b"") + (change.after or b""):
        return "\n".join([*map(ink.bold, head), f"Binary files {old} and {new} differ\n"])
    hunks = list(_hunks(_lines(change.before), _lines(change.after)))
    if hunks:
        head.append(f"--- {'/dev/null' if change.before is None else _padded(old)}")
        head.append(f"+++ {'/dev/null' if change.after is None else _padded(new)}")
    return "\n".join([*map(ink.bold, head), "".join(_inked(line, ink) for line in hunks)])


def _header(change: FilePatch) -> list[str]:
    if change.before is None:
        return ["new file mode 100644"]
    if change.after is None:
        return ["deleted file mode 100644"]
    if change.was not in (None, change.path):
        return [f"rename from {_quoted(change.was or '')}", f"rename to {_quoted(change.path)}"]
    return []


def _name(side: str, path: str) -> str:
    return _quoted(f"{side}/{path}")


def _padded(name: str) -> str:
    # git and patch end an unquoted name at a tab, so that one with a space is read whole.
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _quoted(path: str) -> str:
    """Return a path as git writes it: quoted like a string of C where it holds a control, a quote, or no UTF-8."""
    if not re.search('[\x00-\x1f\x7f"\\\\\ud800-\udfff]', path):
        return path
    return f'"{"".join(map(_escaped, path))}"'


def _escaped(one: str) -> str:
    if one in _ESCAPES:
        return _ESCAPES[one]
    if one.isprintable():
        return one
    return "".join(f"\\{byte:03o}" for byte in one.encode("utf-8", "surrogateescape"))


def _lines(content: bytes | None) -> list[str]:
    # `splitlines` would end lines at characters that end none in a patch.
    return re.findall(r"[^\n]*\n|[^\n]+", (content or b"").decode("utf-8", "surrogateescape"))


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    for number, line in enumerate(difflib.unified_diff(before, after)):
        # The first two name the files, which is done here with git's quoting.
        if number >= 2:
            yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def _inked(line: str, ink: Ink) -> str:
    colour = {"@": ink.dim, "+": ink.added, "-": ink.removed}.get(line[0])
    if colour is None:
        return line
    text, newline, rest = line.partition("\n")
    return f"{colour(text)}{newline}{rest}"
