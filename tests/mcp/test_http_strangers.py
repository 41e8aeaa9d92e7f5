"""Clients that mean the server ill: without a token they hold few connections, and none of them for long."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import h11
import pytest
import uvicorn
from clients import StillLoop, server_over
from served import HEADERS, INITIALIZE, token_for, two_wings
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from mdmem.access import EVERYTHING
from mdmem.mcp.auth import KnownNames
from mdmem.mcp.connections import ConnectionSlots, LimitedProtocol, network_of, protocol_of
from mdmem.mcp.http import authenticator_for, build_app, config_of, read_address
from mdmem.mcp.logs import FewLines
from mdmem.mcp.rate_limits import HttpLimits
from mdmem.state.bearer_tokens import BearerTokens

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# What is answered with 401, and then the first half of another one.
ANSWERED = HALF + b"Content-Length: 2\r\n\r\n{}"
LIMITS = HttpLimits(
    connections=24, strangers=6, per_address=12, stranger_seconds=0.4, head_seconds=0.3, body_seconds=0.3
)
# Less than the server keeps a connection that is good and asks nothing.
SOON, STEP = 5.0, 0.05


class Client:
    """A connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def is_answered(self, request: bytes = ANSWERED) -> bool:
        try:
            self.writer.write(request)
            return bool(await self.reader.read(65536))
        except ConnectionError:
            return False


@dataclass(frozen=True)
class Guarded:
    """A server of few places and short times in this process, and a token that is good there."""

    loop: StillLoop
    port: int
    token: str
    made: list[LimitedProtocol]
    clients: list[Client]

    async def connected(self, *sent: bytes) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        for one in sent:
            if one.endswith(b"}"):
                assert await client.is_answered(one)
            else:
                client.writer.write(one)
        return client

    async def ends(self, client: Client) -> bool:
        """Say whether the server ends a connection soon."""
        reading = asyncio.ensure_future(client.reader.read())
        until = self.loop.now + SOON
        while not reading.done() and self.loop.now < until:
            await self.go_by(STEP)
        if not reading.done():
            reading.cancel()
            return False
        return isinstance(reading.exception(), ConnectionError | None)

    async def go_by(self, seconds: float) -> None:
        """Let time go by, once everything that was sent is there, and what can be answered is."""
        for _ in range(5):
            time.sleep(0.0005)
            await asyncio.sleep(0)
        while any(one._is_answering() and one.conn.their_state is not h11.SEND_BODY for one in self.made):
            await asyncio.sleep(0)
        self.loop.now += seconds
        await asyncio.sleep(0)

    async def is_let_in(self) -> bool:
        stated = HEADERS | {"host": "localhost", "authorization": f"Bearer {self.token}", "connection": "close"}
        body = json.dumps(INITIALIZE).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in stated.items())
        client = await self.connected()
        client.writer.write(f"POST /mcp HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        return (await client.reader.read()).startswith(b"HTTP/1.1 200 ")

    def asking(self, *, length: int = 2) -> bytes:
        return HALF + f"Authorization: Bearer {self.token}\r\nContent-Length: {length}\r\n\r\n{{}}".encode()


Asked = Callable[[Guarded], Awaitable[bool]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_wings(tmp_path_factory.mktemp("strangers"))


@pytest.fixture(scope="module")
def token(root: Path) -> str:
    return token_for(root, "reader", "app")


@pytest.fixture
def holds(root: Path, token: str) -> Callable[[Asked], bool]:
    """Return what says whether something is so of a server of its own."""
    listening = read_address("127.0.0.1:0")
    bearers = BearerTokens(root.parent / ".git/mdmem/state/memory")
    authenticator = authenticator_for(bearers, listening, open_access=EVERYTHING)
    app = build_app(server_over(root), authenticator, listening=listening, limits=LIMITS)
    config = config_of(app, LIMITS)
    config.load()
    made: list[LimitedProtocol] = []

    async def run(asked: Asked) -> bool:
        loop = asyncio.get_running_loop()
        lifespan = config.lifespan_class(config)
        await lifespan.startup()

        def protocol() -> LimitedProtocol:
            made.append(config.http_protocol_class(config, ServerState(), lifespan.state))
            return made[-1]

        server = await loop.create_server(protocol, "127.0.0.1", 0)
        guarded = Guarded(loop, server.sockets[0].getsockname()[1], token, made, [])
        try:
            return await asked(guarded)
        finally:
            server.close()
            for transport in [one.transport for one in made] + [one.writer.transport for one in guarded.clients]:
                transport.abort()
            await lifespan.shutdown()

    def hold(asked: Asked) -> bool:
        with asyncio.Runner(loop_factory=StillLoop) as runner:
            return runner.run(run(asked))

    return hold


Holds = Callable[[Asked], bool]


def test_strangers_who_keep_their_connections_shut_nobody_out(holds: Holds) -> None:
    async def asked(guarded: Guarded) -> bool:
        kept = [await guarded.connected(ANSWERED, HALF) for _ in range(30)]
        return await guarded.is_let_in() and len(kept) == 30

    assert holds(asked)


@pytest.mark.parametrize(
    "sent",
    [(), (HALF,), (ANSWERED,), (ANSWERED, HALF), (ANSWERED + HALF,), (HALF + b"Content-Length: 9\r\n\r\n{",)],
    ids=["nothing", "half a head", "one request", "and half a head", "at once", "half a body"],
)
def test_stranger_is_let_go_whatever_it_sends(holds: Holds, sent: tuple[bytes, ...]) -> None:
    async def asked(guarded: Guarded) -> bool:
        return await guarded.ends(await guarded.connected(*sent))

    assert holds(asked)


def test_stranger_that_goes_on_asking_is_let_go(holds: Holds) -> None:
    async def asked(guarded: Guarded) -> bool:
        client = await guarded.connected()
        for _ in range(100):
            await guarded.go_by(STEP)
            if not await client.is_answered():
                return True
        return False

    assert holds(asked)


@pytest.mark.parametrize("rest", [(HALF,), (HALF, b"X: y\r\n")], ids=["half a head", "line by line"])
def test_half_a_head_after_an_answer_ends_a_connection_that_showed_its_token(
    holds: Holds, rest: tuple[bytes, ...]
) -> None:
    async def asked(guarded: Guarded) -> bool:
        return await guarded.ends(await guarded.connected(guarded.asking(), *rest))

    assert holds(asked)


def test_half_a_body_ends_a_connection_that_shows_its_token(holds: Holds) -> None:
    async def asked(guarded: Guarded) -> bool:
        return await guarded.ends(await guarded.connected(guarded.asking(length=9)[:-1]))

    assert holds(asked)


def test_connection_that_showed_its_token_stays_for_the_next_request(holds: Holds) -> None:
    async def asked(guarded: Guarded) -> bool:
        client = await guarded.connected(guarded.asking())
        # Longer than a stranger has, and than half a request may take.
        for _ in range(20):
            await guarded.go_by(STEP)
        return await client.is_answered(guarded.asking())

    assert holds(asked)


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
