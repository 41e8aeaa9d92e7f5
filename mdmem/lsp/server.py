"""The language server: pygls handles the protocol and the open documents, and one function answers each request."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer

from mdmem import SETTINGS_NAME, __version__
from mdmem.errors import UsageError, try_call
from mdmem.lsp.actions import FIX_ALL, code_actions
from mdmem.lsp.completion import complete
from mdmem.lsp.edit import prepare_rename, rename, will_rename
from mdmem.lsp.memory import Document, Memories, OpenMemory, capabilities_of
from mdmem.lsp.show import SHOW, definition, hover, implementation, lenses, references
from mdmem.model.finding import Finding, Severity

# The editor's settings: whether to show code lenses, and whether to show anything in files of code.
OPTIONS: Mapping[str, bool] = {"codeLens": True, "inCode": True}
_DELAY = 0.3
# The number of files that are not open and for which findings are published.
_MAX_CLOSED_FILES = 500
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Hint,
}

_log = logging.getLogger("mdmem.lsp")

# The functions that answer requests about one document. If the document belongs to no memory, the answer is None.
DOCUMENT_FEATURES: Mapping[str, Callable[[Document, Any], Any]] = {
    types.TEXT_DOCUMENT_COMPLETION: complete,
    types.TEXT_DOCUMENT_HOVER: hover,
    types.TEXT_DOCUMENT_DEFINITION: definition,
    types.TEXT_DOCUMENT_IMPLEMENTATION: implementation,
    types.TEXT_DOCUMENT_REFERENCES: references,
    types.TEXT_DOCUMENT_CODE_LENS: lenses,
    types.TEXT_DOCUMENT_CODE_ACTION: code_actions,
    types.TEXT_DOCUMENT_PREPARE_RENAME: prepare_rename,
    types.TEXT_DOCUMENT_RENAME: rename,
}
_FILE, _FOLDER = types.FileOperationPatternKind.File, types.FileOperationPatternKind.Folder
_OPTIONS: Mapping[str, Any] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(["/", ":", "[", " "]),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(
        [types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor, FIX_ALL]
    ),
    types.WORKSPACE_WILL_RENAME_FILES: types.FileOperationRegistrationOptions(
        [
            types.FileOperationFilter(types.FileOperationPattern("**/*.md", _FILE), "file"),
            types.FileOperationFilter(types.FileOperationPattern("**", _FOLDER), "file"),
        ]
    ),
}
_WATCHED = ("**/*.md", f"**/{SETTINGS_NAME}")


def diagnostic_of(document: Document, finding: Finding) -> types.Diagnostic:
    """Return a finding about a document as an LSP diagnostic."""
    return types.Diagnostic(
        range=document.range_of_place(finding.place),
        message=f"{finding.message}\n{finding.help}" if finding.help else finding.message,
        severity=_SEVERITIES[finding.level],
        code=finding.code,
        source="mdmem",
    )


class Server(LanguageServer):
    """The language server of one editor.

    The editor sends the whole text after each change. For partial changes, pygls would count lines differently from
    some editors.
    """

    def __init__(self, memories: Memories) -> None:
        """Take the list of memories without reading any file."""
        super().__init__("mdmem", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.memories, self.options = memories, {**OPTIONS}
        self._published: dict[OpenMemory, dict[str, list[types.Diagnostic]]] = {}
        self._timers: dict[OpenMemory, asyncio.TimerHandle] = {}
        self._has_failed = False
        for method, answer in DOCUMENT_FEATURES.items():
            self._register(method, partial(self._answer_about_document, method, answer))
        for method in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE):
            self._register(method, lambda it: self._schedule(memories.update(it.text_document.uri)))
        self._register(types.INITIALIZE, self._initialize)
        self._register(types.INITIALIZED, lambda _: self._watch_files())
        self._register(types.WORKSPACE_WILL_RENAME_FILES, partial(will_rename, memories))
        self._register(types.TEXT_DOCUMENT_DID_CLOSE, lambda it: self._schedule(memories.close(it.text_document.uri)))
        self._register(types.TEXT_DOCUMENT_DID_SAVE, lambda it: self._read_changes([it.text_document.uri]))
        configured, changed = types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        self._register(configured, lambda it: self._configure(it.settings))
        self._register(changed, lambda it: self._read_changes([one.uri for one in it.changes]))

    def _register(self, method: str, handle: Callable[[Any], Any]) -> None:
        self.feature(method, _OPTIONS.get(method))(lambda params: self.guarded(method, lambda: handle(params)))

    def _answer_about_document(self, method: str, answer: Callable[[Document, Any], Any], params: Any) -> Any:
        document = self.memories.document(params.text_document.uri)
        if document is None or (document.is_code and not self.options["inCode"]):
            return None
        if method == types.TEXT_DOCUMENT_CODE_LENS and not self.options["codeLens"]:
            return None
        return answer(document, params)

    def guarded(self, name: str, work: Callable[[], Any]) -> Any:
        """Return the result of a function, or log its error and return None; the first error is also shown."""
        result = try_call(work)
        if isinstance(result, JsonRpcException):
            # This error is an answer for the editor.
            raise result
        if not isinstance(result, Exception):
            return result
        _log.error("%s failed", name, exc_info=result)
        if not self._has_failed:
            self._has_failed = True
            message = f"mdmem failed at {name}: {type(result).__name__}; the log of the server has the details"
            self.show_message(message, types.MessageType.Error)
        return None

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log a message that pygls could not handle, but not a refused request."""
        if source is not FeatureRequestError:
            _log.error("cannot handle a message: %s", " ".join(str(error).split())[:200])

    def show_message(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a sentence to the user."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def _initialize(self, params: types.InitializeParams) -> None:
        self.memories.capabilities = capabilities_of(params.capabilities)
        self.memories.workspace = self.workspace
        self._configure(params.initialization_options)

    def _configure(self, sent: Any) -> None:
        """Take the settings that an editor sends, with or without the section `mdmem`; missing ones stay unchanged."""
        section = sent.get("mdmem", sent) if isinstance(sent, dict) else {}
        stated = section.items() if isinstance(section, dict) else ()
        self.options |= {key: value for key, value in stated if key in OPTIONS and isinstance(value, bool)}

    def _watch_files(self) -> None:
        """Ask the editor to watch the files of memories, if the editor can do that."""
        if get_capability(self.client_capabilities, "workspace.did_change_watched_files.dynamic_registration"):
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _WATCHED])
            watch = types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([watch]))

    def _read_changes(self, uris: list[str]) -> None:
        if any(uri.endswith(f"/{SETTINGS_NAME}") for uri in uris):
            for memory in self.memories.relocate():
                if memory in self._timers:
                    self._timers.pop(memory).cancel()
                self.publish(memory)
        for memory in self.memories.opened.values():
            self._schedule(memory)

    def _schedule(self, memory: OpenMemory | None) -> None:
        """Check a memory after 0.3 seconds without further changes; do nothing for None."""
        if memory is None:
            return
        if memory in self._timers:
            self._timers[memory].cancel()
        loop = asyncio.get_running_loop()
        self._timers[memory] = loop.call_later(_DELAY, self.guarded, "the check", lambda: self.publish(memory))

    def publish(self, memory: OpenMemory) -> None:
        """Check a memory with the unsaved texts in the editor, and publish the diagnostics that changed.

        The diagnostics of a memory that was deleted are removed.
        """
        exists = memory.exists
        if exists:
            memory.refresh()
        found: dict[str, list[Finding]] = {path: [] for path in memory.documents if exists}
        for finding in memory.findings if exists else ():
            # Like `mdmem check`, do not report infos about files that are not open.
            if finding.place.path in memory.documents or finding.level is not Severity.INFO:
                found.setdefault(finding.place.path, []).append(finding)
        before, now = self._published.get(memory, {}), dict[str, list[types.Diagnostic]]()
        for path, findings in list(found.items())[: len(memory.documents) + _MAX_CLOSED_FILES]:
            # An unreadable folder has no text in which a place could be shown.
            document, uri = memory.document(path), memory.uri_of(path)
            now[uri] = [diagnostic_of(document, one) for one in findings] if document is not None else []
            if before.get(uri) != now[uri]:
                version = document.version if document is not None else None
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, now[uri], version))
        for uri in before.keys() - now.keys():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        if exists:
            self._published[memory] = now
        else:
            self._published.pop(memory, None)


def show(ls: Server, message: str, targets: list[dict[str, str]]) -> None:
    """Open the file of the only target, or let the user choose one; if the editor cannot open files, show the names."""
    uris = {one["title"]: one["uri"] for one in targets if one.get("uri", "").startswith("file:") and "title" in one}

    def open_file(title: str) -> None:
        ls.window_show_document(types.ShowDocumentParams(uris[title], take_focus=True))

    if uris and get_capability(ls.client_capabilities, "window.show_document") is None:
        ls.show_message(f"{message}: {'; '.join(uris)}")
    elif len(uris) == 1:
        open_file(*uris)
    elif uris:
        choices = [types.MessageActionItem(title) for title in uris]
        request = types.ShowMessageRequestParams(types.MessageType.Info, message, choices)
        ls.window_show_message_request(request, lambda taken: open_file(taken.title) if taken else None)


def serve(environment: Mapping[str, str], today: Callable[[], date]) -> None:
    """Serve one editor over standard input and output; raises UsageError if a message is too long to be read."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR)
    # pygls logs a traceback for each refused request. `report_server_error` logs one line instead.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server(Memories(environment=environment, today=today))
    server.command(SHOW)(show)
    # Give pygls a copy of standard output, because pygls closes its output at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        try:
            server.start_io(sys.stdin.buffer, output)
        except (MemoryError, OverflowError, ValueError) as error:
            # pygls allocates as much memory as the header of a message says.
            raise UsageError("the editor sent a message with an impossible length; start the server again") from error
