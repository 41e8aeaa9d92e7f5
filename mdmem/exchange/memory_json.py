"""Write the whole memory as one JSON document, and read such a document back as the same files.

`schema` is 1, and `exported` is the seal of the text, a hash that shows later changes. Each wing in `wings` has `name`
and `readme`, the text of its manifest or null. `entries` are sorted by address. Each has `address`, `path`,
`front_matter`, `head` (the text above the body, with its fences) and `body`. The file is `head` followed by `body`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mdmem.errors import UsageError
from mdmem.exchange.record import UnfitError
from mdmem.setup.seal import opening
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.scope import Filters, reading_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.create import require_names

SCHEMA = 1


def memory_document(workspace: Workspace, wings: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the document of some wings, or of all if `wings` is empty, and a remark for each omitted entry.

    Raises UsageError if a manifest is not UTF-8.
    """
    catalog = workspace.catalog
    scope = reading_scope(catalog, workspace.settings, Filters(wings=wings, all_wings=not wings))
    entries = []
    for address, document in catalog.documents(sorted(filter(scope.contains, catalog.entries))):
        body = catalog.shown_body(document)
        head = document.text[: len(document.text) - len(document.body)]
        fields = catalog.shown_fields(document)
        entries.append({"address": address, "path": document.path, "front_matter": fields, "head": head, "body": body})
    remarks = [f"{path} cannot be read and is left out" for path in catalog.broken if scope.contains(path[:-3])]
    wings_listed = []
    for name in sorted(scope.wings):
        content = read_one(workspace.tree, f"{name}/README.md")
        try:
            readme = None if isinstance(content, Unreadable) else content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{name}/README.md is not in UTF-8; `mdmem check` shows where") from error
        wings_listed.append({"name": name, "readme": readme})
    return {
        "schema": SCHEMA,
        "exported": opening("`mdmem export json` writes this; change the entries"),
        "wings": wings_listed,
        "entries": entries,
    }, tuple(remarks)


def read_document(data: bytes) -> Iterator[tuple[str, bytes | str]]:
    """Yield the path of each file in a document, manifests first, with its content or why it cannot be imported.

    Raises UnfitError if it is not such a document.
    """
    try:
        stated = json.loads(data)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UnfitError(f"is not JSON: {error}") from error
    if not isinstance(stated, dict) or stated.get("schema") != SCHEMA or not isinstance(stated.get("entries"), list):
        raise UnfitError(f"is not a memory that `mdmem export json` wrote in the schema {SCHEMA}")
    for one in stated["wings"] if isinstance(stated.get("wings"), list) else ():
        if isinstance(one, dict) and isinstance(one.get("readme"), str):
            name = str(one.get("name"))
            yield f"{name}/README.md", _content([name], one["readme"], depth=1)
    for one in stated["entries"]:
        texts: list[Any] = [one.get(key) for key in ("address", "head", "body")] if isinstance(one, dict) else [None]
        if all(isinstance(text, str) for text in texts):
            address, head, body = texts
            yield f"{address}.md", _content(address.split("/"), head + body, depth=3)
        else:
            yield "", "an entry without `address`, `head` or `body`"


def _content(names: list[str], text: str, *, depth: int) -> bytes | str:
    try:
        require_names(names)
        return text.encode() if len(names) == depth else f"an entry cannot be at `{'/'.join(names)}.md`"
    except UnicodeEncodeError:
        return "its text cannot be written as UTF-8"
    except UsageError as error:
        return str(error)
