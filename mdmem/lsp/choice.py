"""What a click on a line of ours does: it shows a file, or lists several of which one is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from mdmem.catalog import Catalog
from mdmem.lsp.session import EditorSession
from mdmem.lsp.texts import title_line

SHOW = "mdmem.show"
# What one lists, and nobody reads more of.
_MOST = 20


def choice(session: EditorSession, title: str, addresses: Iterable[str]) -> types.Command:
    """Return a line that leads to entries when somebody clicks on it."""
    targets = [{"title": text, "uri": uri} for text, uri in _targets(session, addresses)]
    return types.Command(title, SHOW, arguments=[title, targets[:_MOST]])


def _targets(session: EditorSession, addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
    known: Catalog = session.catalog
    for address in addresses:
        if address in known.entries:
            yield title_line(known.entries[address]), session.uri_of(f"{address}.md")


def show(server: LanguageServer, message: str, targets: list[dict[str, str]]) -> None:
    """Show the file of the one target, or let somebody choose which."""
    known = [one for one in targets if one["uri"].startswith("file:")]
    if len(known) == 1:
        _show(server, known[0]["uri"])
    elif known:
        uris = {one["title"]: one["uri"] for one in known}
        actions = [types.MessageActionItem(title) for title in uris]
        request = types.ShowMessageRequestParams(types.MessageType.Info, message, actions)
        server.window_show_message_request(request, lambda taken: _show(server, uris[taken.title]) if taken else None)


def _show(server: LanguageServer, uri: str) -> None:
    server.window_show_document(types.ShowDocumentParams(uri, take_focus=True))
