"""Code actions of the editor: fixes for findings, and steps such as approving or deprecating an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

from lsprotocol import types
from msgspec.structs import replace

from mdmem.checks.engine import CheckReport
from mdmem.errors import MdmemError
from mdmem.lsp.edit import checked_edit, edit_of
from mdmem.lsp.memory import Document
from mdmem.lsp.tokens import TokenKind
from mdmem.model.entry import Status
from mdmem.model.fields import REASON
from mdmem.store.tree import Tree, TreeView
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, new_text, plan_new, plan_supersession
from mdmem.write.fix import fix_all, plan_fix
from mdmem.write.lifecycle import approver, plan_approvals, plan_deprecation, plan_review, plan_verification

FIX_ALL = "source.fixAll.mdmem"


def code_actions(document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the fixes of findings on the selected lines, steps such as `Deprecate`, and all safe fixes of the file.

    If the editor asks automatically, because the cursor moved, only the fixes of single findings are returned.
    """
    context = params.context
    if document.is_code:
        return []

    def is_wanted(kind: str) -> bool:
        # A kind includes all kinds below it.
        return context.only is None or any(not one or (kind + ".").startswith(one + ".") for one in context.only)

    found = [*_quick_fixes(document, params)] if is_wanted(types.CodeActionKind.QuickFix) else []
    if context.only is None and context.trigger_kind is types.CodeActionTriggerKind.Automatic:
        return found
    found += _steps(document, params.range.start) if is_wanted(types.CodeActionKind.Refactor) else ()
    found += _fix_all(document) if is_wanted(FIX_ALL) else ()
    return found


def _quick_fixes(document: Document, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    """Yield the fixes for findings on the selected lines; only a safe fix is marked as preferred."""
    memory = document.memory
    for finding in memory.findings:
        if finding.place.path != document.path or finding.fix is None:
            continue
        where = document.range_of_place(finding.place)
        if where.start.line > params.range.end.line or where.end.line < params.range.start.line:
            continue
        try:
            edit = edit_of(memory, plan_fix(memory.workspace.tree, finding).changes)
        except MdmemError:
            # The file may be read-only, or the editor cannot move files. The finding says what to do by hand.
            continue
        if edit is not None:
            shown = params.context.diagnostics
            same = [one for one in shown if one.code == finding.code and one.range.start == where.start]
            title, is_safe = finding.fix.title, finding.fix.is_safe
            yield types.CodeAction(title, types.CodeActionKind.QuickFix, same, is_preferred=is_safe, edit=edit)


def _fix_all(document: Document) -> Iterator[types.CodeAction]:
    """Yield the action that applies every safe fix of a file, tested like the fixes of `mdmem check --fix`."""
    memory, path = document.memory, document.path

    def full_check(tree: Tree) -> CheckReport:
        changed = tree.changed if isinstance(tree, TreeView) else None
        return CheckReport(tree.name, 0, memory.findings_with(changed or {}))

    def check(tree: Tree) -> CheckReport:
        report = full_check(tree)
        return replace(report, findings=tuple(one for one in report.findings if one.place.path == path))

    fixed = fix_all(memory.workspace.tree, check, full_check=full_check)
    try:
        edit = edit_of(memory, fixed.plan.changes)
    except MdmemError:
        return
    if edit is not None:
        yield types.CodeAction("Make all safe fixes of mdmem", FIX_ALL, edit=edit)


def _steps(document: Document, position: types.Position) -> Iterator[types.CodeAction]:
    """Yield the steps for the entry in a file, and for the entry whose address is at a position.

    Each step is planned and tested before it is offered. If a step needs a reason, the edit contains a placeholder. A
    check reports the placeholder until a person replaces it.
    """
    entry, token = document.entry, document.token_at(position)
    if entry is None or not document.memory.has_file(entry.address):
        return
    workspace, address = document.memory.workspace, entry.address
    steps = list[tuple[str, Callable[[], ChangeSet]]]()

    def plan_draft() -> ChangeSet:
        """Plan a draft that supersedes the entry, with its title, and its address with a number."""
        place = next(one for number in count(2) if (one := f"{address}-{number}") not in workspace.catalog.addresses)
        draft = Draft(type=entry.type, place=place, title=entry.title, old=address, reason=REASON)
        return plan_new(workspace, draft, *new_text(workspace, draft, today=document.memory.today()))

    named = document.resolve(token) if token is not None and token.kind is TokenKind.ADDRESS else None
    if named is not None and named != address:
        supersede = partial(plan_supersession, workspace, named, by=address, reason=REASON)
        steps.append((f"Supersede {named}", supersede))
    if entry.status is Status.DRAFT:
        # Git's committer is the person who approves.
        by = document.memory.disk.once(approver)
        steps.append(("Approve this draft", partial(plan_approvals, workspace, [address], by=by)))
    elif entry.is_in_force:
        steps.append(("Verify: still true today", partial(plan_verification, workspace, [address])))
        steps.append(("Put under review", partial(plan_review, workspace, address, reason=REASON)))
        steps.append(("Supersede with a new draft", plan_draft))
    steps.append(("Deprecate", partial(plan_deprecation, workspace, address, reason=REASON)))
    for title, plan in steps:
        try:
            edit = checked_edit(document.memory, plan())
        except MdmemError:
            continue
        if edit is not None:
            yield types.CodeAction(title, types.CodeActionKind.Refactor, edit=edit)
