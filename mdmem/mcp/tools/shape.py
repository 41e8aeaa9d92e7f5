"""A tool: a typed function over a workspace, with the hints that clients read and the form of its answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from msgspec import Struct, field
from pydantic import Field

from mdmem.mcp.answers import told
from mdmem.mcp.arguments import Arguments, AsText, Choice, Flag, Name
from mdmem.mcp.session import Given

Facts = dict[str, Any]
"""The answer of a tool: JSON values by name."""

JSON_FORM = "json"
AT, REPOSITORY = "at", "repository"
EVERYWHERE = "*"
_CURSOR = Annotated[str | None, Field(default=None, max_length=100, description="From a cut answer."), AsText]
_FRESH = Annotated[Flag, Field(default=False, description="Give again what was given before, whole.")]
_FORMAT = Annotated[Literal["text", "json"], Choice, Field(default="text", description="Form of the answer.")]
_AT = Annotated[Name | None, Field(default=None, description="A commit, tag or date.")]
_REPOSITORY = Annotated[
    Name | None,
    Field(
        default=None,
        description=f"Another repository of the organisation, by name, or `{EVERYWHERE}` for all. Default: this one.",
    ),
]


class Told(Struct, frozen=True):
    """An answer of which one of two forms is made: JSON values, and a text where `tell` has not its like.

    `gave` maps the addresses of the entries that the whole answer contains to digests.
    """

    facts: Callable[[], Facts]
    text: Callable[[], str] | None = None
    gave: Given = field(default_factory=dict)


class Tool(Struct, frozen=True, kw_only=True, dict=True):
    """One tool: the function that carries it out, the texts and hints that clients read, and the form of its answer.

    `call` takes the workspace and the arguments by name, as annotated; with a parameter `given` also the entries that
    the session has, with `form` the form of the answer, whose size a budget counts. `answers` are the properties of the
    answer's schema where a contract fixes one: such a tool sends its structure, and as text the result of `tell`. Any
    other tool sends text alone, or with `format: json` the structure as its text. `kept` are further keys that the
    contract fixes, `noise` keys that say nothing to an agent.

    `fall_back` makes the answer of a reading tool from a status, a sentence and the arguments where reading fails or
    takes too long; `refuse` makes that of a tool that never raises, from a sentence and advice. `rootless` answers
    where there is no memory, from the working folder, the reason and the arguments. `keeps_time` says that the feature
    itself keeps the time limit. The words of the arguments `asks` are looked for outside the memory where that was not
    read in time. `binds` says whether a member of the answer comes on the first pages.

    `points` are sentences on other tools, for where those are listed. `is_first` asks clients that load tools on demand
    to have it from the start. `has_at` takes a commit or date, `asks_hub` a repository; `reads_own` says that without
    one the root's own files answer.
    """

    name: str
    title: str
    about: str
    call: Callable[..., Facts | Told]
    answers: Mapping[str, Mapping[str, Any]] | None = None
    tell: Callable[[Facts], str] = told
    kept: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    writes: bool = False
    fall_back: Callable[[str, str, Mapping[str, Any]], Facts] | None = None
    refuse: Callable[[str, str], Facts] | None = None
    rootless: Callable[..., Facts | Told] | None = None
    binds: Callable[[Any], bool] = lambda _: False
    keeps_time: bool = False
    points: Mapping[str, str] = field(default_factory=dict)
    is_first: bool = False
    has_at: bool = False
    asks_hub: bool = False
    asks: tuple[str, ...] = ()
    reads_own: bool = False

    def description(self, listed: Collection[str]) -> str:
        """Return what an agent reads of it where so many tools are listed."""
        return " ".join([self.about, *(said for name, said in self.points.items() if name in listed)])

    @cached_property
    def takes(self) -> frozenset[str]:
        """Return the names of the function's parameters."""
        return frozenset(inspect.signature(self.call).parameters)

    @property
    def remembers(self) -> bool:
        """Say whether the function takes the entries that the session has."""
        return "given" in self.takes

    @cached_property
    def arguments(self) -> Arguments:
        """Return the arguments of the function, with those of the form and of the next page where there may be one."""
        more = {
            AT: (self.has_at, _AT),
            REPOSITORY: (self.asks_hub, _REPOSITORY),
            "fresh": (self.remembers, _FRESH),
            "format": (self.answers is None, _FORMAT),
            # A write must not be repeated for its second page.
            "cursor": (not self.writes, _CURSOR),
        }
        return Arguments(self.call, **{name: annotation for name, (is_taken, annotation) in more.items() if is_taken})

    @property
    def output_schema(self) -> Facts | None:
        """Return the JSON Schema of the answer, which may have more keys; None of a text."""
        if self.answers is None:
            return None
        return {"type": "object", "properties": {name: dict(one) for name, one in self.answers.items()}}

    def listed(self, names: Collection[str]) -> Facts:
        """Return the tool as the protocol lists it, where so many tools are listed."""
        # These two mean something of a tool that writes alone.
        writing = {"destructiveHint": False, "idempotentHint": False} if self.writes else {}
        return {
            # Claude Code loads other tools only when its model looks for them, by such words.
            "_meta": {"anthropic/alwaysLoad": True} if self.is_first else {"anthropic/searchHint": self.title.lower()},
            "annotations": {**writing, "openWorldHint": False, "readOnlyHint": not self.writes},
            "description": self.description(names),
            "inputSchema": self.arguments.schema,
            "name": self.name,
            **({} if self.output_schema is None else {"outputSchema": self.output_schema}),
            "title": self.title,
        }


TEXT = {"type": "string"}
# Two branches, each of one type: some clients map a schema onto a dialect in which a type has one name.
TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}
TEXTS = {"type": "array", "items": {"type": "string"}}
FLAG = {"type": "boolean"}
COUNT = {"type": "integer"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"type": "object"}}


def one_of(*values: str) -> Facts:
    """Return the schema of a text out of a closed set."""
    return {"type": "string", "enum": list(values)}


def described(schema: Mapping[str, Any], about: str) -> Facts:
    """Return a schema with its description."""
    return {**schema, "description": about}
