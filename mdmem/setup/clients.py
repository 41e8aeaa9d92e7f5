"""Set up the clients that run agents: add the MCP server to a client's configuration, and mdmem's hooks to its hooks.

The hooks show rules to the model at the start of a session and at an edit. Nothing else in a file changes, and existing
lines that run mdmem stay as they are.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.setup.client_config import add_piece, add_to_json, add_to_toml, read_object, read_toml

SERVER = "mdmem"


class Client(Struct, frozen=True, kw_only=True):
    """A client: the path of its configuration file from the top of the project, and the key with its list of servers.

    `more` are further keys of a server. With `is_one_list`, program and arguments are one list. `top` is the client's
    variable for the top of the project, if the client may start the server in another directory.
    """

    path: str = ".mcp.json"
    section: str = "mcpServers"
    more: Mapping[str, Any] = field(default_factory=lambda: {"type": "stdio"})
    is_one_list: bool = False
    top: str | None = None
    remark: str | None = None


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(remark="Claude Code asks once whether you trust it"),
    # Cursor does not document the working directory of a server, so the path begins with Cursor's variable.
    "cursor": Client(path=".cursor/mcp.json", top="${workspaceFolder}"),
    "vscode": Client(path=".vscode/mcp.json", section="servers"),
    "codex": Client(
        path=".codex/config.toml",
        section="mcp_servers",
        # Without these keys, a run with a single turn asks the model before the tools are loaded.
        more={"required": True, "startup_timeout_sec": 20},
        remark="Codex reads it in a project that you trust",
    ),
    "gemini": Client(path=".gemini/settings.json", remark="Gemini CLI starts it in a folder that you trust"),
    "opencode": Client(path="opencode.json", section="mcp", more={"type": "local"}, is_one_list=True),
    "copilot": Client(remark="Copilot CLI reads it in a folder that you trust"),
    # Without `alwaysLoadTools`, the model has to search for the tools.
    "qwen": Client(path=".qwen/settings.json", more={"type": "stdio", "alwaysLoadTools": True}),
    "continue": Client(
        path=".continue/mcpServers/mdmem.json",
        remark="its editors read that file; for `cn` name the server in ~/.continue/config.yaml",
    ),
    "generic": Client(),
}


def join_client(name: str, base: Path, *, under: str, is_found: bool, command: str) -> Iterator[str]:
    """Add the server to a client's configuration. Yield what was done, or the text to add by hand.

    `under` is the path of the memory from `base`; with `is_found`, the server does not need it.
    """
    client = CLIENTS[name]
    root = f"{client.top}/{under}".removesuffix("/") if client.top is not None else under or "."
    words = [command, "mcp", *([] if is_found and client.top is None else ["--root", root])]
    started = {"command": words} if client.is_one_list else {"command": command, "args": words[1:]}
    extend_file, read_file = (add_to_toml, read_toml) if client.path.endswith(".toml") else (add_to_json, read_object)
    added = partial(extend_file, section=client.section, wanted={SERVER: {**client.more, **started}})

    def extend(before: bytes) -> bytes | str:
        servers = read_file(before).get(client.section)
        if isinstance(servers, dict) and SERVER in servers:
            return f"{client.path} has a server `{SERVER}` already and stays as it is"
        return added(before)

    yield add_piece(base, client.path, f"added the server `{SERVER}` to {client.path}", added(b"").decode(), extend)
    if client.remark is not None:
        yield client.remark


# Every command of mdmem's hooks contains this word, whatever program starts mdmem.
_OURS = "hook-event"
_HOLDER = "hooks"


class ClientHooks(Struct, frozen=True, kw_only=True):
    """A client's form of hooks: the path of its file from the top of the project, and the events with their tools.

    `key` is the key of the command, and `limit` is the key and value of its timeout. With `wraps`, an event lists
    groups of hooks, and each group names its tools. Otherwise each hook names its tools, and the file has a version.
    For a client whose hooks cannot run commands, `plugin` is the text of a plugin file.
    """

    path: str
    events: Mapping[str, str] = field(default_factory=dict)
    key: str = "command"
    limit: tuple[str, int] = ("timeout", 5)
    wraps: bool = True
    plugin: str | None = None
    remark: str | None = None


# opencode hooks cannot run a command. This plugin asks mdmem after an edit and adds the answer to the tool's output.
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
        path=".claude/settings.json", events={"SessionStart": "", "PreToolUse": "Edit|MultiEdit|Write|NotebookEdit"}
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
    ),
    "copilot": ClientHooks(
        path=".github/hooks/mdmem.json",
        events={"SessionStart": "", "PreToolUse": "create|edit|apply_patch|str_replace_editor", "PreCompact": ""},
        key="bash",
        limit=("timeoutSec", 5),
        wraps=False,
    ),
    "opencode": ClientHooks(path=".opencode/plugins/mdmem.js", plugin=_OPENCODE),
}


def hook_client(name: str, base: Path, *, root: str | None, command: str) -> Iterator[str]:
    """Add mdmem's hooks to a client's file. Yield what was done, or the text to add by hand.

    `root` is the path of the memory from the top, if mdmem needs it. An event that runs mdmem already stays as it is.
    """
    client = HOOKS.get(name)
    if client is None:
        yield f"{name} has no hooks that mdmem could answer"
        return
    words = [command, _OURS, name, *([] if root is None else ["--root", root])]
    # For people who share the file but have not installed mdmem, the hook does nothing.
    hook = {"type": "command", client.key: f"{shlex.join(words)} || true", client.limit[0]: client.limit[1]}
    matchers = {event: {"matcher": tools} if tools else {} for event, tools in client.events.items()}
    entries = {event: {**one, "hooks": [hook]} if client.wraps else hook | one for event, one in matchers.items()}
    added = partial(add_to_json, section=_HOLDER, is_listed=True, defaults={} if client.wraps else {"version": 1})

    def extend(before: bytes) -> bytes | str:
        if client.plugin is not None:
            return piece.encode() if not before else f"{client.path} exists and stays as it is"
        held = read_object(before).get(_HOLDER)
        listed = {event: json.dumps(one) for event, one in held.items()} if isinstance(held, dict) else {}
        wanted = {event: entry for event, entry in entries.items() if f" {_OURS} " not in listed.get(event, "")}
        return added(before, wanted=wanted) if wanted else f"{client.path} runs `{_OURS}` already and stays as it is"

    if client.plugin is not None:
        piece = client.plugin % {"command": json.dumps(words)}
    else:
        piece = added(b"", wanted=entries).decode()
    yield add_piece(base, client.path, f"added the hooks of mdmem to {client.path}", piece, extend)
    if client.remark is not None:
        yield client.remark
