"""What an editor may have done by name: deeds whose reason somebody was asked for, a new entry, a check, why one holds.

Each names by its uri the file that it is about. What changes files goes back to the editor as an edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lsprotocol import types

from mdmem.authoring.change_set import ChangeSet
from mdmem.authoring.create import Draft, address_of, compose, create
from mdmem.authoring.place import place_of, require_wing
from mdmem.dataclass import replace
from mdmem.entry.model import EntryType
from mdmem.errors import MdmemError, UsageError, shown_message
from mdmem.finding import Severity
from mdmem.history import why as chains
from mdmem.lsp.lifecycle_actions import approval, deprecation, doubt, succession, supersession, verification
from mdmem.lsp.place import EditorPage
from mdmem.lsp.server import Server
from mdmem.lsp.workspace_edit import proved_edit
from mdmem.render.history import why_text
from mdmem.render.ink import Ink

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


def new(server: Server, uri: str, kind: str = "", title: str = "", place: str | None = None) -> None:
    """Make a draft of a type, with a title, where its like goes or at a place, and show it."""
    made: list[str] = []

    def plan(page: EditorPage) -> ChangeSet:
        workspace = page.session.workspace
        if kind not in list(EntryType):
            raise UsageError(f"`{kind}` is no type; write {', '.join(EntryType)}")
        where = place_of(workspace, EntryType(kind), place or (None if page.is_code else page.wing))
        draft = Draft(type=EntryType(kind), title=title.strip(), place=where)
        address = address_of(draft)
        change_set = create(address, compose(draft, today=page.session.today()))
        made.append(page.session.uri_of(f"{address}.md"))
        return replace(change_set, changes=(*require_wing(workspace, address), *change_set.changes))

    def show() -> None:
        server.window_show_document(types.ShowDocumentParams(made[0], take_focus=True))

    _carry_out(server, uri, "New entry", plan, after=show)


def check(server: Server) -> None:
    """Look at all files anew, tell every finding, and say how many there are."""
    counted: Counter[Severity] = Counter()
    for session in list(server.roots):
        server.publisher.rest(session)
        counted.update(finding.weight for finding in session.findings)
    told = [f"{number} {one}{'' if number == 1 else 's'}" for one in _TOLD if (number := counted[one])]
    _say(server, ", ".join(told) or "nothing is found")


_TOLD = (Severity.ERROR, Severity.WARNING)


def why(server: Server, uri: str) -> None:
    """Say how an entry came to bind or was replaced."""
    with _refusing(server):
        page = _page(server, uri)
        _say(server, why_text(chains.why(page.session.workspace, _address(page)), Ink()))


def _carry_out(server: Server, uri: str, label: str, plan: _Do, *, after: Callable[[], None] = lambda: None) -> None:
    with _refusing(server):
        page = _page(server, uri)
        change_set = plan(page)
        edit = proved_edit(page.session, change_set)
        remarks = "; ".join(change_set.remarks)
        if edit is None:
            _say(server, remarks or "nothing is to be changed")
            return

        def done(result: types.ApplyWorkspaceEditResult) -> None:
            if not result.applied:
                _say(server, result.failure_reason or "the editor changed nothing", types.MessageType.Warning)
                return
            after()
            if remarks:
                _say(server, remarks)

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
        _say(server, shown_message(str(error)), types.MessageType.Warning)


def _say(server: Server, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
    server.window_show_message(types.ShowMessageParams(kind, message))
