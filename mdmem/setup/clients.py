"""Add the server to a client's configuration of the project, and the lines for agents to AGENTS.md."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError
from mdmem.setup.client_config import MisfitError, grow_json, grow_toml, read_object, read_table
from mdmem.setup.seal import without_regions
from mdmem.store.state import write_new, write_whole

SERVER = "mdmem"
NAME = "AGENTS.md"
# Its mention in other words counts, too.
_MARK = "MCP server `mdmem`"
_COMMAND = "mdmem retrieve"
# The tools of each profile: the first one to ask, and the one to write with.
_TOOLS: Mapping[str, tuple[str, str]] = {
    "sessions": ("retrieve_context", "save_decision"),
    "research": ("context", "remember"),
}
# A line that leads a client from its own file to AGENTS.md, or instructions about mdmem.
_LEADS_ON = re.compile(rb"(?:@(?:\.{1,2}/)?|^Read )AGENTS\.md|\bmdmem retrieve\b|MCP server `mdmem`", re.MULTILINE)
# The files that clients read, and their names; all but Copilot ignore AGENTS.md then.
_OWN_FILES = {
    "claude-code": (("CLAUDE.md", ".claude/CLAUDE.md"), "Claude Code"),
    "gemini": (("GEMINI.md",), "Gemini CLI"),
    "qwen": (("QWEN.md",), "Qwen Code"),
    "copilot": ((".github/copilot-instructions.md",), "GitHub Copilot"),
}

# The text of AGENTS.md without a server.
COMMAND_LINES = """\
Before you change code, ask once what applies to all files that you will touch: \
`mdmem retrieve --session TASK --path FILE --path FILE --ask "QUESTION" --ask "QUESTION"` \
(TASK: any name for your work).
The answer has everything that applies to these files; ask again only with other files.
For questions without code, leave out `--path` and put all of them into one call.
`mdmem list --titles` prints the title of every entry: run it once when you do not know which words to ask for.
Read more of an entry with `mdmem show --session TASK ID --about "WORDS"`, and open no other file of the memory.
Propose what you learned with `mdmem new decision "TITLE" --applies-to FILE --body "THE RULE, AND WHY"`; \
people approve it.
"""
# The lines that version 0.1 wrote, and those for a server in all versions.
FORMER_LINES = re.compile(
    r"^Before you change code(?:, ask once what is binding, with all files.*?^People approve it"
    r"| or decide anything, call the tool .*?`mdmem new`)\.\r?\n",
    re.M | re.S,
)
# A further line for a memory of several projects.
WINGS_LINE = (
    "Several projects share this memory: a `retrieve` that names no file takes `--wing NAME`, or `--all-wings`.\n"
)


def agents_lines(profile: str) -> str:
    """Return the text of AGENTS.md for a server with the tools of a profile."""
    ask, write = _TOOLS.get(profile, ("retrieve", "propose"))
    return f"""\
Before you change code or decide anything, call the tool `{ask}` of the {_MARK}.
Call it once, with what you are about to do and all files that you will touch: the answer has everything that applies \
to these files; ask again only with other files.
Propose what you learned with its tool `{write}`; people approve it.
Without the server, type `mdmem retrieve --path FILE "what you are about to do"` and `mdmem new`.
"""


def tell_agents(base: Path, *, profile: str, clients: Iterable[str]) -> Iterator[str]:
    """Add the lines for a server to the end of AGENTS.md, and yield what was done or is left to do.

    They replace the lines about the command that `init` wrote. Other text about mdmem stays as it is.
    """
    lines = agents_lines(profile)
    try:
        yield _add_lines(base, lines)
    except MisfitError as error:
        yield f"{NAME} is there and stays as it is: {error}; add this to it:\n{lines}"
    yield from point_to_agents(base, clients)


def _add_lines(base: Path, lines: str) -> str:
    path = base / NAME
    before = content_to_grow(path, base)
    if before is None:
        put(path, lines.encode(), is_new=True)
        return f"wrote {NAME}"
    try:
        text = before.decode()
    except UnicodeDecodeError as error:
        raise MisfitError("it is not in UTF-8") from error
    if _MARK in text:
        return f"{NAME} mentions the {_MARK} already and stays as it is"
    newline = "\r\n" if "\r\n" in text else "\n"
    ours, others = (one.replace("\n", newline) for one in (lines, COMMAND_LINES))
    if others in text:
        put(path, text.replace(others, ours).encode(), is_new=False)
        return f"{NAME} has the tools of the server now, in place of the lines about the command"
    # An export may mention the command, and is written again by itself.
    if _COMMAND in without_regions(text):
        raise MisfitError(f"it mentions `{_COMMAND}` in other words")
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    put(path, f"{text}{gap}{ours}".encode(), is_new=False)
    return f"added the lines for agents to {NAME}"


def point_to_agents(base: Path, clients: Iterable[str] = _OWN_FILES) -> Iterator[str]:
    """Yield the line to add to each client's own file that does not lead to AGENTS.md."""
    for client in clients:
        files, called = _OWN_FILES.get(client, ((), ""))
        for name in files:
            if not _hides_agents(base / name, base / NAME):
                continue
            if name.startswith(".github/"):
                line = f"Read {NAME} at the top of this repository before anything else."
                yield f"{called} reads {name}, and {NAME} not everywhere; add this line to it:\n{line}"
            else:
                line = "@../AGENTS.md" if "/" in name else "@AGENTS.md"
                yield f"{called} reads {name} in place of {NAME}; add this line to it:\n{line}"


def _hides_agents(path: Path, agents: Path) -> bool:
    """Say whether a client's own file is not AGENTS.md, and mentions neither that nor mdmem."""
    try:
        return not path.samefile(agents) and not _LEADS_ON.search(read_regular(path))
    except OSError:
        return False


_Grow = Callable[[bytes, str, str, Mapping[str, Any]], bytes | None]


class Client(Struct, frozen=True, kw_only=True):
    """A client: its file from the top of the project, and the key of the object with the servers.

    `top` is a variable for the top of the project, for a client that may start the server elsewhere; `more` are
    further keys of a server; with `is_one_list` the command is one list; a person has to know the `remark`.
    """

    name: str
    path: str
    holder: str = "mcpServers"
    top: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    is_one_list: bool = False
    remark: str | None = None

    @property
    def is_toml(self) -> bool:
        """Say whether the file is TOML; the others are JSON."""
        return self.path.endswith(".toml")

    @property
    def grow(self) -> _Grow:
        """Return the function that adds a server to the file."""
        return grow_toml if self.is_toml else grow_json

    def server(self, root: str | None, command: str) -> dict[str, Any]:
        """Return the server's configuration, with the path of the memory if the server cannot find it."""
        named = root if self.top is None else f"{self.top}/{root or ''}".removesuffix("/")
        arguments = ["mcp"] if named is None else ["mcp", "--root", named]
        if self.is_one_list:
            return {**self.more, "command": [command, *arguments]}
        return {**({} if self.is_toml else {"type": "stdio"}), **self.more, "command": command, "args": arguments}

    def piece(self, server: Mapping[str, Any]) -> str:
        """Return a whole file with the server, for a person to copy from."""
        return (self.grow(b"", self.holder, SERVER, server) or b"").decode()


CLIENTS: Mapping[str, Client] = {
    one.name: one
    for one in (
        Client(name="claude-code", path=".mcp.json", remark="Claude Code asks once whether you trust it"),
        # Cursor does not document where it starts a server, so the path begins with its own variable.
        Client(name="cursor", path=".cursor/mcp.json", top="${workspaceFolder}"),
        Client(name="vscode", path=".vscode/mcp.json", holder="servers"),
        Client(
            name="codex",
            path=".codex/config.toml",
            holder="mcp_servers",
            # Without these, a run of one turn asks the model before the tools are there.
            more={"required": True, "startup_timeout_sec": 20},
            remark="Codex reads it in a project that you trust",
        ),
        Client(name="gemini", path=".gemini/settings.json", remark="Gemini CLI starts it in a folder that you trust"),
        Client(name="opencode", path="opencode.json", holder="mcp", more={"type": "local"}, is_one_list=True),
        Client(name="copilot", path=".mcp.json", remark="Copilot CLI reads it in a folder that you trust"),
        # Without this, a model has to look for the tools.
        Client(name="qwen", path=".qwen/settings.json", more={"alwaysLoadTools": True}),
        Client(
            name="continue",
            path=".continue/mcpServers/mdmem.json",
            remark="its editors read that file; for `cn` name the server in ~/.continue/config.yaml",
        ),
        Client(name="generic", path=".mcp.json"),
    )
}


def join_client(client: Client, base: Path, *, under: str, is_found: bool, command: str = SERVER) -> Iterator[str]:
    """Add the server to a client's file, and yield what was done, or the piece to add by hand.

    `under` is the path of the memory from `base`; with `is_found` the server finds it without. Nothing else in the
    file changes, and an existing server of that name stays as it is.
    """
    root = under if client.top is not None else None if is_found else under or "."
    server = client.server(root, command)
    try:
        yield _add_server(client, base, server, command)
    except MisfitError as error:
        yield f"{client.path} is there and stays as it is: {error}; add this to it:\n{client.piece(server)}"
    if client.remark is not None:
        yield client.remark


def _add_server(client: Client, base: Path, server: Mapping[str, Any], command: str) -> str:
    path = base / client.path
    before = content_to_grow(path, base)
    grown = client.grow(before or b"", client.holder, SERVER, server)
    if grown is None:
        stays = f"{client.path} has a server `{SERVER}` already and stays as it is"
        found = (read_table if client.is_toml else read_object)(before or b"")[client.holder][SERVER]
        started = found.get("command") if isinstance(found, dict) else None
        commands = map(str, started[:1] if isinstance(started, list) else (started,))
        return stays + replacement_advice(command, commands, client.piece(server))
    put(path, grown, is_new=before is None)
    return f"wrote {client.path}" if before is None else f"added the server `{SERVER}` to {client.path}"


def replacement_advice(command: str, started: Iterable[str], piece: str) -> str:
    """Return the piece to write if a file that stays as it is starts another command than the wanted one."""
    if command == SERVER or {*started} == {command}:
        return ""
    return f"; so that it starts `{command}`, replace its piece for mdmem by this:\n{piece}"


def content_to_grow(path: Path, base: Path) -> bytes | None:
    """Return the content of a file that may be changed, None if there is no file.

    Raises MisfitError for what is no file of the project, or is not writable.
    """
    target = path.resolve()
    if not target.is_relative_to(base.resolve()):
        linked = next(one for one in (path, *path.parents) if one.is_symlink())
        raise MisfitError(f"it is a link that leads out of the project, to {linked.readlink()}")
    if ".git" in map(str.casefold, target.relative_to(base.resolve()).parts):
        raise MisfitError("it is a link that leads into git's own folder")
    try:
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            raise MisfitError("it is no file")
        if not mode & stat.S_IWUSR:
            raise MisfitError("it is read-only")
        return read_regular(target)
    except FileNotFoundError:
        if path.is_symlink():
            raise MisfitError("it is a link to a missing file") from None
        return None
    except OSError as error:
        raise MisfitError(f"it cannot be read: {_why(error)}") from error


def put(path: Path, content: bytes, *, is_new: bool) -> None:
    """Write a file of the project, or the target of a link; raises EnvironmentFaultError."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_new:
            write_new(target, content)
        else:
            write_whole(target, content)
    except OSError as error:
        raise EnvironmentFaultError(f"{path} cannot be written: {_why(error)}") from error


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
