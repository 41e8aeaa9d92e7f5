"""Serve the pages live, only to this machine; each request shows the current state of the memory."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from mdmem.errors import EnvironmentFaultError, MdmemError, reason_of
from mdmem.model.text import text_hash
from mdmem.site.build import SiteRequest, site_of
from mdmem.site.pages import SitePages
from mdmem.store.workspace.workspace import Workspace

_PLAIN = "text/plain; charset=utf-8"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".xml": "application/atom+xml; charset=utf-8",
    ".svg": "image/svg+xml",
}
# The path that an open page requests regularly to find out whether the memory changed.
_STATE = "state"


class SiteServer(ThreadingHTTPServer):
    """A local server of the pages of a workspace, which are rendered again when its files change.

    It answers only requests whose Host header is this machine.
    """

    daemon_threads = True

    def __init__(self, workspace: Workspace, request: SiteRequest, port: int) -> None:
        """Listen on a port, or on any free one for port 0; raises EnvironmentFaultError if the port cannot be used."""
        self._workspace, self._request = workspace, request
        self._lock = threading.Lock()
        self._site: SitePages | None = None
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            why = f"port {port} cannot be used: {reason_of(error)}"
            raise EnvironmentFaultError(f"{why}; choose another with --port") from error

    def get(self, path: str) -> str | None:
        """Return a file of the site, or None; for the path `state`, a hash that changes when the memory changes."""
        with self._lock:
            fresh = self._workspace.reread()
            catalog = fresh.catalog
            content = (sorted(catalog.file_digests.items()), sorted(catalog.broken), fresh.settings)
            state = text_hash(repr(content))[:20]
            if self._site is None or state != self._site.live:
                self._site = site_of(fresh, self._request, live=state)
            if path == _STATE:
                return state
            return self._site.files[path]() if path in self._site.files else None

    @property
    def address(self) -> str:
        """Return the URL of the start page."""
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:  # the library's names
        """Print no traceback, since the usual error is that the browser closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:  # the library's name
        port, headers = self.server.server_port, self.headers
        # A request comes from this site or follows a link, and is not made by a foreign page.
        is_own = headers.get("Sec-Fetch-Site") in (None, "same-origin", "none")
        is_link = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
        if headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            # Prevents DNS rebinding, by which a foreign page could read from this server under another host name.
            self._send(HTTPStatus.FORBIDDEN, f"open these pages as http://localhost:{port}/")
            return
        if not (is_own or is_link):
            self._send(HTTPStatus.FORBIDDEN, "pages of other servers may not read the pages of this one")
            return
        try:
            path = unquote(urlsplit(self.path).path).lstrip("/") or "index.html"
            text = self.server.get(path)
        except ValueError:
            self._send(HTTPStatus.BAD_REQUEST, "this is not a valid address")
        except MdmemError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            if text is None:
                self._send(HTTPStatus.NOT_FOUND, "there is no such page")
            else:
                self._send(HTTPStatus.OK, text, _TYPES.get(PurePosixPath(path).suffix, _PLAIN))

    do_HEAD = do_GET  # noqa: N815  # the library's name

    def _send(self, status: HTTPStatus, text: str, kind: str = _PLAIN) -> None:
        content = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Print no log of requests."""
