"""The pages live: each request sees the files as they are, from this machine alone."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from mdmem.errors import EnvironmentFaultError, MdmemError
from mdmem.site.build import ASSETS, SiteRequest, asset_text, site_of
from mdmem.site.pages import SitePage, SitePages
from mdmem.store.workspace.workspace import Workspace

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".xml": "application/atom+xml; charset=utf-8",
    ".svg": "image/svg+xml",
}
# How often the files are looked at while a page is open, and how many pages may wait for that.
_PAUSE, _MOST_WAITING = 1.0, 32


class LiveSite:
    """The pages of a workspace as its files are; what was made for the same files is kept."""

    def __init__(self, workspace: Workspace, request: SiteRequest) -> None:
        """Read nothing yet."""
        self._workspace = workspace
        self._request = request
        self._lock = threading.Lock()
        self._state = ""
        self._site: SitePages | None = None
        self._data: Mapping[str, SitePage] | None = None

    def state(self) -> str:
        """Return what to know the files by; it changes with them."""
        with self._lock:
            return self._look()

    def find(self, path: str) -> str | None:
        """Return the text of a page or file of the site, None where there is none."""
        with self._lock:
            self._look()
            assert self._site is not None
            if path in self._site.plans:
                return self._site.plans[path]().make()
            if path.startswith("assets/") and path.removeprefix("assets/") in ASSETS:
                return asset_text(path.removeprefix("assets/"))
            if self._data is None:
                self._data = {one.path: one for one in self._site.attachments()}
            return self._data[path].make() if path in self._data else None

    def _look(self) -> str:
        fresh = self._workspace.reread()
        catalog = fresh.catalog
        digests = (sorted(catalog.file_digests.items()), sorted(catalog.broken), fresh.settings)
        state = hashlib.sha256(repr(digests).encode("utf-8", "surrogatepass")).hexdigest()[:20]
        if state != self._state or self._site is None:
            self._state, self._data = state, None
            self._site = site_of(fresh, self._request, live=state)
        return state


class SiteServer(ThreadingHTTPServer):
    """A server of the pages on this machine; whoever was led here by a name of somebody else's is turned away."""

    daemon_threads = True

    def __init__(self, site: LiveSite, port: int) -> None:
        """Take a port, 0 for any that is free; raises EnvironmentFaultError."""
        self.site = site
        self.waiting = threading.Semaphore(_MOST_WAITING)
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise EnvironmentFaultError(f"port {port} cannot be served: {said}; name another by --port") from error

    @property
    def address(self) -> str:
        """Return where a browser finds the pages."""
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:  # the library's names
        """Say nothing: whoever asked went away, or gets no answer, and a traceback helps neither side."""

    def is_own(self, host: str | None) -> bool:
        """Say whether a request names this server as its own."""
        return host in (f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}")


class _Handler(BaseHTTPRequestHandler):
    server: SiteServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:  # the library's name
        if not self.server.is_own(self.headers.get("Host")):
            self._send(HTTPStatus.FORBIDDEN, "this server is named otherwise")
            return
        if not self._is_asked_here():
            self._send(HTTPStatus.FORBIDDEN, "pages of other servers get nothing from here")
            return
        try:
            path = unquote(urlsplit(self.path).path).lstrip("/") or "index.html"
        except ValueError:
            self._send(HTTPStatus.BAD_REQUEST, "that is no address")
            return
        if path == "changes":
            self._tell_changes()
            return
        try:
            text = self.server.site.find(path)
        except MdmemError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        if text is None:
            self._send(HTTPStatus.NOT_FOUND, "there is no such page")
        else:
            self._send(HTTPStatus.OK, text, _TYPES.get(PurePosixPath(path).suffix, "text/plain; charset=utf-8"))

    do_HEAD = do_GET  # noqa: N815  # the library's name

    def _is_asked_here(self) -> bool:
        """Say whether a page of ours asks, the user does, or a program; a link elsewhere may lead to a page."""
        if self.headers.get("Sec-Fetch-Site") in (None, "same-origin", "none"):
            return True
        return (self.headers.get("Sec-Fetch-Mode"), self.headers.get("Sec-Fetch-Dest")) == ("navigate", "document")

    def _send(self, status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        content = text.encode("utf-8", "surrogatepass")
        tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
        is_known = status is HTTPStatus.OK and self.headers.get("If-None-Match") == tag
        self.send_response(HTTPStatus.NOT_MODIFIED if is_known else status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", "0" if is_known else str(len(content)))
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()
        if self.command == "GET" and not is_known:
            self.wfile.write(content)

    def _tell_changes(self) -> None:
        """Send the state of the files whenever it is another one, as long as the page is open."""
        if not self.server.waiting.acquire(blocking=False):
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
            return
        try:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            told = ""
            while True:
                state = self.server.site.state()
                # The page knows of which state it is: it may have become another one since.
                self.wfile.write(f"data: {state}\n\n".encode() if state != told else b": still there\n\n")
                told = state
                time.sleep(_PAUSE)
        except (OSError, MdmemError):
            # The page was closed, or the memory cannot be read: the next page asks anew.
            return
        finally:
            self.server.waiting.release()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Say nothing: whoever looks at pages wants no log."""
