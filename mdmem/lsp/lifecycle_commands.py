"""What people do to entries, by the names of commands: for editors that ask who it is for the reason first.

Each names by its uri the file that it is about. What it changes goes back to the editor as an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lsprotocol import types

from mdmem.errors import MdmemError, UsageError, shown_message
from mdmem.lsp.choice import say, show
from mdmem.lsp.lifecycle_actions import approval, deprecation, doubt, succession, supersession, verification
from mdmem.lsp.place import EditorPage
from mdmem.lsp.server import Server
from mdmem.lsp.session import EditorSession
from mdmem.lsp.workspace_edit import proved_edit
from mdmem.model.entry import EntryType
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, address_of, compose, create, place_of, refuse_taken, require_wing

_Do = Callable[[EditorPage], ChangeSet]


def approve(server: Server, uri: str) -> None:
    """Put a draft in force."""
    _carry_out(server, uri, "Approve", lambda page: approval(page, _address(page)))


def verify(server: Server, uri: str) -> None:
    """Say that an entry holds today."""
    _carry_out(server, uri, "Verify", lambda page: verification(page, _address(page)))


def review(server: Server, uri: str, reason: str = "") -> None:
    """Put an entry under review for a reason."""
    _carry_out(server, uri, "Put under review", lambda page: doubt(page, _address(page), reason))


def deprecate(server: Server, uri: str, reason: str = "") -> None:
    """End an entry that nothing replaces, for a reason."""
    _carry_out(server, uri, "Deprecate", lambda page: deprecation(page, _address(page), reason))


def supersede(server: Server, uri: str, by: str = "", reason: str = "") -> None:
    """Put another entry in the place of one: that of an address, or a new draft of a title."""

    def plan(page: EditorPage) -> ChangeSet:
        address = _address(page)
        if by in page.session.catalog.entries:
            return supersession(page, address, by=by, reason=reason)
        return succession(page, page.session.catalog.entries[address], by, reason)

    _carry_out(server, uri, "Supersede", plan)


def new(server: Server, uri: str = "", type_: str = "", place: str = "", title: str = "") -> None:
    """Begin an entry of a type in the memory of a file, as `mdmem new` would, and show it."""

    def opened(page: EditorPage, change_set: ChangeSet) -> None:
        path = change_set.changes[0].path
        show(server, path, [{"title": path, "uri": page.session.uri_of(path)}])

    _carry_out(server, uri, f"New {type_}", lambda page: _begun(page.session, type_, place, title), opened)


def _begun(session: EditorSession, type_: str, place: str, title: str) -> ChangeSet:
    if type_ not in list(EntryType):
        raise UsageError(f"`{type_}` is no type; write {', '.join(EntryType)}")
    kind = EntryType(type_)
    draft = Draft(type=kind, place=place_of(session.workspace, kind, place or None), title=title)
    address = address_of(draft)
    require_wing(session.workspace, address)
    refuse_taken(session.workspace, address)
    return create(address, compose(draft, today=session.today()))


def _carry_out(
    server: Server, uri: str, label: str, plan: _Do, then: Callable[[EditorPage, ChangeSet], None] | None = None
) -> None:
    with _refusing(server):
        page = _page(server, uri)
        if not page.session.skills.applies:
            raise UsageError("this editor carries out no edits of a command; the command line does")
        change_set = plan(page)
        edit = proved_edit(page.session, change_set)
        remarks = "; ".join(change_set.remarks)
        if edit is None:
            say(server, remarks or "nothing is to be changed")
            return

        def done(result: types.ApplyWorkspaceEditResult) -> None:
            if not result.applied:
                say(server, result.failure_reason or "the editor changed nothing", types.MessageType.Warning)
                return
            if remarks:
                say(server, remarks)
            if then is not None:
                then(page, change_set)

        server.workspace_apply_edit(types.ApplyWorkspaceEditParams(edit, f"mdmem: {label}"), done)


def _page(server: Server, uri: str) -> EditorPage:
    """Return a file as it is now, also where the editor watches none."""
    found = server.roots.page(uri)
    if found is not None and found[0].look():
        found = server.roots.page(uri)
    if found is None:
        raise UsageError("this file belongs to no memory")
    return EditorPage(*found)


def _address(page: EditorPage) -> str:
    if page.address is None or page.entry is None:
        raise UsageError(f"`{page.buffer.path or page.buffer.uri}` is no entry that can be read")
    return page.address


@contextmanager
def _refusing(server: Server) -> Iterator[None]:
    """Show in one sentence what cannot be done: most editors keep to themselves that a command failed."""
    try:
        yield
    except MdmemError as error:
        say(server, shown_message(str(error)), types.MessageType.Warning)
