"""The actions that an editor offers at a place of a file of the memory.

What the checks would mend, as actions of an editor: the fix of each finding, and all of a file's that are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types
from msgspec.structs import replace

from mdmem.checks.engine import CheckReport
from mdmem.errors import MdmemError
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.findings import SessionFindings
from mdmem.lsp.lifecycle_actions import lifecycle_actions
from mdmem.lsp.place import EditorPage
from mdmem.lsp.roots import Roots
from mdmem.lsp.session import EditorSession
from mdmem.lsp.workspace_edit import edit_of
from mdmem.model.finding import Finding
from mdmem.store.tree import OverlaidTree, Tree
from mdmem.write.fix import mend_all, plan_fix

FIX_ALL = "source.fixAll.mdmem"


def quick_fixes(page: EditorPage, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Yield the fixes of what is found on some lines; one that decides for a person is not preferred."""
    for finding in _with_fix(page):
        if _meets(page.buffer.range_at(finding.place), params.range):
            action = _quick_fix(page, finding, params.context.diagnostics)
            if action is not None:
                yield action


def _with_fix(page: EditorPage) -> Iterator[Finding]:
    found = page.session.once(SessionFindings).now()
    return (one for one in found if one.place.path == page.buffer.path and one.fix is not None)


def _meets(one: types.Range, other: types.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line


def _quick_fix(page: EditorPage, finding: Finding, diagnostics: Sequence[types.Diagnostic]) -> types.CodeAction | None:
    session = page.session
    if finding.fix is not None and finding.fix.renames:
        finding = session.once(SessionFindings).fresh(finding)
    if finding.fix is None:
        return None
    try:
        edit = edit_of(session, plan_fix(session.workspace.tree, finding).changes)
    except MdmemError:
        # A file that cannot be written, or an editor that cannot move one: the finding says what to do by hand.
        return None
    if edit is None:
        return None
    start = page.buffer.range_at(finding.place).start
    ended = [one for one in diagnostics if one.code == finding.code and one.range.start == start]
    return types.CodeAction(
        finding.fix.title, types.CodeActionKind.QuickFix, ended, is_preferred=finding.fix.is_safe, edit=edit
    )


def fix_all(page: EditorPage) -> types.CodeAction | None:
    """Return the action that makes every safe fix of a file; without one None.

    What it changes takes a while to find out, and is left for later where the editor asks again.
    """
    if not any(one.fix is not None and one.fix.is_safe for one in _with_fix(page)):
        return None
    action = types.CodeAction("Make all safe fixes of mdmem", FIX_ALL, data={"uri": page.buffer.uri})
    return action if page.session.skills.resolves else resolved(page, action)


def resolved(page: EditorPage, action: types.CodeAction) -> types.CodeAction:
    """Return the action of a file with its edit, proved as `mdmem check --fix` proves what it writes."""
    session, path = page.session, page.buffer.path
    found = session.once(SessionFindings)

    def prove(tree: Tree) -> CheckReport:
        contents = tree.changed if isinstance(tree, OverlaidTree) else {}
        return CheckReport(tree.name, 0, found.tried(contents))

    def check(tree: Tree) -> CheckReport:
        report = prove(tree)
        return replace(report, findings=tuple(one for one in report.findings if one.place.path == path))

    mended = mend_all(session.workspace.tree, check, prove=prove)
    action.edit = edit_of(session, mended.plan.changes)
    return action


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
