"""Find the links in a body: `[see: a/b/c]`, `[[a/b/c]]` and Markdown links to files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from msgspec import Struct

# Every pattern begins with a literal bracket, and no part matches beyond the next bracket. Without this rule, a
# malicious line of 20,000 brackets took minutes.
_TITLE = r"(?:[ \t\n]+(?:\"[^\"]*\"|'[^'\n]*'|\([^()\n]*\)))?"
# A path in angle brackets may contain blanks. A path without them may contain parentheses in pairs.
# Both forms may have backslash escapes.
_PATH = r"(?:<(?P<angled>[^<>\n]{1,500}+)>|(?P<file>(?:\\[!-/:-@\[-`{-~]|[^()\s<>\\]|\([^()\s]{0,200}\)){1,500}+))"
_REFERENCE = re.compile(
    r"\[(?:[sS][eE][eE]:\s*(?P<see>[^\[\]\s][^\[\]\n]*)(?:\n\s*)?\](?!\()"
    r"|\[(?P<wiki>[^\[\]\n|#]+)(?:[|#][^\[\]\n]*)?\]\]"
    rf"|(?<!!\[)[^\[\]\n]*\]\({_PATH}{_TITLE}[ \t]*\))"
)
_IMAGE = re.compile(rf"!\[[^\[\]\n]*\]\({_PATH}{_TITLE}[ \t]*\)")
_DEFINITION = re.compile(rf"^ {{0,3}}\[[^\[\]\n^][^\[\]\n]*\]:[ \t]+{_PATH}{_TITLE}[ \t]*\r?$", re.MULTILINE)
_PATHS = ("file", "angled")
_MARKS = re.compile(r"\[\[|\]\(|\]:|\[see:", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_URL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


class BodyLink(Struct, frozen=True):
    """One link in a body. With `is_path`, the target is a path relative to the entry's file, otherwise an address.

    `offset` and `width` count characters and mark the target as it is written.
    """

    target: str
    offset: int
    width: int
    is_path: bool


def may_have_links(body: str) -> bool:
    """Return False if a body certainly has no links. This test is cheap, because code need not be blanked out first."""
    return _MARKS.search(body) is not None


def body_links(prose: str) -> Iterator[BodyLink]:
    """Yield the links of a body whose code is blanked out, in order.

    Images, links to the web and links to headings of the same file are left out.
    """
    # Searching every line for a definition takes as long as everything else together.
    patterns = (_REFERENCE, _DEFINITION) if "]:" in prose else (_REFERENCE,)
    found = [link for pattern in patterns for one in pattern.finditer(prose) for link in _links_of(one)]
    yield from sorted(found, key=lambda link: link.offset)


def image_links(prose: str) -> Iterator[BodyLink]:
    """Yield the images of a body whose code is blanked out, in order, without images from the web."""
    for found in _IMAGE.finditer(prose):
        yield from _links_of(found)


def _links_of(found: re.Match[str]) -> Iterator[BodyLink]:
    kind = found.lastgroup or "see"
    text = found.group(kind).strip()
    if kind == "see":
        start = found.start("see")
        for part in re.finditer(r"[^,\s]+", text):
            yield BodyLink(part.group(), start + part.start(), len(part.group()), is_path=False)
    elif not _URL.match(text):
        is_path = kind in _PATHS
        yield BodyLink(path_of(text) if is_path else text, found.start(kind), len(text), is_path)


def path_of(written: str) -> str:
    """Return the path of a Markdown link: without its anchor, with backslash escapes and `%` escapes decoded."""
    return unquote(_ESCAPED.sub(r"\1", written.split("#")[0]))


def without_links(body: str, prose: str, is_cut: Callable[[BodyLink], bool]) -> str:
    """Return a body without the links that `is_cut` selects. The words that a removed link shows stay.

    `prose` is the body with its code replaced by blanks, so that every character has the same offset in both.
    """
    found = [one for pattern in (_REFERENCE, _IMAGE, _DEFINITION) for one in pattern.finditer(prose)]
    for one in sorted(found, key=lambda match: -match.start()):
        links = list(_links_of(one))
        kept = [link.target for link in links if not is_cut(link)]
        if len(kept) == len(links):
            continue
        written = body[one.start() : one.end()]
        if one.lastgroup == "see":
            rest = f"[see: {', '.join(kept)}]" if kept else ""
        elif one.lastgroup == "wiki":
            rest = written[2:-2].partition("|")[2]
        else:
            # A link definition has no visible words.
            rest = written.removeprefix("!").removeprefix("[").rpartition("](")[0]
        body = body[: one.start()] + rest + body[one.end() :]
    return body
