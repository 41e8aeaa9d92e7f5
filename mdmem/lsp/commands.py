"""The commands that an editor can run by name, for example for key bindings, and the start of the server."""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date
from functools import wraps

from lsprotocol import types

from mdmem.errors import MdmemError, UsageError, shown_message
from mdmem.lsp.actions import approval, succession
from mdmem.lsp.edit import proved_edit
from mdmem.lsp.memory import Document, Memories
from mdmem.lsp.server import Server
from mdmem.lsp.show import SHOW, plain_line, reason_of, state_word
from mdmem.model.entry import EntryType
from mdmem.model.finding import Severity
from mdmem.render.text import count
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, address_of, compose, create, place_of, refuse_taken, require_wing
from mdmem.write.lifecycle import plan_deprecation, plan_review, plan_verification
from mdmem.write.supersede import plan_supersession

_COMMANDS: dict[str, Callable[..., None]] = {}


def _command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for a command, which shows its errors to the user, because most editors hide them."""

    def register(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(ls: Server, *arguments: object) -> None:
            def work() -> None:
                try:
                    command(ls, *arguments)
                except MdmemError as error:
                    ls.show_message(shown_message(str(error)), types.MessageType.Warning)

            ls.guarded(name, work)

        _COMMANDS[name] = run
        return run

    return register


@_command(SHOW)
def show(ls: Server, message: str, targets: list[dict[str, str]]) -> None:
    """Open the file of the only target, or let the user choose one; if the editor cannot open files, show the names."""
    uris = {one["title"]: one["uri"] for one in targets if one.get("uri", "").startswith("file:") and "title" in one}
    window = ls.client_capabilities.window

    def open_file(title: str) -> None:
        ls.window_show_document(types.ShowDocumentParams(uris[title], take_focus=True))

    if uris and (window is None or window.show_document is None):
        ls.show_message(f"{message}: {'; '.join(uris)}")
    elif len(uris) == 1:
        open_file(*uris)
    elif uris:
        choices = [types.MessageActionItem(title) for title in uris]
        request = types.ShowMessageRequestParams(types.MessageType.Info, message, choices)
        ls.window_show_message_request(request, lambda taken: open_file(taken.title) if taken else None)


@_command("mdmem.why")
def why(ls: Server, uri: str) -> None:
    """Show the supersession chain of an entry, oldest first, with the state and the reason of each."""
    document = _document(ls, uri)
    memory, address = document.memory, _address(document)
    targets = [
        {
            "title": plain_line(f"{one} ({state_word(memory, one)}){reason_of(memory, one)}"),
            "uri": memory.uri_of(f"{one}.md"),
        }
        for one in memory.catalog.lineage.chain(address)
        if memory.has_file(one)
    ]
    show(ls, f"the chain of {address}, the oldest first", targets)


@_command("mdmem.check")
def check(ls: Server) -> None:
    """Check every memory again, publish the findings, and show their number."""
    counts: Counter[Severity] = Counter()
    for memory in ls.memories.all_known():
        ls.publisher.publish(memory)
        counts.update(finding.weight for finding in memory.findings)
    plurals = {Severity.INFO: "info"}
    listed = ", ".join(count(counts[one], one.value, plurals.get(one, "")) for one in Severity if counts[one])
    ls.show_message(f"mdmem check: {listed or 'nothing wrong'}")


@_command("mdmem.new")
def new(ls: Server, uri: str, type_: str, place: str, title: str) -> None:
    """Create an entry in the memory that contains a file, like `mdmem new`, and open it."""
    document = _document(ls, uri)
    workspace = document.memory.workspace
    if type_ not in list(EntryType):
        raise UsageError(f"`{type_}` is not a type; write {', '.join(EntryType)}")
    kind = EntryType(type_)
    draft = Draft(type=kind, place=place_of(workspace, kind, place or None), title=title)
    address = address_of(draft)
    require_wing(workspace, address)
    refuse_taken(workspace, address)
    change_set = create(address, compose(draft, today=document.memory.today()))
    path = f"{address}.md"
    opened = [{"title": path, "uri": document.memory.uri_of(path)}]
    _apply(ls, document, f"New {type_}", change_set, lambda: show(ls, path, opened))


@_command("mdmem.approve")
def approve(ls: Server, uri: str) -> None:
    """Approve a draft."""
    document = _document(ls, uri)
    _apply(ls, document, "Approve", approval(document, _address(document)))


@_command("mdmem.verify")
def verify(ls: Server, uri: str) -> None:
    """Record that an entry is still true today."""
    document = _document(ls, uri)
    _apply(ls, document, "Verify", plan_verification(document.memory.workspace, [_address(document)]))


@_command("mdmem.change")
def review(ls: Server, uri: str, reason: str) -> None:
    """Put an entry under review."""
    document = _document(ls, uri)
    change_set = plan_review(document.memory.workspace, _address(document), reason=reason)
    _apply(ls, document, "Put under review", change_set)


@_command("mdmem.deprecate")
def deprecate(ls: Server, uri: str, reason: str) -> None:
    """Deprecate an entry without a successor."""
    document = _document(ls, uri)
    change_set = plan_deprecation(document.memory.workspace, _address(document), reason=reason)
    _apply(ls, document, "Deprecate", change_set)


@_command("mdmem.supersede")
def supersede(ls: Server, uri: str, by: str, reason: str) -> None:
    """Supersede an entry; `by` is the address of another entry, or the title of a new draft."""
    document = _document(ls, uri)
    workspace, address = document.memory.workspace, _address(document)
    if by in workspace.catalog.entries:
        change_set = plan_supersession(workspace, address, by=by, reason=reason)
    else:
        change_set = succession(document, address, by, reason)
    _apply(ls, document, "Supersede", change_set)


def _apply(
    ls: Server, document: Document, label: str, change_set: ChangeSet, then: Callable[[], None] | None = None
) -> None:
    """Send a planned change to the editor as an edit, and call `then` once the editor has made it."""
    if not document.memory.abilities.applies_edits:
        raise UsageError("this editor cannot apply the edits of a command; use the command line")
    edit = proved_edit(document.memory, change_set)
    remarks = "; ".join(change_set.remarks)
    if edit is None:
        ls.show_message(remarks or "nothing to change")
        return

    def finish(result: types.ApplyWorkspaceEditResult) -> None:
        if not result.applied:
            ls.show_message(result.failure_reason or "the editor did not apply the change", types.MessageType.Warning)
            return
        if remarks:
            ls.show_message(remarks)
        if then is not None:
            then()

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


def serve(environment: Mapping[str, str], today: Callable[[], date]) -> None:
    """Serve one editor over standard input and output; raises UsageError if a message is too long to be read."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR)
    # pygls logs a traceback for each refused request. `report_server_error` logs one line instead.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server(Memories(environment=environment, today=today))
    for name, command in _COMMANDS.items():
        server.command(name)(command)
    # Give pygls a copy of standard output, because pygls closes its output at the end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        try:
            server.start_io(sys.stdin.buffer, output)
        except (MemoryError, OverflowError, ValueError) as error:
            # pygls allocates as much memory as the header of a message says.
            raise UsageError("the editor sent a message that is too long to be read") from error
