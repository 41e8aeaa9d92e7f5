"""The commands that an editor can run by name, for example for key bindings, and the start of the server."""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import wraps

from lsprotocol import types

from mdmem.errors import MdmemError, UsageError, shown_message
from mdmem.lsp.actions import approval, deprecation, doubt, succession, supersession, verification
from mdmem.lsp.edit import proved_edit
from mdmem.lsp.memory import Document, Memories
from mdmem.lsp.server import Server
from mdmem.lsp.show import SHOW, plain_line, reason_of, state_word
from mdmem.model.entry import EntryType
from mdmem.model.finding import Severity
from mdmem.render.text import count
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, address_of, compose, create, place_of, refuse_taken, require_wing


def register_commands(server: Server) -> None:
    """Register every command with the server."""
    for name, command in (
        (SHOW, show),
        ("mdmem.why", why),
        ("mdmem.check", check),
        ("mdmem.new", new),
        ("mdmem.approve", approve),
        ("mdmem.verify", verify),
        ("mdmem.change", review),
        ("mdmem.deprecate", deprecate),
        ("mdmem.supersede", supersede),
    ):
        server.command(name)(_guarded(name, command))


def _guarded(name: str, command: Callable[..., None]) -> Callable[..., None]:
    @wraps(command)
    def run(ls: Server, *arguments: object) -> None:
        ls.guarded(name, lambda: command(ls, *arguments))

    return run


def show(ls: Server, message: str, targets: list[dict[str, str]]) -> None:
    """Open the file of the only target, or let the user choose one; if the editor cannot open files, show the names."""
    uris = {one["title"]: one["uri"] for one in targets if one.get("uri", "").startswith("file:") and "title" in one}
    window = ls.client_capabilities.window
    if uris and (window is None or window.show_document is None):
        ls.show_message(f"{message}: {'; '.join(uris)}")
    elif len(uris) == 1:
        _show_file(ls, *uris.values())
    elif uris:
        choices = [types.MessageActionItem(title) for title in uris]
        request = types.ShowMessageRequestParams(types.MessageType.Info, message, choices)
        ls.window_show_message_request(request, lambda taken: _show_file(ls, uris[taken.title]) if taken else None)


def _show_file(ls: Server, uri: str) -> None:
    ls.window_show_document(types.ShowDocumentParams(uri, take_focus=True))


def why(ls: Server, uri: str) -> None:
    """Show the supersession chain of an entry, oldest first, with the state and the reason of each."""
    with _showing_errors(ls):
        document = _document(ls, uri)
        memory, address = document.memory, _address(document)
        chain = [one for one in memory.catalog.lineage.chain(address) if memory.has_file(one)]
        targets = [
            {
                "title": plain_line(f"{one} ({state_word(memory, one)}){reason_of(memory, one)}"),
                "uri": memory.uri_of(f"{one}.md"),
            }
            for one in chain
        ]
        show(ls, f"the chain of {address}, the oldest first", targets)


def check(ls: Server) -> None:
    """Check every memory again, publish the findings, and show their number."""
    counts: Counter[Severity] = Counter()
    for memory in ls.memories.all_known():
        ls.publisher.publish(memory)
        counts.update(finding.weight for finding in memory.findings)
    plurals = {Severity.INFO: "info"}
    listed = ", ".join(count(counts[one], one.value, plurals.get(one, "")) for one in Severity if counts[one])
    ls.show_message(f"mdmem check: {listed or 'nothing wrong'}")


def new(ls: Server, uri: str, type_: str, place: str, title: str) -> None:
    """Create an entry in the memory that contains a file, like `mdmem new`, and open it."""

    def plan(document: Document) -> ChangeSet:
        workspace = document.memory.workspace
        if type_ not in list(EntryType):
            raise UsageError(f"`{type_}` is no type; write {', '.join(EntryType)}")
        kind = EntryType(type_)
        draft = Draft(type=kind, place=place_of(workspace, kind, place or None), title=title)
        address = address_of(draft)
        require_wing(workspace, address)
        refuse_taken(workspace, address)
        return create(address, compose(draft, today=document.memory.today()))

    def show_new(document: Document, change_set: ChangeSet) -> None:
        path = change_set.changes[0].path
        show(ls, path, [{"title": path, "uri": document.memory.uri_of(path)}])

    _apply(ls, uri, f"New {type_}", plan, show_new)


def approve(ls: Server, uri: str) -> None:
    """Approve a draft."""
    _apply(ls, uri, "Approve", lambda document: approval(document, _address(document)))


def verify(ls: Server, uri: str) -> None:
    """Record that an entry is still true today."""
    _apply(ls, uri, "Verify", lambda document: verification(document, _address(document)))


def review(ls: Server, uri: str, reason: str) -> None:
    """Put an entry under review."""
    _apply(ls, uri, "Put under review", lambda document: doubt(document, _address(document), reason))


def deprecate(ls: Server, uri: str, reason: str) -> None:
    """Deprecate an entry without a successor."""
    _apply(ls, uri, "Deprecate", lambda document: deprecation(document, _address(document), reason))


def supersede(ls: Server, uri: str, by: str, reason: str) -> None:
    """Supersede an entry; `by` is the address of another entry, or the title of a new draft."""

    def plan(document: Document) -> ChangeSet:
        address, entries = _address(document), document.memory.catalog.entries
        if by in entries:
            return supersession(document, address, by=by, reason=reason)
        return succession(document, entries[address], by, reason)

    _apply(ls, uri, "Supersede", plan)


def _apply(
    ls: Server,
    uri: str,
    label: str,
    plan: Callable[[Document], ChangeSet],
    then: Callable[[Document, ChangeSet], None] | None = None,
) -> None:
    """Plan a change to the memory of a file, send it to the editor as an edit, and then call `then`."""
    with _showing_errors(ls):
        document = _document(ls, uri)
        if not document.memory.abilities.applies_edits:
            raise UsageError("this editor applies no edits of a command; use the command line")
        change_set = plan(document)
        edit = proved_edit(document.memory, change_set)
        remarks = "; ".join(change_set.remarks)
        if edit is None:
            ls.show_message(remarks or "nothing to change")
            return

        def finish(result: types.ApplyWorkspaceEditResult) -> None:
            if not result.applied:
                ls.show_message(result.failure_reason or "the editor changed nothing", types.MessageType.Warning)
                return
            if remarks:
                ls.show_message(remarks)
            if then is not None:
                then(document, change_set)

        ls.workspace_apply_edit(types.ApplyWorkspaceEditParams(edit, f"mdmem: {label}"), finish)


def _document(ls: Server, uri: str) -> Document:
    """Return a file as it is now; the memory is read again, since some editors do not report changed files."""
    document = ls.memories.document(uri)
    if document is not None and document.memory.refresh():
        document = ls.memories.document(uri)
    if document is None:
        raise UsageError("this file belongs to no memory")
    return document


def _address(document: Document) -> str:
    if document.address is None or document.entry is None:
        raise UsageError(f"`{document.path or document.uri}` is not an entry that can be parsed")
    return document.address


@contextmanager
def _showing_errors(ls: Server) -> Iterator[None]:
    """Show an error in the `with` block to the user, because most editors hide that a command failed."""
    try:
        yield
    except MdmemError as error:
        ls.show_message(shown_message(str(error)), types.MessageType.Warning)


def serve(environment: Mapping[str, str], today: Callable[[], date]) -> None:
    """Serve one editor over standard input and output until the editor exits."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR)
    # pygls logs a traceback for each refused request. `report_server_error` logs one line instead.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server(Memories(environment=environment, today=today))
    register_commands(server)
    # Give pygls a copy of standard output, because pygls closes its output at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        try:
            server.start_io(sys.stdin.buffer, output)
        except (MemoryError, OverflowError, ValueError) as error:
            # pygls allocates as much memory as the header of a message says.
            raise UsageError("the editor sent a message that is too long to be read") from error
