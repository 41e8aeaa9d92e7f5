"""An event as a client hands it over: which moment it is, in whose session, and which files it is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct


class Moment(StrEnum):
    """When a client asks: a session or a context begins, a file is edited, a context is about to be forgotten."""

    START = "start"
    EDIT = "edit"
    FORGET = "forget"


# Gemini CLI says so before each turn, whether it then compresses anything or not.
_BEFORE_EACH_TURN = "PreCompress"
# What clients call the moments, in lower case.
_MOMENTS = {
    "sessionstart": Moment.START,
    "pretooluse": Moment.EDIT,
    "posttooluse": Moment.EDIT,
    "beforetool": Moment.EDIT,
    "aftertool": Moment.EDIT,
    "precompact": Moment.FORGET,
    "postcompact": Moment.FORGET,
    "precompress": Moment.FORGET,
}
_SESSIONS = ("session_id", "sessionId", "conversation_id")
_AGENTS = ("agent_id", "agentId", "subagent_id")
_INPUTS = ("tool_input", "toolInput", "toolArgs", "tool_args", "args")
_FILES = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "files", "paths")
# Where a tool takes a patch as text.
_PATCHES = ("command", "input", "patch", "patchText", "patch_text")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
# One edit touches no more files than are worth a word.
_MOST_FILES = 20
# What no file's name can hold: half a character, which clients write to the disk as this one.
_HALF, _UNKNOWN = re.compile("[\ud800-\udc7f\udd00-\udfff]"), "\ufffd"
_LONGEST_PATH = 4096


class HookEvent(Struct, frozen=True, kw_only=True):
    """One event; `name` is what the client calls it. A context that `is_resumed` still holds what it was told."""

    name: str
    moment: Moment
    session: str
    agent: str = ""
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    is_resumed: bool = False


def read_event(content: bytes) -> HookEvent | None:
    """Return the event that a client wrote, None for one that is not ours or cannot be read; nothing is raised."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    name = _text(said, ("hook_event_name", "hookEventName"))
    moment = _MOMENTS.get(name.lower())
    if moment is None or (name == _BEFORE_EACH_TURN and said.get("trigger") == "auto"):
        return None
    return HookEvent(
        name=name,
        moment=moment,
        session=_text(said, _SESSIONS),
        agent=_text(said, _AGENTS),
        cwd=_text(said, ("cwd",)) or None,
        paths=tuple(dict.fromkeys(_paths(said))) if moment is Moment.EDIT else (),
        is_resumed=said.get("source") == "resume",
    )


def _text(said: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((_HALF.sub(_UNKNOWN, found) for name in names if isinstance(found := said.get(name), str)), "")


def _paths(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that a tool is about to change, or has changed."""
    given = next((said[name] for name in _INPUTS if name in said), None)
    if isinstance(given, str):
        given = _parsed(given)
    if isinstance(given, dict):
        named = [one for name in _FILES for one in _listed(given.get(name))]
        patched = [one for name in _PATCHES for one in _patched(given.get(name))]
        whole = (_HALF.sub(_UNKNOWN, one) for one in (*named, *patched))
        found = (one for one in whole if one.strip() and "\0" not in one and len(one) <= _LONGEST_PATH)
        yield from list(found)[:_MOST_FILES]


def _parsed(text: str) -> Any:
    """Return the input of a tool that came as text: JSON, or else a patch."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"patch": text}


def _listed(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _patched(value: Any) -> list[str]:
    texts = _listed(value)
    return [found for text in texts if "*** " in text for found in _PATCHED.findall(text)]
