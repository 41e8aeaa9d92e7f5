"""Render the findings of `mdmem check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mdmem.render.findings.report import CheckedRoot, ReportStyle

# For each format the names of its module and function. Modules are imported only when they are used.
FORMATS = {
    "text": ("text", "text"),
    "concise": ("text", "concise"),
    "json": ("json", "document"),
    "jsonl": ("json", "lines"),
    "sarif": ("json", "sarif"),
    "github": ("ci", "github"),
    "gitlab": ("ci", "gitlab"),
    "junit": ("ci", "junit"),
    "markdown": ("ci", "markdown"),
    "rdjson": ("json", "rdjson"),
}


def get_format(name: str) -> Callable[[Sequence[CheckedRoot], ReportStyle], str]:
    """Return the function of a format; it renders the reports of all roots as one text without the last newline."""
    module, function = FORMATS[name]
    made = getattr(import_module(f"mdmem.render.findings.{module}"), function)
    return cast("Callable[[Sequence[CheckedRoot], ReportStyle], str]", made)
