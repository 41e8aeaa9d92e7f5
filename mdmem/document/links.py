"""The cross-references in a body: `[see: a/b/c]`, `[[a/b/c]]` and Markdown links to files."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        kind = found.lastgroup or "see"
        text = found.group(kind).strip()
        if kind == "see":
            yield from _several(found, text)
        elif not _URL.match(text):
            target = unquote(text.split("#")[0]) if kind == "file" else text
            yield BodyLink(target, found.start(kind), len(text), kind == "file")


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
