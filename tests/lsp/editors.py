"""Editors for the tests: one in this process that asks features at once, and one that talks to a real `mdmem lsp`."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from builders import TODAY, environment
from lsprotocol import types
from processes import python

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.code_actions import code_actions
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession

# A server that takes an editor to be at rest sooner than somebody who types would.
_BRIEF = """\
from mdmem.lsp import publisher
publisher._REST = 0.05
import runpy
runpy.run_module("mdmem", run_name="__main__")
"""
# No answer takes as long; a test that waits for one that never comes says so.
_PATIENCE = 60


class Hand:
    """The open texts of an editor without a process: what a feature is given is `hand.page(path)` and its params.

    A place in a text is said by the text itself: `hand.at("a/b/c.md", "supers|edes")` is where the bar stands.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        said = environment(XDG_CACHE_HOME=str(folder / ".cache"))
        self.roots = Roots(environment=said, today=lambda: date.fromisoformat(TODAY))

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None) -> tuple[EditorSession, Buffer]:
        """Open a file, with another text than it has where one is given, and return its memory and its buffer."""
        read = (self.folder / path).read_bytes().decode("utf-8", "replace") if text is None else text
        self.roots.open(self.uri(path), read, 1)
        found = self.roots.page(self.uri(path))
        assert found is not None, f"{path} belongs to no memory"
        return found

    def type(self, path: str, old: str, new: str) -> tuple[EditorSession, Buffer]:
        """Put a text in the place of another, as an editor sends it."""
        buffer = self.roots.buffer(self.uri(path))
        assert buffer is not None
        start = buffer.text.index(old)
        change = types.TextDocumentContentChangePartial(buffer.range_of(start, start + len(old)), new)
        self.roots.change(buffer.changed([change], (buffer.version or 0) + 1))
        return self.page(path)

    def page(self, path: str) -> tuple[EditorSession, Buffer]:
        """Return the memory and the text of a file, be it open or not."""
        found = self.roots.page(self.uri(path))
        assert found is not None, f"{path} belongs to no memory"
        return found

    def document(self, path: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(path))

    def at(self, path: str, marked: str) -> types.Position:
        """Return the position of the bar in a piece of a file's text."""
        before, _, after = marked.partition("|")
        _, buffer = self.page(path)
        return buffer.position_at(buffer.text.index(before + after) + len(before))

    def actions(
        self, path: str, where: int | str = 0, *, only: str | None = None, by_itself: bool = False
    ) -> list[types.CodeAction]:
        """Return what is offered on a line, or where the bar stands; `by_itself` the editor asks at each step."""
        at = types.Position(where, 0) if isinstance(where, int) else self.at(path, where)
        trigger = types.CodeActionTriggerKind.Automatic if by_itself else types.CodeActionTriggerKind.Invoked
        context = types.CodeActionContext([], only=[only] if only else None, trigger_kind=trigger)
        params = types.CodeActionParams(self.document(path), types.Range(at, at), context)
        return code_actions(*self.page(path), params)

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Carry out an edit as an editor does: texts that are not open are opened, files that move are saved before."""
        assert edit is not None
        for one in edit.document_changes or ():
            if isinstance(one, types.TextDocumentEdit):
                self._edit(one)
            elif isinstance(one, types.CreateFile):
                file = self._file(one.uri)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch(exist_ok=False)
            elif isinstance(one, types.RenameFile):
                self.save(one.old_uri)
                self.roots.close(one.old_uri)
                new = self._file(one.new_uri)
                assert not new.exists()
                new.parent.mkdir(parents=True, exist_ok=True)
                self._file(one.old_uri).rename(new)
                self.open(new.relative_to(self.folder).as_posix())
        self.look()

    def _edit(self, one: types.TextDocumentEdit) -> None:
        uri = one.text_document.uri
        buffer = self.roots.buffer(uri)
        assert one.text_document.version == (buffer.version if buffer is not None else None)
        if buffer is None:
            _, buffer = self.open(self._file(uri).relative_to(self.folder).as_posix())
        edits = [edit for edit in one.edits if isinstance(edit, types.TextEdit)]
        whole = types.TextDocumentContentChangeWholeDocument(applied(buffer.text, edits))
        self.roots.change(buffer.changed([whole], (buffer.version or 0) + 1))

    def _file(self, uri: str) -> Path:
        return self.folder / uri.removeprefix(f"{self.folder.as_uri()}/")

    def save(self, *uris: str) -> None:
        """Write open texts, all where none is named, and look at the disk."""
        for session in self.roots:
            for buffer in session.buffers.values():
                if not uris or buffer.uri in uris:
                    self._file(buffer.uri).write_bytes(buffer.data)
        self.look()

    def look(self) -> None:
        for session in self.roots:
            session.look()


def applied(text: str, edits: Sequence[types.TextEdit]) -> str:
    """Return a text after edits that do not meet, in UTF-16 as the protocol has it."""
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


class Editor:
    """A client of the protocol with a server process of its own."""

    def __init__(self, folder: Path, *arguments: str, program: str = "", is_brief: bool = False) -> None:
        self.folder, self._arguments, self._program = folder, arguments, program
        self._module = ("-c", _BRIEF) if is_brief else ("-m", "mdmem")
        self._loop = asyncio.new_event_loop()
        # Imported here, for it takes a third of a second.
        from pytest_lsp import make_test_lsp_client

        self.client = make_test_lsp_client()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, _PATIENCE))

    def start(self, capabilities: types.ClientCapabilities | None = None) -> types.InitializeResult:
        """Start the server and introduce the editor."""
        line = (self._program or python(), *self._module, "lsp", *self._arguments)
        self.run(self.client.start_io(*line, cwd=self.folder, env=environment()))
        params = types.InitializeParams(capabilities or types.ClientCapabilities(), root_uri=self.folder.as_uri())
        return self.run(self.client.initialize_session(params))

    def stop(self) -> None:
        async def leave() -> None:
            await self.client.shutdown_session()
            await self.client.stop()

        self.run(leave())
        assert self.client._server.returncode == 0, "it ends without a fault"
        self._loop.close()

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None, *, language: str = "markdown") -> None:
        read = (self.folder / path).read_text(encoding="utf-8") if text is None else text
        item = types.TextDocumentItem(self.uri(path), language, 1, read)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, path: str, text: str, version: int = 2) -> None:
        """Send a whole text."""
        whole = types.TextDocumentContentChangeWholeDocument(text)
        document = types.VersionedTextDocumentIdentifier(version, self.uri(path))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def wait(self, until: Callable[[], Any]) -> Any:
        """Return what something comes to once it is true."""

        async def waited() -> Any:
            while not (found := until()):
                await asyncio.sleep(0.005)
            return found

        return self.run(waited())

    def codes(self, path: str) -> list[str] | None:
        """Return the codes of what is told of a file; None where nothing was told of it yet."""
        told = self.client.diagnostics.get(self.uri(path))
        return None if told is None else [str(one.code) for one in told]
