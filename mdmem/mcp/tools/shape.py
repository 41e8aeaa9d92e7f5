"""A tool: a typed function over a workspace, with the hints that clients read and the form of its answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Struct, field
from pydantic import Field, TypeAdapter

from mdmem.mcp.arguments import Arguments, AsText, Choice, Name, OutputSchema

Facts = dict[str, Any]
"""The answer of a tool: JSON values by name."""
Shown = Mapping[str, str]
"""Entries that a session has been shown already, as addresses with digests."""

JSON_FORM = "json"
AT, REPOSITORY = "at", "repository"
EVERYWHERE = "*"
_CURSOR = Annotated[str | None, Field(default=None, max_length=100, description="From a cut answer."), AsText]
_FRESH = Annotated[bool, Field(default=False, description="Show entries again that were shown before.")]
_FORMAT = Annotated[Literal["text", "json"], Choice, Field(default="text", description="Form of the answer.")]
_AT = Annotated[Name | None, Field(default=None, description="A commit, tag or date.")]
_REPOSITORY = Annotated[
    Name | None,
    Field(
        default=None,
        description="Another repository of the organisation, by name. Default: this one.",
    ),
]


class ToolResult(Struct, frozen=True):
    """An answer in two forms, JSON values and text, of which only the one that is sent is made.

    `shown` maps the addresses of the entries in the answer to digests.
    """

    facts: Callable[[], Facts]
    text: Callable[[], str] | None = None
    shown: Shown = field(default_factory=dict)


class Tool(Struct, frozen=True, kw_only=True, dict=True):
    """One tool: the function that carries it out, its texts and hints for clients, and the form of its answer.

    Attributes:
        call: Takes the workspace and the arguments by name, as annotated; with a parameter `shown` also the entries
            that the session was shown, with `form` the form of the answer. A return annotation
            `Annotated[Facts, SomeTypedDict]` makes the answer a structure that a contract fixes. Any other tool sends
            text, or its values as JSON with `format: json`.
        view: Returns the text that a structured answer contains as `markdown`, too.
        kept: Keys that a contract fixes, beside those of the answer itself.
        noise: Keys that are of no use to an agent.
        fall_back: Returns the answer of a reading tool from a status, a sentence and the arguments, where reading
            fails or takes too long.
        refuse: Returns the answer of a tool that never raises, from a sentence and advice.
        rootless: Answers where there is no memory, from the working folder, the reason and the arguments.
        keeps_time: Whether the function itself keeps the time limit.
        is_first: Whether clients that load tools on demand should have it from the start.
        has_at: Whether it takes a commit or date.
        asks_hub: Whether it takes a repository.
        asks: Arguments whose words are searched outside the memory where that could not be read in time.
    """

    name: str
    title: str
    about: str
    call: Callable[..., Facts | ToolResult]
    view: Callable[[Facts], str] | None = None
    kept: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    writes: bool = False
    fall_back: Callable[[str, str, Mapping[str, Any]], Facts] | None = None
    refuse: Callable[[str, str], Facts] | None = None
    rootless: Callable[..., Facts | ToolResult] | None = None
    keeps_time: bool = False
    is_first: bool = False
    has_at: bool = False
    asks_hub: bool = False
    asks: tuple[str, ...] = ()

    @cached_property
    def takes(self) -> frozenset[str]:
        """Return the names of the function's parameters."""
        return frozenset(inspect.signature(self.call).parameters)

    @property
    def remembers(self) -> bool:
        """Check whether the function takes the entries that the session was shown."""
        return "shown" in self.takes

    @cached_property
    def arguments(self) -> Arguments:
        """Return the arguments of the function, with those of every tool of its kind."""
        more = {
            AT: (self.has_at, _AT),
            REPOSITORY: (self.asks_hub, _REPOSITORY),
            "fresh": (self.remembers, _FRESH),
            "format": (not self.is_structured, _FORMAT),
            # A write must not be repeated for its second page.
            "cursor": (not self.writes, _CURSOR),
        }
        return Arguments(self.call, {name: annotation for name, (is_taken, annotation) in more.items() if is_taken})

    @cached_property
    def answer_types(self) -> Mapping[str, Any]:
        """Return the types of the answer's fields where a contract fixes them."""
        answer = get_args(inspect.signature(self.call, eval_str=True).return_annotation)
        return get_type_hints(answer[1], include_extras=True) if answer and answer[0] == Facts else {}

    @property
    def is_structured(self) -> bool:
        """Check whether a contract fixes the answer."""
        return bool(self.answer_types)

    @cached_property
    def output_schema(self) -> Facts | None:
        """Return the JSON Schema of the answer, which may have more keys; None for a text."""
        if not self.is_structured:
            return None
        types = self.answer_types.items()
        schemas = {name: TypeAdapter(one).json_schema(schema_generator=OutputSchema) for name, one in types}
        return {"type": "object", "properties": schemas}

    def listed(self) -> Facts:
        """Return the tool as the protocol lists it."""
        # These two hints have a meaning for tools that write alone.
        writing = {"destructiveHint": False, "idempotentHint": False} if self.writes else {}
        return {
            # Claude Code loads other tools only when its model searches for them, by such words.
            "_meta": {"anthropic/alwaysLoad": True} if self.is_first else {"anthropic/searchHint": self.title.lower()},
            "annotations": {**writing, "openWorldHint": False, "readOnlyHint": not self.writes},
            "description": self.about,
            "inputSchema": self.arguments.schema,
            "name": self.name,
            **({} if self.output_schema is None else {"outputSchema": self.output_schema}),
            "title": self.title,
        }


def tool(title: str, **options: Any) -> Callable[[Callable[..., Facts | ToolResult]], Tool]:
    """Make a tool of a function, whose name and docstring are those of the tool; `options` are fields of `Tool`."""

    def make(call: Callable[..., Facts | ToolResult]) -> Tool:
        about = " ".join((inspect.getdoc(call) or "").split())
        return Tool(name=call.__name__.removeprefix("_"), title=title, about=about, call=call, **options)

    return make
