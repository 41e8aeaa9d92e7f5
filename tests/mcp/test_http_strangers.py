"""Clients that mean the server ill: without a token they hold few connections, and none of them for long."""

from __future__ import annotations

import asyncio
import gc
import http.client
import logging
import os
import select
import socket
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import pytest
import uvicorn
from served import HEADERS, Serving, serving, token_for, two_wings
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from mdmem.mcp.auth import KnownNames
from mdmem.mcp.connections import ConnectionSlots, network_of, protocol_of
from mdmem.mcp.logs import FewLines
from mdmem.mcp.rate_limits import HttpLimits

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# What is answered with 401, and then the first half of another one.
ANSWERED = HALF + b"Content-Length: 2\r\n\r\n{}"
SOON = 5.0


@dataclass(frozen=True)
class Guarded:
    """A server of few places and short times, and a token that is good there."""

    server: Serving
    token: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    root = two_wings(tmp_path_factory.mktemp("strangers"))
    token = token_for(root, "reader", "app")
    limits = "connections=24, strangers=6, per_address=12, stranger_seconds=0.4, head_seconds=0.3, body_seconds=0.3"
    with serving(root, limits=limits) as server:
        yield Guarded(server, token)


@contextmanager
def connected(guarded: Guarded, *sent: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", guarded.server.port), timeout=SOON) as client:
        for one in sent:
            client.sendall(one)
            if one.endswith(b"}"):
                client.recv(65536)
        yield client


def ends(client: socket.socket) -> bool:
    """Say whether the server ends a connection soon."""
    until = time.monotonic() + SOON
    try:
        while select.select([client], [], [], max(0.0, until - time.monotonic()))[0]:
            if not client.recv(65536):
                return True
    except ConnectionResetError:
        return True
    return False


def is_let_in(guarded: Guarded) -> bool:
    return guarded.server.ask(authorization=f"Bearer {guarded.token}").status == 200


def asking(guarded: Guarded, *, length: int = 2) -> bytes:
    return HALF + f"Authorization: Bearer {guarded.token}\r\nContent-Length: {length}\r\n\r\n{{}}".encode()


def test_strangers_who_keep_their_connections_shut_nobody_out(guarded: Guarded) -> None:
    with ExitStack() as kept:
        for _ in range(30):
            kept.enter_context(connected(guarded, ANSWERED, HALF))
        assert is_let_in(guarded)


@pytest.mark.parametrize(
    "sent",
    [(), (HALF,), (ANSWERED,), (ANSWERED, HALF), (ANSWERED + HALF,), (HALF + b"Content-Length: 9\r\n\r\n{",)],
    ids=["nothing", "half a head", "one request", "and half a head", "at once", "half a body"],
)
def test_stranger_is_let_go_whatever_it_sends(guarded: Guarded, sent: tuple[bytes, ...]) -> None:
    with connected(guarded, *sent) as client:
        assert ends(client)


def test_stranger_that_goes_on_asking_is_let_go(guarded: Guarded) -> None:
    with connected(guarded) as client:
        assert any(not is_answered(client) for _ in range(100))


def is_answered(client: socket.socket) -> bool:
    time.sleep(0.05)
    try:
        client.sendall(ANSWERED)
        return bool(client.recv(65536))
    except (ConnectionResetError, BrokenPipeError):
        return False


@pytest.mark.parametrize("rest", [(HALF,), (HALF, b"X: y\r\n")], ids=["half a head", "line by line"])
def test_half_a_head_after_an_answer_ends_a_connection_that_showed_its_token(
    guarded: Guarded, rest: tuple[bytes, ...]
) -> None:
    with connected(guarded, asking(guarded), *rest) as client:
        assert ends(client)


def test_half_a_body_ends_a_connection_that_shows_its_token(guarded: Guarded) -> None:
    with connected(guarded, asking(guarded, length=9)[:-1]) as client:
        assert ends(client)


def test_connection_that_showed_its_token_stays_for_the_next_request(guarded: Guarded) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", guarded.server.port, timeout=SOON)
    with closing(connection):
        # Between them longer than a stranger has, and than half a request may take.
        for pause in (0, 0.5):
            time.sleep(pause)
            connection.request("POST", "/mcp", b"{}", {**HEADERS, "Authorization": f"Bearer {guarded.token}"})
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (400, True)
            # It would be opened again, where it was closed.
            connection.auto_open = 0


class Guest:
    def __init__(self, address: str, places: ConnectionSlots) -> None:
        self.address, self.has_ended, self._places = address, False, places

    def end(self) -> None:
        self.has_ended = True
        self._places.leave(self)


def guests(places: ConnectionSlots, address: str, number: int) -> list[Guest]:
    made = [Guest(address, places) for _ in range(number)]
    assert all(map(places.take, made))
    return made


def test_stranger_takes_the_place_of_the_oldest_of_the_address_that_has_the_most() -> None:
    places = ConnectionSlots(HttpLimits(strangers=4, per_address=3))
    quiet, loud = guests(places, "a", 1), guests(places, "b", 3)
    guests(places, "c", 1)
    assert ([one.has_ended for one in quiet], [one.has_ended for one in loud]) == ([False], [True, False, False])


def test_newcomer_takes_a_strangers_place_where_all_are_taken_and_nobodys_who_has_a_token() -> None:
    places = ConnectionSlots(HttpLimits(connections=3, strangers=3, per_address=3))
    known, stranger = guests(places, "a", 2), guests(places, "b", 1)[0]
    for one in known:
        places.welcome(one)
    newcomer = Guest("c", places)
    assert (places.take(newcomer), stranger.has_ended) == (True, True)
    places.welcome(newcomer)
    assert not places.take(Guest("d", places))
    assert not any(one.has_ended for one in (*known, newcomer))


def test_address_has_a_limit_with_tokens_too() -> None:
    places = ConnectionSlots(HttpLimits(strangers=4, per_address=3))
    known = guests(places, "a", 3)
    for one in known:
        places.welcome(one)
    assert not places.take(Guest("a", places))
    assert places.take(Guest("b", places))
    places.leave(known[0])
    assert places.take(Guest("a", places))


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


def test_server_that_is_full_of_noise_logs_few_lines(guarded: Guarded) -> None:
    for _ in range(25):
        with connected(guarded, b"\0\r\n\r\n") as client:
            assert ends(client)
    assert guarded.server.process.stderr is not None
    said = b""
    while select.select([guarded.server.process.stderr], [], [], 0.2)[0]:
        said += os.read(guarded.server.process.stderr.fileno(), 65536)
    assert 1 <= said.count(b"Invalid HTTP request") <= 11


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


def test_connection_that_ended_leaves_nothing_to_collect() -> None:
    async def refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def connect() -> weakref.ref[asyncio.Protocol]:
        made = list[weakref.ref[asyncio.Protocol]]()
        config = uvicorn.Config(refuse, log_config=None)
        config.load()

        def protocol() -> asyncio.Protocol:
            one = protocol_of(HttpLimits())(config=config, server_state=ServerState(), app_state={})
            made.append(weakref.ref(one))
            return one

        server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000)
        assert b"413" in await reader.read()
        writer.close()
        server.close()
        for _ in range(5):
            await asyncio.sleep(0)
        return made[0]

    gc.disable()
    try:
        assert asyncio.run(connect())() is None
    finally:
        gc.enable()
