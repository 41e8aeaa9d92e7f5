"""The server with what the conformance suite wants to find in one: its test tools, resources and prompts.

    python tests/conformance/fixtures.py --http 127.0.0.1:0

Everything else is `mdmem mcp` itself: the same command, factory, transport and checks of requests.
"""

import asyncio
import base64
import json
import sys
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    Completion,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    TextContent,
    TextResourceContents,
    Tool,
)
from pydantic import Field

from mdmem.cli.main import run
from mdmem.mcp import server
from mdmem.mcp.server import MemoryServer

_MISSING_CAPABILITY = -32021
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
_PAUSE = 0.05
_IMAGE = ImageContent(type="image", data=_DOT, mime_type="image/png")

Asked = Context[Any, Any]
Round = str | InputRequiredResult


class WithFixtures(MemoryServer):
    """Lists and answers the fixtures beside all that the memory has."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for tool in _TOOLS:
            self.add_tool(tool, description="Does what its name says.", structured_output=False)
        for add in (_add_resources, _add_prompts):
            add(self)
        self.completion()(self._complete)

    async def list_tools(self) -> list[Tool]:
        return [*await super().list_tools(), *await MCPServer.list_tools(self), _SCHEMA_TOOL]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Asked | None = None) -> Any:
        is_ours = self._tool_manager.get_tool(name) is not None
        caller = MCPServer.call_tool if is_ours else MemoryServer.call_tool
        return await caller(self, name, arguments, context)

    async def _complete(self, ref: Any, argument: Any, context: Any) -> Completion:
        if str(getattr(ref, "name", "")).startswith("test_"):
            return Completion(values=[f"{argument.value}is", f"{argument.value}k"], total=2, has_more=False)
        return await self.complete(ref, argument, context)


def _embedded(uri: str, text: str, mime: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime, text=text))


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_image_content() -> list[ImageContent]:
    return [_IMAGE]


def test_audio_content() -> list[AudioContent]:
    return [AudioContent(type="audio", data=_SILENCE, mime_type="audio/wav")]


def test_embedded_resource() -> list[EmbeddedResource]:
    return [_embedded("test://embedded-resource", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[ContentBlock]:
    record = json.dumps({"test": "data", "value": 123})
    mixed = _embedded("test://mixed-content-resource", record, "application/json")
    return [_text("Multiple content types test:"), _IMAGE, mixed]


async def test_tool_with_logging(context: Asked) -> str:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(said)
        await asyncio.sleep(_PAUSE)
    return "said what it did"


async def test_logging_tool(context: Asked) -> str:
    await context.info("nobody asked for this")
    return "said something to whoever asked for it"


async def test_tool_with_progress(context: Asked) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(_PAUSE)
    return "done"


def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


async def test_streaming_elicitation(context: Asked) -> str:
    await context.report_progress(1, 1)
    return "asked nothing"


def test_missing_capability(context: Asked) -> str:
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(_MISSING_CAPABILITY, "the client does not say that it can sample", needed)
    return "the client can sample"


def test_custom_headers(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    return f"of {region}"


def _form(message: str, **properties: str) -> dict[str, Any]:
    fields = {name: {"type": kind} for name, kind in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _sampling(text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


_ROOTS = {"method": "roots/list", "params": {}}


def _ask(state: str | None = None, /, **requests: dict[str, Any]) -> InputRequiredResult:
    stated = {"requestState": state} if state else {}
    return InputRequiredResult.model_validate({"resultType": "input_required", "inputRequests": requests, **stated})


def _answers(context: Asked) -> dict[str, Any]:
    return dict(context.input_responses or {})


def _filled(context: Asked, name: str, field: str) -> str | None:
    content = getattr(_answers(context).get(name), "content", None)
    return str(content[field]) if isinstance(content, dict) and field in content else None


def test_input_required_result_elicitation(context: Asked) -> Round:
    name = _filled(context, "user_name", "name")
    return f"Hello, {name}!" if name else _ask(user_name=_form("What is your name?", name="string"))


def test_input_required_result_sampling(context: Asked) -> Round:
    answer = _answers(context).get("capital_question")
    return f"{answer.content}" if answer else _ask(capital_question=_sampling("What is the capital of France?"))


def test_input_required_result_list_roots(context: Asked) -> Round:
    answer = _answers(context).get("client_roots")
    return ", ".join(str(root.uri) for root in answer.roots) if answer else _ask(client_roots=_ROOTS)


def test_input_required_result_request_state(context: Asked) -> Round:
    if context.request_state == "asked" and "confirm" in _answers(context):
        return "state-ok"
    return _ask("asked", confirm=_form("Please confirm", ok="boolean"))


def test_input_required_result_multiple_inputs(context: Asked) -> Round:
    asked = {"user_name": _form("Your name?", name="string"), "greeting": _sampling("Greet"), "client_roots": _ROOTS}
    if context.request_state == "asked" and asked.keys() <= _answers(context).keys():
        return "all three are there"
    return _ask("asked", **asked)


def test_input_required_result_multi_round(context: Asked) -> Round:
    if context.request_state == "second" and "step2" in _answers(context):
        return "done"
    if context.request_state == "first" and "step1" in _answers(context):
        return _ask("second", step2=_form("Step 2: What is your favorite color?", color="string"))
    return _ask("first", step1=_form("Step 1: What is your name?", name="string"))


def test_input_required_result_tampered_state(context: Asked) -> Round:
    return "done" if context.request_state == "sealed" else _ask("sealed", confirm=_form("Sure?", ok="boolean"))


def test_input_required_result_capabilities(context: Asked) -> Round:
    capabilities = context.client_capabilities
    asked = {}
    if capabilities is not None and capabilities.sampling is not None:
        asked["greeting"] = _sampling("Greet")
    if capabilities is not None and capabilities.elicitation is not None:
        asked["user_name"] = _form("Your name?", name="string")
    return _ask(**asked) if asked and not _answers(context) else "nothing to ask"


_TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_logging,
    test_logging_tool,
    test_tool_with_progress,
    test_error_handling,
    test_streaming_elicitation,
    test_missing_capability,
    test_custom_headers,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_tampered_state,
    test_input_required_result_capabilities,
)

_SCHEMA_TOOL = Tool(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)


def _add_resources(to: MCPServer[Any]) -> None:
    @to.resource("test://static-text", description="Text.", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @to.resource("test://static-binary", description="An image.", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(_DOT)

    @to.resource("test://template/{id}/data", description="Data of an id.", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002  # the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(to: MCPServer[Any]) -> None:
    @to.prompt(description="No arguments.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @to.prompt(description="Two arguments.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @to.prompt(description="An embedded resource.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803  # the suite's name
        held = _embedded(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(held), UserMessage("Please process the embedded resource above.")]

    @to.prompt(description="An image.")
    def test_prompt_with_image() -> list[UserMessage]:
        return [UserMessage(_IMAGE), UserMessage("Please analyze the image above.")]

    @to.prompt(description="Asks for more.")
    def test_input_required_result_prompt(context: Asked) -> str | InputRequiredResult:
        said = _filled(context, "user_context", "context")
        return (
            f"In {said}" if said else _ask(user_context=_form("What context should the prompt use?", context="string"))
        )


if __name__ == "__main__":
    server.MemoryServer = WithFixtures  # type: ignore[misc]
    sys.exit(run(["mcp", *sys.argv[1:]]))
