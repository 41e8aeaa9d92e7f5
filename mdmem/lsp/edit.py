"""Turn planned changes into edits that the editor applies and can undo; rename entries, rooms and wings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mdmem.errors import LostRaceError, MdmemError, UsageError, shown_message, system_message, taken
from mdmem.lsp.memory import START, Document, Memories, OpenMemory, file_of
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.store.state.files import leads_away
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.move import plan_named_moves
from mdmem.write.write import permitted, refuse_faults


def checked_edit(memory: OpenMemory, change_set: ChangeSet, *, with_renames: bool = True) -> types.WorkspaceEdit | None:
    """Return the edit for a plan after checking its result; None if nothing changes.

    Raises UsageError if the plan would cause errors in the memory, if a file must not be written, or if the editor
    cannot apply the edit. Raises LostRaceError if a file changed since the plan was made.
    """
    changes = permitted(memory.workspace, change_set)
    refuse_faults(memory.workspace, changes)
    return edit_of(memory, changes, with_renames=with_renames)


def edit_of(memory: OpenMemory, changes: Sequence[Change], *, with_renames: bool = True) -> types.WorkspaceEdit | None:
    """Return the edit that makes some changes to the current versions of documents; None if nothing changes.

    With `with_renames=False`, the editor moves the files itself. Raises the errors of `checked_edit`.
    """
    for change in changes:
        _require_possible(memory, change, with_renames=with_renames)
    creates: list[types.CreateFile] = []
    edits: list[types.TextDocumentEdit] = []
    for change in changes:
        document, after = memory.document(change.path), change.after or b""
        if change.before is None:
            if document is not None:
                raise LostRaceError(taken(change.path.removesuffix(".md")))
            uri = memory.uri_of(change.path)
            creates.append(types.CreateFile(uri))
            edits.append(_edit(uri, None, [types.TextEdit(START, after.decode("utf-8", "replace"))]))
        elif document is None or document.data != change.before:
            # Read the files again, so that the next plan starts from their current content.
            memory.refresh()
            raise LostRaceError(f"`{change.path}` changed meanwhile, so nothing was changed; try again")
        elif text_edits := text_edits_to(document, after):
            edits.append(_edit(document.uri, document.version, text_edits))
    root, options = memory.location.root, types.RenameFileOptions(overwrite=False)
    renames = [
        types.RenameFile(memory.uri_of(change.path), (root / change.to).as_uri(), options=options)
        for change in changes
        if change.path != change.to and with_renames
    ]
    if not (edits or renames):
        return None
    if memory.capabilities.versioned_edits:
        return types.WorkspaceEdit(document_changes=[*creates, *edits, *renames])
    plain = {one.text_document.uri: [e for e in one.edits if isinstance(e, types.TextEdit)] for one in edits}
    return types.WorkspaceEdit(changes=plain)


def _require_possible(memory: OpenMemory, change: Change, *, with_renames: bool) -> None:
    root = memory.location.root
    for path in dict.fromkeys((change.path, change.to)):
        if leads_away(root, path):
            raise UsageError(f"`{path}` is reached through a symbolic link, so nothing was changed; open the real file")
        existing = next(one for one in (root / path, *(root / path).parents) if one.exists())
        if not os.access(existing, os.W_OK):
            raise UsageError(f"`{path}` is read-only; make it writable, then try again")
    if change.before is None and not memory.capabilities.creates_files:
        raise UsageError("this editor cannot create files; use `mdmem new`")
    if change.path != change.to and with_renames and not memory.capabilities.renames_files:
        names = f"{change.path.removesuffix('.md')} {change.to.removesuffix('.md')}"
        raise UsageError(f"this editor cannot move files; use `mdmem mv {names}`")


def _edit(uri: str, version: int | None, edits: Sequence[types.TextEdit]) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), edits)


def text_edits_to(document: Document, after: bytes) -> list[types.TextEdit]:
    """Return edits of whole lines, after which saving the document writes the bytes `after`."""
    text = after.decode("utf-8", "replace")
    if document.has_bom:
        text = text.removeprefix("\ufeff")
    if document.saved is not None and ("\r" in document.text) != (b"\r" in document.saved):
        # The editor converts line endings when it reads and saves, so use the ones that it shows.
        text = text.replace("\r\n", "\n").replace("\n", "\r\n" if "\r\n" in document.text else "\n")
    # Without `autojunk`, thousands of blank lines would take n² steps.
    old, new = document.text.splitlines(keepends=True), text.splitlines(keepends=True)
    edits, offset = [], 0
    for tag, first, last, start, end in SequenceMatcher(None, old, new).get_opcodes():
        length = sum(map(len, old[first:last]))
        if tag != "equal":
            edits.append(types.TextEdit(document.range_of(offset, offset + length), "".join(new[start:end])))
        offset += length
    return edits


@contextmanager
def _lsp_errors() -> Iterator[None]:
    """Turn an error in the `with` block into an LSP error response with one sentence."""
    code = types.LSPErrorCodes.RequestFailed.value
    try:
        yield
    except MdmemError as error:
        raise JsonRpcException(shown_message(str(error)), code) from error
    except OSError as error:
        # For example, the new name may be too long for the file system.
        raise JsonRpcException(system_message(error), code) from error


def prepare_rename(document: Document, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Return the address to rename: the address at a position, or on line 1 that of the file's entry; else None."""
    found = _address_at(document, params.position)
    return types.PrepareRenamePlaceholder(found[1], found[0]) if found is not None else None


def _address_at(document: Document, position: types.Position) -> tuple[str, types.Range] | None:
    """Return the address at a position and its range; on the first line, those of the entry itself."""
    token = document.token_at(position)
    if document.is_code:
        # Offer no rename in code, since other code that mentions the entry would not be changed.
        return None
    if token is None:
        line = types.Range(types.Position(0, 0), types.Position(0, len(document.line(0))))
        is_itself = document.address is not None and document.entry is not None and position.line == 0
        return (document.source, line) if is_itself else None
    address = document.resolve(token)
    return (address, document.range_of_token(token)) if address is not None else None


def rename(document: Document, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return the edit that renames the entry at a position, or None; raises JsonRpcException if a rename is refused."""
    found = _address_at(document, params.position)
    if found is None:
        return None
    with _lsp_errors():
        plan = plan_named_moves(document.memory.workspace, {found[0]: params.new_name.strip()})
        return checked_edit(document.memory, plan)


def will_rename(memories: Memories, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    """Return the edit that updates links to moved files, or None; raises JsonRpcException if a move is not possible."""
    found: dict[OpenMemory, dict[str, str]] = {}
    with _lsp_errors():
        for one in params.files:
            old, new = file_of(one.old_uri), file_of(one.new_uri)
            if old is not None and new is not None and (memory := memories.memory_of(old)) is not None:
                found.setdefault(memory, {}).update(_moved_names(memory, old, new))
        moved = {memory: names for memory, names in found.items() if names}
        if len(moved) > 1:
            raise UsageError("these files belong to several memories; move those of one at a time")
        for memory, names in moved.items():
            return checked_edit(memory, plan_named_moves(memory.workspace, names), with_renames=False)
    return None


def _moved_names(memory: OpenMemory, old: Path, new: Path) -> dict[str, str]:
    """Return the old and new name of an entry, room or wing; empty for any other file or folder."""
    root = memory.location.root
    if not (old.is_relative_to(root) and new.is_relative_to(root)) or old == root:
        return {}
    before, after = old.relative_to(root).as_posix(), new.relative_to(root).as_posix()
    for path in (old, new):
        # The system refuses a name that is too long.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    if old.is_dir():
        has_entries = any(one.startswith(f"{before}/") for one in memory.catalog.addresses)
        return {f"{before}/": f"{after}/"} if has_entries and before.count("/") < 2 else {}
    return {before: after} if is_entry_place(before) and after.endswith(".md") else {}
