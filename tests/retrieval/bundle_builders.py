"""Bundles of a memory whose project `app` names the shared wing `lib`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builders import open_root

from mdmem.ask.bundle import Bundle, retrieve_context


def bundle(root: Path, project_id: str | None = "app", /, **asked: Any) -> Bundle:
    """Return what `retrieve_context` answers about a project."""
    return retrieve_context(open_root(root), project_id=project_id, **asked)


def ids(items: Iterable[Bundle]) -> list[str]:
    """Return the addresses of items in their order."""
    return [item["id"] for item in items]


def item(answer: Bundle, address: str) -> Bundle:
    """Return one item of an answer."""
    return next(one for one in answer["items"] if one["id"] == address)


def why_omitted(answer: Bundle) -> dict[str, str]:
    """Return why each entry that is named as left out is."""
    return {one["id"]: one["why"] for one in answer["omitted"]}
