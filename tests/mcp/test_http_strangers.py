"""Clients that mean the server ill: none keeps a connection for long without a whole request."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Serving, serving, token_for, two_wings

from mdmem.mcp.auth import KnownNames
from mdmem.mcp.logs import FewLines
from mdmem.mcp.rate_limits import network_of

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
ANSWERED = HALF + b"Content-Length: 2\r\n\r\n{}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_wings(tmp_path_factory.mktemp("strangers"))


@pytest.fixture(scope="module")
def token(root: Path) -> str:
    return token_for(root, "reader", "app")


@pytest.fixture(scope="module")
def server(root: Path, token: str) -> Iterator[Serving]:
    with serving(root, limits="request_seconds=1, connections=16") as server:
        yield server


@pytest.mark.parametrize(
    "sent",
    [b"", HALF, ANSWERED, ANSWERED + HALF, HALF + b"Content-Length: 9\r\n\r\n{"],
    ids=["nothing", "half a head", "one request", "and half a head", "half a body"],
)
def test_stranger_is_let_go_whatever_it_sends(server: Serving, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stranger:
        stranger.sendall(sent)
        while stranger.recv(65536):
            pass


def test_strangers_who_keep_their_connections_shut_others_out_for_a_moment_alone(server: Serving, token: str) -> None:
    kept = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(20)]
    for one in kept:
        one.sendall(HALF)
    for one in kept:
        while one.recv(65536):
            pass
        one.close()
    assert server.ask(authorization=f"Bearer {token}").status == 200


@pytest.mark.parametrize(
    ("host", "network"),
    [("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8::1:2", "2001:db8::/64"), ("", "")],
)
def test_network_of_an_address(host: str, network: str) -> None:
    assert network_of(host) == network


def test_refusals_are_few_lines_of_the_log() -> None:
    few, moments = FewLines(now=lambda: moments[-1]), [0.0]
    record = logging.LogRecord("uvicorn.error", logging.WARNING, __file__, 1, "%s is refused", ("it",), None)
    assert sum(few.filter(record) for _ in range(1000)) == 10
    moments.append(60.0)
    assert few.filter(record)
    assert record.getMessage() == "it is refused (and 990 more like it before)"
    other = logging.LogRecord("uvicorn.error", logging.WARNING, __file__, 2, "another", (), None)
    assert few.filter(other)


NAMES = KnownNames.of(("localhost", "[::1]", "Memory.example", "pinned.example:8443"))


@pytest.mark.parametrize(
    ("stated", "is_ours"),
    [
        ("localhost", True),
        ("LOCALHOST:8077", True),
        ("[::1]:8077", True),
        ("memory.example:1", True),
        ("pinned.example:8443", True),
        ("pinned.example", False),
        ("localhost:1@evil.example", False),
        ("localhost@evil.example", False),
        ("localhost:", False),
        ("localhost:x", False),
        ("localhost:99999", False),
        ("localhost:1/x", False),
        ("localhost:\u0661", False),
        ("localhost:1\n", False),
        ("::1", False),
        ("", False),
    ],
)
def test_name_of_a_host_and_of_a_page(stated: str, is_ours: bool) -> None:
    assert NAMES.has_host(stated) is is_ours
    assert NAMES.has_origin(f"http://{stated}") is is_ours


@pytest.mark.parametrize(
    "stated", ["localhost", "ftp://localhost", "null", "http://me@localhost", "", "http:/localhost"]
)
def test_page_of_no_web_address_is_none_of_ours(stated: str) -> None:
    assert not NAMES.has_origin(stated)
