"""The editor's own settings, and its abilities; everything else is set in `mdmem.toml`, as for CI."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from msgspec import Struct
from pygls.capabilities import get_capability

SECTION = "mdmem"


class Options(Struct, frozen=True):
    """Whether code lenses are shown, and whether anything is shown in code."""

    code_lens: bool = True
    in_code: bool = True


class Abilities(Struct, frozen=True):
    """What an editor supports of completion, hover and edits."""

    snippets: bool = True
    markdown: bool = True
    versioned_edits: bool = True
    applies_edits: bool = True
    creates_files: bool = True
    renames_files: bool = True


def abilities_of(capabilities: types.ClientCapabilities) -> Abilities:
    """Return the abilities that an editor states."""
    formats = get_capability(capabilities, "text_document.hover.content_format") or ()
    operations = get_capability(capabilities, "workspace.workspace_edit.resource_operations") or ()
    has_versions = get_capability(capabilities, "workspace.workspace_edit.document_changes") is True
    snippets = get_capability(capabilities, "text_document.completion.completion_item.snippet_support")
    return Abilities(
        snippets=snippets is True,
        markdown=types.MarkupKind.Markdown in formats,
        # Neovim states only that it moves files, which needs the same form of edit.
        versioned_edits=bool(operations) or has_versions,
        applies_edits=get_capability(capabilities, "workspace.apply_edit") is True,
        creates_files=types.ResourceOperationKind.Create in operations,
        renames_files=types.ResourceOperationKind.Rename in operations,
    )


def options_from(sent: Any, before: Options) -> Options:
    """Return the settings that an editor sends, with or without their section; a setting that is missing stays."""
    section = sent.get(SECTION, sent) if isinstance(sent, dict) else {}
    stated = section if isinstance(section, dict) else {}
    flags = {key: value for key, value in stated.items() if isinstance(value, bool)}
    return Options(flags.get("codeLens", before.code_lens), flags.get("inCode", before.in_code))
