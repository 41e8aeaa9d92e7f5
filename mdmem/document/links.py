"""The cross-references in a body: `[see: a/b/c]`, `[[a/b/c]]` and Markdown links to files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

# One literal bracket in front of the alternatives lets the engine skip from bracket to bracket: forty times as fast.
# No part reads past the next bracket: a line of 20,000 of them took minutes.
_REFERENCE = re.compile(
    r"\[(?:[sS][eE][eE]:\s*(?P<see>[^\[\]\s][^\[\]\n]*)(?:\n\s*)?\](?!\()"
    r"|\[(?P<wiki>[^\[\]\n|#]+)(?:[|#][^\[\]\n]*)?\]\]"
    r"|(?<!!\[)[^\[\]\n]*\]\(<?(?P<file>[^)\s>]{1,500}+)>?(?:\s+\"[^\"]*\")?\))"
)
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\(<?(?P<file>[^)\s>]{1,500}+)>?(?:\s+\"[^\"]*\")?\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n^][^\[\]\n]*\]:[ \t]+<?(?P<file>[^\s>]{1,500}+)>?", re.MULTILINE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BodyLink:
    """One reference in a body; `offset` counts characters, `is_path` says it is a file, relative to the entry's."""

    target: str
    offset: int
    width: int
    is_path: bool


def body_links(prose: str) -> Iterator[BodyLink]:
    """Yield the references of a body whose code was blanked out; links to the web and to headings are none."""
    if "[" not in prose:
        return
    for found in _REFERENCE.finditer(prose):
        yield from _links_of(found)


def _links_of(found: re.Match[str]) -> Iterator[BodyLink]:
    kind = found.lastgroup or "see"
    text = found.group(kind).strip()
    if kind == "see":
        yield from _several(found, text)
    elif not _URL.match(text):
        target = unquote(text.split("#")[0]) if kind == "file" else text
        yield BodyLink(target, found.start(kind), len(text), kind == "file")


def without_links(body: str, prose: str, is_cut: Callable[[BodyLink], bool]) -> str:
    """Return a body without some of its references; the words of a link stay.

    `prose` is the body with its code blanked out, every character at its offset.
    """
    cuts = [(found, _left_of(found, body, is_cut)) for found in _REFERENCE.finditer(prose)]
    for pattern in (_IMAGE, _DEFINITION):
        for found in pattern.finditer(prose):
            link = BodyLink(unquote(found["file"].split("#")[0]), found.start("file"), len(found["file"]), is_path=True)
            words = _words_of(body[found.start() : found.end()]) if pattern is _IMAGE else ""
            cuts.append((found, words if not _URL.match(found["file"]) and is_cut(link) else None))
    for found, left in sorted(cuts, key=lambda cut: -cut[0].start()):
        if left is not None:
            body = body[: found.start()] + left + body[found.end() :]
    return body


def _left_of(found: re.Match[str], body: str, is_cut: Callable[[BodyLink], bool]) -> str | None:
    """Return what is left of a reference without those of its links that are cut, None where it stays as it is."""
    links = list(_links_of(found))
    kept = [link.target for link in links if not is_cut(link)]
    if len(kept) == len(links):
        return None
    if found.lastgroup in ("wiki", "file"):
        written = body[found.start() : found.end()]
        return written[2:-2].partition("|")[2] if found.lastgroup == "wiki" else _words_of(written)
    return f"[see: {', '.join(kept)}]" if kept else ""


def _words_of(written: str) -> str:
    """Return the words of a Markdown link or the description of an image."""
    return written.removeprefix("!").removeprefix("[").rpartition("](")[0]


def other_file_links(prose: str) -> Iterator[BodyLink]:
    """Yield the images of a body whose code was blanked out, then the files that its link definitions name."""
    for pattern in (_IMAGE, _DEFINITION) if "](" in prose or "]:" in prose else ():
        for found in pattern.finditer(prose):
            text = found["file"]
            if not _URL.match(text):
                yield BodyLink(unquote(text.split("#")[0]), found.start("file"), len(text), is_path=True)


def _several(found: re.Match[str], text: str) -> Iterator[BodyLink]:
    start = found.start("see")
    for part in re.finditer(r"[^,\s]+", text):
        yield BodyLink(part.group(), start + part.start(), len(part.group()), is_path=False)
