"""A plan of changes as what an editor carries out: edits of the texts that it has, and files that are made or move."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from lsprotocol import types

from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.session import EditorSession
from mdmem.store.catalog import Catalog
from mdmem.store.state import leads_away
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.write import catalog_after, permitted, refuse_faults

_Operation = types.TextDocumentEdit | types.CreateFile | types.RenameFile


def proved_edit(
    session: EditorSession, change_set: ChangeSet, *, with_renames: bool = True
) -> types.WorkspaceEdit | None:
    """Return the edit that carries out a plan; None where it changes nothing.

    Raises UsageError where the memory would be broken by it, where a file may not be written, or where the editor can
    do no such thing, and LostRaceError where a file is not what was planned on.
    """
    changes = permitted(session.workspace, change_set)
    refuse_faults(session.catalog, _catalog_after(session, changes), changes)
    return edit_of(session, changes, with_renames=with_renames)


def _catalog_after(session: EditorSession, changes: Sequence[Change]) -> Catalog:
    return catalog_after(session.workspace, changes)


def edit_of(
    session: EditorSession, changes: Sequence[Change], *, with_renames: bool = True
) -> types.WorkspaceEdit | None:
    """Return the edit that makes changes, with the versions of the texts that they were planned on.

    Without `with_renames` the editor moves the files itself. Raises what `proved_edit` raises.
    """
    for change in changes:
        _refuse(session, change, with_renames=with_renames)
    edits = [one for change in changes for one in _texts(session, change)]
    renames = [_rename(session, one) for one in changes if one.path != one.to] if with_renames else []
    if not (edits or renames):
        return None
    if session.skills.versions:
        return types.WorkspaceEdit(document_changes=[*edits, *renames])
    texts = [one for one in edits if isinstance(one, types.TextDocumentEdit)]
    return types.WorkspaceEdit(changes={one.text_document.uri: _plain_edits(one) for one in texts})


def _plain_edits(edit: types.TextDocumentEdit) -> list[types.TextEdit]:
    return [one for one in edit.edits if isinstance(one, types.TextEdit)]


def _refuse(session: EditorSession, change: Change, *, with_renames: bool) -> None:
    root = session.location.root
    for path in dict.fromkeys((change.path, change.to)):
        if leads_away(root, path):
            raise UsageError(f"`{path}` goes through a symbolic link; nothing is changed")
        there = next(one for one in (root / path, *(root / path).parents) if one.exists())
        if not os.access(there, os.W_OK):
            raise UsageError(f"`{path}` is read-only; make it writable, then try again")
    if change.before is None and not session.skills.creates:
        raise UsageError("this editor cannot make files; `mdmem new` does")
    if change.path != change.to and with_renames and not session.skills.renames:
        names = f"{change.path.removesuffix('.md')} {change.to.removesuffix('.md')}"
        raise UsageError(f"this editor cannot move files; `mdmem mv {names}` does")


def _texts(session: EditorSession, change: Change) -> Iterator[_Operation]:
    buffer, after = session.buffer_of(change.path), change.after or b""
    if change.before is None:
        if buffer is not None:
            raise LostRaceError(taken(change.path.removesuffix(".md")))
        uri = session.uri_of(change.path)
        yield types.CreateFile(uri)
        yield _document(uri, None, [types.TextEdit(_START, after.decode("utf-8", "replace"))])
    elif buffer is None or buffer.data != change.before:
        # What is planned next is planned on what is there now.
        session.look()
        raise LostRaceError(f"`{change.path}` changed while it was looked at; nothing is changed, try again")
    elif edits := text_edits(buffer, after):
        yield _document(buffer.uri, buffer.version, edits)


_START = types.Range(types.Position(0, 0), types.Position(0, 0))


def _document(uri: str, version: int | None, edits: Sequence[types.TextEdit]) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), edits)


def _rename(session: EditorSession, change: Change) -> types.RenameFile:
    new = session.location.root / change.to
    return types.RenameFile(session.uri_of(change.path), new.as_uri(), options=types.RenameFileOptions(overwrite=False))


def text_edits(buffer: Buffer, after: bytes) -> list[types.TextEdit]:
    """Return the edits of a text after which saving it writes some bytes, each as small as it can be told."""
    text = after.decode("utf-8", "replace")
    if buffer.has_mark:
        text = text.removeprefix("\ufeff")
    if buffer.kept is not None and ("\r" in buffer.text) != (b"\r" in buffer.kept):
        # The editor has ends of lines of its own, and writes those that the file has.
        text = text.replace("\r\n", "\n").replace("\n", "\r\n" if "\r\n" in buffer.text else "\n")
    was, now = buffer.text.splitlines(keepends=True), text.splitlines(keepends=True)
    found, offset = [], 0
    for tag, first, last, start, end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        old, new = "".join(was[first:last]), "".join(now[start:end])
        if tag != "equal":
            found.append(_smallest(buffer, offset, old, new))
        offset += len(old)
    return found


def _smallest(buffer: Buffer, offset: int, old: str, new: str) -> types.TextEdit:
    """Return the edit of a stretch, without what is the same at its start and its end; no line end is cut in two."""
    start = _common(old, new)
    start -= old[start - 1 : start] == "\r"
    end = _common(old[start:][::-1], new[start:][::-1])
    end -= "\r" in (old[len(old) - end - 1 : len(old) - end], new[len(new) - end - 1 : len(new) - end]) and end > 0
    where = buffer.range_of(offset + start, offset + len(old) - end)
    return types.TextEdit(where, new[start : len(new) - end])


def _common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
