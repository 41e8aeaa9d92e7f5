"""Answer the hook events of a client with text for the model, at the start of a session and at an edit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.brief import Brief, Quoted, brief, fenced_lines
from mdmem.ask.context import ContextRequest, branch_state_marks, compile_context, items_of
from mdmem.ask.facets import Layer
from mdmem.errors import GitError
from mdmem.model.text import shell_word
from mdmem.store.git.process import find_repository
from mdmem.store.state.local_records import Sessions, brief_session
from mdmem.store.workspace.location import locate
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.workspace import Workspace, count_shown


class EventKind(StrEnum):
    """An event: a session started, a file was edited, or the context of the model was compacted."""

    START = "start"
    EDIT = "edit"
    FORGET = "forget"


# Gemini CLI sends this event before each turn, even if it compresses nothing.
_BEFORE_EACH_TURN = "PreCompress"
# The names of events of all clients, in lower case.
_EVENTS = {
    "sessionstart": EventKind.START,
    **dict.fromkeys(("pretooluse", "posttooluse", "beforetool", "aftertool"), EventKind.EDIT),
    **dict.fromkeys(("precompact", "postcompact", "precompress"), EventKind.FORGET),
}
_SESSIONS = ("session_id", "sessionId", "conversation_id")
_AGENTS = ("agent_id", "agentId", "subagent_id")
_INPUTS = ("tool_input", "toolInput", "toolArgs", "tool_args", "args")
_FILES = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "files", "paths")
# Keys whose value is a patch as text.
_PATCHES = ("command", "input", "patch", "patchText", "patch_text")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
# The maximum number of files for which one edit shows rules.
_MAX_FILES = 20
# A lone surrogate cannot be part of a file name. Clients write U+FFFD to disk instead.
_HALF, _UNKNOWN = re.compile("[\ud800-\udc7f\udd00-\udfff]"), "\ufffd"
_LONGEST_PATH = 4096


class HookEvent(Struct, frozen=True, kw_only=True):
    """An event of a client, with its name there. A resumed session still has the earlier answers in its context."""

    name: str
    kind: EventKind
    session: str
    agent: str = ""
    cwd: str | None = None
    paths: tuple[str, ...] = ()
    is_resumed: bool = False


def read_event(content: bytes) -> HookEvent | None:
    """Return the event in the text that a client sent, or None for another kind of event or an invalid text."""
    try:
        sent = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict):
        return None
    name = _text(sent, ("hook_event_name", "hookEventName"))
    kind = _EVENTS.get(name.lower())
    if kind is None or (name == _BEFORE_EACH_TURN and sent.get("trigger") == "auto"):
        return None
    return HookEvent(
        name=name,
        kind=kind,
        session=_text(sent, _SESSIONS),
        agent=_text(sent, _AGENTS),
        cwd=_text(sent, ("cwd",)) or None,
        paths=tuple(dict.fromkeys(_paths(sent))) if kind is EventKind.EDIT else (),
        is_resumed=sent.get("source") == "resume",
    )


def _text(sent: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((_HALF.sub(_UNKNOWN, found) for name in names if isinstance(found := sent.get(name), str)), "")


def _paths(sent: Mapping[str, Any]) -> list[str]:
    arguments = next((sent[name] for name in _INPUTS if name in sent), None)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"patch": arguments}
    if not isinstance(arguments, dict):
        return []
    found = [one for name in _FILES for one in _listed(arguments.get(name))]
    for text in (one for name in _PATCHES for one in _listed(arguments.get(name))):
        found += _PATCHED.findall(text) if "*** " in text else []
    whole = (_HALF.sub(_UNKNOWN, one) for one in found)
    return [one for one in whole if one.strip() and "\0" not in one and len(one) <= _LONGEST_PATH][:_MAX_FILES]


def _listed(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


# In characters. Clients cut texts that are longer than about 10,000.
LIMIT = 4000
_HEAD = "mdmem: the memory of this repository at the start of a session"
_LATER = "The rules for single files follow when you edit these."


def session_start(workspace: Workspace) -> Brief:
    """Return the text for the start of a session: one line for each entry, without anybody's private memory.

    Rules that apply only to some files are omitted. The hook shows them when such a file is edited.
    """
    pack = compile_context(workspace, ContextRequest(goal="", layer=Layer.WAKE, include_related=False), own=False)
    catalog = view_of(workspace).effective.catalog
    for_files = {address for address, one in catalog.entries.items() if one.applies_to and one.type.is_rule}
    items = [item for item in items_of(pack) if item["id"] not in for_files]
    notes = [_LATER] if for_files else []
    if pack["problems"]:
        number = len(pack["problems"])
        files = "1 file" if number == 1 else f"{number} files"
        why = f"`{workspace.location.command('check')}` shows why"
        notes.insert(0, f"{files} of the memory cannot be read in full and may contain rules; {why}.")
    if not items and not pack["problems"]:
        return Brief()
    quoted = []
    for one in items:
        content = partial(str, one["content"])
        quoted.append(Quoted(one["type"], one["id"], one["name"], content, tuple(branch_state_marks(one))))
    text, shown = fenced_lines(_HEAD, quoted, notes, limit=LIMIT, rest=workspace.location.command("context GOAL"))
    return Brief(text, {one["id"]: catalog.digests.get(one["id"], "") for one in items[:shown]})


def _specific(event: HookEvent, text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}})


# The JSON in which each client expects the text.
FORMS: Mapping[str, Callable[[HookEvent, str], str]] = {
    "claude-code": _specific,
    "codex": _specific,
    "gemini": _specific,
    "qwen": _specific,
    "copilot": lambda _, text: json.dumps({"additionalContext": text}),
    "cursor": lambda _, text: json.dumps({"additional_context": text}),
    "opencode": lambda _, text: text,
}


Send = Callable[[str], None]


def answer_event(
    client: str, content: bytes, send: Send, *, environment: Mapping[str, str], root: str | None, today: date
) -> None:
    """Send the text for an event, if any, and record it as shown; raises the errors of loading the memory.

    `root` is the memory's folder, from the repository's top or absolute; None means that it is searched for.
    """
    form, event = FORMS.get(client), read_event(content)
    if form is None or event is None:
        return
    cwd = Path(event.cwd) if event.cwd is not None and Path(event.cwd).is_dir() else Path.cwd()
    repository = None
    if root is not None and not Path(root).is_absolute():
        with suppress(GitError):
            repository = find_repository(cwd)
    location = locate(root, environment, repository.top if repository is not None else cwd)
    if root is not None:
        shown = root if Path(root).is_absolute() else os.path.relpath(location.root, cwd)
        location = replace(location, typed=f"mdmem --root {shell_word(shown)} {{}}")
    workspace = Workspace(location=location, environment=environment, cwd=cwd, today=today)
    now, name = datetime.now(UTC), brief_session(f"{client}\0{event.session}", event.agent)
    sessions = Sessions(workspace.state_folder)
    if event.kind is not EventKind.EDIT and not event.is_resumed:
        sessions.forget(name)
    answer = Brief()
    if event.kind is EventKind.EDIT and event.paths:
        answer = brief(workspace, event.paths, reported=sessions.shown(name, now) if event.session else {})
    elif event.kind is EventKind.START and not event.is_resumed:
        answer = session_start(workspace)
    if not answer.text:
        return
    send(form(event, answer.text))
    # Record the text as shown only after it was sent.
    if event.session:
        sessions.record(name, answer.reported, now)
    count_shown(workspace, f"hook {client}", answer.addresses)
