"""The whole memory as one JSON document, from which `import` makes the same entries again.

`schema` is 1. `exported` is the seal of the text, as any export has one. `wings`: `name` and `readme`, the text of its
manifest or null. `entries`, by address: `address`, `path`, `front_matter` as typed by its author, `head` (the text up
to the body, fences and all) and `body`; both together are the file.
"""

from __future__ import annotations

import json
from typing import Any

from mdmem.errors import UsageError
from mdmem.exchange.outlet import ExportedFile
from mdmem.setup.seal import opening
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.scope import Filters, reading_scope
from mdmem.store.workspace.workspace import Workspace

SCHEMA = 1


def memory_json(workspace: Workspace, wings: tuple[str, ...]) -> tuple[tuple[ExportedFile, ...], tuple[str, ...]]:
    """Return the document as the only file, and what of the memory cannot be in it."""
    document, remarks = memory_document(workspace, wings)
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return (ExportedFile("mdmem.json", f"{text}\n"),), remarks


def memory_document(workspace: Workspace, wings: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the document, and one remark for each file that cannot be in it."""
    catalog = workspace.catalog
    scope = reading_scope(catalog, workspace.settings, Filters(wings=wings, all_wings=not wings))
    entries = []
    for address, document in catalog.documents(sorted(filter(scope.holds, catalog.entries)), keep=False):
        body = catalog.shown_body(document)
        head = document.text[: len(document.text) - len(document.body)]
        fields = catalog.shown_fields(document)
        entries.append({"address": address, "path": document.path, "front_matter": fields, "head": head, "body": body})
    remarks = [f"{path} cannot be read and is left out" for path in catalog.broken if scope.holds(path[:-3])]
    return {
        "schema": SCHEMA,
        "exported": opening("`mdmem export json` writes this; change the entries"),
        "wings": [{"name": name, "readme": _readme(workspace, name)} for name in sorted(scope.wings)],
        "entries": entries,
    }, tuple(remarks)


def _readme(workspace: Workspace, name: str) -> str | None:
    content = read_one(workspace.tree, f"{name}/README.md")
    if isinstance(content, Unreadable):
        return None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}/README.md is not in UTF-8; `mdmem check` tells where") from error
