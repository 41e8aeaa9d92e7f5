"""The hooks of agents' clients that tell the model what binds: at the start of a session, and at an edit."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.setup.client_config import MisfitError, grow_lists, read_object
from mdmem.setup.clients import SERVER, content_to_grow, in_its_place, put

# What every line of ours holds as a word, whatever starts mdmem.
_OURS = "hook-event"
_HOLDER = "hooks"
# The line of our plugin that says what it runs.
_STARTS = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


class ClientHooks(Struct, frozen=True, kw_only=True):
    """How one client takes hooks: its file from the project's top, and the events with the tools they are about.

    `wraps` says that an event lists groups of hooks, each for some tools; else the hook itself names them. A command
    stands under `key`; `limit` is the time that it may take, in the client's unit, under its name. `plugin` is the
    text of a file of our own, for a client that takes no commands. `remark` is what a person has to know.
    """

    path: str
    events: Mapping[str, str] = field(default_factory=dict)
    wraps: bool = True
    key: str = "command"
    limit: tuple[str, int] = ("timeout", 5)
    seed: Mapping[str, Any] = field(default_factory=dict)
    plugin: str | None = None
    remark: str | None = None

    def entries(self, line: str) -> dict[str, Any]:
        """Return what the file lists for each event; `line` is what the client runs."""
        name, time = self.limit
        hook = {"type": "command", self.key: line, name: time}
        return {event: self._entry(hook, tools) for event, tools in self.events.items()}

    def _entry(self, hook: Mapping[str, Any], tools: str) -> dict[str, Any]:
        matcher = {"matcher": tools} if tools else {}
        return {**matcher, "hooks": [dict(hook)]} if self.wraps else {**hook, **matcher}


# opencode takes no commands: its plugin asks mdmem after an edit, and hands the answer over with the tool's.
_OPENCODE = """\
// Tells the model what binds the file that it edited; written by `mdmem init --client opencode --hooks`.
import { spawnSync } from "node:child_process"

const COMMAND = %(command)s
const EDITS = ["edit", "write", "patch", "apply_patch", "multiedit"]

function ask(event, cwd) {
  try {
    const options = { cwd, input: JSON.stringify({ ...event, cwd }), encoding: "utf8", timeout: 5000 }
    return (spawnSync(COMMAND[0], COMMAND.slice(1), options).stdout ?? "").trim()
  } catch {
    return ""
  }
}

const told = new Map()

export const Mdmem = async ({ directory }) => ({
  "experimental.chat.system.transform": async (input, output) => {
    const id = input.sessionID
    if (!id) return
    if (!told.has(id)) told.set(id, ask({ hook_event_name: "SessionStart", session_id: id }, directory))
    if (told.get(id)) output.system.push(told.get(id))
  },
  "tool.execute.after": async (input, output) => {
    if (!EDITS.includes(input.tool)) return
    const tool = { hook_event_name: "PostToolUse", tool_name: input.tool, tool_input: input.args }
    const said = ask({ ...tool, session_id: input.sessionID }, directory)
    if (said && typeof output.output === "string") output.output += "\\n\\n" + said
  },
  event: async ({ event }) => {
    // A context that was compacted starts again.
    if (event.type === "session.compacted") told.delete(event.properties.sessionID)
  },
})
"""

HOOKS: Mapping[str, ClientHooks] = {
    "claude-code": ClientHooks(
        path=".claude/settings.json",
        events={"SessionStart": "", "PreToolUse": "Edit|MultiEdit|Write|NotebookEdit"},
    ),
    "codex": ClientHooks(
        path=".codex/hooks.json",
        events={"SessionStart": "", "PreToolUse": "apply_patch|Edit|Write", "PostCompact": ""},
        remark="Codex runs these hooks once you have trusted them: type /hooks in it",
    ),
    "gemini": ClientHooks(
        path=".gemini/settings.json",
        events={"SessionStart": "", "AfterTool": "write_file|replace", "PreCompress": ""},
        limit=("timeout", 5000),
        remark="Gemini CLI runs them in a folder that you trust",
    ),
    "qwen": ClientHooks(
        path=".qwen/settings.json",
        events={"SessionStart": "", "PostToolUse": "write_file|edit", "PreCompact": ""},
        limit=("timeout", 5000),
    ),
    "cursor": ClientHooks(
        path=".cursor/hooks.json",
        events={"sessionStart": "", "postToolUse": "Write|Edit|StrReplace|ApplyPatch", "preCompact": ""},
        wraps=False,
        seed={"version": 1},
    ),
    "copilot": ClientHooks(
        path=".github/hooks/mdmem.json",
        events={"SessionStart": "", "PreToolUse": "create|edit|apply_patch|str_replace_editor", "PreCompact": ""},
        wraps=False,
        key="bash",
        limit=("timeoutSec", 5),
        seed={"version": 1},
    ),
    "opencode": ClientHooks(path=".opencode/plugins/mdmem.js", plugin=_OPENCODE),
}


def hook_client(name: str, base: Path, *, root: str | None, command: str = SERVER) -> Iterator[str]:
    """Add our hooks to a client's file below `base` and yield what was done; what cannot be added is said.

    `root` is the memory from the top where it cannot be found unaided. Nothing else in the file is changed, and an
    event that runs us already is left as it is.
    """
    client = HOOKS.get(name)
    if client is None:
        yield f"{name} has no hooks that mdmem could answer"
        return
    words = [command, "hook-event", name, *([] if root is None else ["--root", root])]
    try:
        yield _plugged(client, base, words) if client.plugin is not None else _hooked(client, base, words)
    except MisfitError as error:
        yield f"{client.path} is there and stays as it is: {error}; add this to it:\n{_piece(client, words)}"
    if client.remark is not None:
        yield client.remark


def _line(words: list[str]) -> str:
    # Who shares the file and has no mdmem is not stopped: the shell says so to nobody.
    return f"{shlex.join(words)} || true"


def _hooked(client: ClientHooks, base: Path, words: list[str]) -> str:
    path = base / client.path
    before = content_to_grow(path, base)
    held = read_object(before or b"").get(_HOLDER, {})
    listed = held if isinstance(held, dict) else {}
    wanted = {
        event: entry for event, entry in client.entries(_line(words)).items() if not any(_ours(listed.get(event)))
    }
    if not wanted:
        stays = f"{client.path} runs `{_OURS}` already and stays as it is"
        return stays + in_its_place(words[0], _ours(listed), _piece(client, words))
    put(path, grow_lists(before or b"", _HOLDER, wanted, seed=client.seed), is_new=before is None)
    return f"wrote {client.path}" if before is None else f"added the hooks of mdmem to {client.path}"


def _ours(listed: Any) -> Iterator[str]:
    """Yield what starts mdmem in the lines of ours among what a file lists."""
    words = _words(listed) if isinstance(listed, str) else []
    yield from words[:1] if _OURS in words[1:] else ()
    for one in listed.values() if isinstance(listed, dict) else listed if isinstance(listed, list) else ():
        yield from _ours(one)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _plugged(client: ClientHooks, base: Path, words: list[str]) -> str:
    path = base / client.path
    before = content_to_grow(path, base)
    if before is not None:
        found = _STARTS.search(before.decode(errors="replace"))
        started = _words_of(found[1]) if found is not None else []
        return f"{client.path} is there and stays as it is{in_its_place(words[0], started[:1], _piece(client, words))}"
    put(path, _piece(client, words).encode(), is_new=True)
    return f"wrote {client.path}"


def _words_of(listed: str) -> list[str]:
    try:
        return [*map(str, json.loads(listed))]
    except ValueError:
        return []


def _piece(client: ClientHooks, words: list[str]) -> str:
    if client.plugin is not None:
        return client.plugin % {"command": json.dumps(words)}
    return grow_lists(b"", _HOLDER, client.entries(_line(words)), seed=client.seed).decode()
