"""What a tool is: one row of a table, from which its schema, its arguments and its call are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

Facts = dict[str, Any]
"""What a tool answers: JSON values by name."""


class ParameterKind(StrEnum):
    """What a parameter takes."""

    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    FLAG = "flag"
    TEXTS = "texts"
    RECORD = "record"
    RECORDS = "records"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool; `longest` is in characters, `fields` are the properties of a record.

    `is_forgiven` says that a call without one that is needed is no fault: the tool's own answer says what that means.
    """

    name: str
    about: str
    kind: ParameterKind = ParameterKind.TEXT
    needed: bool = False
    is_forgiven: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    longest: int = 4_000
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    needed_fields: tuple[str, ...] = ()

    def schema(self) -> Facts:
        """Return the parameter as a property of a JSON Schema."""
        schema = self._type() | {"description": self.about}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def _type(self) -> Facts:
        text = {"type": "string", "maxLength": self.longest}
        match self.kind:
            case ParameterKind.TEXT:
                return {"type": "string", "enum": list(self.choices)} if self.choices else text
            case ParameterKind.TEXTS:
                inner = {"type": "string", "enum": list(self.choices)} if self.choices else {"type": "string"}
                return {"type": "array", "items": inner}
            case ParameterKind.RECORD:
                return self._record()
            case ParameterKind.RECORDS:
                return {"type": "array", "items": self._record()}
            case ParameterKind.FLAG:
                return {"type": "boolean"}
        bounds = {"minimum": self.least, "maximum": self.most}
        stated = {name: value for name, value in bounds.items() if value is not None}
        return {"type": "integer" if self.kind is ParameterKind.WHOLE else "number"} | stated

    def _record(self) -> Facts:
        schema: Facts = {"type": "object", "properties": {name: dict(one) for name, one in self.fields.items()}}
        return schema | ({"required": list(self.needed_fields)} if self.needed_fields else {})


class TakesParameters(Protocol):
    """What takes arguments: a tool or a prompt."""

    @property
    def takes(self) -> tuple[Parameter, ...]:
        """Return the parameters."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: what an agent reads of it, what it takes, what it answers, and what carries a call out.

    `call` takes the workspace and the arguments by name; it imports the feature that it calls when it is called, so
    that the server's first reply waits for none. `answers` are the properties of the answer's schema.
    `fall_back` makes the answer of a tool that reads from a status, a sentence and the arguments, where reading fails
    or takes too long; without one, a failure is an error. `refuse` makes the answer of a tool that never raises.
    `rootless` answers where there is no memory at all, from the working folder, the reason and the arguments. `binds`
    says of a member of the answer that it comes on the first pages. `keeps_time` says that the verb itself keeps the
    time limit, with its retry.
    """

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    answers: Mapping[str, Mapping[str, Any]]
    call: Callable[..., Facts]
    writes: bool = False
    destroys: bool = False
    repeats: bool = True
    fall_back: Callable[[str, str, Mapping[str, Any]], Facts] | None = None
    refuse: Callable[[str], Facts] | None = None
    rootless: Callable[..., Facts] | None = None
    binds: Callable[[Any], bool] | None = None
    keeps_time: bool = False

    @property
    def is_paged(self) -> bool:
        """Say whether a long answer is given page by page: a write must not be repeated for its second page."""
        return not self.writes

    @property
    def takes(self) -> tuple[Parameter, ...]:
        """Return the parameters, with the one for the next page where there may be one."""
        return (*self.parameters, CURSOR) if self.is_paged else self.parameters

    def input_schema(self) -> Facts:
        """Return what the tool takes as a JSON Schema without references and unions."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {one.name: one.schema() for one in self.takes},
            "required": [one.name for one in self.parameters if one.needed],
            "additionalProperties": False,
        }

    def output_schema(self) -> Facts:
        """Return what the tool answers as a JSON Schema; more keys may stand beside those that it names."""
        paging = {**PAGING, "cursor": CURSOR_OUT} if self.is_paged else dict(PAGING)
        return {"type": "object", "properties": {**paging, **{name: dict(one) for name, one in self.answers.items()}}}


PAGING: Mapping[str, Mapping[str, Any]] = {
    "truncated": {"type": "boolean", "description": "the answer is cut: the rest is not in it"},
}
CURSOR_OUT = {"type": "string", "description": "hand it back as `cursor`, with the same arguments, for the rest"}
CURSOR = Parameter(
    name="cursor",
    about="The `cursor` of a cut answer: repeat the call with the same arguments and this for the rest.",
    longest=100,
)


TEXT = {"type": "string"}
# Two branches, each of one type: some clients map a schema onto a dialect in which a type has one name.
TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
TEXTS = {"type": "array", "items": {"type": "string"}}
FLAG = {"type": "boolean"}
FLAG_OR_NULL = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
COUNT = {"type": "integer"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
PROBLEMS = {**OBJECTS, "description": "files that cannot be read, and may bind"}

SCOPES = ("global", "project", "focus")
READ_STATUSES = ("succeeded", "empty", "timed_out", "failed", "conflicted")
READ_STATUS = {"type": "string", "enum": list(READ_STATUSES)}


def one_of(*values: str) -> Facts:
    """Return the schema of a text out of a closed set."""
    return {"type": "string", "enum": list(values)}


def described(schema: Mapping[str, Any], about: str) -> Facts:
    """Return a schema with its description."""
    return {**schema, "description": about}


PROJECT = Parameter(name="project_id", about="The project: its id, or the name of its wing.", longest=200)
NEEDED_PROJECT = Parameter(
    name="project_id", needed=True, is_forgiven=True, about="The project: its id, or the name of its wing.", longest=200
)
FOCUS = Parameter(name="focus", about="The focus area within the project.", longest=200)
TOKEN = Parameter(
    name="governance_token",
    about="What `request_global_write_approval` gave; needed where the scope is global or the wing is shared.",
    longest=200,
)
AGENT = Parameter(name="agent", about="The name of the agent that writes; it is kept in the entry.", longest=200)
ROOM = Parameter(name="room", about="The room to write to. Default: the one that the settings give for the kind.")
PATHS = Parameter(
    name="paths", kind=ParameterKind.TEXTS, about="The files of code at hand, from the repository's top.", longest=1_000
)
AT = Parameter(
    name="at",
    about="A commit, branch or tag; or a date such as 2026-01-31: what was binding then, a day until its end in UTC.",
    longest=200,
)
LABELS = ("Invariant", "Decision", "Pattern", "Context", "Session", "EntityFact", "Note")
