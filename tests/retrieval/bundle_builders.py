"""Bundles of a memory whose project `app` names the shared wing `lib`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builders import open_root
from mdmem.ask.retrieve_context import retrieve_context

from mdmem.ask.bundle import BundleItem, ContextBundle


def bundle(root: Path, project_id: str | None = "app", /, **asked: Any) -> ContextBundle:
    """Return what `retrieve_context` answers about a project."""
    return retrieve_context(open_root(root), project_id=project_id, **asked)


def ids(items: Iterable[BundleItem]) -> list[str]:
    """Return the addresses of items in their order."""
    return [item.id for item in items]


def item(answer: ContextBundle, address: str) -> dict[str, Any]:
    """Return one item of an answer as JSON."""
    return next(one for one in answer.items if one.id == address).as_json()


def why_omitted(answer: ContextBundle) -> dict[str, str]:
    """Return why each entry that is named as left out is."""
    return {one.address: one.why for one in answer.basis.omitted}
