"""Find the cross-references in a body: `[see: a/b/c]`, `[[a/b/c]]` and Markdown links to files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from msgspec import Struct

# Every pattern begins with a literal bracket, and no part reads past the next bracket: a hostile line of 20,000
# brackets took minutes.
_TITLE = r"(?:[ \t\n]+(?:\"[^\"]*\"|'[^'\n]*'|\([^()\n]*\)))?"
# A path is in angle brackets, where blanks are allowed, or bare with round brackets in pairs; both may have escapes.
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
    """One reference in a body; `offset` counts characters, and `is_path` says that it is a path from the entry."""

    target: str
    offset: int
    width: int
    is_path: bool


def may_have_links(body: str) -> bool:
    """Return whether a body may have references, before its code is blanked out; False is certain."""
    return _MARKS.search(body) is not None


def body_links(prose: str) -> Iterator[BodyLink]:
    """Yield the references of a body whose code is blanked out, except links to the web and to headings."""
    # To search every line for a definition takes as long as all the rest.
    patterns = (_REFERENCE, _DEFINITION) if "]:" in prose else (_REFERENCE,)
    found = [link for pattern in patterns for one in pattern.finditer(prose) for link in _links_of(one)]
    yield from sorted(found, key=lambda link: link.offset)


def image_links(prose: str) -> Iterator[BodyLink]:
    """Yield the images of a body whose code is blanked out."""
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
    """Return the path of a Markdown link without its anchor and escapes."""
    return unquote(_ESCAPED.sub(r"\1", written.split("#")[0]))


def without_links(body: str, prose: str, is_cut: Callable[[BodyLink], bool]) -> str:
    """Return a body without some of its references; the words of a link stay.

    `prose` is the body with its code blanked out, every character at its offset.
    """
    found = [one for pattern in (_REFERENCE, _IMAGE, _DEFINITION) for one in pattern.finditer(prose)]
    for one in sorted(found, key=lambda match: -match.start()):
        links = list(_links_of(one))
        kept = [link.target for link in links if not is_cut(link)]
        if len(kept) < len(links):
            body = body[: one.start()] + _rest_of(one, body, kept) + body[one.end() :]
    return body


def _rest_of(found: re.Match[str], body: str, kept: list[str]) -> str:
    """Return the rest of a reference after some of its links are cut."""
    written = body[found.start() : found.end()]
    if found.lastgroup == "see":
        return f"[see: {', '.join(kept)}]" if kept else ""
    if found.lastgroup == "wiki":
        return written[2:-2].partition("|")[2]
    # A definition has no words.
    return written.removeprefix("!").removeprefix("[").rpartition("](")[0]
