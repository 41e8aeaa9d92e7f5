"""The server: it keeps the editor's texts, hands each request to its feature, and tells findings as they change."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Generator
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mdmem import __version__
from mdmem.lsp.diagnostics import diagnostics_of, findings_of
from mdmem.lsp.features import FEATURES, Feature
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession

# So long after a change findings are looked for: what comes in one breath is answered once.
_BREATH = 0.02

_log = logging.getLogger("mdmem.lsp")


class _Protocol(LanguageServerProtocol):
    """The protocol without the library's own texts: they take half a dozen signs for the end of a line that are none.

    It finds these methods by their marks.
    """

    _server: Server

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Take a text in."""
        yield self._server.did_open, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Take the changes of a text in."""
        yield self._server.did_change, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        """Let a text go."""
        yield self._server.did_close, (params,), None


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self, roots: Roots) -> None:
        """Take where memories are found; nothing is read yet."""
        super().__init__("mdmem", __version__, protocol_cls=_Protocol)
        self.roots = roots
        self._told: dict[str, list[types.Diagnostic]] = {}
        self._waiting: dict[int, asyncio.TimerHandle] = {}
        self._has_failed = False
        self.feature(types.TEXT_DOCUMENT_DID_SAVE)(lambda params: self.did_save(params))
        for feature in FEATURES:
            self.feature(feature.method)(self._answering(feature))

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text in that the editor opened."""
        document = params.text_document
        self._look_soon(self.roots.open(document.uri, document.text, document.version))

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take changes in; those of a text that was never opened say nothing."""
        buffer = self.roots.buffer(params.text_document.uri)
        if buffer is not None:
            self._look_soon(self.roots.change(buffer.changed(params.content_changes, params.text_document.version)))

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Let a text go, and what was found in it."""
        uri = params.text_document.uri
        self._look_soon(self.roots.close(uri))
        if self._told.pop(uri, None):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def did_save(self, _: types.DidSaveTextDocumentParams) -> None:
        """Look at the disk anew."""
        self.roots.reread()
        for session in self.roots:
            self._look_soon(session)

    def _answering(self, feature: Feature) -> Callable[[Any], Any]:
        @cache
        def found() -> Callable[..., Any]:
            module, _, name = feature.answer.partition(":")
            answer: Callable[..., Any] = getattr(import_module(module), name)
            return answer

        def answer(params: Any) -> Any:
            if not feature.of_document:
                return found()(self.roots, params)
            page = self.roots.page(params.text_document.uri)
            return found()(*page, params) if page is not None else None

        return lambda params: self._guarded(feature.method, lambda: answer(params))

    def _look_soon(self, session: EditorSession | None) -> None:
        if session is None:
            return
        waiting = self._waiting.pop(id(session), None)
        if waiting is not None:
            waiting.cancel()
        look = lambda: self._guarded("the check", lambda: self._look(session))  # noqa: E731  # it is handed on once
        self._waiting[id(session)] = asyncio.get_running_loop().call_later(_BREATH, look)

    def _look(self, session: EditorSession) -> None:
        """Tell the findings of each open text of a memory, where they are others than it was told last."""
        findings = findings_of(session)
        for buffer in list(session.buffers.values()):
            found = diagnostics_of(session, buffer, findings)
            if self._told.get(buffer.uri) != found:
                self._told[buffer.uri] = found
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(buffer.uri, found, buffer.version)
                )

    def _guarded(self, what: str, work: Callable[[], Any]) -> Any:
        try:
            return work()
        # One feature that fails must not take the others along; the editor gets no answer, the log the whole story.
        except Exception as error:  # noqa: BLE001  # the boundary of the server
            self._tell_fault(what, error)
            return None

    def _tell_fault(self, what: str, error: BaseException) -> None:
        _log.error("%s failed", what, exc_info=error)
        if not self._has_failed:
            self._has_failed = True
            message = f"mdmem failed at {what}: {type(error).__name__}; its log has the rest, and later faults"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Tell of a fault once; that of a request is told to who asked."""
        if source is not FeatureRequestError:
            self._tell_fault("a message", error)


class _Output:
    """What is written to the editor, but for the first message: it was answered already."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner, self._is_answered = inner, False

    def write(self, data: bytes) -> None:
        if self._is_answered:
            self._inner.write(data)
        self._is_answered = True

    def flush(self) -> None:
        self._inner.flush()

    def close(self) -> None:
        self._inner.close()


class _Input:
    """What is read from the editor, its first request once more."""

    def __init__(self, first: bytes, inner: BinaryIO) -> None:
        self._first, self._inner = first, inner

    def readline(self) -> bytes:
        end = self._first.find(b"\n") + 1
        line, self._first = self._first[:end], self._first[end:]
        return line or self._inner.readline()

    def read(self, number: int) -> bytes:
        found, self._first = self._first[:number], self._first[number:]
        return found or self._inner.read(number)


def serve(server: Server, first: bytes, source: BinaryIO, target: BinaryIO) -> None:
    """Serve an editor whose `initialize` is answered, until it goes away."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="%(name)s: %(message)s")
    server.start_io(_Input(first, source), _Output(target))  # type: ignore[arg-type]  # the methods that it calls
