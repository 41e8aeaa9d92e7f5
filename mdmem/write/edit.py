"""Edit the text of an entry, or set `applies_to` of several entries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

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
from mdmem.store.workspace.remarks import refuse_remote
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.write import WriteOptions, WriteResult, write


class EditSession(Struct, frozen=True):
    """A file that is being edited, with its content at the start."""

    address: str
    path: str
    content: bytes


def open_entry(workspace: Workspace, name: str) -> EditSession:
    """Return the entry with a name, and its bytes. The entry may be one that cannot be parsed.

    Raises NotFoundError, and UsageError for another file or a wing of another repository.
    """
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is not an entry; edit it with your own editor, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_name(workspace, name)
    refuse_remote(workspace, address.split("/", 1)[0])
    path = f"{address}.md"
    content = workspace.bytes_of(path)
    if content is None:
        raise NotFoundError(f"{path} is not a regular file that can be read; fix that first")
    return EditSession(address, path, content)


def save_edit(
    workspace: Workspace, opening: EditSession, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> WriteResult:
    """Write the edited text. `is_editorial` marks a change that does not change the rule.

    Raises UsageError with the first new error in the text, LostRaceError if the file changed in the meantime,
    UnpatchableError if the mark cannot be written, and the errors of `write`.
    """

    def errors(tree: Tree) -> list[Finding]:
        found = check(workspace.over(tree), CheckRequest()).findings
        return [one for one in found if one.place.path == opening.path and one.severity is Severity.ERROR]

    after = TreeView(workspace.tree, changed={opening.path: content})
    if faults := [one for one in mark_new(errors(after), errors(workspace.tree)) if one.new]:
        first, more = faults[0], f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        place = f"{opening.path}:{first.place.line}"
        raise UsageError(f"nothing was written: {place}: {first.message}; {first.help}{more}")
    if is_editorial and content == opening.content:
        # The mark is about an earlier change, unless that is committed.
        with suppress(GitError, UnknownRevisionError):
            is_editorial = workspace.at(Snapshot(revision="HEAD")).bytes_of(opening.path) != opening.content
    if is_editorial:
        document = parse_document(opening.path, content)
        content = apply_edits(content, set_fields(document, {"editorial_at": workspace.today.isoformat()}))
    change_set = ChangeSet(
        (Change(opening.path, opening.path, opening.content, content),),
        actions=(WriteAction(Verb.EDIT, opening.address),),
    )
    return write(workspace, lambda _: change_set, options)


def plan_applies_to(workspace: Workspace, names: Sequence[str], globs: Sequence[str]) -> ChangeSet:
    """Return the changes that set the globs of `applies_to`."""
    meant = resolve_names(workspace, names)
    return ChangeSet(
        tuple(patched(workspace.catalog, f"{one}.md", {"applies_to": globs}) for one in meant),
        actions=tuple(WriteAction(Verb.EDIT, one) for one in meant),
    )
