"""A new name for an entry, a room or a wing: the file moves, and every link to it says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from mdmem.errors import MdmemError, shown_message
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.place import EditorPage
from mdmem.lsp.roots import Roots, file_of
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import SpotKind
from mdmem.lsp.workspace_edit import proved_edit
from mdmem.store.catalog.addresses import is_entry_place
from mdmem.write.move import plan_named_moves


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell an editor in one sentence what cannot be done, also where the system takes no name that is so long."""
    code = types.LSPErrorCodes.RequestFailed.value
    try:
        yield
    except MdmemError as error:
        raise JsonRpcException(shown_message(str(error)), code) from error
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise JsonRpcException(f"the system refuses: {why}", code) from error


def prepare(
    session: EditorSession, buffer: Buffer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """Return what stands at a place and can have another name, in full; the first line of an entry stands for it."""
    found = _named(EditorPage(session, buffer), params.position)
    return types.PrepareRenamePlaceholder(found[1], found[0].rstrip("/")) if found is not None else None


def _named(page: EditorPage, position: types.Position) -> tuple[str, types.Range] | None:
    """Return what is named at a place as `mdmem mv` takes it, and where."""
    spot = page.spot(position)
    if spot is None:
        line = types.Range(types.Position(0, 0), types.Position(0, len(page.buffer.line(0))))
        return (page.address, line) if page.address is not None and page.entry and position.line == 0 else None
    if spot.kind is SpotKind.WING and spot.text in page.session.catalog.wings:
        return f"{spot.text}/", page.range_of(spot)
    address = page.meant(spot)
    return (address, page.range_of(spot)) if address is not None else None


def rename(session: EditorSession, buffer: Buffer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Return what gives the entry, or the wing, that is named at a place another name.

    Raises JsonRpcException with the reason where it cannot have that.
    """
    page = EditorPage(session, buffer)
    found = _named(page, params.position)
    if found is None:
        return None
    with _refusing():
        plan = plan_named_moves(session.workspace, {found[0]: params.new_name.strip()})
        edit = proved_edit(session, plan)
    new = next((one.to for one in plan.changes if one.path == f"{found[0]}.md"), None)
    if edit is not None and edit.document_changes is not None and page.is_code and new is not None:
        edit.document_changes = [_in_code(page, found[0], new.removesuffix(".md")), *edit.document_changes]
    return edit


def _in_code(page: EditorPage, old: str, new: str) -> types.TextDocumentEdit:
    """Return the edit of a file of code that names an entry; other code is not looked at."""
    edits = [types.TextEdit(page.range_of(spot), new) for spot in page.parts.addresses if spot.text == old]
    document = types.OptionalVersionedTextDocumentIdentifier(page.buffer.uri, page.buffer.version)
    return types.TextDocumentEdit(document, edits)


def will_rename(roots: Roots, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    """Return what is to be edited before the editor moves files of a memory, so that every link to them holds.

    Raises JsonRpcException where the new name is none that an entry can have.
    """
    moved: dict[EditorSession, dict[str, str]] = {}
    with _refusing():
        for one in params.files:
            old, new = file_of(one.old_uri), file_of(one.new_uri)
            session = roots.session_of(old) if old is not None else None
            names = _names(session, old, new) if session is not None and old is not None and new is not None else None
            if session is not None and names is not None:
                moved.setdefault(session, {}).update([names])
        edits = [
            proved_edit(session, plan_named_moves(session.workspace, names), with_renames=False)
            for session, names in moved.items()
        ]
    return _together([edit for edit in edits if edit is not None])


def _names(session: EditorSession, old: Path, new: Path) -> tuple[str, str] | None:
    """Return old and new place of a file or a folder of a memory; None for one that is no part of its entries."""
    root = session.location.root
    if not (old.is_relative_to(root) and new.is_relative_to(root)) or old == root:
        return None
    before, after = old.relative_to(root).as_posix(), new.relative_to(root).as_posix()
    if old.is_dir():
        known = any(one.startswith(f"{before}/") for one in session.catalog.addresses)
        return (f"{before}/", f"{after}/") if known and before.count("/") < 2 else None
    return (before, after) if is_entry_place(before) and after.endswith(".md") else None


def _together(edits: list[types.WorkspaceEdit]) -> types.WorkspaceEdit | None:
    if len(edits) < 2:
        return edits[0] if edits else None
    documents = [one for edit in edits for one in edit.document_changes or ()]
    texts = {uri: texts for edit in edits for uri, texts in (edit.changes or {}).items()}
    return types.WorkspaceEdit(changes=texts) if texts else types.WorkspaceEdit(document_changes=documents)
