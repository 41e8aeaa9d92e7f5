"""What is the editor's own: its two settings, and what it can show; all else `mdmem.toml` says, as it does to CI."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from msgspec import Struct
from pygls.capabilities import get_capability

SECTION = "mdmem"
_CODE_LENS = "textDocument/codeLens"


class Options(Struct, frozen=True):
    """Whether lenses are shown, and whether anything is said in code."""

    code_lens: bool = True
    in_code: bool = True

    def lets(self, method: str, *, in_code: bool) -> bool:
        """Say whether a request about a text is answered."""
        return (self.code_lens or method != _CODE_LENS) and (self.in_code or not in_code)


class EditorSkills(Struct, frozen=True):
    """What an editor can do with what it is given.

    It fills in the places of a snippet; it shows Markdown; it takes edits of one version of a text, and asks for those
    of an action once that is chosen; it carries out edits that it did not ask for; it makes, and renames, files.
    """

    snippets: bool = True
    markdown: bool = True
    versions: bool = True
    resolves: bool = True
    applies: bool = True
    creates: bool = True
    renames: bool = True


def skills_of(capabilities: types.ClientCapabilities) -> EditorSkills:
    """Return what an editor says that it can do."""
    snippets = get_capability(capabilities, "text_document.completion.completion_item.snippet_support")
    formats = get_capability(capabilities, "text_document.hover.content_format")
    files = get_capability(capabilities, "workspace.workspace_edit.resource_operations") or ()
    resolved = get_capability(capabilities, "text_document.code_action.resolve_support.properties")
    return EditorSkills(
        snippets=snippets is True,
        markdown=types.MarkupKind.Markdown in (formats or ()),
        # Neovim says only that it moves files, which no other edit can have done.
        versions=bool(files) or get_capability(capabilities, "workspace.workspace_edit.document_changes") is True,
        resolves="edit" in (resolved or ()),
        applies=get_capability(capabilities, "workspace.apply_edit") is True,
        creates=types.ResourceOperationKind.Create in files,
        renames=types.ResourceOperationKind.Rename in files,
    )


def options_from(said: Any, before: Options) -> Options:
    """Return the settings that an editor sends, with or without the section around them; what it does not say stays."""
    stated = said.get(SECTION, said) if isinstance(said, dict) else {}
    flags = {key: value for key, value in stated.items() if isinstance(value, bool)} if isinstance(stated, dict) else {}
    return Options(flags.get("codeLens", before.code_lens), flags.get("inCode", before.in_code))
