"""The formats of `mdmem check`, each with the function that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from mdmem.render.findings.report import CheckedRoot, Look


class Format(Protocol):
    """Turns the reports of all roots into one text."""

    def __call__(self, roots: Sequence[CheckedRoot], look: Look, /) -> str:
        """Return the text, without its last newline."""
        ...


# Module and function, so that one format imports none of the others, and a list of them imports none.
FORMATS = {
    "text": ("text", "text"),
    "concise": ("text", "concise"),
    "json": ("json", "document"),
    "jsonl": ("json", "lines"),
    "sarif": ("sarif", "log"),
    "github": ("ci", "commands"),
    "gitlab": ("ci", "code_quality"),
    "junit": ("ci", "suites"),
    "markdown": ("markdown", "summary_markdown"),
    "rdjson": ("rdjson", "diagnostics"),
}


def get_format(name: str) -> Format:
    """Return the function of a format."""
    module, function = FORMATS[name]
    return cast("Format", getattr(import_module(f"mdmem.render.findings.{module}"), function))
