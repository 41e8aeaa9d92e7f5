"""What somebody tells the server to do by name: show why an entry binds, check everything, begin a new entry."""

from __future__ import annotations

from collections import Counter

from lsprotocol import types
from pygls.capabilities import get_capability

from mdmem.authoring.create import Draft, address_of, compose, refuse_taken
from mdmem.authoring.place import place_of, require_wing
from mdmem.entry.model import EntryType
from mdmem.errors import MdmemError, UsageError
from mdmem.finding import Severity
from mdmem.lsp.choice import show
from mdmem.lsp.place import START, EditorPage, is_here
from mdmem.lsp.server import Server
from mdmem.lsp.session import EditorSession
from mdmem.lsp.texts import plain_line, standing


def why(server: Server, uri: str = "") -> None:
    """List the chain of the entry that a file is, the oldest first, each with how it stands and why it took over."""
    found = server.roots.page(uri)
    page = EditorPage(*found) if found is not None else None
    if page is None or page.address is None or page.entry is None:
        _say(server, "no entry stands in this file")
        return
    session, catalog = page.session, page.session.catalog
    chain = [one for one in catalog.lineage.chain(page.address) if is_here(session, one)]
    targets = []
    for one in chain:
        entry = catalog.entries[one]
        reason = entry.reason or entry.why_ended
        told = f"{one} ({standing(catalog, one, session.today())}){f': {reason}' if reason else ''}"
        targets.append({"title": plain_line(told), "uri": session.uri_of(entry.path)})
    show(server, f"the chain of {page.address}, the oldest first", targets)


def check(server: Server) -> None:
    """Look at the files anew, tell the findings of all, and say how many there are."""
    counts: Counter[Severity] = Counter()
    for session in server.roots.all_known():
        server.publisher.rest(session)
        counts.update(finding.weight for finding in session.findings)
    told = ", ".join(_counted(one, counts[one]) for one in Severity if counts[one])
    _say(server, f"mdmem check: {told or 'nothing wrong'}")


def _counted(severity: Severity, count: int) -> str:
    return f"{count} {severity.value}{'s' if count > 1 and severity is not Severity.INFO else ''}"


def new(server: Server, uri: str = "", type_: str = "", place: str = "", title: str = "") -> None:
    """Begin an entry of a type in the memory of a file, as `mdmem new` would: the editor makes its file."""
    found = server.roots.page(uri)
    operations = get_capability(server.client_capabilities, "workspace.workspace_edit.resource_operations")
    if found is None or types.ResourceOperationKind.Create not in (operations or ()):
        _say(
            server,
            "no memory belongs to this file" if found is None else "this editor makes no files; type `mdmem new`",
        )
        return
    session = found[0]
    try:
        address, text = _begun(session, type_, place, title)
    except MdmemError as error:
        _say(server, str(error))
        return
    target = session.uri_of(f"{address}.md")
    document = types.OptionalVersionedTextDocumentIdentifier(target)
    written = types.TextDocumentEdit(document, [types.TextEdit(START, text)])
    edit = types.WorkspaceEdit(document_changes=[types.CreateFile(target), written])
    params = types.ApplyWorkspaceEditParams(edit, label=f"new {type_}")
    opened = [{"title": address, "uri": target}]
    server.workspace_apply_edit(params, lambda done: show(server, address, opened) if done.applied else None)


def _begun(session: EditorSession, type_: str, place: str, title: str) -> tuple[str, str]:
    """Return the address and the text of a new entry; raises UsageError."""
    if type_ not in list(EntryType):
        raise UsageError(f"`{type_}` is no type; write {', '.join(EntryType)}")
    kind = EntryType(type_)
    draft = Draft(type=kind, place=place_of(session.workspace, kind, place or None), title=title)
    address = address_of(draft)
    require_wing(session.workspace, address)
    refuse_taken(session.workspace, address)
    return address, compose(draft, today=session.today())


def _say(server: Server, message: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, plain_line(message)))
