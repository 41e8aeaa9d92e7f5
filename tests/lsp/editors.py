"""An editor in this process, which calls the features of the server directly."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from builders import TODAY, environment
from lsprotocol import types

from mdmem.lsp.actions import code_actions
from mdmem.lsp.memory import Document, Memories


class Hand:
    """The open documents of an editor without a process; a feature is called with `hand.document(path)` and its params.

    A bar in a text marks a position, as in `hand.at("a/b/c.md", "supers|edes")`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        variables = environment(XDG_CACHE_HOME=str(folder / ".cache"))
        self.memories = Memories(environment=variables, today=lambda: date.fromisoformat(TODAY))

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def named(self, path: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(path))

    def open(self, path: str, text: str | None = None) -> Document:
        """Open a file, with the given text if there is one."""
        read = (self.folder / path).read_bytes().decode("utf-8", "replace") if text is None else text
        return self._put(path, read, 1)

    def _put(self, path: str, text: str, version: int) -> Document:
        item = types.TextDocumentItem(self.uri(path), "markdown", version, text)
        self.memories.workspace.put_text_document(item)
        self.memories.update(self.uri(path))
        return self.document(path)

    def ask(self, feature: Callable[..., Any], params: Callable[..., Any], path: str, marked: str) -> Any:
        """Return the answer of a feature at the bar in a text, which is opened as a file."""
        before, _, after = marked.partition("|")
        document = self.open(path, before + after)
        found = feature(document, params(self.named(path), document.position_at(len(before))))
        self.close(path)
        return found

    def close(self, path: str) -> None:
        self.memories.workspace.remove_text_document(self.uri(path))
        self.memories.close(self.uri(path))

    def type(self, path: str, old: str, new: str) -> Document:
        before = self.document(path)
        assert old in before.text
        return self._put(path, before.text.replace(old, new, 1), (before.version or 0) + 1)

    def document(self, path: str) -> Document:
        """Return a file of a memory, open or not."""
        found = self.memories.document(self.uri(path))
        assert found is not None, f"{path} belongs to no memory"
        return found

    def at(self, path: str, marked: str) -> types.Position:
        """Return the position of the bar in a part of a file's text."""
        before, _, after = marked.partition("|")
        document = self.document(path)
        return document.position_at(document.text.index(before + after) + len(before))

    def actions(
        self, path: str, where: int | str = 0, *, only: str | None = None, by_itself: bool = False
    ) -> list[types.CodeAction]:
        """Return the actions on a line or at the bar; `by_itself` is a request after a move of the cursor."""
        at = types.Position(where, 0) if isinstance(where, int) else self.at(path, where)
        trigger = types.CodeActionTriggerKind.Automatic if by_itself else types.CodeActionTriggerKind.Invoked
        context = types.CodeActionContext([], only=[only] if only else None, trigger_kind=trigger)
        return code_actions(self.document(path), types.CodeActionParams(self.named(path), types.Range(at, at), context))

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Apply an edit as an editor does: open the other files first, and save files before they move."""
        assert edit is not None
        for one in edit.document_changes or ():
            if isinstance(one, types.TextDocumentEdit):
                self._edit(one)
            elif isinstance(one, types.CreateFile):
                file = self.folder / self._path(one.uri)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch(exist_ok=False)
            elif isinstance(one, types.RenameFile):
                old, new = self._path(one.old_uri), self.folder / self._path(one.new_uri)
                self.save(old)
                self.close(old)
                assert not new.exists()
                new.parent.mkdir(parents=True, exist_ok=True)
                (self.folder / old).rename(new)
                self.open(self._path(one.new_uri))
        self.look()

    def _edit(self, one: types.TextDocumentEdit) -> None:
        path = self._path(one.text_document.uri)
        opened = self.memories.workspace.text_documents.get(self.uri(path))
        assert one.text_document.version == (opened.version if opened is not None else None)
        document = self.document(path) if opened is not None else self.open(path)
        edits = [edit for edit in one.edits if isinstance(edit, types.TextEdit)]
        self._put(path, applied(document.text, edits), (document.version or 0) + 1)

    def _path(self, uri: str) -> str:
        return uri.removeprefix(f"{self.folder.as_uri()}/")

    def save(self, *paths: str) -> None:
        """Save open documents (default: all), and read the disk again."""
        for memory in self.memories.opened.values():
            for document in memory.documents.values():
                if not paths or self._path(document.uri) in paths:
                    (self.folder / self._path(document.uri)).write_bytes(document.data)
        self.look()

    def look(self) -> None:
        for memory in self.memories.opened.values():
            memory.refresh()


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Return a text after edits that do not overlap, in UTF-16 as in the protocol."""
    lines = [0, *(found.end() for found in re.finditer("\r\n|\n|\r", text))]
    units = text.encode("utf-16-le", "surrogatepass")

    def at(position: types.Position) -> int:
        start = len(text[: lines[position.line]].encode("utf-16-le", "surrogatepass"))
        return start + 2 * position.character

    spans = sorted((at(one.range.start), at(one.range.end), one.new_text) for one in edits)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for start, end, new in reversed(spans):
        units = units[:start] + new.encode("utf-16-le") + units[end:]
    return units.decode("utf-16-le", "surrogatepass")
