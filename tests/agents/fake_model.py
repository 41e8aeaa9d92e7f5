"""A model on loopback that calls some tools in turn; it keeps each request, so that a test reads what reached it.

It speaks as much of four wire forms as agent programs need: Anthropic's messages, OpenAI's responses and chat
completions, and Gemini's generateContent.
"""

import gzip
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, ClassVar

Event = tuple[str, Any]
Call = tuple[str, Mapping[str, Any]]
_NUMBERS = count(1)
# Some programs keep the tools of servers back until the model looks for them.
_SEARCHES = ("ToolSearch", "tool_search")
# These take a text, no JSON.
_FREE = ("apply_patch",)
_WANTED = {"query": "select:mcp__mdmem__retrieve", "max_results": 5}


@dataclass
class FakeModel:
    """What was asked of the model, in order; it calls the tools of its plan, each once, then says done."""

    plan: Sequence[Call]
    address: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    called: list[str] = field(default_factory=list)

    def tools(self) -> set[str]:
        """Return the tools of the first request that contains any."""
        return next((set(found) for asked in self.requests if (found := _tools(asked))), set())

    @property
    def has_searched(self) -> bool:
        """Say whether the tool had to be looked for."""
        return not set(_SEARCHES).isdisjoint(self.called)

    def said(self) -> str:
        """Return the content of the last request as text."""
        return json.dumps(self.requests[-1], ensure_ascii=False) if self.requests else ""

    def call_for(self, asked: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
        """Return the tool to call and what with: the next of the plan, and before it what finds tools not there yet."""
        tools = _tools(asked)
        done = sum(name not in _SEARCHES for name in self.called)
        if not tools or done == len(self.plan):
            return None, {}
        wanted, arguments = self.plan[done]
        name = next((one for one in tools if one == wanted or ("mdmem" in one and one.endswith(wanted))), None)
        if name is None:
            name, arguments = next((one for one in tools if one in _SEARCHES and one not in self.called), None), _WANTED
        if name is not None:
            self.called.append(name)
        return name, arguments

    def made(self) -> list[dict[str, Any]]:
        """Return the requests that hold tools: those of the work itself."""
        return [asked for asked in self.requests if _tools(asked)]


def _tools(asked: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for one in asked.get("tools") or ():
        if "functionDeclarations" in one:
            names += [declared["name"] for declared in one["functionDeclarations"]]
        elif one.get("type") == "namespace":
            names += [f"{one['name']}::{inner['name']}" for inner in one.get("tools", ())]
        else:
            names += [one.get("function", one).get("name", "")]
    return names


@contextmanager
def fake_model(*plan: Call) -> Iterator[FakeModel]:
    """Serve a model that calls these tools in turn, until the block ends."""
    model = FakeModel(plan)
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    model: ClassVar[FakeModel]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  # the name is the base's
        """Print nothing."""

    def do_GET(self) -> None:  # the name is the base's
        """Name the one model there is."""
        self._send(json.dumps({"data": [{"id": "fake", "object": "model"}], "models": [{"name": "models/fake"}]}))

    def do_POST(self) -> None:  # the name is the base's
        """Answer a request in the form that its path names."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        asked = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw or b"{}")
        self.model.requests.append(asked)
        call, arguments = self.model.call_for(asked)
        path = self.path.split("?")[0]
        if path.endswith("count_tokens"):
            self._send(json.dumps({"input_tokens": 10}))
        elif path.endswith("/messages"):
            self._answer(_messages(call, arguments, asked), in_parts=asked.get("stream"))
        elif path.endswith("/responses"):
            self._answer(_responses(call, arguments), in_parts=asked.get("stream"))
        elif path.endswith("/chat/completions"):
            self._answer(_chat(call, arguments), in_parts=asked.get("stream"))
        elif "enerateContent" in path:
            self._answer(_gemini(call, arguments), in_parts="stream" in path)
        else:
            self._send("{}")

    def _answer(self, answer: tuple[Any, list[Event]], *, in_parts: object) -> None:
        whole, events = answer
        if not in_parts:
            self._send(json.dumps(whole))
            return
        lines = [
            (f"event: {name}\n" if name else "") + f"data: {said if isinstance(said, str) else json.dumps(said)}\n\n"
            for name, said in events
        ]
        self._send("".join(lines), "text/event-stream")

    def _send(self, text: str, kind: str = "application/json") -> None:
        content = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _messages(call: str | None, arguments: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[Any, list[Event]]:
    if call:
        block, full = (
            {"type": "tool_use", "id": f"toolu_{next(_NUMBERS)}", "name": call, "input": {}},
            {"input": arguments},
        )
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    else:
        block, full, delta = {"type": "text", "text": ""}, {"text": "done"}, {"type": "text_delta", "text": "done"}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model"), "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    reason = "tool_use" if call else "end_turn"
    stop = {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}}
    events: list[Any] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", **stop},
        {"type": "message_stop"},
    ]
    return message | {"content": [block | full], "stop_reason": reason}, [(one["type"], one) for one in events]


def _responses(call: str | None, arguments: Mapping[str, Any]) -> tuple[Any, list[Event]]:
    space, _, name = (call or "").rpartition("::")
    item: dict[str, Any]
    if call:
        item = {"type": "function_call", "name": name, "status": "completed"}
        number = next(_NUMBERS)
        item |= {"id": f"fc_{number}", "call_id": f"call_{number}"}
        if call in _FREE:
            item |= {"type": "custom_tool_call", "input": arguments["input"]}
        else:
            item |= {"arguments": json.dumps(arguments), **({"namespace": space} if space else {})}
    else:
        text = {"type": "output_text", "text": "done", "annotations": []}
        item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [text]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "fake", "output": [item]}
    whole["usage"] = usage
    events: list[Any] = [
        {"type": "response.created", "response": whole | {"output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(one["type"], one) for one in events]


def _chat(call: str | None, arguments: Mapping[str, Any]) -> tuple[Any, list[Event]]:
    function = {"name": call, "arguments": json.dumps(arguments)}
    calls = [{"index": 0, "id": f"call_{next(_NUMBERS)}", "type": "function", "function": function}]
    said: dict[str, Any] = {"role": "assistant", "content": None if call else "done"}
    said |= {"tool_calls": calls} if call else {}
    reason = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    whole = chunk | {"object": "chat.completion", "usage": usage}
    whole |= {"choices": [{"index": 0, "message": said, "finish_reason": reason}]}
    first = chunk | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    last = chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
    return whole, [("", first), ("", last), ("", "[DONE]")]


def _gemini(call: str | None, arguments: Mapping[str, Any]) -> tuple[Any, list[Event]]:
    part = {"functionCall": {"name": call, "args": arguments}} if call else {"text": "done"}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
    return whole, [("", whole)]
