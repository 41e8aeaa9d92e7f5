"""The server: it keeps the editor's texts, hands each request to its feature, and tells findings as they change.

What the editor sends, read while a request is worked on: so one that waits behind it can still be taken back.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from io import BytesIO
from json import JSONDecodeError
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, get_args, get_origin, get_type_hints
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import (
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcRequestCancelled,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mdmem import SETTINGS_NAME, __version__
from mdmem.errors import UsageError
from mdmem.lsp.features import COMMANDS, FEATURES, Feature
from mdmem.lsp.handshake import length_of_next
from mdmem.lsp.options import SECTION, Options, options_from, skills_of
from mdmem.lsp.place import EditorPage
from mdmem.lsp.publisher import Publisher
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession

_CANCEL, _EXIT = "$/cancelRequest", "exit"


class EditorStream:
    """The editor's messages with headers as the library knows them, its first request once more.

    `cancelled` are the requests taken back by messages that were read and not yet taken in.
    """

    def __init__(self, first: bytes, inner: BinaryIO, cancelled: set[int | str]) -> None:
        """Begin to read."""
        self._inner, self._cancelled = inner, cancelled
        self._message = BytesIO(first)
        self._waiting: SimpleQueue[bytes | Exception] = SimpleQueue()
        Thread(target=self._read_on, daemon=True).start()

    def readline(self) -> bytes:
        """Return the next line of a header; nothing at the end."""
        line = self._message.readline()
        if line:
            return line
        taken = self._waiting.get()
        if isinstance(taken, Exception):
            raise taken
        self._message = BytesIO(taken)
        return self._message.readline()

    def read(self, number: int) -> bytes:
        """Return the body that a header was read of."""
        return self._message.read(number)

    def _read_on(self) -> None:
        try:
            while (length := length_of_next(self._inner)) is not None:
                body = self._inner.read(length)
                is_last = self._look_ahead(body)
                self._waiting.put(b"Content-Length: %d\r\n\r\n%b" % (length, body))
                # The process could not end while its input is read.
                if is_last:
                    break
        except (UsageError, OSError, ValueError) as error:
            # It is raised where the message would be taken.
            self._waiting.put(error)
        self._waiting.put(b"")

    def _look_ahead(self, body: bytes) -> bool:
        """Note the request that a message takes back, and say whether it is the last."""
        if not any(b'"%b"' % method.encode() in body for method in (_CANCEL, _EXIT)):
            return False
        try:
            message: Any = json.loads(body)
        except (ValueError, RecursionError):
            return False
        facts = message if isinstance(message, dict) else {}
        given = facts.get("params")
        number = given.get("id") if facts.get("method") == _CANCEL and isinstance(given, dict) else None
        if isinstance(number, int | str):
            self._cancelled.add(number)
        return facts.get("method") == _EXIT


# Of so many files reading takes longer than a moment.
_LARGE = 2000
_WATCHED = ("**/*.md", f"**/{SETTINGS_NAME}")

_log = logging.getLogger("mdmem.lsp")


class _Protocol(LanguageServerProtocol):
    """The protocol without the library's own texts: they take half a dozen signs for the end of a line that are none.

    It finds these methods by their marks.
    """

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Leave each object as it is: this is asked for those within a message, too."""
        return data

    def handle_message(self, message: Any) -> None:
        """Take a message in; a request that is taken back, unreadable or too late is refused by its number."""
        facts = message if isinstance(message, dict) else {}
        number = facts.get("id") if "method" in facts else None
        try:
            if facts.get("jsonrpc") != self.VERSION or (self._shutdown and number is not None):
                raise JsonRpcInvalidRequest("the server shuts down" if self._shutdown else "this is no JSON-RPC 2.0")
            if isinstance(number, int | str) and number in self._server.cancelled:
                raise JsonRpcRequestCancelled
            super().handle_message(super().structure_message(facts))
        except JsonRpcException as error:
            if isinstance(number, int | str):
                self._send_response(number, None, error.to_response_error())

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        self._server.cancelled.discard(msg_id)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Take a text in."""
        yield self._server.taking(self._server.did_open), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        """Take the changes of a text in."""
        yield self._server.taking(self._server.did_change), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        """Let a text go."""
        yield self._server.taking(self._server.did_close), (params,), None


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self, roots: Roots) -> None:
        """Take where memories are found; nothing is read yet."""
        super().__init__("mdmem", __version__, protocol_cls=_Protocol)
        self.roots = roots
        self.cancelled: set[int | str] = set()
        self.options = Options()
        self.publisher = Publisher(self.text_document_publish_diagnostics, self._guarded)
        self._has_failed = False
        self.feature(types.INITIALIZED)(self.taking(self.initialized))
        self.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)(lambda params: self.diagnostic(params))
        self.feature(types.TEXT_DOCUMENT_DID_SAVE)(self.taking(self.did_save))
        self.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(self.taking(self.did_change_watched_files))
        for feature in FEATURES:
            self.feature(feature.method)(self._answering(feature))
        for name, answer in COMMANDS.items():
            self.command(name)(self._carrying_out(name, answer))
        self.feature(types.INITIALIZE)(self.taking(self.did_initialize))
        self.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(self.taking(self.did_change_settings))

    def taking(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return what takes a message in, one that fails being a fault of it alone."""
        return lambda params: self._guarded(take.__name__, lambda: take(params))

    def did_initialize(self, params: types.InitializeParams) -> None:
        """Take in what the editor can do, and its settings."""
        self.roots.skills = skills_of(params.capabilities)
        self.roots.folders = lambda: [*self.workspace.folders, *filter(None, (self.workspace.root_uri,))]
        self._configure(params.initialization_options)

    def did_change_settings(self, params: types.DidChangeConfigurationParams) -> None:
        """Take the editor's settings, or ask for them where it says only that they changed."""
        workspace = self.client_capabilities.workspace
        if params.settings is None and workspace is not None and workspace.configuration:
            items = [types.ConfigurationItem(section=SECTION)]
            self.workspace_configuration(types.ConfigurationParams(items), lambda said: self._configure(said[0]))
        else:
            self._configure(params.settings)

    def _configure(self, said: Any) -> None:
        before, self.options = self.options, options_from(said, self.options)
        workspace = self.client_capabilities.workspace if before != self.options else None
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def initialized(self, _: types.InitializedParams) -> None:
        """Ask the editor to watch the files, where it can."""
        client = self.client_capabilities.workspace
        diagnostics = client.diagnostics if client is not None else None
        document = self.client_capabilities.text_document
        if diagnostics is not None and diagnostics.refresh_support and document is not None and document.diagnostic:
            self.publisher.refresh = lambda: self.workspace_diagnostic_refresh(None)
        watched = client.did_change_watched_files if client is not None else None
        if watched is not None and watched.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _WATCHED])
            watch = types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([watch]))

    def diagnostic(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """Return the findings of one text; none where it belongs to no memory."""

        def asked() -> types.DocumentDiagnosticReport | None:
            page = self.roots.page(params.text_document.uri)
            return self.publisher.asked(*page, params) if page is not None else None

        found: types.DocumentDiagnosticReport | None = self._guarded(types.TEXT_DOCUMENT_DIAGNOSTIC, asked)
        return found or types.RelatedFullDocumentDiagnosticReport([])

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a text in that the editor opened."""
        document = params.text_document
        session = self.roots.open(document.uri, document.text, document.version)
        if session is not None:
            self._guarded("reading the memory", lambda: session.once(self._read_large))
        self.publisher.changed(session)

    def _read_large(self, session: EditorSession) -> None:
        """Read a memory that takes a while at once, so that the editor can show that something is done."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress or len(session.disk.tree.files()) < _LARGE:
            return
        token = str(uuid4())
        self.work_done_progress.create(token)
        begin = types.WorkDoneProgressBegin("mdmem", message=f"reading {session.location.root.name}")
        self.work_done_progress.begin(token, begin)
        try:
            self.publisher.findings(session)
        finally:
            self.work_done_progress.end(token, types.WorkDoneProgressEnd())

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take changes in; those of a text that was never opened say nothing."""
        buffer = self.roots.buffer(params.text_document.uri)
        if buffer is not None:
            self.publisher.changed(
                self.roots.change(buffer.changed(params.content_changes, params.text_document.version))
            )

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Let a text go, and what was found in it."""
        uri = params.text_document.uri
        self.publisher.changed(self.roots.close(uri))
        self.publisher.closed(uri)

    def did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Look at the disk anew."""
        self._look_at_disk([params.text_document.uri])

    def did_change_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        """Look at the disk anew."""
        self._look_at_disk([change.uri for change in params.changes])

    def _look_at_disk(self, changed: list[str]) -> None:
        for session in self.roots.forget_gone():
            self.publisher.gone(session)
        for session in list(self.roots):
            if session.look():
                self.publisher.changed(session)
        if any(uri.endswith(f"/{SETTINGS_NAME}") for uri in changed):
            for session in self.roots.find_new():
                self.publisher.changed(session)

    def _carrying_out(self, name: str, answer: str) -> Callable[..., Any]:
        def carry_out(*arguments: Any) -> Any:
            command = _imported(answer)
            _refuse_misfits(name, command, (self, *arguments))
            return command(self, *arguments)

        return lambda *arguments: self._guarded(name, lambda: carry_out(*arguments))

    def _answering(self, feature: Feature) -> Callable[[Any], Any]:
        def answer(params: Any) -> Any:
            found = _imported(feature.answer)
            if not feature.of_document:
                return found(self.roots, params)
            page = self.roots.page(params.text_document.uri)
            if page is None or not self.options.lets(feature.method, in_code=EditorPage(*page).is_code):
                return None
            return found(*page, params)

        return lambda params: self._guarded(feature.method, lambda: answer(params))

    def _guarded(self, what: str, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except JsonRpcException:
            # What a feature refuses is told to who asked.
            raise
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
        """Tell of a fault once; that of a request is told to who asked, and what cannot be read is no fault of ours."""
        if source not in (FeatureRequestError, JsonRpcException):
            self._tell_fault("a message", error)


@cache
def _imported(answer: str) -> Callable[..., Any]:
    """Return a function that is named as `module:function`, whose module is imported when it is first asked."""
    module, _, name = answer.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _refuse_misfits(name: str, command: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Raise JsonRpcInvalidParams where a command takes no such arguments."""
    taken, hints = signature(command), get_type_hints(command)
    _, *wanted = taken.parameters
    try:
        fits = all(_fits(value, hints[one]) for one, value in taken.bind(*arguments).arguments.items())
    except TypeError:
        fits = False
    if not fits:
        raise JsonRpcInvalidParams(f"`{name}` takes {', '.join(wanted) or 'no arguments'}")


def _fits(value: object, hint: Any) -> bool:
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if not isinstance(value, kind):
        return False
    held: Iterable[object] = value.values() if isinstance(value, Mapping) else value if inner else ()
    return all(_fits(one, inner[-1]) for one in held)


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
        # The stream is the process's, which looks at its end whether all could be written.
        self._inner.flush()


class _Brief(logging.Formatter):
    """A record as one line, but for a fault of ours, which has its whole story."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, JsonRpcException | JSONDecodeError | UnicodeDecodeError | None):
            return super().format(record)
        # What the library could not read comes with its trace as text.
        told = record.getMessage().partition("\n")[0]
        return f"{record.name}: {told}" if error is None else f"{record.name}: {told}: {' '.join(str(error).split())}"


def log_handler() -> logging.Handler:
    """Return what writes the log for whoever looks after the editor."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Brief("%(name)s: %(message)s"))
    return handler


def serve(server: Server, first: bytes, source: BinaryIO, target: BinaryIO) -> None:
    """Serve an editor whose `initialize` is answered, until it goes away."""
    logging.basicConfig(handlers=[log_handler()], level=logging.ERROR)
    server.start_io(EditorStream(first, source, server.cancelled), _Output(target))  # type: ignore[arg-type]  # the methods that it calls
