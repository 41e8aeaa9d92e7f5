"""Define a tool: a typed function of a workspace, with its description, arguments, and the form of its answer.

A pydantic model, which is built from the function's annotations, parses the arguments. It accepts several forms of a
value, for example `"a, b"` for a list, but no unknown names.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Struct, field
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from mdmem.errors import UsageError

Facts = dict[str, Any]
"""The answer of a tool: JSON values by name."""
Shown = Mapping[str, str]
"""Notes on the entries that the session has already seen, by address."""

JSON_FORM = "json"
AT, REPOSITORY = "at", "repository"
_LONGEST_VALUE, _MAX_FAULTS = 60, 8
# Parameters of a tool's function that are not arguments of the client.
_INTERNAL = ("workspace", "hub", "shown")


def short_json(value: object) -> str:
    """Return a value as one short line of JSON, for messages."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _parse_json(value: Any) -> Any:
    """Parse a text that contains a JSON list or object; return any other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (str, int, float)) else value


def _split(value: Any) -> Any:
    """Convert a value to a list; the value may be a list, JSON, a text with commas, or a single value."""
    value = _parse_json(value)
    values = value.split(",") if isinstance(value, str) else _as_list(value)
    if not isinstance(values, list):
        return values
    return [one for one in (one.strip() if isinstance(one, str) else one for one in values) if one != ""]


def _as_prose(value: Any) -> Any:
    """Convert a value to a list of texts; a text is not split at commas, and a blank text becomes an empty list."""
    value = _parse_json(value)
    return [] if isinstance(value, str) and not value.strip() else _as_list(value)


def _single(value: Any) -> Any:
    """Return the only member of a list, since agents often send a list for a single value."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def optional(about: str, *, default: Any = None, **limits: Any) -> Any:
    """Return the pydantic field of an optional argument with a description; `limits` are options such as `ge`."""
    return Field(default=default, description=about, **limits)


class _Choice:
    """Makes a Literal accept its values in any case, and with hyphens instead of underscores."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        known = {one.casefold(): one for one in get_args(source)}

        def find(value: Any) -> Any:
            value = _single(value)
            if not isinstance(value, str):
                return value
            folded = value.strip().casefold()
            return known.get(folded.replace("-", "_"), known.get(folded, value))

        return core_schema.no_info_before_validator_function(find, handler(source))


Choice = _Choice()
Listed = BeforeValidator(_split)
AsText = BeforeValidator(_single)
Text = Annotated[str, Field(max_length=4_000), AsText]
# Names are passed to git, which does not accept null characters.
Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$"), AsText]
LongText = Annotated[str, Field(max_length=60_000), AsText]
Texts = Annotated[tuple[Text, ...], Listed, AfterValidator(lambda texts: tuple(dict.fromkeys(texts)))]
Prose = Annotated[tuple[Text, ...], BeforeValidator(_as_prose)]
Record = Annotated[dict[str, Any], BeforeValidator(_parse_json)]
Objects = BeforeValidator(lambda value: [one] if isinstance(one := _parse_json(value), dict) else one)

Type = Annotated[Literal["invariant", "decision", "pattern", "note"], Choice]
Wing = Annotated[Name | None, optional("Default: the active one.")]
Focus = Annotated[Name | None, optional("The focus area.")]
Agent = Annotated[Name | None, optional("Your name.")]
Room = Annotated[Text | None, optional("Default: the one for its kind.")]
PROJECT = "Its `project_id` or wing's name."
Project = Annotated[Name | None, optional(PROJECT)]
Paths = Annotated[
    tuple[Annotated[str, Field(max_length=1_000), AsText], ...] | None,
    Listed,
    optional("Code files, relative to the repository's top; they need not exist."),
]
_CURSOR = Annotated[str | None, optional("From a cut answer.", max_length=100), AsText]
_FRESH = Annotated[bool, optional("Show entries again that were shown before.", default=False)]
_FORMAT = Annotated[Literal["text", "json"], Choice, optional("Form of the answer.", default="text")]
_AT = Annotated[Name | None, optional("A commit, tag or date.")]
_ELSEWHERE = "Another repository of the organisation, by name. Default: this one."
_REPOSITORY = Annotated[Name | None, optional(_ELSEWHERE)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


# ruff: noqa: ARG002  # pydantic passes each of its arguments to every method
class _OutputSchema(GenerateJsonSchema):
    """Generates a short JSON Schema for an answer."""

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Return the schema of an object without its keys: `{"type": "object"}`."""
        return {"type": "object"}


class FlatSchema(GenerateJsonSchema):
    """Generates a JSON Schema that every client understands, without titles, unions with null, and lengths."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of the value without null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema with its default, unless that is null or an empty list."""
        found = super().default_schema(schema)
        return {name: value for name, value in found.items() if name != "default" or value not in (None, [])}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Return only the type, without the keys."""
        return {"type": "object", "properties": {}}

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Return only the type, without lengths and patterns."""
        return {"type": "string"}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave titles out."""
        return False


class ToolResult(Struct, frozen=True):
    """An answer in two forms, JSON values (`facts`) and text; only the form that is sent is computed.

    `shown` records which version and parts of each entry the answer shows, so that the session can remember them.
    """

    facts: Callable[[], Facts]
    text: Callable[[], str] | None = None
    shown: Shown = field(default_factory=dict)


class Tool(Struct, frozen=True, kw_only=True, dict=True):
    """One tool: its function, its title and description for clients, and the form of its answer.

    Attributes:
        call: The function. It takes the workspace, and the arguments by name. If it has a parameter `shown`, it also
            gets the entries that the session has already seen. With the return annotation
            `Annotated[Facts, SomeTypedDict]`, the answer is JSON in a structure that a contract fixes. Otherwise the
            answer is text, or JSON with the argument `format: json`.
        view: Renders a structured answer as text, which is added under the key `markdown`.
        kept: Nested keys that a contract fixes, so that they are kept even if they are empty.
        noise: Keys to remove because an agent does not need them.
        fall_back: Returns the answer if the memory cannot be read, from a status, a message and the arguments.
        refuse: Returns the answer to a failed call, from a message and advice; without it, the answer is an error.
        is_first: Whether clients that load tools on demand should load this tool from the start.
        has_at: Whether the tool has the argument `at`, a commit or date.
        asks_hub: Whether the tool has the argument `repository`.
        asks: Arguments whose words are searched outside the memory if the memory cannot be read.
    """

    name: str
    title: str
    about: str
    call: Callable[..., Facts | ToolResult]
    view: Callable[[Facts], str] | None = None
    kept: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    writes: bool = False
    fall_back: Callable[[str, str, Mapping[str, Any]], Facts] | None = None
    refuse: Callable[[str, str], Facts] | None = None
    is_first: bool = False
    has_at: bool = False
    asks_hub: bool = False
    asks: tuple[str, ...] = ()

    @cached_property
    def _model(self) -> type[_Model]:
        """Return the model of the arguments: those of the function, and common ones such as `cursor`."""
        fields = dict[str, Any]()
        for name, one in inspect.signature(self.call, eval_str=True).parameters.items():
            if one.kind is one.VAR_KEYWORD:
                fields |= get_type_hints(get_args(one.annotation)[0], include_extras=True)
            elif name not in _INTERNAL:
                fields[name] = one.annotation if one.default is one.empty else (one.annotation, one.default)
        more = {
            AT: (self.has_at, _AT),
            REPOSITORY: (self.asks_hub, _REPOSITORY),
            "fresh": (self.takes_shown, _FRESH),
            "format": (not self.answer_types, _FORMAT),
            # A second page would repeat the write.
            "cursor": (not self.writes, _CURSOR),
        }
        fields |= {name: annotation for name, (is_taken, annotation) in more.items() if is_taken}
        return create_model("Arguments", __base__=_Model, **fields)

    @cached_property
    def takes_shown(self) -> bool:
        """Return whether the function takes the entries that the session has already seen."""
        return "shown" in inspect.signature(self.call).parameters

    @cached_property
    def input_schema(self) -> Facts:
        """Return the arguments as a JSON Schema without references and unions."""
        schema = self._model.model_json_schema(schema_generator=FlatSchema)
        names = ("type", "properties", "required", "additionalProperties")
        return {name: schema[name] for name in names if name in schema}

    @cached_property
    def answer_types(self) -> Mapping[str, Any]:
        """Return the types of the answer's JSON fields if a contract fixes them, otherwise an empty mapping."""
        answer = get_args(inspect.signature(self.call, eval_str=True).return_annotation)
        return get_type_hints(answer[1], include_extras=True) if answer and answer[0] == Facts else {}

    @cached_property
    def output_schema(self) -> Facts | None:
        """Return the JSON Schema of the answer, which may have further keys; None if the answer is text."""
        if not self.answer_types:
            return None
        types = self.answer_types.items()
        schemas = {name: TypeAdapter(one).json_schema(schema_generator=_OutputSchema) for name, one in types}
        return {"type": "object", "properties": schemas}

    def listed(self) -> Facts:
        """Return the JSON values of the tool in the protocol's list of tools."""
        # These two hints are only defined for tools that write.
        writing = {"destructiveHint": False, "idempotentHint": False} if self.writes else {}
        return {
            # Claude Code loads other tools only when its model searches for them; the hint has words to find them by.
            "_meta": {"anthropic/alwaysLoad": True} if self.is_first else {"anthropic/searchHint": self.title.lower()},
            "annotations": {**writing, "openWorldHint": False, "readOnlyHint": not self.writes},
            "description": self.about,
            "inputSchema": self.input_schema,
            "name": self.name,
            **({} if self.output_schema is None else {"outputSchema": self.output_schema}),
            "title": self.title,
        }

    def parse(self, sent: Mapping[str, Any]) -> Facts:
        """Parse a client's arguments; null counts as absent. Raises UsageError, which names each wrong argument."""
        fields = self._model.model_fields
        nullable = [name for name, one in fields.items() if type(None) in get_args(one.annotation)]
        values = dict.fromkeys(name for name in nullable if fields[name].is_required())
        values |= {name: value for name, value in sent.items() if value is not None}
        try:
            parsed = self._model.model_validate(values)
        except ValidationError as error:
            properties, faults = self.input_schema["properties"], dict[str, None]()
            for one in error.errors():
                name, kind = str(one["loc"][0]), one["type"]
                fault = f"`{name}`: {one['msg']}, found {short_json(one['input'])}"
                if kind == "extra_forbidden":
                    fault = f"there is no parameter {short_json(name)}"
                elif kind == "missing":
                    fault = f"`{name}` is missing: {properties[name]['description'].removesuffix('.')}"
                faults[fault] = None
            text = "; ".join(list(faults)[:_MAX_FAULTS])
            if any(one["type"] == "extra_forbidden" for one in error.errors()):
                text += f"; the tool takes {', '.join(f'`{one}`' for one in properties) or 'none'}"
            raise UsageError(text) from None
        except ValueError:
            # Python refuses to print an integer of more than 4,300 digits.
            raise UsageError("a number has too many digits") from None
        return {name: getattr(parsed, name) for name in fields}


def without_memory(*echoed: str, **empty: Any) -> Callable[[str, str, Mapping[str, Any]], Facts]:
    """Return a function for `Tool.fall_back`, which answers a call when the memory cannot be read.

    The answer has the status and the message, repeats the arguments named in `echoed`, and has the values of `empty`.
    A value that is a function is called with the message and the arguments.
    """

    def answer(status: str, message: str, arguments: Mapping[str, Any]) -> Facts:
        asked = {name: arguments[name] for name in echoed}
        values = {name: value(message, arguments) if callable(value) else value for name, value in empty.items()}
        return {"retrieval_status": status, **asked, **values, "message": message, "degraded": True}

    return answer


def tool(title: str, **options: Any) -> Callable[[Callable[..., Facts | ToolResult]], Tool]:
    """Return a decorator that makes a function a tool with its name and docstring; `options` are fields of `Tool`."""

    def make(call: Callable[..., Facts | ToolResult]) -> Tool:
        about = " ".join((inspect.getdoc(call) or "").split())
        return Tool(name=call.__name__.removeprefix("_"), title=title, about=about, call=call, **options)

    return make
