"""The formats of `mdmem check`, each with the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mdmem.render.findings.report import CheckedRoot, Look

# Module and function, so that a list of the formats imports none of them.
FORMATS = {
    "text": ("text", "text"),
    "concise": ("text", "concise"),
    "json": ("json", "document"),
    "jsonl": ("json", "lines"),
    "sarif": ("sarif", "sarif"),
    "github": ("ci", "github"),
    "gitlab": ("ci", "gitlab"),
    "junit": ("ci", "junit"),
    "markdown": ("ci", "markdown"),
    "rdjson": ("sarif", "rdjson"),
}


def get_format(name: str) -> Callable[[Sequence[CheckedRoot], Look], str]:
    """Return the function that turns the reports of all roots into one text, without its last newline."""
    module, function = FORMATS[name]
    made = getattr(import_module(f"mdmem.render.findings.{module}"), function)
    return cast("Callable[[Sequence[CheckedRoot], Look], str]", made)
