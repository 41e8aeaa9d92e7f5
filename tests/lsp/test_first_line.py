"""What an editor is answered before any library is imported."""

import io
import json

import pytest

from mdmem.lsp.handshake import Greeting, framed, read_message


def talk(*messages: bytes) -> tuple[bytes | None, list[dict]]:
    """Return what is handed on of some messages, and what was answered."""
    target = io.BytesIO()
    first = Greeting(io.BytesIO(b"".join(messages)), target).answer()
    target.seek(0)
    answers = []
    while (answer := read_message(target)) is not None:
        answers.append(answer)
    return first, answers


def request(number: int | str, method: str, **params: object) -> bytes:
    return framed({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def test_initialize_is_answered_and_handed_on_in_utf16() -> None:
    offers = {"general": {"positionEncodings": ["utf-8", "utf-16"]}}
    first, (answer,) = talk(request(1, "initialize", capabilities=offers))
    assert answer["id"] == 1
    assert answer["result"]["capabilities"]["positionEncoding"] == "utf-16"
    assert "diagnosticProvider" not in answer["result"]["capabilities"]
    assert first is not None
    handed = json.loads(first.partition(b"\r\n\r\n")[2])
    assert handed["params"]["capabilities"]["general"] == {}


def test_an_editor_that_asks_for_findings_is_offered_that() -> None:
    offers = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
    _, (answer,) = talk(request("a", "initialize", capabilities=offers))
    assert answer["result"]["capabilities"]["diagnosticProvider"]["interFileDependencies"] is True


def test_what_comes_before_initialize_is_refused_or_dropped() -> None:
    told = framed({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}})
    first, (refused, answered) = talk(told, request(1, "textDocument/hover"), request(2, "initialize"))
    assert (refused["id"], refused["error"]["code"]) == (1, -32002)
    assert (answered["id"], first is None) == (2, False)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        framed({"jsonrpc": "2.0", "method": "exit"}),
        b"Content-Length: 7\r\n\r\n{",
        b"Content-Length: x\r\n\r\n",
        b"\r\n\r\n",
        b"Content-Length: 2\r\n\r\n[]",
    ],
    ids=["nothing", "exit", "cut short", "no length", "blank", "no object"],
)
def test_an_editor_that_goes_away_ends_it(sent: bytes) -> None:
    assert talk(sent) == (None, [])
