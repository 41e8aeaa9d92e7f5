"""Match paths against the globs of `applies_to`, with the rules of git's `:(glob)`, relative to the repository's top.

`pathspec` was tried instead. It differs from git for one glob in eight, mostly for sets and `**`.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count

from msgspec import Struct


def any_match(globs: Iterable[str], paths: Iterable[str]) -> str | None:
    """Return the first of the paths that at least one of the globs matches, or None."""
    return next(all_matches(globs, paths), None)


def all_matches(globs: Iterable[str], paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that at least one of the globs matches, in their given order.

    `*` matches within one folder, `**` also matches across folders, and a plain path matches everything below it. A
    path that ends in a slash is a folder. A folder matches if the glob may match something below the folder. A glob
    that leads out of the repository matches nothing.
    """
    rules = tuple(_rule(glob) for glob in globs)
    return (path for path in paths if any(rule.matches(path) for rule in rules))


def fixed_part(glob: str) -> str | None:
    """Return the deepest folder or path (empty for the top) with all possible matches of a glob; None for no match."""
    rule = _rule(glob)
    if rule is _NOTHING:
        return None
    return rule.plain.rstrip("/") if rule.pattern is None else rule.literal.rpartition("/")[0]


def script_pattern(glob: str) -> list[str | None] | None:
    """Return a glob in the form that the JavaScript of the exported site uses, or None if it matches nothing.

    The four parts are: the plain path, the prefix of all paths below it, the literal start, and the regular expression
    for the rest (None if there is none). The script compares paths as UTF-8 bytes, one character for each byte.
    """
    rule, ends, groups = _rule(glob), list[str](), count(1)
    if rule is _NOTHING:
        return None

    def converted(found: re.Match[str]) -> str:
        # JavaScript has no atomic groups, so each becomes a lookahead and a reference to its group.
        if found[0] == "(?>":
            ends.append(f"))(?:\\{next(groups)})")
            return "(?=("
        if found[0] == ")":
            return ends.pop()
        if found[0].startswith("("):
            ends.append(")")
        return found[0]

    source = None
    if rule.pattern is not None:
        source = re.sub(r"\\.|\(\?.|\)", converted, rule.pattern.pattern.decode("latin-1"), flags=re.DOTALL)
    return [*(os.fsencode(part).decode("latin-1") for part in (rule.plain, rule.below, rule.literal)), source]


class _Rule(Struct, frozen=True):
    """A parsed glob. A path matches as the plain path, below it, or as `literal` followed by a match of `pattern`."""

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
        if not path.endswith("/"):
            return self.covers(path)
        if self is _NOTHING:
            return False
        parts = [part for part in path.split("/") if part not in ("", ".")]
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
    parts: list[str] = []
    for part in glob.split("/"):
        if part == ".." and not parts:
            return _NOTHING
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if glob.startswith("/"):
        return _NOTHING
    plain = "/".join(parts) + ("/" if parts and glob.rsplit("/", 1)[-1] in ("", ".", "..") else "")
    if not plain:
        return _Rule("", "", "", None)
    special = _SPECIAL.search(plain)
    literal = plain[: special.start()] if special else plain
    # git removes the literal start before it looks for `**`, so the `**` may follow the literal without a slash.
    pattern = re.compile(_regex(os.fsencode(plain[len(literal) :])), re.DOTALL) if special else None
    return _Rule(plain, plain if plain.endswith("/") else f"{plain}/", literal, pattern)


_NEVER = b"(?!)"
_FIXED = {"folders": b"(?:.*?/)??", "deep": b".*?", "star": b"[^/]*?", "any": b"[^/]", "never": _NEVER}
_TOKEN = re.compile(
    rb"(?:(?<=/)|\A)\*\*+(?:(?P<folders>/)|(?P<deep>(?=\\/|\Z)))"
    rb"|(?P<star>\*+)|(?P<any>\?)|(?P<set>\[)|(?P<never>\\\Z)|\\?(?P<plain>.)",
    re.DOTALL,
)


def _regex(glob: bytes) -> bytes:
    """Return the regular expression of a glob.

    Each part before a later star or `**` is an atomic group, because a glob with many stars would otherwise take
    exponential time.
    """
    blocks: list[list[bytes]] = [[b""]]
    at = 0
    while at < len(glob):
        found = _TOKEN.match(glob, at)
        assert found is not None
        kind, at = found.lastgroup or "plain", found.end()
        if kind == "set":
            token, at = _set(glob, at)
        else:
            token = _FIXED.get(kind) or re.escape(found["plain"])
        if kind in ("deep", "folders"):
            blocks.append([token])
        elif kind == "star":
            blocks[-1].append(token)
        else:
            blocks[-1][-1] += token
    joined = [b"".join([first, *map(_atomic, rest[:-1]), *rest[-1:]]) for first, *rest in blocks]
    return b"".join([*map(_atomic, joined[:-1]), joined[-1]])


def _atomic(pattern: bytes) -> bytes:
    return b"(?>%s)" % pattern


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
    """Return the pattern of a set `[...]`, and the offset after the set. A malformed set never matches."""
    negated = glob[at : at + 1] in (b"!", b"^")
    start = at = at + 1 if negated else at
    members: set[int] = set()
    while at == start or glob[at : at + 1] != b"]":
        item = _ITEM.match(glob, at)
        if item is None or (item[1] is not None and item[1].decode("latin-1") not in _CLASSES):
            return _NEVER, len(glob)
        name, low, high, single = item.groups()
        if name is not None:
            members.update(_CLASSES[name.decode("latin-1")].encode())
        else:
            members.update(single[-1:] if single else range(low[-1], high[-1] + 1))
        at = item.end()
    slash, everything = {ord("/")}, set(range(256))
    listed = members | slash if negated else members - slash
    # An empty list never matches, and neither does the complement of all bytes.
    if not listed or (negated and listed == everything):
        return _NEVER, at + 1
    return b"[%s%s]" % (b"^" if negated else b"", b"".join(b"\\x%02x" % one for one in sorted(listed))), at + 1
