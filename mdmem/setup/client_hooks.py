"""Add mdmem to the hooks of a client, which show rules to its model: at the start of a session, and at an edit."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.setup.client_config import MisfitError, grow_lists, read_object
from mdmem.setup.clients import SERVER, content_to_grow, put, replacement_advice

# Every line of ours has this word, whatever starts mdmem.
_OURS = "hook-event"
_HOLDER = "hooks"
# The line of our plugin with its command.
_STARTS = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


class ClientHooks(Struct, frozen=True, kw_only=True):
    """A client's form of hooks: its file from the top of the project, and the events with their tools.

    With `wraps` an event lists groups of hooks, each for some tools; otherwise each hook names its tools. `key` is the
    key of the command, `limit` the key and value of its time limit. A client without commands has a `plugin`, the text
    of a file of ours. A person has to know the `remark`.
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
        """Return the entry for each event, with a line that the client runs."""
        name, time = self.limit
        hook = {"type": "command", self.key: line, name: time}
        return {event: self._entry(hook, tools) for event, tools in self.events.items()}

    def _entry(self, hook: Mapping[str, Any], tools: str) -> dict[str, Any]:
        matcher = {"matcher": tools} if tools else {}
        return {**matcher, "hooks": [dict(hook)]} if self.wraps else {**hook, **matcher}


# opencode has no commands: its plugin asks mdmem after an edit, and adds the answer to that of the tool.
_OPENCODE = """\
// Shows the model the rules on the file that it edited; written by `mdmem init --client opencode --hooks`.
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
    """Add our hooks to a client's file, and yield what was done, or the piece to add by hand.

    `root` is the path of the memory from the top if it is needed. Nothing else in the file changes, and an event that
    runs mdmem already stays as it is.
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
    # Those who share the file and have no mdmem notice nothing.
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
        return stays + replacement_advice(words[0], _ours(listed), _piece(client, words))
    put(path, grow_lists(before or b"", _HOLDER, wanted, seed=client.seed), is_new=before is None)
    return f"wrote {client.path}" if before is None else f"added the hooks of mdmem to {client.path}"


def _ours(listed: Any) -> Iterator[str]:
    """Yield the command that starts mdmem in each line of ours."""
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
        started = _parsed(found[1]) if found is not None else []
        advice = replacement_advice(words[0], started[:1], _piece(client, words))
        return f"{client.path} is there and stays as it is{advice}"
    put(path, _piece(client, words).encode(), is_new=True)
    return f"wrote {client.path}"


def _parsed(listed: str) -> list[str]:
    try:
        return [*map(str, json.loads(listed))]
    except ValueError:
        return []


def _piece(client: ClientHooks, words: list[str]) -> str:
    if client.plugin is not None:
        return client.plugin % {"command": json.dumps(words)}
    return grow_lists(b"", _HOLDER, client.entries(_line(words)), seed=client.seed).decode()
