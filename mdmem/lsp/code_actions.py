"""The actions that an editor offers at a place of a file of the memory."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.fixes import FIX_ALL, fix_all, quick_fixes, resolved
from mdmem.lsp.lifecycle_actions import lifecycle_actions
from mdmem.lsp.place import EditorPage
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession


def code_actions(session: EditorSession, buffer: Buffer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return what can be done there: fixes of what is found on its lines, then what can be done to the entry.

    An editor that asks by itself at each step of the cursor is told fixes alone.
    """
    page, context = EditorPage(session, buffer), params.context
    if page.is_code:
        return []
    found: list[types.CodeAction] = []
    if _wants(context, types.CodeActionKind.QuickFix):
        found += quick_fixes(page, params)
    if _wants(context, types.CodeActionKind.Refactor) and not _is_automatic(context):
        found += lifecycle_actions(page, params.range.start)
    all_fixes = fix_all(page) if _wants(context, FIX_ALL) else None
    return [*found, all_fixes] if all_fixes is not None else found


def _wants(context: types.CodeActionContext, kind: str) -> bool:
    """Say whether an action of a kind is asked for: an editor that names a kind means those below it, too."""
    return context.only is None or any(not one or (kind + ".").startswith(one + ".") for one in context.only)


def _is_automatic(context: types.CodeActionContext) -> bool:
    return context.only is None and context.trigger_kind is types.CodeActionTriggerKind.Automatic


def resolve(roots: Roots, action: types.CodeAction) -> types.CodeAction:
    """Return an action that was chosen with what it changes."""
    data: Any = action.data
    page = roots.page(data["uri"]) if isinstance(data, dict) and isinstance(data.get("uri"), str) else None
    return resolved(EditorPage(*page), action) if page is not None else action
