"""The pieces of schema that several tools share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mdmem.mcp.tools.shape import Facts, Parameter, ParameterKind

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
