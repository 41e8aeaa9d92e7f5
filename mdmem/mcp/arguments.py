"""Arguments of tools and prompts by the annotations of their functions: forgiving about form, strict about names."""

from __future__ import annotations

import difflib
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from mdmem.errors import UsageError

_SHOWN = 60
# A number in an exponent's notation may have more digits than Python prints.
_LARGEST = 10**15
_MANY = 500
# Names that parameters had before.
_FORMER = {"addresses": "address"}
# Parameters of a tool's function that no client sends.
_OURS = ("workspace", "given", "form")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name that looks most like one, None where none does."""
    folded = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name[:_SHOWN].casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def hint(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return the known name that was probably meant, else all of them."""
    listed = list(known)
    close = nearest(name, listed, cutoff)
    return f"did you mean `{close}`?" if close else f"there is {', '.join(f'`{one}`' for one in listed) or 'none yet'}"


def shown(value: object) -> str:
    """Return a value as a message may contain it: on one line, and short."""
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "so large a number"
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _text(value: Any) -> Any:
    """Return the text of a number, and the only member of a list; any other value as it is."""
    # Agents send a list of one for a field that has a list in the files.
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return str(value) if _is_number(value) else value


def _number(value: Any) -> Any:
    with suppress(ValueError):
        value = float(value[:_SHOWN]) if isinstance(value, str) else value
    if not _is_number(value) or not math.isfinite(value):
        # The message comes with the schema.
        raise ValueError
    return value


def _opened(value: Any) -> Any:
    """Return the list or the object of a JSON text; any other value as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _listed(value: Any) -> Any:
    """Return a list, also of a JSON text, of values joined by commas, or of a single value."""
    value = _opened(value)
    value = value.split(",") if isinstance(value, str) else [value] if _is_number(value) else value
    if not isinstance(value, list):
        return value
    return [one for one in (one.strip() if isinstance(one, str) else one for one in _few(value)) if one != ""]


def _prose(value: Any) -> Any:
    value = _opened(value)
    value = [value] * bool(value.strip()) if isinstance(value, str) else [value] if _is_number(value) else value
    return [one.strip() if isinstance(one, str) else one for one in _few(value)] if isinstance(value, list) else value


def _few(values: list[Any]) -> list[Any]:
    if len(values) > _MANY:
        raise ValueError(f"has {len(values)} values; at most {_MANY} are read")
    return values


class _Choice:
    """Reads one of a closed set in any case, with hyphens for underscores."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return the schema of a Literal behind a function that finds the member of the set."""
        known = {one.casefold(): one for one in get_args(source)}

        def find(value: Any) -> Any:
            text = _text(value)
            if not isinstance(text, str):
                return text
            folded = text.strip().casefold()
            found = known.get(folded.replace("-", "_")) or known.get(folded)
            if found is None:
                close = nearest(text, known.values())
                meant = f"did you mean `{close}`? " if close else ""
                listed = ", ".join(f"`{one}`" for one in known.values())
                raise ValueError(f"cannot be {shown(text)}; {meant}it is one of {listed}")
            return found

        return core_schema.no_info_before_validator_function(find, handler(source))


Choice = _Choice()
Listed = BeforeValidator(_listed)
# Put behind a Field: what is before them is checked after them.
AsText, AsNumber = BeforeValidator(_text), BeforeValidator(_number)
Text = Annotated[str, Field(max_length=4_000), AsText]
Name = Annotated[str, Field(max_length=200), AsText]
LongText = Annotated[str, Field(max_length=60_000), AsText]
Texts = Annotated[tuple[Text, ...], Listed, AfterValidator(lambda texts: tuple(dict.fromkeys(texts)))]
# A single text is one value, commas and all, and each of several keeps its place.
Prose = Annotated[tuple[Text, ...], BeforeValidator(_prose)]
Whole = Annotated[int, AsNumber]
Flag = Annotated[bool, BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)]
Record = Annotated[dict[str, Any], BeforeValidator(_opened)]
Objects = BeforeValidator(lambda value: [found] if isinstance(found := _opened(value), dict) else found)

Type = Annotated[Literal["invariant", "decision", "pattern", "note"], Choice]
Wing = Annotated[Name | None, Field(default=None, description="Default: the active one.")]
Focus = Annotated[Name | None, Field(default=None, description="The focus area.")]
Agent = Annotated[Name | None, Field(default=None, description="Your name.")]
Room = Annotated[Text | None, Field(default=None, description="Default: that of its kind.")]
Project = Annotated[Name | None, Field(default=None, description="Its id, or the name of its wing.")]
Paths = Annotated[
    tuple[Annotated[str, Field(max_length=1_000), AsText], ...] | None,
    Listed,
    Field(default=None, description="Files of code at hand, from the repository's top; they need not exist."),
]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Take null for left out; the tool itself answers a call without a needed argument that may be null."""
        nullable = (
            name for name, one in cls.model_fields.items() if one.is_required() and _is_nullable(one.annotation)
        )
        return dict.fromkeys(nullable) | {name: value for name, value in given.items() if value is not None}


def _is_nullable(annotation: Any) -> bool:
    return type(None) in get_args(annotation)


class _FlatSchema(GenerateJsonSchema):
    """A schema that every client reads: no titles, no unions with null, no lengths, which tell a model nothing."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Return the schema of what is not null."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Return the schema with its default, unless that is nothing."""
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
    """The arguments of a function, by its annotations, and more of them by name."""

    def __init__(self, call: Callable[..., Any], **more: Any) -> None:
        """Take the function and the annotations of what else a client may send."""
        self._call, self._more = call, more

    @cached_property
    def _model(self) -> type[_Arguments]:
        hints, defaults = dict[str, Any](), dict[str, Any]()
        for name, one in inspect.signature(self._call, eval_str=True).parameters.items():
            if one.kind is one.VAR_KEYWORD:
                unpacked = get_args(one.annotation)
                hints |= get_type_hints(unpacked[0], include_extras=True) if unpacked else {}
            elif name not in _OURS:
                hints[name] = one.annotation
                defaults |= {} if one.default is one.empty else {name: one.default}
        body = {"__module__": __name__, "__annotations__": hints | self._more, **defaults}
        return type("Arguments", (_Arguments,), body)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the arguments as a JSON Schema without references and unions."""
        schema = self._model.model_json_schema(schema_generator=_FlatSchema)
        names = ("type", "properties", "required", "additionalProperties")
        return {name: schema[name] for name in names if name in schema}

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name; raises UsageError with one sentence for each fault."""
        known = self._model.model_fields
        try:
            read = self._model.model_validate(
                {name if name in known else _FORMER.get(name, name): value for name, value in given.items()}
            )
        except ValidationError as error:
            faults = dict.fromkeys(self._fault(one["loc"], one["type"], one) for one in error.errors())
            raise UsageError("; ".join(fault.rstrip("?") for fault in list(faults)[:8])) from None
        return {name: getattr(read, name) for name in known}

    def _fault(self, loc: tuple[int | str, ...], kind: str, error: Mapping[str, Any]) -> str:
        known, name = self.schema["properties"], str(loc[0])
        if kind == "extra_forbidden":
            # A name of another tool's, as `task`, is no slip: one of ours that shares letters with it misleads.
            close, listed = nearest(name, known, cutoff=0.8), ", ".join(f"`{one}`" for one in known) or "none"
            return (
                f"there is no parameter {shown(name)}; {f'did you mean `{close}`?' if close else f'it takes {listed}'}"
            )
        schema, value, context = known[name], error["input"], error.get("ctx", {})
        if kind == "missing":
            about = schema["description"].split(". ")[0].rstrip(".")
            return f"`{name}` is missing: {about[:1].lower() + about[1:]}"
        if kind == "value_error" and str(context["error"]):
            return f"`{name}` {context['error']}"
        if kind == "string_too_long":
            return f"`{name}` has {len(value)} characters; at most {context['max_length']} are read"
        if kind in ("greater_than_equal", "less_than_equal"):
            least, most = schema.get("minimum"), schema.get("maximum")
            bounds = f"from {least} to {most}" if None not in (least, most) else f"at least {least}"
            return f"`{name}` must be {bounds}, found {shown(value)}"
        return f"`{name}` must be {_kind(schema['items'] if loc[1:] else schema)}, found {shown(value)}"


def _kind(schema: Mapping[str, Any]) -> str:
    fields = ", ".join(f"`{name}`" for name in schema.get("properties", ())) or "names and values"
    inner = "objects" if schema.get("items", {}).get("type") == "object" else "texts"
    kinds = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return kinds.get(schema["type"]) or (
        f"an object with {fields}" if schema["type"] == "object" else f"a list of {inner}"
    )
