"""The editor's server: pygls keeps the protocol and the open documents; each request has one function."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from mdmem import SETTINGS_NAME, __version__
from mdmem.lsp.actions import FIX_ALL, code_actions
from mdmem.lsp.client import SECTION, Options, abilities_of, options_from
from mdmem.lsp.completion import complete, resolve_completion
from mdmem.lsp.diagnostics import Publisher
from mdmem.lsp.edit import prepare_rename, rename, will_rename
from mdmem.lsp.memories import Memories
from mdmem.lsp.memory import Document
from mdmem.lsp.navigate import (
    definition,
    document_symbols,
    folds,
    implementation,
    links,
    references,
    workspace_symbols,
)
from mdmem.lsp.show import hover, lenses

_log = logging.getLogger("mdmem.lsp")

# The requests about one document; the answer is None where it belongs to no memory.
DOCUMENT_FEATURES: Mapping[str, Callable[[Document, Any], Any]] = {
    types.TEXT_DOCUMENT_COMPLETION: complete,
    types.TEXT_DOCUMENT_HOVER: hover,
    types.TEXT_DOCUMENT_DEFINITION: definition,
    types.TEXT_DOCUMENT_IMPLEMENTATION: implementation,
    types.TEXT_DOCUMENT_DOCUMENT_LINK: links,
    types.TEXT_DOCUMENT_REFERENCES: references,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: document_symbols,
    types.TEXT_DOCUMENT_FOLDING_RANGE: folds,
    types.TEXT_DOCUMENT_CODE_LENS: lenses,
    types.TEXT_DOCUMENT_CODE_ACTION: code_actions,
    types.TEXT_DOCUMENT_PREPARE_RENAME: prepare_rename,
    types.TEXT_DOCUMENT_RENAME: rename,
}
# The requests about all memories.
MEMORY_FEATURES: Mapping[str, Callable[[Memories, Any], Any]] = {
    types.COMPLETION_ITEM_RESOLVE: resolve_completion,
    types.WORKSPACE_SYMBOL: workspace_symbols,
    types.WORKSPACE_WILL_RENAME_FILES: will_rename,
}
_FILE, _FOLDER = types.FileOperationPatternKind.File, types.FileOperationPatternKind.Folder
_OPTIONS: Mapping[str, Any] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(["/", ":", "[", " "], resolve_provider=True),
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


class _Protocol(LanguageServerProtocol):
    """The protocol of pygls, which leaves two mistakes of clients without an answer."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Parse a message; a request with parameters that do not fit is refused by its number."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        """Take the changes of a document; those of one that was never opened are ignored."""
        if self.workspace.get_text_document(params.text_document.uri) in self.workspace.text_documents.values():
            yield from super().lsp_text_document__did_change(params)


class Server(LanguageServer):
    """The server of one editor.

    The editor sends whole texts: pygls would apply partial changes by lines that end where an editor's do not.
    """

    def __init__(self, memories: Memories) -> None:
        """Take where memories are found; nothing is read yet."""
        super().__init__(
            "mdmem",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
        )
        self.memories, self.options = memories, Options()
        self.publisher = Publisher(self.text_document_publish_diagnostics, self.guarded)
        self._has_failed = False
        for method, answer in DOCUMENT_FEATURES.items():
            self._register(method, partial(self._answer_about_document, method, answer))
        for method, answer_all in MEMORY_FEATURES.items():
            self._register(method, partial(answer_all, self.memories))
        self._register(types.INITIALIZE, self._initialize)
        self._register(types.INITIALIZED, self._initialized)
        self._register(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._did_change_configuration)
        self._register(types.TEXT_DOCUMENT_DID_OPEN, self._did_open)
        self._register(types.TEXT_DOCUMENT_DID_CHANGE, self._did_change)
        self._register(types.TEXT_DOCUMENT_DID_CLOSE, self._did_close)
        self._register(types.TEXT_DOCUMENT_DID_SAVE, self._did_save)
        self._register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._did_change_files)

    def _register(self, method: str, handle: Callable[[Any], Any]) -> None:
        self.feature(method, _OPTIONS.get(method))(lambda params: self.guarded(method, lambda: handle(params)))

    def _answer_about_document(self, method: str, answer: Callable[[Document, Any], Any], params: Any) -> Any:
        document = self.memories.document(params.text_document.uri)
        if document is None or (document.is_code and not self.options.in_code):
            return None
        if method == types.TEXT_DOCUMENT_CODE_LENS and not self.options.code_lens:
            return None
        return answer(document, params)

    def guarded(self, name: str, work: Callable[[], Any]) -> Any:
        """Return the result of some work; where it fails, log the whole error, show the first one, and return None."""
        try:
            return work()
        except JsonRpcException:
            # A refusal that is meant for the editor.
            raise
        except Exception as error:  # noqa: BLE001  # the boundary of the server: one failure must not end the others
            _log.error("%s failed", name, exc_info=error)
            if not self._has_failed:
                self._has_failed = True
                message = f"mdmem failed at {name}: {type(error).__name__}; the log of the server has the details"
                self.show_message(message, types.MessageType.Error)
            return None

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log a message that pygls could not handle; a refused request is no error of the server."""
        if source is not FeatureRequestError:
            _log.error("cannot handle a message: %s", " ".join(str(error).split())[:200])

    def show_message(self, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """Show a sentence to the user."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def _initialize(self, params: types.InitializeParams) -> None:
        self.memories.abilities = abilities_of(params.capabilities)
        self.memories.workspace = self.workspace
        self._configure(params.initialization_options)

    def _initialized(self, _: types.InitializedParams) -> None:
        """Ask the editor to watch the files, where it can."""
        workspace = self.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace is not None else None
        if watched is not None and watched.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _WATCHED])
            watch = types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([watch]))

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        """Take the editor's settings, or ask for them where it only says that they changed."""
        workspace = self.client_capabilities.workspace
        if params.settings is None and workspace is not None and workspace.configuration:
            items = [types.ConfigurationItem(section=SECTION)]
            self.workspace_configuration(
                types.ConfigurationParams(items), lambda sent: self._configure(sent[0] if sent else None)
            )
        else:
            self._configure(params.settings)

    def _configure(self, sent: Any) -> None:
        before, self.options = self.options, options_from(sent, self.options)
        workspace = self.client_capabilities.workspace if before != self.options else None
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.publisher.schedule(self.memories.update(params.text_document.uri))

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Check the memory again, unless the change is in code outside it."""
        memory = self.memories.update(params.text_document.uri)
        document = self.memories.document(params.text_document.uri)
        if document is not None and document.path is not None:
            self.publisher.schedule(memory)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.publisher.schedule(self.memories.close(params.text_document.uri))

    def _did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        self._read_changes([params.text_document.uri])

    def _did_change_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        self._read_changes([change.uri for change in params.changes])

    def _read_changes(self, uris: list[str]) -> None:
        if any(uri.endswith(f"/{SETTINGS_NAME}") for uri in uris):
            for memory in self.memories.locate_again():
                self.publisher.withdraw(memory)
        for memory in self.memories.opened.values():
            self.publisher.schedule(memory)
