"""Arguments of tools: a pydantic model of a function's annotations, lenient about form and strict about names."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from mdmem.errors import UsageError

_SHOWN = 60
_MOST_FAULTS = 8
# Parameters of a tool's function that no client sends.
_INTERNAL = ("workspace", "hub", "shown", "form")


def find_nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name that is most similar to a name; None where none is similar."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name[:_SHOWN].casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def hint(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return the known name that was probably meant, else the list of all of them."""
    listed = list(known)
    close = find_nearest(name, listed, cutoff)
    return f"did you mean `{close}`?" if close else f"there is {', '.join(f'`{one}`' for one in listed) or 'none yet'}"


def shown(value: object) -> str:
    """Return a value as a message may contain it: on one line, and short."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _parse_json(value: Any) -> Any:
    """Return the list or the object that a text contains as JSON; any other value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (str, int, float)) else value


def _split(value: Any) -> Any:
    """Return a list, also of a JSON text, of values joined by commas, or of a single value."""
    value = _parse_json(value)
    values = value.split(",") if isinstance(value, str) else _as_list(value)
    if not isinstance(values, list):
        return values
    return [one for one in (one.strip() if isinstance(one, str) else one for one in values) if one != ""]


def _as_prose(value: Any) -> Any:
    """Return a list of a single text, commas included; none for a blank one."""
    value = _parse_json(value)
    return [] if isinstance(value, str) and not value.strip() else _as_list(value)


class _Choice:
    """Accept a member of a Literal in any case, with hyphens for underscores."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        known = {one.casefold(): one for one in get_args(source)}

        def find(value: Any) -> Any:
            value = _single(value)
            if not isinstance(value, str):
                return value
            folded = value.strip().casefold()
            return known.get(folded.replace("-", "_"), known.get(folded, value))

        return core_schema.no_info_before_validator_function(find, handler(source))


def _single(value: Any) -> Any:
    """Return the only member of a list: agents send a list for a field that has a list in the files."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


Choice = _Choice()
Listed = BeforeValidator(_split)
AsText = BeforeValidator(_single)
Text = Annotated[str, Field(max_length=4_000), AsText]
# Git takes no text with a null character, as of a branch.
Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$"), AsText]
LongText = Annotated[str, Field(max_length=60_000), AsText]
Texts = Annotated[tuple[Text, ...], Listed, AfterValidator(lambda texts: tuple(dict.fromkeys(texts)))]
Prose = Annotated[tuple[Text, ...], BeforeValidator(_as_prose)]
Record = Annotated[dict[str, Any], BeforeValidator(_parse_json)]
Objects = BeforeValidator(lambda value: [found] if isinstance(found := _parse_json(value), dict) else found)

Type = Annotated[Literal["invariant", "decision", "pattern", "note"], Choice]
Wing = Annotated[Name | None, Field(default=None, description="Default: the active one.")]
Focus = Annotated[Name | None, Field(default=None, description="The focus area.")]
Agent = Annotated[Name | None, Field(default=None, description="Your name.")]
Room = Annotated[Text | None, Field(default=None, description="Default: the one for its kind.")]
Project = Annotated[Name | None, Field(default=None, description="Its id, or the name of its wing.")]
Paths = Annotated[
    tuple[Annotated[str, Field(max_length=1_000), AsText], ...] | None,
    Listed,
    Field(default=None, description="Code files, relative to the repository's top; they need not exist."),
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class OutputSchema(GenerateJsonSchema):
    """A short schema of an answer."""

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:  # noqa: ARG002  # pydantic's
        """Return the type alone."""
        return {"type": "object"}


class FlatSchema(GenerateJsonSchema):
    """A schema that every client understands: without titles, unions with null, and lengths."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of the value that is not null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema with its default, unless that is null or an empty list."""
        found = super().default_schema(schema)
        return {name: value for name, value in found.items() if name != "default" or value not in (None, [])}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:  # noqa: ARG002  # pydantic's
        """Return the type alone."""
        return {"type": "object", "properties": {}}

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:  # noqa: ARG002  # pydantic's
        """Return the type alone."""
        return {"type": "string"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's
        """Leave titles out."""
        return False


class Arguments:
    """The arguments of a function by its annotations, and more of them by name."""

    def __init__(self, call: Callable[..., Any], more: Mapping[str, Any]) -> None:
        """Take the function and the annotations of the other arguments that a client may send."""
        self._call, self._more = call, more

    @cached_property
    def _model(self) -> type[_Model]:
        fields = dict[str, Any]()
        for name, one in inspect.signature(self._call, eval_str=True).parameters.items():
            if one.kind is one.VAR_KEYWORD:
                fields |= get_type_hints(get_args(one.annotation)[0], include_extras=True)
            elif name not in _INTERNAL:
                fields[name] = one.annotation if one.default is one.empty else (one.annotation, one.default)
        return create_model("Arguments", __base__=_Model, **fields, **self._more)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the arguments as a JSON Schema without references and unions."""
        schema = self._model.model_json_schema(schema_generator=FlatSchema)
        names = ("type", "properties", "required", "additionalProperties")
        return {name: schema[name] for name in names if name in schema}

    def parse(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name; raises UsageError with one sentence for each fault.

        Null counts as left out. A call without a required argument that may be null is the tool's to answer.
        """
        fields = self._model.model_fields
        nullable = [name for name, one in fields.items() if type(None) in get_args(one.annotation)]
        stated = dict.fromkeys(name for name in nullable if fields[name].is_required())
        stated |= {name: value for name, value in sent.items() if value is not None}
        try:
            parsed = self._model.model_validate(stated)
        except ValidationError as error:
            faults = dict.fromkeys(self._sentence(one["type"], str(one["loc"][0]), one) for one in error.errors())
            raise UsageError("; ".join(fault.rstrip("?") for fault in list(faults)[:_MOST_FAULTS])) from None
        except ValueError:
            # Python refuses to print an integer of more than 4,300 digits.
            raise UsageError("a number has too many digits") from None
        return {name: getattr(parsed, name) for name in fields}

    def _sentence(self, kind: str, name: str, error: Mapping[str, Any]) -> str:
        known = self.schema["properties"]
        if kind == "extra_forbidden":
            # A parameter of another tool is no misspelling: a hint at one of ours that shares letters misleads.
            close, listed = find_nearest(name, known, cutoff=0.8), ", ".join(f"`{one}`" for one in known) or "none"
            meant = f"did you mean `{close}`?" if close else f"it takes {listed}"
            return f"there is no parameter {shown(name)}; {meant}"
        if kind == "missing":
            about = known[name]["description"].split(". ")[0].rstrip(".")
            return f"`{name}` is missing: {about[:1].lower() + about[1:]}"
        message = error["msg"].replace("Input should be", "it must be").replace("a valid tuple", "a list")
        message = message.replace("a valid list", "a list").replace("a valid dictionary", "an object")
        return f"`{name}`: {message[:1].lower() + message[1:]}, found {shown(error['input'])}"
