"""An event of a client becomes what its model is told: nothing here fails, and nothing keeps the client waiting.

How each client reads what a hook answers: where the text stands that reaches the model.

What an agent is told when its session, or its context, begins: what always holds, and what is going on.

An event as a client hands it over: which moment it is, in whose session, and which files it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem.ask.brief import Brief, brief
from mdmem.ask.context.compile import compile_context
from mdmem.ask.context.pack import ContextPack, Item
from mdmem.ask.context.request import ContextRequest, Layer
from mdmem.ask.quotation import Quoted, fenced_lines
from mdmem.errors import GitError
from mdmem.store.catalog import Catalog
from mdmem.store.git import find_repository
from mdmem.store.state.local_records import Sessions, briefed
from mdmem.store.workspace.location import locate
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.remarks import note_told
from mdmem.store.workspace.workspace import Workspace


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


# In characters; clients cut what is longer than some 10,000.
LIMIT = 4000
_HEAD = "mdmem: what this repository's memory holds at the start of a session"
_LATER = "Rules on single files come when you edit one."


def wake(workspace: Workspace) -> Brief:
    """Return the pack for the start of a session, without the caller's own memory, a line an entry.

    Rules that hold for some files alone come with an edit of these. Raises what reading the memory raises.
    """
    pack = compile_context(workspace, ContextRequest(goal="", layer=Layer.WAKE, include_related=False), own=False)
    catalog = view_of(workspace).effective.catalog
    items = [item for item in _items(pack) if not _waits(catalog, item)]
    has_more = any(one.applies_to and one.type.is_rule for one in catalog.entries.values())
    notes = [*([_problems(pack)] if pack.basis.problems else []), *([_LATER] if has_more else [])]
    if not items and not pack.basis.problems:
        return Brief()
    text, shown = fenced_lines(_HEAD, [_quoted(one) for one in items], notes, limit=LIMIT, rest="mdmem context GOAL")
    return Brief(text, {one.id: catalog.digests.get(one.id, "") for one in items[:shown]})


def _items(pack: ContextPack) -> Iterator[Item]:
    return (item for section in pack.sections for item in section.items)


def _waits(catalog: Catalog, item: Item) -> bool:
    entry = catalog.entries.get(item.id)
    return entry is not None and entry.type.is_rule and bool(entry.applies_to)


def _problems(pack: ContextPack) -> str:
    number = len(pack.basis.problems)
    said = "1 file" if number == 1 else f"{number} files"
    return f"{said} of the memory cannot be read in full and may hold rules; `mdmem check` tells why."


def _quoted(item: Item) -> Quoted:
    mark = item.stance.mark if item.stance is not None else ""
    return Quoted(item.type, item.id, item.name, lambda: item.content, (mark,) if mark else ())


Form = Callable[[HookEvent, str], str]


def _specific(event: HookEvent, text: str) -> str:
    return dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}})


def _flat(_: HookEvent, text: str) -> str:
    return dumps({"additionalContext": text})


def _snake(_: HookEvent, text: str) -> str:
    return dumps({"additional_context": text})


def _bare(_: HookEvent, text: str) -> str:
    return text


FORMS: Mapping[str, Form] = {
    "claude-code": _specific,
    "codex": _specific,
    "gemini": _specific,
    "qwen": _specific,
    "copilot": _flat,
    "cursor": _snake,
    "opencode": _bare,
}


Send = Callable[[str], None]


def answer_event(
    client: str, content: bytes, send: Send, *, environment: Mapping[str, str], root: str | None, today: date
) -> None:
    """Send what the model of a client is to be told at an event, if anything, and note that it was told.

    `root` is counted from the top of the repository that the event happens in. Raises what reading raises.
    """
    form, event = FORMS.get(client), read_event(content)
    if form is None or event is None:
        return
    workspace = _opened(event, environment, root, today)
    now, name = datetime.now(UTC), briefed(f"{client}\0{event.session}", event.agent)
    sessions = Sessions(workspace.state_folder)
    if event.moment is not Moment.EDIT and not event.is_resumed:
        sessions.forget(name)
    told = _told(workspace, event, sessions.given(name, now) if event.session else {})
    if not told.text:
        return
    send(form(event, told.text))
    # What was not sent was not told.
    if event.session:
        sessions.give(name, told.gave, now)
    note_told(workspace, f"hook {client}", told.addresses)


def _told(workspace: Workspace, event: HookEvent, given: Mapping[str, str]) -> Brief:
    if event.moment is Moment.EDIT:
        return brief(workspace, event.paths, given=given) if event.paths else Brief()
    if event.moment is Moment.FORGET or event.is_resumed:
        return Brief()
    return wake(workspace)


def _opened(event: HookEvent, environment: Mapping[str, str], root: str | None, today: date) -> Workspace:
    cwd = Path(event.cwd) if event.cwd is not None and Path(event.cwd).is_dir() else Path.cwd()
    base = cwd
    if root is not None and not Path(root).is_absolute():
        try:
            repository = find_repository(cwd)
        except GitError:
            repository = None
        base = repository.top if repository is not None else cwd
    location = locate(root, environment, base)
    return Workspace(location=location, environment=environment, cwd=cwd, today=today)
