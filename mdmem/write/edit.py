"""Edit the text of an entry, or set `applies_to` of several entries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from mdmem.checks.engine import mark_new
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, NotFoundError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.process import UnknownRevisionError
from mdmem.store.tree import Tree, TreeView
from mdmem.store.workspace.addresses import from_root, resolve_name, resolve_names
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace, refuse_remote
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.write import WriteOptions, WriteResult, write


def open_entry(workspace: Workspace, name: str) -> tuple[str, bytes]:
    """Return address and bytes of an entry, parsable or not. Raises NotFoundError, and UsageError for other files."""
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is not an entry; edit it with your own editor, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_name(workspace, name)
    refuse_remote(workspace, address.split("/", 1)[0])
    content = workspace.bytes_of(f"{address}.md")
    if content is None:
        raise NotFoundError(f"{address}.md is not a regular file that can be read; fix that first")
    return address, content


def save_edit(
    workspace: Workspace, address: str, before: bytes, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> WriteResult:
    """Write an edited text. `is_editorial` marks a change that does not change the rule.

    Raises UsageError with the first new error in the text, LostRaceError if the file changed in the meantime,
    UnpatchableError if the mark cannot be written, and the errors of `write`.
    """

    path = f"{address}.md"

    def errors(tree: Tree) -> list[Finding]:
        found = check(workspace.over(tree), CheckRequest()).findings
        return [one for one in found if one.place.path == path and one.severity is Severity.ERROR]

    after = TreeView(workspace.tree, changed={path: content})
    if faults := [one for one in mark_new(errors(after), errors(workspace.tree)) if one.new]:
        first, more = faults[0], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        place = f"{path}:{first.place.line}"
        raise UsageError(f"nothing was written: {place}: {first.message}; {first.help}{more}")
    if is_editorial and content == before:
        # The mark is about an earlier change, unless that is committed.
        with suppress(GitError, UnknownRevisionError):
            is_editorial = workspace.at(Snapshot(revision="HEAD")).bytes_of(path) != before
    if is_editorial:
        document = parse_document(path, content)
        content = apply_edits(content, set_fields(document, {"editorial_at": workspace.today.isoformat()}))
    change_set = ChangeSet((Change(path, path, before, content),), actions=(WriteAction(Verb.EDIT, address),))
    return write(workspace, lambda _: change_set, options)


def plan_applies_to(workspace: Workspace, names: Sequence[str], globs: Sequence[str]) -> ChangeSet:
    """Return the changes that set the globs of `applies_to`."""
    meant = resolve_names(workspace, names)
    return ChangeSet(
        tuple(patched(workspace.catalog, f"{one}.md", {"applies_to": globs}) for one in meant),
        actions=tuple(WriteAction(Verb.EDIT, one) for one in meant),
    )
