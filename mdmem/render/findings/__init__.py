"""Render the findings of `mdmem check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mdmem.render.findings.report import CheckedRoot, ReportStyle

# Each format is a function with this name: of `report`, if it is for people, else of `formats`.
FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown", "rdjson")


def get_format(name: str) -> Callable[[Sequence[CheckedRoot], ReportStyle], str]:
    """Return the function of a format; it renders the reports of all roots as one text without the last newline."""
    # Modules are imported only when they are used, since a hook has to be fast.
    module = import_module(f"mdmem.render.findings.{'report' if name in ('text', 'concise') else 'formats'}")
    return cast("Callable[[Sequence[CheckedRoot], ReportStyle], str]", getattr(module, name))
