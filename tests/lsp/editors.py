"""Editors for the tests: one in this process that asks features at once, and one that talks to a real `mdmem lsp`."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import date
from pathlib import Path
from typing import Any

from builders import TODAY, environment
from lsprotocol import types
from processes import python

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession

# No answer takes as long; a test that waits for one that never comes says so.
_PATIENCE = 20


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


class Editor:
    """A client of the protocol with a server process of its own."""

    def __init__(self, folder: Path, *arguments: str, program: str = "") -> None:
        self.folder, self._arguments, self._program = folder, arguments, program
        self._loop = asyncio.new_event_loop()
        # Imported here, for it takes a third of a second.
        from pytest_lsp import make_test_lsp_client

        self.client = make_test_lsp_client()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, _PATIENCE))

    def start(self, capabilities: types.ClientCapabilities | None = None) -> types.InitializeResult:
        """Start the server and introduce the editor."""
        line = (self._program or python(), "-m", "mdmem", "lsp", *self._arguments)
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
