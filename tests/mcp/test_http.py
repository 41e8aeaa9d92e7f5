"""Test the server over HTTP: real clients, tokens and their wings, refused requests, and hostile clients."""

import select
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders import run_here, write
from clients import ERAS
from mcp import Client
from served import Serving, serving, talk, talking, token_for, two_wings

from mdmem.store.state.tokens import BearerTokens


@dataclass(frozen=True)
class Guarded:
    """A server with tokens: one reads a wing, one writes it, one is for the other wing."""

    server: Serving
    root: Path
    reader: str
    writer: str
    other: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    root = two_wings(tmp_path_factory.mktemp("guarded"))
    texts = (
        token_for(root, "reader", "app"),
        token_for(root, "writer", "app", may_write=True),
        token_for(root, "other", "vault", may_write=True),
    )
    with serving(root) as server:
        yield Guarded(server, root, *texts)


async def _everything(client: Client) -> str:
    """Return the answers of the reading tools."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "granite holds"}),
        ("retrieve", {}),
        ("check", {}),
        ("retrieve", {"wing": "nowhere"}),
        ("get_entry", {"address": ["rules/nothing"]}),
        ("memory_surface", {"query": "granite"}),
        ("run_hygiene", {}),
        ("get_save_status", {}),
    ]
    listed = {tool.name for tool in (await client.list_tools()).tools}
    answers = [await client.call_tool(name, arguments) for name, arguments in asked if name in listed]
    return "\n".join(answer.model_dump_json() for answer in answers)


@pytest.mark.parametrize("mode", ERAS)
def test_client_of_either_era_reads_the_wings_of_its_token(guarded: Guarded, mode: str) -> None:
    said = talk(guarded.server.url, _everything, token=guarded.reader, mode=mode)
    assert "app/rules/granite" in said
    assert [word for word in ("vault", "onyx", "obsidian") if word in said] == []


def test_two_tokens_at_once_see_their_own_wings(guarded: Guarded) -> None:
    found: dict[str, list[str]] = {"reader": [], "other": []}

    async def ask(name: str, token: str) -> None:
        async def work(client: Client) -> None:
            for _ in range(8):
                answer = await client.call_tool("retrieve", {})
                found[name].append(answer.content[0].text)

        await talking(guarded.server.url, work, token=token)

    async def run() -> None:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(2):
                    tasks.start_soon(ask, "reader", guarded.reader)
                    tasks.start_soon(ask, "other", guarded.other)

    anyio.run(run)
    assert [len(answers) for answers in found.values()] == [16, 16]
    assert all("granite" in one and "onyx" not in one and "vault" not in one for one in found["reader"])
    assert all("onyx" in one and "granite" not in one for one in found["other"])


async def _save(client: Client, project: str, title: str) -> dict[str, Any]:
    pattern = {"trigger": title, "repeatable_steps": ["weigh it"], "scope": "project"}
    answer = await client.call_tool("save_pattern", {"pattern": pattern, "project_id": project})
    return dict(answer.structured_content or {})


@pytest.mark.parametrize("project", ["app", "vault", "obsidian", "nowhere"])
def test_token_writes_only_to_its_own_wing(guarded: Guarded, project: str) -> None:
    token = guarded.reader if project == "app" else guarded.writer
    said = talk(guarded.server.url, lambda client: _save(client, project, "When it is other"), token=token)
    # The message is the same for existing and missing wings.
    assert (said["status"], said["message"]) == ("failed", f"Project access denied: {project}")
    assert not (guarded.root / "nowhere").exists()
    said = talk(guarded.server.url, lambda client: _save(client, "app", "When it is written"), token=guarded.writer)
    assert (guarded.root / f"{said['artifact_id']}.md").is_file()


@pytest.mark.parametrize("stated", [None, "Bearer", "Bearer ", "Bearer nonsense", "Basic YTpi", "Bearer \xff\xfe"])
def test_request_without_a_good_token_is_refused(guarded: Guarded, stated: str | None) -> None:
    answer = guarded.server.ask(**({} if stated is None else {"authorization": stated}))
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
    assert "app" not in answer.body


def test_removed_token_is_refused_at_once(guarded: Guarded) -> None:
    token = token_for(guarded.root, "brief", "app")
    assert guarded.server.ask(authorization=f"Bearer {token}").status == 200
    BearerTokens(guarded.root.parent / ".git/mdmem/state/memory").remove("brief")
    assert guarded.server.ask(authorization=f"Bearer {token}").status == 401


def test_unreadable_tokens_refuse_every_request(guarded: Guarded) -> None:
    file = guarded.root.parent / ".git/mdmem/state/memory/bearers.json"
    held = file.read_bytes()
    try:
        file.write_bytes(b"{")
        assert guarded.server.ask(authorization=f"Bearer {guarded.reader}").status == 503
    finally:
        file.write_bytes(held)


_ORIGINS = ("http://evil.example", "https://localhost.evil.example", "null", "http://localhost:1@evil.example")


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        *(("host", one, 421) for one in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "")),
        *(("origin", one, 403) for one in _ORIGINS),
        ("host", "localhost:9000", 200),
        ("origin", "http://localhost:{port}", 200),
    ],
)
def test_foreign_host_and_origin_are_refused(guarded: Guarded, header: str, value: str, status: int) -> None:
    stated = {header: value.format(port=guarded.server.port)}
    assert guarded.server.ask(authorization=f"Bearer {guarded.reader}", **stated).status == status


def test_request_that_is_too_large_is_refused(guarded: Guarded) -> None:
    answer = guarded.server.ask(b"x" * ((1 << 20) + 1), authorization=f"Bearer {guarded.reader}")
    assert answer.status == 413


def test_refused_requests_fill_no_log(guarded: Guarded) -> None:
    guarded.server.ask(authorization=f"Bearer {guarded.reader}", host="evil.example")
    with socket.create_connection(("127.0.0.1", guarded.server.port), timeout=30) as client:
        client.sendall(b"\0\r\n\r\n")
        while client.recv(65536):
            pass
    assert guarded.server.process.stderr is not None
    ready, _, _ = select.select([guarded.server.process.stderr], [], [], 0.2)
    assert ready == []


@pytest.mark.long
def test_rate_limit_of_one_caller_does_not_affect_another(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    eager, other = token_for(root, "eager", "app"), token_for(root, "other", "app")
    with serving(root, limits="h._PER_SECOND, h._BURST = 0.01, 3") as server:
        answers = [server.ask(authorization=f"Bearer {eager}") for _ in range(5)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
        assert 90 <= int(answers[-1].headers["retry-after"]) <= 100
        assert server.ask(authorization=f"Bearer {other}").status == 200


def test_without_tokens_this_machine_reads_everything_until_one_is_added(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    with serving(root) as server:
        said = talk(server.url, _everything)
        assert "granite" in said
        assert "onyx" in said
        assert server.ask(host="evil.example").status == 421
        token = token_for(root, "first", "app")
        assert server.ask().status == 401
        assert server.ask(authorization=f"Bearer {token}").status == 200
        BearerTokens(tmp_path / ".git/mdmem/state/memory").remove("first")
        # A token stays necessary after the last one was removed.
        assert server.ask().status == 401
        assert server.stop() == 0


def test_wing_option_limits_access_without_a_token(tmp_path: Path) -> None:
    with serving(two_wings(tmp_path), "127.0.0.1:0", "--wing", "app") as server:
        said = talk(server.url, lambda client: client.call_tool("retrieve", {}))
        assert "granite" in said.model_dump_json()
        assert "onyx" not in said.model_dump_json()
        assert server.stop(signal.SIGINT) == 0


def test_address_of_the_network_needs_a_token(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    token = token_for(root, "ci", "app")
    with serving(root, "0.0.0.0:0", "--allow-host", "memory.example") as server:
        assert server.ask().status == 401
        assert server.ask(authorization=f"Bearer {token}", host="memory.example").status == 200
        assert server.ask(authorization=f"Bearer {token}", host="evil.example").status == 421


_NO_ADDRESSES = ("8080", "localhost", "localhost:x", "[::1]:70000", ":x")


@pytest.mark.parametrize(
    ("address", "more", "code", "said"),
    [
        (
            "0.0.0.0:0",
            (),
            2,
            "without a token anybody who reaches 0.0.0.0 could read the memory; make one with `mdmem token add NAME ",
        ),
        ("127.0.0.1:0", ("--wing", "app"), 2, "each token has its own wings; leave out --wing\n"),
        ("127.0.0.1:0", (), 3, "bearers.json cannot be read; fix or remove that file"),
        ("127.0.0.1:{taken}", (), 3, "cannot listen on 127.0.0.1:"),
        *((one, (), 2, "is not an address; write HOST:PORT") for one in _NO_ADDRESSES),
    ],
)
def test_server_that_cannot_start_prints_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    more: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    root = two_wings(tmp_path)
    if "--wing" in more:
        token_for(root, "ci", "app")
    elif "bearers" in said:
        write(tmp_path, ".git/mdmem/state/memory/bearers.json", b"{")
    # If it is not refused, it must not serve forever.
    monkeypatch.setattr("mdmem.mcp.http.anyio.run", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = address.format(taken=taken.getsockname()[1])
        ran = run_here(capsys, "mcp", "--http", address, *more, cwd=root)
    assert (ran.code, said in ran.err, ran.err.count("\n")) == (code, True, 1), ran.err


HALF = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
ANSWERED = HALF + "Content-Length: 2\r\n\r\n{}"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, str]]:
    """A server that waits one second for a request, and a valid token."""
    root = two_wings(tmp_path_factory.mktemp("strangers"))
    token = token_for(root, "reader", "app")
    with serving(root, limits="h._REQUEST_SECONDS, h._CONNECTIONS = 1, 16") as server:
        yield server, token


@pytest.mark.parametrize(
    "sent",
    [
        *("", HALF, ANSWERED, ANSWERED + HALF, HALF + "Content-Length: 9\r\n\r\n{"),
        HALF + "Authorization: Bearer TOKEN\r\nContent-Length: 9\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "one request", "and half a head", "half a body", "with a token"],
)
def test_slow_client_is_disconnected_whatever_it_sends(strict: tuple[Serving, str], sent: str) -> None:
    server, token = strict
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stranger:
        stranger.sendall(sent.replace("TOKEN", token).encode())
        while stranger.recv(65536):
            pass


def test_open_connections_block_others_only_for_a_moment(strict: tuple[Serving, str]) -> None:
    server, token = strict
    kept = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(20)]
    for one in kept:
        one.sendall(HALF.encode())
    for one in kept:
        while one.recv(65536):
            pass
        one.close()
    assert server.ask(authorization=f"Bearer {token}").status == 200
