"""The handler that splits and loads each front matter, imported by the first who reads one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mdmem.markdown.yaml_loader import StrictHandler


@cache
def handler() -> StrictHandler:
    """Return the handler; most questions read no front matter, and need no PyYAML."""
    from mdmem.markdown.yaml_loader import StrictHandler

    return StrictHandler()
