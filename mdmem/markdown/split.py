"""Where front matter ends and the body begins; exact, and without a YAML reader."""

from __future__ import annotations

import re

FENCE = re.compile(r"^---\r?$", re.MULTILINE)
# A fence with the end of its line.
FENCE_LINE = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_FRONT = re.compile(r"---\r?(?:\n|\Z)")
_VARIANT = re.compile(r"^(?:---[ \t]+|----+[ \t]*|\+\+\+[ \t]*|\.\.\.[ \t]*|- - -|–––|—)\r?$", re.MULTILINE)
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
# Blanks that no editor shows: of zero width, no-break, and a second byte order mark.
_UNSEEN = " \t\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


class FenceError(ValueError):
    """The fence is missing, unclosed, or no exact `---`; knows code, line and help."""

    def __init__(self, code: str, message: str, help_: str, line: int = 1) -> None:
        """Keep the parts of the finding."""
        super().__init__(message)
        self.code, self.help, self.line = code, help_, line


def has_front_matter(text: str) -> bool:
    """Say whether a text begins with an exact fence."""
    return _FRONT.match(text) is not None


def refuse_bad_fences(text: str) -> None:
    """Raise FenceError unless a text begins with front matter between two exact fences."""
    start = _FRONT.match(text)
    if start is None:
        raise _no_start(text)
    end = FENCE.search(text, start.end())
    if end is None:
        raise _no_end(text, start.end())
    _refuse_variant(text, start.end(), end.start())


def body_of(content: bytes) -> str:
    """Return the body of a file that is known to be an entry; the whole text where it is one no more."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        refuse_bad_fences(text)
    except FenceError:
        return text
    return FENCE_LINE.split(text, 2)[2]


def _no_start(text: str) -> FenceError:
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return FenceError("empty-file", "the file is empty", "delete it, or write an entry with `mdmem new`")
    line = lines[first].rstrip("\r")
    if line.startswith(_LFS_POINTER):
        help_ = "run `git lfs pull`, then keep the memory out of LFS with `git lfs untrack '*.md'`"
        return FenceError("git-lfs-pointer", "a Git LFS pointer stands in place of the text", help_, first + 1)
    if first > 0 and line == "---":
        return FenceError("fence-variant", "blank lines stand before the opening fence", "start the file with `---`", 1)
    if _VARIANT.match(line):
        return FenceError(
            "fence-variant", f"the opening fence is `{line}`, not `---`", "write exactly `---`", first + 1
        )
    if line.strip(_UNSEEN) == "---":
        message = "invisible characters stand beside the opening fence"
        return FenceError("fence-variant", message, "write exactly `---`", first + 1)
    return FenceError(
        "front-matter-missing",
        "the file has no front matter",
        "start it with `---`, `type:`, `status:` and `created_at:`",
    )


def _no_end(text: str, after: int) -> FenceError:
    variant = _VARIANT.search(text, after)
    if variant is None:
        return FenceError(
            "fence-unterminated",
            "the front matter is not closed",
            "write `---` on a line of its own after the last key",
        )
    return _bad_end(text, variant)


def _refuse_variant(text: str, start: int, end: int) -> None:
    """Refuse a front matter that an almost-fence closes before the exact one: that one is a rule in the body."""
    if text.find("\n---", start, end) < 0 and text.find("\n...", start, end) < 0:
        return
    variant = _VARIANT.search(text, start, end)
    if variant is not None:
        raise _bad_end(text, variant)


def _bad_end(text: str, variant: re.Match[str]) -> FenceError:
    found, line = variant.group().rstrip("\r"), text.count("\n", 0, variant.start()) + 1
    return FenceError("fence-variant", f"the closing fence is `{found}`, not `---`", "write exactly `---`", line)
