"""The first answers, which are given before the SDK is imported: they are those that the SDK gives, or none."""

import io
import json
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from builders import memory
from clients import server_over
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from mdmem.access import EVERYTHING
from mdmem.mcp.early_calls import EarlyCalls
from mdmem.mcp.handshake import ENVELOPED, HANDSHAKES, Opening, cancelled_by
from mdmem.mcp.lists import early_lists
from mdmem.mcp.server import MemoryServer
from mdmem.mcp.session import Session
from mdmem.mcp.tools.table import listed_in, tools_of
from mdmem.status import refresh_index

_CLIENT = {"name": "tests", "version": "1"}
_RESERVED = "io.modelcontextprotocol/"
_HELD = {"name": "editor", "version": "2", "title": "Editor", "websiteUrl": "https://example.com", "more": 1}
_OFFERS: dict[str, Any] = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}},
    "elicitation": {"form": {"applyDefaults": True}, "url": {}},
    "experimental": {"x": {"y": [1]}},
    "extensions": {"com.example/x": {}},
    "prompts": True,
}


def line(method: str, number: Any = 1, **parameters: Any) -> str:
    """Return one message as a line."""
    message = {"jsonrpc": "2.0", "method": method} | ({"params": parameters} if parameters else {})
    return json.dumps(message | ({} if number is None else {"id": number}), ensure_ascii=False) + "\n"


def hello(version: str = HANDSHAKES[-1], number: Any = 1, **other: Any) -> str:
    """Return a handshake as a line."""
    said = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT} | other
    return line("initialize", number, **said)


def envelope(version: Any = ENVELOPED, **other: Any) -> dict[str, Any]:
    """Return what each request of a client without a handshake carries."""
    meta = {"protocolVersion": version, "clientInfo": _CLIENT, "clientCapabilities": {}} | other
    return {"_meta": {f"{_RESERVED}{name}": value for name, value in meta.items() if value is not None}}


def by_the_sdk(server: MemoryServer, lines: list[str], awaited: int = 0) -> dict[Any, str]:
    """Return what the SDK's server sends on lines, by the number of the request; for so many it is waited."""

    async def run() -> dict[Any, str]:
        to_server, given = anyio.create_memory_object_stream[Any](len(lines))
        sent, from_server = anyio.create_memory_object_stream[Any](len(lines))
        low = server._lowlevel_server
        with anyio.fail_after(20):
            async with to_server, given, sent, from_server, anyio.create_task_group() as tasks:
                tasks.start_soon(low.run, given, sent, low.create_initialization_options())
                for one in lines:
                    try:
                        message: Any = SessionMessage(jsonrpc_message_adapter.validate_json(one, by_name=False))
                    except ValueError as error:
                        message = error
                    await to_server.send(message)
                await anyio.wait_all_tasks_blocked()
                answers = [from_server.receive_nowait().message for _ in range(from_server.statistics()[0])]
                while len(answers) < awaited:
                    answers.append((await from_server.receive()).message)
                tasks.cancel_scope.cancel()
        return {one.id: one.model_dump_json(by_alias=True, exclude_unset=True) for one in answers}

    return anyio.run(run)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> MemoryServer:
    return server_over(memory(tmp_path_factory.mktemp("opening") / "repo"), profile="core")


_DONE = line("notifications/initialized", None)
_LIST, _CALL = line("tools/list", 2), line("resources/templates/list", 3)
_OTHERS = ("resources", "prompts")
# Lines, and the numbers of the requests that are answered before the SDK is there.
_TALKS: dict[str, tuple[list[str], set[Any]]] = {
    **{f"handshake of {one}": ([hello(one), _DONE, _LIST, _CALL], {1, 2}) for one in HANDSHAKES},
    "discovery": ([line("server/discover", "a", **envelope()), line("tools/list", 2, **envelope())], {"a", 2}),
    "no discovery": ([line("tools/list", 2, **envelope(clientInfo=_HELD)), line("ping", 3, **envelope())], {2}),
    "lists in a handshake": ([hello(), line("prompts/list", 2), line("resources/list", 3)], {1, 2, 3}),
    "other lists first": ([line(f"{one}/list", one, **envelope()) for one in _OTHERS], {*_OTHERS}),
    "a page of prompts": ([hello(), line("prompts/list", 2, cursor="x")], {1}),
    "what a client offers": ([hello(capabilities=_OFFERS, clientInfo=_HELD)], {1}),
    "what an envelope offers": ([line("server/discover", **envelope(clientCapabilities=_OFFERS))], {1}),
    "a token of progress": ([hello(), line("tools/list", 2, _meta={"progressToken": 2})], {1, 2}),
    "an empty text as number": ([hello(number="")], {""}),
    "a handshake in a discovery": ([line("server/discover", **envelope()), hello(number=2)], {1}),
    "a discovery in a handshake": ([hello(), line("server/discover", 2, **envelope())], {1}),
    "an envelope in a handshake": ([hello(), line("tools/list", 2, **envelope())], {1}),
    "two handshakes": ([hello(), hello(number=2)], {1}),
    "a page of tools": ([hello(), line("tools/list", 2, cursor="x")], {1}),
    "another version": ([hello("1999-01-01"), _LIST], set()),
    "the next version": ([line("server/discover", **envelope("2027-01-01"))], set()),
    "no version": ([line("server/discover"), hello(number=2)], set()),
    "a ping before all": ([line("ping"), hello(number=2)], set()),
    "a list before all": ([line("tools/list"), hello(number=2)], set()),
    "no JSON": (["{\n", hello()], set()),
    "a batch": (["[]\n", hello()], set()),
    "a blank line": (["\n", hello()], set()),
    "more than a request": ([hello().replace('"jsonrpc"', '"more": 1, "jsonrpc"')], set()),
    "half a pair of surrogates": (
        [hello(clientInfo={"name": "\ud800", "version": "1"}).replace("\ud800", "\\ud800")],
        set(),
    ),
    **{f"the number {one!r}": ([hello(number=one)], set()) for one in (True, 1.5, [])},
    **{
        f"{name} is {value!r}": ([hello(**{name: value}), _LIST], set())
        for name, value in (
            ("protocolVersion", 1),
            ("clientInfo", {"name": "x"}),
            ("clientInfo", None),
            ("capabilities", []),
            ("capabilities", {"roots": 1}),
            ("capabilities", {"roots": {"listChanged": "often"}}),
            ("capabilities", {"experimental": {"x": 1}}),
            ("_meta", 1),
        )
    },
    "no offers in an envelope": ([line("tools/list", **envelope(clientCapabilities=None))], set()),
    "a client without a version": ([line("tools/list", **envelope(clientInfo={"name": "x"}))], set()),
}


@pytest.mark.parametrize("talk", _TALKS)
def test_what_is_answered_before_the_sdk_is_what_the_sdk_answers(server: MemoryServer, talk: str) -> None:
    lines, expected = _TALKS[talk]
    opening = Opening()
    opening.offer(early_lists(server.provider, listed_in("core"), EVERYTHING))
    early = [answer for one in lines if (answer := opening.answer_to(one)) is not None]
    later = by_the_sdk(server, lines)
    assert {json.loads(one)["id"] for one in early} == expected == opening.answered
    for one in early:
        told = json.loads(one)
        if {"tools", "prompts", "resources"} & {*told["result"]}:
            assert told == json.loads(later[told["id"]])
        else:
            assert one.decode() == later[told["id"]] + "\n"


class Heard(io.BytesIO):
    """What is sent, line by line."""

    def numbers(self) -> list[Any]:
        return [json.loads(one)["id"] for one in self.getvalue().splitlines()]


def opening_over(root: Path) -> tuple[Opening, Heard]:
    """Return the opening of a server over a root, and what it sends."""
    provider, opening, heard = server_over(root).provider, Opening(), Heard()
    opening.output = heard
    opening.offer(early_lists(provider, [], EVERYTHING))
    opening.offer_calls(EarlyCalls(provider, Session(), tools_of("all"), EVERYTHING).result)
    return opening, heard


def read(opening: Opening, *lines: str) -> None:
    """Let lines be read, each when what was called before is answered or left."""
    for one in lines:
        opening._read(io.StringIO(one))  # type: ignore[arg-type]
        assert opening.is_idle.wait(20)


def left_of(opening: Opening) -> list[str]:
    """Return the lines that are left to the SDK."""
    opening.close()
    opening._lines.put("the end")
    return [one for one in iter(opening.readline, "the end") if one]


def called(number: int, name: str, meta: dict[str, Any], **arguments: Any) -> str:
    """Return the call of a tool as a line."""
    return line("tools/call", number, name=name, arguments=arguments, **meta)


@pytest.mark.parametrize("version", [*HANDSHAKES, ENVELOPED])
def test_calls_are_answered_before_the_sdk_as_by_it(tmp_path: Path, version: str) -> None:
    root = memory(tmp_path / "repo")
    server = server_over(root, session=Session())
    refresh_index(server.provider.workspace())
    is_enveloped = version == ENVELOPED
    meta, opened = (
        envelope() if is_enveloped else {"_meta": {"progressToken": 3}},
        [] if is_enveloped else [hello(version)],
    )
    answered = [
        called(2, "retrieve", meta, query="threads"),
        called(3, "search", meta, query="threads", format="json"),
        called(4, "search", meta, querry="threads"),
        called(5, "memory_surface", meta, project_id="nav"),
    ]
    left = [called(6, "why", meta, address="threads"), called(7, "serch", meta, query="threads")]
    later = by_the_sdk(server, [*opened, *answered], awaited=len(opened) + len(answered))
    opening, heard = opening_over(root)
    read(opening, *opened, *answered, *left)
    assert heard.getvalue().decode().splitlines() == [later[number] for number in heard.numbers()]
    assert heard.numbers()[-4:] == [2, 3, 4, 5]
    assert left_of(opening) == [*opened, *left]


def test_a_question_for_which_the_index_has_to_be_built_is_left_to_the_sdk(tmp_path: Path) -> None:
    opening, heard = opening_over(memory(tmp_path / "repo"))
    asked = called(2, "search", {}, query="threads")
    read(opening, hello(), asked)
    assert heard.numbers() == [1]
    assert left_of(opening) == [hello(), asked]


@pytest.mark.parametrize("end", ["cancelled", "late"])
def test_a_call_that_is_cancelled_or_late_is_not_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    (opening, heard), goes_on, is_over = opening_over(memory(tmp_path / "repo")), Event(), Event()
    asked, cancelled = called(2, "search", {}, query="x"), line("notifications/cancelled", None, requestId=2)
    given: list[int] = []
    work_on = opening._work_on

    def worked_on(*call: Any) -> None:
        work_on(*call)
        is_over.set()

    monkeypatch.setattr(opening, "_work_on", worked_on)
    opening.offer_calls(lambda *_: ({"waited": goes_on.wait(20)}, lambda: given.append(1)))
    opening._read(io.StringIO(hello() + asked))  # type: ignore[arg-type]
    if end == "cancelled":
        read(opening, cancelled)
    else:
        opening.close()
    goes_on.set()
    assert is_over.wait(20)
    assert (heard.numbers(), given) == ([1], [])
    assert left_of(opening)[:2] == [hello(), asked]


def test_what_is_no_number_of_a_request_cancels_none() -> None:
    assert cancelled_by(line("notifications/cancelled", None, requestId=1)) == 1
    assert cancelled_by(line("notifications/cancelled", None, requestId=True)) is None


def test_every_version_of_the_sdk_is_known() -> None:
    assert (HANDSHAKES, (ENVELOPED,)) == (HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS)


def test_what_is_read_after_the_end_of_the_opening_is_left_to_the_sdk() -> None:
    opening = Opening()
    assert opening.answer_to(hello()) is not None
    opening.close()
    assert opening.answer_to(line("tools/list", 2)) is None


def test_tools_do_not_wait_for_what_is_read_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    opening, sent, are_told, is_over = Opening(), list[int](), Event(), Event()
    opening.offer({"resources": lambda: [] if are_told.wait(20) else None, "tools": list})

    def send(answer: bytes) -> None:
        sent.append(json.loads(answer)["id"])
        {3: are_told, 2: is_over}.get(sent[-1], Event()).set()

    monkeypatch.setattr(opening, "_send", send)
    opening._read(io.StringIO(hello() + line("resources/list", 2) + line("tools/list", 3)))  # type: ignore[arg-type]
    assert is_over.wait(20)
    assert (sent, opening.answered) == ([1, 3, 2], {1, 2, 3})


def test_a_number_that_comes_again_is_answered_once_by_the_sdk() -> None:
    opening = Opening()
    opening.offer({"tools": list})
    assert [opening.answer_to(one) is None for one in (hello(), _LIST, _LIST)] == [False, False, True]


def test_a_line_that_nests_too_deep_is_left_to_the_sdk() -> None:
    assert Opening().answer_to('{"jsonrpc":"2.0","id":7,"method":"x","params":' + 15_000 * "[") is None
