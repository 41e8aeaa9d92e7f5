"""What a tool is: one row of a table, from which its schema, its arguments and its call are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from mdmem.mcp.answers import told
from mdmem.mcp.session import Given

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


class Parameter(Struct, frozen=True, kw_only=True):
    """One argument of a tool; `longest` is in characters, `fields` are the properties of a record.

    `is_prose` says that a single text is one value, commas and all, and that each of several keeps its place.
    `is_forgiven` says that a call without one that is needed is no fault: the tool's own answer says what that means.
    """

    name: str
    about: str
    kind: ParameterKind = ParameterKind.TEXT
    needed: bool = False
    is_forgiven: bool = False
    is_prose: bool = False
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
        # How long a text may be is said where one is too long: to a model it says nothing.
        match self.kind:
            case ParameterKind.TEXT:
                return {"type": "string", "enum": list(self.choices)} if self.choices else {"type": "string"}
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


class Told(Struct, frozen=True):
    """What a tool answers in two forms, of which one is made: JSON values, and a text where `tell` has not its like.

    `gave` is what whoever gets all of it need not be told again: addresses to digests.
    """

    facts: Callable[[], Facts]
    text: Callable[[], str] | None = None
    gave: Given = field(default_factory=dict)


class Tool(Struct, frozen=True, kw_only=True):
    """One tool: what an agent reads of it, what it takes, what it answers, and what carries a call out.

    `call` takes the workspace and the arguments by name; it imports the feature that it calls when it is called, so
    that the server's first reply waits for none. `answers` are the properties of the answer's schema where a contract
    fixes one: such a tool sends its structure, and as text what `tell` makes of it. Any other sends text alone, or with
    `format: json` the structure as its text. `kept` are further keys that the contract fixes, `noise` those that say
    nothing to an agent. A key `markdown` among the answers is the text within the structure.
    `fall_back` makes the answer of a tool that reads from a status, a sentence and the arguments, where reading fails
    or takes too long; without one, a failure is an error. `refuse` makes the answer of a tool that never
    raises, from a sentence and what to do about it.
    `rootless` answers where there is no memory at all, from the working folder, the reason and the arguments. `binds`
    says of a member of the answer that it comes on the first pages. `keeps_time` says that the verb itself keeps the
    time limit, with its retry. `points` are sentences on other tools, said where these are listed,
    too. `is_first` asks clients that load tools on demand to have it from the start.
    `remembers` says that `call` takes what the session was given before, as `given`, `has_budget` that it takes the
    `form` in which the answer is sent, which a budget counts. `reads_own` says that it reads what no hub has, so that
    the root's own files answer where no repository is named. What `asks` are the parameters whose words are looked for
    outside the memory where that was not read in time.
    """

    name: str
    title: str
    about: str
    parameters: tuple[Parameter, ...]
    call: Callable[..., Facts | Told]
    answers: Mapping[str, Mapping[str, Any]] | None = None
    tell: Callable[[Facts], str] = told
    kept: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    writes: bool = False
    destroys: bool = False
    repeats: bool = True
    fall_back: Callable[[str, str, Mapping[str, Any]], Facts] | None = None
    refuse: Callable[[str, str], Facts] | None = None
    rootless: Callable[..., Facts | Told] | None = None
    binds: Callable[[Any], bool] = lambda _: False
    keeps_time: bool = False
    points: Mapping[str, str] = field(default_factory=dict)
    is_first: bool = False
    remembers: bool = False
    has_budget: bool = False
    asks: tuple[str, ...] = ()
    reads_own: bool = False

    def description(self, listed: Collection[str]) -> str:
        """Return what an agent reads of it where so many tools are listed."""
        return " ".join([self.about, *(said for name, said in self.points.items() if name in listed)])

    @property
    def is_paged(self) -> bool:
        """Say whether a long answer is given page by page: a write must not be repeated for its second page."""
        return not self.writes

    @property
    def asks_hub(self) -> bool:
        """Say whether the tool answers for other repositories, too."""
        return REPOSITORY in self.parameters

    @property
    def is_fixed(self) -> bool:
        """Say whether a contract fixes the structure of the answer."""
        return self.answers is not None

    @property
    def takes(self) -> tuple[Parameter, ...]:
        """Return the parameters, with those of the form and of the next page where there may be one."""
        form = () if self.is_fixed else (FORMAT,)
        fresh = (FRESH,) if self.remembers else ()
        return (*self.parameters, *fresh, *form, *((CURSOR,) if self.is_paged else ()))

    def input_schema(self) -> Facts:
        """Return what the tool takes as a JSON Schema without references and unions."""
        needed = [one.name for one in self.parameters if one.needed]
        properties = {one.name: one.schema() for one in self.takes}
        required = {"required": needed} if needed else {}
        return {"type": "object", "properties": properties, **required, "additionalProperties": False}

    def listed(self, names: Collection[str]) -> Facts:
        """Return the tool as the protocol lists it, where so many tools are listed."""
        # These two mean something of a tool that writes alone.
        writing = {"destructiveHint": self.destroys, "idempotentHint": self.repeats} if self.writes else {}
        schema = {} if self.answers is None else {"outputSchema": self.output_schema()}
        return {
            # Claude Code loads other tools only when its model looks for them, by such words.
            "_meta": {"anthropic/alwaysLoad": True} if self.is_first else {"anthropic/searchHint": self.title.lower()},
            "annotations": {**writing, "openWorldHint": False, "readOnlyHint": not self.writes},
            "description": self.description(names),
            "inputSchema": self.input_schema(),
            "name": self.name,
            **schema,
            "title": self.title,
        }

    def output_schema(self) -> Facts | None:
        """Return what the tool answers as a JSON Schema, which more keys may stand beside; None of a text."""
        if self.answers is None:
            return None
        return {"type": "object", "properties": {name: dict(one) for name, one in self.answers.items()}}


CURSOR = Parameter(name="cursor", about="From a cut answer.", longest=100)
FRESH = Parameter(
    name="fresh", kind=ParameterKind.FLAG, default=False, about="Give again what was given before, whole."
)
TEXT_FORM, JSON_FORM = "text", "json"
FORMAT = Parameter(name="format", default=TEXT_FORM, choices=(TEXT_FORM, JSON_FORM), about="Form of the answer.")


TEXT = {"type": "string"}
# Two branches, each of one type: some clients map a schema onto a dialect in which a type has one name.
TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
TEXTS = {"type": "array", "items": {"type": "string"}}
FLAG = {"type": "boolean"}
COUNT = {"type": "integer"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"type": "object"}}

SCOPES = ("global", "project", "focus")
READ_STATUSES = ("succeeded", "empty", "timed_out", "failed", "conflicted")
READ_STATUS = {"type": "string", "enum": list(READ_STATUSES)}


def one_of(*values: str) -> Facts:
    """Return the schema of a text out of a closed set."""
    return {"type": "string", "enum": list(values)}


def described(schema: Mapping[str, Any], about: str) -> Facts:
    """Return a schema with its description."""
    return {**schema, "description": about}


_PROJECT = "Its id, or the name of its wing."
PROJECT = Parameter(name="project_id", about=_PROJECT, longest=200)
NEEDED_PROJECT = Parameter(name="project_id", needed=True, is_forgiven=True, about=_PROJECT, longest=200)
FOCUS = Parameter(name="focus", about="The focus area.", longest=200)
TOKEN = Parameter(name="governance_token", about="For a shared wing or global scope: of `mdmem token`.", longest=200)
AGENT = Parameter(name="agent", about="Your name.", longest=200)
ROOM = Parameter(name="room", about="Default: that of its kind.")
PATHS = Parameter(
    name="paths",
    kind=ParameterKind.TEXTS,
    about="Files of code at hand, from the repository's top; they need not exist.",
    longest=1_000,
)
AT = Parameter(name="at", about="A commit, tag or date.", longest=200)
EVERYWHERE = "*"
REPOSITORY = Parameter(
    name="repository",
    about=f"Another repository of the organisation, by name, or `{EVERYWHERE}` for all. Default: this one.",
    longest=200,
)
LABELS = ("Invariant", "Decision", "Pattern", "Context", "Session", "EntityFact", "Note")
