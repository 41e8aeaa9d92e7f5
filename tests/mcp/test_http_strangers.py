"""Clients that mean the server ill: none keeps a connection for long without a whole request."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Serving, serving, token_for, two_wings

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
