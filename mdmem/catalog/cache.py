"""Parsed entries by content: what was parsed once, in this process or before, is not parsed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mdmem.catalog.interpret import LoadedFile, interpret
from mdmem.entry.fields import VERSION
from mdmem.entry.model import Wing, from_json, to_json, wing_from_json
from mdmem.finding import Finding, Place
from mdmem.tree import Tree, TreeFile, Unreadable

if TYPE_CHECKING:
    from mdmem.document.parse import Document


# The number is raised whenever what is stored of a file changes; the table of fields has a version of its own.
CACHE_VERSION = f"6.{VERSION}"
_FOREIGN = (AttributeError, KeyError, TypeError, ValueError)


def to_cache(loaded: LoadedFile) -> dict[str, Any]:
    """Return what a file holds and what was wrong with it, without its path."""
    findings = [[f.code, f.message, f.help, f.place.line, f.place.column, f.place.width] for f in loaded.findings]
    if loaded.entry is None:
        return {"findings": findings}
    stated = to_json(loaded.entry)
    if not loaded.is_titled:
        # The same content at another address has another title.
        stated["title"] = ""
    return {"entry": stated, "size": loaded.size} | ({"findings": findings} if findings else {})


def from_cache(path: str, stored: Any) -> LoadedFile | None:
    """Return what `to_cache` gave, for a file of the same content at a path; None for what it did not give."""
    try:
        loaded = _from_cache(path, stored)
    except _FOREIGN:
        return None
    return loaded if loaded.entry is not None or loaded.findings else None


def wing_from_cache(name: str, stored: Any) -> Wing | None:
    """Return the wing that `wing_to_json` gave, under a name; None for what it did not give."""
    try:
        return wing_from_json(name, stored)
    except _FOREIGN:
        return None


def _from_cache(path: str, stored: Mapping[str, Any]) -> LoadedFile:
    address = path.removesuffix(".md")
    entry = from_json(address, stored["entry"]) if "entry" in stored else None
    findings = tuple(
        Finding(code, message, Place(path, line, column, width), help_, address)
        for code, message, help_, line, column, width in stored.get("findings", ())
    )
    return LoadedFile(path, entry, findings, stored.get("size", 0))


def bounded(known: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    """Forget what other branches left once it outweighs what this tree uses."""
    if len(known) <= 4 * len(used) + 4000:
        return dict(known)
    return {key: stored for key, stored in known.items() if key.removeprefix("wing ") in used}


# Path and digest: the same bytes at another address have another title and other places of their findings.
_Key = tuple[str, str]


class ParsedFiles:
    """Documents by path and content, and what they mean; `wings` is what the cache holds of manifests, by its keys."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._documents: dict[_Key, Document] = {}
        self._meant: dict[_Key, LoadedFile] = {}
        self._known: dict[_Key, LoadedFile] = {}
        self.wings: dict[str, Any] = {}

    def known(self, files: Sequence[TreeFile], digests: Mapping[str, str]) -> dict[str, LoadedFile]:
        """Return what files mean, by path, so far as `learn` was told of the same content at the same path."""
        keys = ((file.path, digests.get(file.path, "")) for file in files)
        return {key[0]: self._known[key] for key in keys if key in self._known}

    def learn(self, loaded: Mapping[str, LoadedFile], digests: Mapping[str, str]) -> None:
        """Keep what files mean; what other trees had is forgotten once it outweighs this one."""
        met = {(path, digests[path]): one for path, one in loaded.items() if path in digests}
        is_bounded = len(self._known) <= 4 * len(met) + 4000
        self._known = {**self._known, **met} if is_bounded else met

    def documents(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[Document]:
        """Yield the document of each file, in the order asked, reading those alone that no tree had before."""
        return (document for _, document in self._keyed(tree, files))

    def entries(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[tuple[Document, LoadedFile]]:
        """Yield the document of each file with what it means, in the order asked."""
        for key, document in self._keyed(tree, files):
            loaded = self._meant.get(key) if key is not None else None
            if loaded is None:
                loaded = interpret(document)
            if key is not None:
                self._meant[key] = loaded
            yield document, loaded

    def _keyed(self, tree: Tree, files: Sequence[TreeFile]) -> Iterator[tuple[_Key | None, Document]]:
        keys = [(file.path, file.digest or "") for file in files]
        read = tree.read([key[0] for key in keys if key not in self._documents])
        for key in [key if key in self._documents else None for key in keys]:
            yield (key, self._documents[key]) if key is not None else self._parsed(tree, *next(read))

    def _parsed(self, tree: Tree, path: str, content: bytes | Unreadable) -> tuple[_Key | None, Document]:
        from mdmem.document.parse import parse_document, unreadable_document

        if isinstance(content, Unreadable):
            return None, unreadable_document(path, content.reason)
        # Files on disk have no digest before they are read.
        key = (path, tree.identity(path, content))
        if key not in self._documents:
            self._documents[key] = parse_document(path, content)
        return key, self._documents[key]
