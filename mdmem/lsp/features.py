"""The table of what an editor may ask: one row a request, whose answer is a function of a module of its own.

It imports no library, for `initialize` is answered from it before any is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from mdmem import __version__

Facts = dict[str, Any]


class Feature(NamedTuple):
    """One request: the capability that offers it, and the function that answers it, as `module:function`.

    With `of_document` that is `function(session, buffer, params)` for the file that the request names, and None is the
    answer where no memory has to do with it; else it is `function(roots, params)`.
    `offered` stands under the capability in the answer to `initialize`; a capability with a dot is one of a group.
    """

    method: str
    answer: str
    capability: str = ""
    offered: Any = True
    of_document: bool = True


# Each command with what carries it out: `function(server, *arguments)`.
COMMANDS: Mapping[str, str] = {
    "mdmem.show": "mdmem.lsp.choice:show",
    "mdmem.why": "mdmem.lsp.commands:why",
    "mdmem.check": "mdmem.lsp.commands:check",
    "mdmem.new": "mdmem.lsp.lifecycle_commands:new",
    "mdmem.approve": "mdmem.lsp.lifecycle_commands:approve",
    "mdmem.verify": "mdmem.lsp.lifecycle_commands:verify",
    "mdmem.change": "mdmem.lsp.lifecycle_commands:review",
    "mdmem.deprecate": "mdmem.lsp.lifecycle_commands:deprecate",
    "mdmem.supersede": "mdmem.lsp.lifecycle_commands:supersede",
}
# Each part has a block of its own, so that rows are added side by side.
_COMPLETED = {"triggerCharacters": ["/", ":", "[", " "], "resolveProvider": True}
NAVIGATION: tuple[Feature, ...] = (
    Feature("textDocument/completion", "mdmem.lsp.completion:completion", "completionProvider", _COMPLETED),
    Feature("completionItem/resolve", "mdmem.lsp.completion:resolve", of_document=False),
    Feature("textDocument/hover", "mdmem.lsp.hover:hover", "hoverProvider"),
    Feature("textDocument/definition", "mdmem.lsp.definition:definition", "definitionProvider"),
    Feature("textDocument/implementation", "mdmem.lsp.definition:implementation", "implementationProvider"),
    Feature("textDocument/documentLink", "mdmem.lsp.definition:links", "documentLinkProvider", {}),
    Feature("textDocument/references", "mdmem.lsp.references:references", "referencesProvider"),
    Feature("textDocument/documentHighlight", "mdmem.lsp.references:highlights", "documentHighlightProvider"),
    Feature("textDocument/prepareTypeHierarchy", "mdmem.lsp.hierarchy:prepare", "typeHierarchyProvider"),
    Feature("typeHierarchy/supertypes", "mdmem.lsp.hierarchy:supertypes", of_document=False),
    Feature("typeHierarchy/subtypes", "mdmem.lsp.hierarchy:subtypes", of_document=False),
    Feature("textDocument/documentSymbol", "mdmem.lsp.symbols:document_symbols", "documentSymbolProvider"),
    Feature("workspace/symbol", "mdmem.lsp.symbols:workspace_symbols", "workspaceSymbolProvider", of_document=False),
    Feature("textDocument/foldingRange", "mdmem.lsp.outline:folds", "foldingRangeProvider"),
    Feature("textDocument/selectionRange", "mdmem.lsp.outline:selections", "selectionRangeProvider"),
    Feature("textDocument/codeLens", "mdmem.lsp.lenses:lenses", "codeLensProvider", {}),
    Feature("textDocument/inlayHint", "mdmem.lsp.hints:hints", "inlayHintProvider"),
)
_ACTED = {"codeActionKinds": ["quickfix", "refactor", "source.fixAll.mdmem"], "resolveProvider": True}
_MOVED = {
    "filters": [
        {"scheme": "file", "pattern": {"glob": "**/*.md", "matches": "file"}},
        {"scheme": "file", "pattern": {"glob": "**", "matches": "folder"}},
    ]
}
ACTIONS: tuple[Feature, ...] = (
    Feature("textDocument/codeAction", "mdmem.lsp.code_actions:code_actions", "codeActionProvider", _ACTED),
    Feature("codeAction/resolve", "mdmem.lsp.code_actions:resolve", of_document=False),
    Feature("textDocument/rename", "mdmem.lsp.rename:rename", "renameProvider", {"prepareProvider": True}),
    Feature("textDocument/prepareRename", "mdmem.lsp.rename:prepare"),
    Feature(
        "workspace/willRenameFiles",
        "mdmem.lsp.rename:will_rename",
        "workspace.fileOperations.willRename",
        _MOVED,
        of_document=False,
    ),
)
FEATURES: tuple[Feature, ...] = (*NAVIGATION, *ACTIONS)

# Each text is sent whole when it is opened and by its changes after that; columns count in UTF-16 units.
_ALWAYS: Facts = {
    "positionEncoding": "utf-16",
    "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
    "executeCommandProvider": {"commands": [*COMMANDS]},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
}


def pulls(client: Any) -> bool:
    """Say whether an editor with such capabilities asks for findings itself, also when told that others are there."""
    document, workspace = (_within(client, name) for name in ("textDocument", "workspace"))
    return "diagnostic" in document and bool(_within(workspace, "diagnostics").get("refreshSupport"))


def _within(holder: Any, name: str) -> Facts:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, dict) else {}


def capabilities(client: Any = None) -> Facts:
    """Return what the server says that it can do, to an editor that says so much of itself."""
    found: Facts = deepcopy(_ALWAYS)
    for feature in FEATURES:
        *groups, name = feature.capability.split(".")
        holder = found
        for group in groups:
            holder = holder.setdefault(group, {})
        if name:
            holder[name] = feature.offered
    if pulls(client):
        found["diagnosticProvider"] = {"interFileDependencies": True, "workspaceDiagnostics": False}
    return found


def initialize_result(params: Any) -> Facts:
    """Return the answer to an `initialize` with such parameters."""
    client = params.get("capabilities") if isinstance(params, dict) else None
    return {"capabilities": capabilities(client), "serverInfo": {"name": "mdmem", "version": __version__}}
