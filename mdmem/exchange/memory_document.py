"""The document of a whole memory, read back: each entry as the file that it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.exchange.memory_json import SCHEMA
from mdmem.exchange.source import UnfitError
from mdmem.write.create import require_names

NAME = "json"


class DocumentFile(Struct, frozen=True):
    """One file of the document, by its path from the root; `fault` says why it cannot be taken in, if it cannot."""

    path: str
    content: bytes
    fault: str | None = None


def is_document(path: str) -> bool:
    """Say whether a file is one by its name."""
    return path.lower().endswith(".json")


def read_document(data: bytes) -> list[DocumentFile]:
    """Return the files of a document, manifests first; raises UnfitError for what is none."""
    try:
        stated = json.loads(data)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UnfitError(f"is no JSON: {error}") from error
    if not isinstance(stated, dict) or stated.get("schema") != SCHEMA or not isinstance(stated.get("entries"), list):
        raise UnfitError(f"is no memory that `mdmem export json` wrote in the schema {SCHEMA}")
    wings = stated.get("wings") if isinstance(stated.get("wings"), list) else []
    return [*_manifests(wings or []), *(_held(one) for one in stated["entries"])]


def _manifests(wings: list[Any]) -> Iterator[DocumentFile]:
    for wing in wings:
        if isinstance(wing, dict) and isinstance(wing.get("readme"), str):
            yield _checked(f"{wing.get('name')}/README.md", [str(wing.get("name"))], wing["readme"])


def _held(stated: Any) -> DocumentFile:
    parts = [stated.get(key) for key in ("address", "head", "body")] if isinstance(stated, dict) else []
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != len(("address", "head", "body")):
        return DocumentFile("", b"", "an entry without `address`, `head` or `body`")
    return _checked(f"{texts[0]}.md", texts[0].split("/"), texts[1] + texts[2], depth=3)


def _checked(path: str, names: list[str], text: str, *, depth: int = 1) -> DocumentFile:
    try:
        require_names(names)
    except UsageError as error:
        return DocumentFile(path, b"", str(error))
    if len(names) != depth:
        return DocumentFile(path, b"", f"`{path}` is no place for it")
    try:
        return DocumentFile(path, text.encode())
    except UnicodeEncodeError:
        return DocumentFile(path, b"", "its text cannot be written as UTF-8")
