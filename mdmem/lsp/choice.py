"""What a click on a line of ours does: it shows a file, or lists several of which one is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from mdmem.lsp.place import is_here
from mdmem.lsp.session import EditorSession
from mdmem.lsp.texts import title_line

SHOW = "mdmem.show"
# What one lists, and nobody reads more of.
_MOST = 20


def choice(title: str, targets: Iterable[tuple[str, str]]) -> types.Command:
    """Return a line that leads to files, each with its title and uri, when somebody clicks on it."""
    listed = [{"title": text, "uri": uri} for text, uri in targets]
    return types.Command(title, SHOW, arguments=[title, listed[:_MOST]])


def targets_of(session: EditorSession, addresses: Iterable[str]) -> list[tuple[str, str]]:
    """Return entries with what they are called and where they are."""
    here = [address for address in addresses if is_here(session, address)]
    return [(title_line(session.catalog.entries[one]), session.uri_of(f"{one}.md")) for one in here]


def show(server: LanguageServer, message: str = "", targets: Sequence[Mapping[str, str]] = ()) -> None:
    """Show the file of the one target, or let somebody choose which; where no file can be shown, name them."""
    uris = {one["title"]: one["uri"] for one in targets if {"title", "uri"} <= one.keys()}
    uris = {title: uri for title, uri in uris.items() if uri.startswith("file:")}
    window = server.client_capabilities.window
    if uris and (window is None or window.show_document is None):
        say(server, f"{message}: {'; '.join(uris)}")
    elif len(uris) == 1:
        _show(server, *uris.values())
    elif uris:
        actions = [types.MessageActionItem(title) for title in uris]
        request = types.ShowMessageRequestParams(types.MessageType.Info, message, actions)
        server.window_show_message_request(request, lambda taken: _show(server, uris[taken.title]) if taken else None)


def say(server: LanguageServer, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
    """Show a sentence."""
    server.window_show_message(types.ShowMessageParams(kind, message))


def _show(server: LanguageServer, uri: str) -> None:
    server.window_show_document(types.ShowDocumentParams(uri, take_focus=True))
