"""Match paths against the globs of `applies_to`: git's `:(glob)` rules, byte for byte, from the repository's top.

`pathspec` was tried instead: it differs from git on one glob in eight, mostly with sets and `**`.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct


def matches(glob: str, path: str) -> bool:
    """Return whether a glob covers a path.

    `*` stays in a folder, `**` crosses folders, and a plain path covers everything below it. A path that ends in a
    slash is a folder, which matches where the glob may cover something below it. A glob that leads out of the
    repository covers nothing.
    """
    return _rule(glob).matches(path)


def any_match(globs: Iterable[str], paths: Iterable[str]) -> str | None:
    """Return the first of the paths that any of the globs covers, or None."""
    return next(all_matches(globs, paths), None)


def all_matches(globs: Iterable[str], paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that any of the globs covers, in their order."""
    rules = tuple(_rule(glob) for glob in globs)
    return (path for path in paths if any(rule.matches(path) for rule in rules))


def fixed_part(glob: str) -> str | None:
    """Return the folder or path that contains everything a glob covers, empty for the top; None for no path at all."""
    rule = _rule(glob)
    if rule is _NOTHING:
        return None
    return rule.plain.rstrip("/") if rule.pattern is None else rule.literal.rpartition("/")[0]


def script_pattern(glob: str) -> list[str | None] | None:
    """Return a glob as a browser evaluates it, None if it covers nothing.

    The parts are the plain path, the prefix of the paths below it, the literal start, and the regular expression of the
    rest or None, all for paths whose bytes of UTF-8 are read as characters.
    """
    rule = _rule(glob)
    if rule is _NOTHING:
        return None
    source = None if rule.pattern is None else rule.pattern.pattern.decode("latin-1")
    return [*(os.fsencode(part).decode("latin-1") for part in (rule.plain, rule.below, rule.literal)), source]


class _Rule(Struct, frozen=True):
    """A glob as git reads it: first as a plain path, then as `literal` followed by a match of `pattern`."""

    plain: str
    below: str
    literal: str
    pattern: re.Pattern[bytes] | None

    def covers(self, path: str) -> bool:
        if path == self.plain or path.startswith(self.below):
            return True
        if self.pattern is None or not path.startswith(self.literal):
            return False
        return self.pattern.fullmatch(os.fsencode(path[len(self.literal) :])) is not None

    def matches(self, path: str) -> bool:
        return self._reaches_below(path) if path.endswith("/") else self.covers(path)

    def _reaches_below(self, folder: str) -> bool:
        if self is _NOTHING:
            return False
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        globs = self.plain.rstrip("/").split("/") if self.plain else []
        for part, glob in zip(parts, globs, strict=False):
            if glob == "**":
                return True
            if not _rule(glob).covers(part):
                return False
        return len(parts) <= len(globs) or self.covers("/".join(parts))


_NOTHING = _Rule("", "\0", "\0", None)
_SPECIAL = re.compile(r"[*?\[\\]")


@lru_cache(maxsize=4096)
def _rule(glob: str) -> _Rule:
    plain = _normal(glob)
    if plain is None:
        return _NOTHING
    if not plain:
        return _Rule("", "", "", None)
    special = _SPECIAL.search(plain)
    literal = plain[: special.start()] if special else plain
    # git cuts the literal off before it looks for `**`, which may therefore follow it without a slash.
    pattern = re.compile(_regex(os.fsencode(plain[len(literal) :])), re.DOTALL) if special else None
    return _Rule(plain, plain if plain.endswith("/") else f"{plain}/", literal, pattern)


def _normal(glob: str) -> str | None:
    """Resolve `.`, `..` and doubled slashes; None if that leads out of the repository."""
    parts: list[str] = []
    for part in glob.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    folder = "/" if parts and glob.rsplit("/", 1)[-1] in ("", ".", "..") else ""
    return None if glob.startswith("/") else "/".join(parts) + folder


_NEVER = b"(?!)"
_STAR, _DEEP, _FOLDERS = b"[^/]*?", b".*?", b"(?:.*?/)??"
_FIXED = {"folders": _FOLDERS, "deep": _DEEP, "star": _STAR, "any": b"[^/]", "never": _NEVER}
_TOKEN = re.compile(
    rb"(?:(?<=/)|\A)\*\*+(?:(?P<folders>/)|(?P<deep>(?=\\/|\Z)))"
    rb"|(?P<star>\*+)|(?P<any>\?)|(?P<set>\[)|(?P<never>\\\Z)|\\?(?P<plain>.)",
    re.DOTALL,
)


def _regex(glob: bytes) -> bytes:
    """Return the pattern of a glob, for Python and for a browser.

    Everything before a later star or `**` is matched once, as early as possible: else a glob of many stars takes time
    that grows exponentially. A lookahead with a group does that in engines without atomic groups, too.
    """
    blocks: list[list[bytes]] = [[b""]]
    for token in _tokens(glob):
        if token in (_DEEP, _FOLDERS):
            blocks.append([token])
        elif token is _STAR:
            blocks[-1].append(token)
        else:
            blocks[-1][-1] += token
    group = 0

    def joined(pieces: list[bytes], *, is_last: bool) -> bytes:
        nonlocal group
        outer = group = group + (not is_last)
        settled = []
        for piece in pieces[1:-1]:
            group += 1
            settled.append(b"(?=(%s))(?:\\%d)" % (piece, group))
        whole = b"".join([pieces[0], *settled, *pieces[1:][-1:]])
        return whole if is_last else b"(?=(%s))(?:\\%d)" % (whole, outer)

    return b"".join(joined(pieces, is_last=number == len(blocks)) for number, pieces in enumerate(blocks, 1))


def _tokens(glob: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(glob):
        found = _TOKEN.match(glob, at)
        assert found is not None
        kind, at = found.lastgroup or "plain", found.end()
        if kind == "set":
            members, at = _set(glob, at)
            yield members
        else:
            yield _FIXED.get(kind) or re.escape(found["plain"])


_ITEM = re.compile(rb"\[:([^\]]*):\]|(\\.|[^\\])-(\\.|[^\]\\])|(\\.|[^\\])", re.DOTALL)
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


def _set(glob: bytes, at: int) -> tuple[bytes, int]:
    """Return the pattern of a set that starts after its bracket, and its end; a malformed set never matches."""
    negated = glob[at : at + 1] in (b"!", b"^")
    start = at = at + negated
    members: set[int] = set()
    while at == start or glob[at : at + 1] != b"]":
        item = _ITEM.match(glob, at)
        found = None if item is None else _members(item)
        if item is None or found is None:
            return _NEVER, len(glob)
        members |= found
        at = item.end()
    meant = (set(range(256)) - members if negated else members) - {ord("/")}
    return (b"[" + b"".join(b"\\x%02x" % one for one in sorted(meant)) + b"]" if meant else _NEVER), at + 1


def _members(item: re.Match[bytes]) -> set[int] | None:
    name, low, high, single = item.groups()
    if name is not None:
        known = _CLASSES.get(name.decode("latin-1"))
        return None if known is None else set(known.encode())
    return {single[-1]} if single else set(range(low[-1], high[-1] + 1))
