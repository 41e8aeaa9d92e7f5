"""The server in the project configuration of agents' clients, and the lines in AGENTS.md."""

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

NAME = "AGENTS.md"
# Lines that somebody wrote in other words count, too.
_MARK = "MCP server `mdmem`"
_COMMAND = "mdmem retrieve"
# The tools of each profile: what to ask first, and what to write with.
_TOOLS: Mapping[str, tuple[str, str]] = {
    "sessions": ("retrieve_context", "save_decision"),
    "research": ("context", "remember"),
}
# What leads a client on from its own file: a line that `init` proposes, or the lines about mdmem themselves.
_LEADS_ON = re.compile(rb"(?:@(?:\.{1,2}/)?|^Read )AGENTS\.md|\bmdmem retrieve\b|MCP server `mdmem`", re.MULTILINE)
# The files of their own that clients read, and how each client is called; all but Copilot in place of AGENTS.md.
_OWN_FILES = {
    "claude-code": (("CLAUDE.md", ".claude/CLAUDE.md"), "Claude Code"),
    "gemini": (("GEMINI.md",), "Gemini CLI"),
    "qwen": (("QWEN.md",), "Qwen Code"),
    "copilot": ((".github/copilot-instructions.md",), "GitHub Copilot"),
}


# What AGENTS.md says where no server is set up.
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
# The lines that version 0.1 wrote in their place.
FORMER_LINES = re.compile(
    r"^Before you change code, ask once what is binding, with all files.*?^People approve it\.\r?\n", re.M | re.S
)
# What it says besides where a memory is that of several projects.
WINGS_LINE = (
    "Several projects share this memory: a `retrieve` that names no file takes `--wing NAME`, or `--all-wings`.\n"
)


def agents_lines(profile: str) -> str:
    """Return what AGENTS.md says where the server lists the tools of a profile."""
    ask, write = _TOOLS.get(profile, ("retrieve", "propose"))
    return f"""\
Before you change code or decide anything, call the tool `{ask}` of the {_MARK}.
Once, with what you are about to do and all files that you will touch: all that binds on these is in that one \
answer, whatever the words; again only with other files.
Propose what you learned with its tool `{write}`; people approve it.
Where the server is not at hand, type `mdmem retrieve --path FILE "what you are about to do"` and `mdmem new`.
"""


def own_lines() -> tuple[str, ...]:
    """Return the lines that may stand in a project's AGENTS.md because `init` wrote them."""
    return (COMMAND_LINES, WINGS_LINE, *dict.fromkeys(agents_lines(profile) for profile in ("core", *_TOOLS)))


def tell_agents(base: Path, *, profile: str, clients: Iterable[str]) -> Iterator[str]:
    """Add the lines to the end of the AGENTS.md of a project, and yield what was done or is left to do.

    They take the place of the lines about the command that `init` wrote, and stand beside no others about it.
    """
    lines = agents_lines(profile)
    try:
        yield _added(base / NAME, base, lines)
    except MisfitError as error:
        yield f"{NAME} is there and stays as it is: {error}; add this to it:\n{lines}"
    yield from point_to_agents(base, clients)


def point_to_agents(base: Path, clients: Iterable[str] = _OWN_FILES) -> Iterator[str]:
    """Yield which of the clients read a file of the project that does not lead to AGENTS.md, and the line to add."""
    for client in clients:
        files, called = _OWN_FILES.get(client, ((), ""))
        yield from (_advice(name, called) for name in files if _hides_agents(base / name, base / NAME))


def _added(path: Path, base: Path, lines: str) -> str:
    before = content_to_grow(path, base)
    if before is None:
        put(path, lines.encode(), is_new=True)
        return f"wrote {NAME}"
    try:
        text = before.decode()
    except UnicodeDecodeError as error:
        raise MisfitError("it is not in UTF-8") from error
    if _MARK in text:
        return f"{NAME} names the {_MARK} already and stays as it is"
    newline = "\r\n" if "\r\n" in text else "\n"
    ours, others = (one.replace("\n", newline) for one in (lines, COMMAND_LINES))
    if others in text:
        put(path, text.replace(others, ours).encode(), is_new=False)
        return f"{NAME} names the tools of the server, in the place of the lines about the command"
    # What `mdmem export` wrote between its markers tells of the command, too, and is written anew by it.
    if _COMMAND in without_regions(text):
        raise MisfitError(f"it tells of `{_COMMAND}` in other words")
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    put(path, f"{text}{gap}{ours}".encode(), is_new=False)
    return f"added the lines for agents to {NAME}"


def _hides_agents(path: Path, agents: Path) -> bool:
    """Say whether a file keeps a client from AGENTS.md: it is another one, and neither names that nor mdmem itself."""
    try:
        return not path.samefile(agents) and not _LEADS_ON.search(read_regular(path))
    except OSError:
        return False


def _advice(name: str, called: str) -> str:
    if name.startswith(".github/"):
        line = f"Read {NAME} at the top of this repository before anything else."
        return f"{called} reads {name}, and {NAME} not everywhere; add this line to it:\n{line}"
    taken_in = "@../AGENTS.md" if "/" in name else "@AGENTS.md"
    return f"{called} reads {name} in place of {NAME}; add this line to it:\n{taken_in}"


SERVER = "mdmem"
_Grow = Callable[[bytes, str, str, Mapping[str, Any]], bytes | None]


class Client(Struct, frozen=True, kw_only=True):
    """One client: its file from the project's top, the name of the object that holds the servers, and what is special.

    `top` is how an argument names the project's top, where the client may start the server elsewhere; `more` is what
    its table needs besides; `remark` is what a person has to know.
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

    def server(self, root: str | None, command: str) -> dict[str, Any]:
        """Return what starts the server; `root` is the memory from the top where the server cannot find it itself."""
        named = root if self.top is None else f"{self.top}/{root or ''}".removesuffix("/")
        arguments = ["mcp"] if named is None else ["mcp", "--root", named]
        started: dict[str, Any] = {"command": command, "args": arguments}
        if self.is_one_list:
            started = {"command": [command, *arguments]}
        return {**({} if self.is_toml or self.is_one_list else {"type": "stdio"}), **self.more, **started}

    def piece(self, server: Mapping[str, Any]) -> str:
        """Return the server as a whole file would hold it, for a person to add."""
        grow: _Grow = grow_toml if self.is_toml else grow_json
        return (grow(b"", self.holder, SERVER, server) or b"").decode()


CLIENTS: Mapping[str, Client] = {
    one.name: one
    for one in (
        Client(name="claude-code", path=".mcp.json", remark="Claude Code asks once whether you trust it"),
        # Where Cursor starts a server is not documented, so the memory is named from the folder that it puts in.
        Client(name="cursor", path=".cursor/mcp.json", top="${workspaceFolder}"),
        Client(name="vscode", path=".vscode/mcp.json", holder="servers"),
        Client(
            name="codex",
            path=".codex/config.toml",
            holder="mcp_servers",
            # Else a run of one turn asks the model before the tools are there.
            more={"required": True, "startup_timeout_sec": 20},
            remark="Codex reads it in a project that you trust",
        ),
        Client(name="gemini", path=".gemini/settings.json", remark="Gemini CLI starts it in a folder that you trust"),
        Client(name="opencode", path="opencode.json", holder="mcp", more={"type": "local"}, is_one_list=True),
        Client(name="copilot", path=".mcp.json", remark="Copilot CLI reads it in a folder that you trust"),
        # Else it shows a model the tools only once it looks for them.
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
    """Add the server to a client's file below `base` and yield what was done; what cannot be added is said.

    `under` is the memory's path from `base`, empty for `base` itself; `is_found` says that the server finds it from
    there unaided; `command` starts mdmem. Nothing else in the file is changed, and a server of that name
    is left as it is.
    """
    root = under if client.top is not None else None if is_found else under or "."
    server = client.server(root, command)
    try:
        yield _grown(client, base, server, command)
    except MisfitError as error:
        yield f"{client.path} is there and stays as it is: {error}; add this to it:\n{client.piece(server)}"
    if client.remark is not None:
        yield client.remark


def _grown(client: Client, base: Path, server: Mapping[str, Any], command: str) -> str:
    """Write the file and return what was done; raises MisfitError where that would change more than it should."""
    path = base / client.path
    grow: _Grow = grow_toml if client.is_toml else grow_json
    before = content_to_grow(path, base)
    grown = grow(before or b"", client.holder, SERVER, server)
    if grown is None:
        stays = f"{client.path} has a server `{SERVER}` already and stays as it is"
        return stays + in_its_place(command, _started(client, before or b""), client.piece(server))
    put(path, grown, is_new=before is None)
    return f"wrote {client.path}" if before is None else f"added the server `{SERVER}` to {client.path}"


def _started(client: Client, content: bytes) -> Iterator[str]:
    """Yield what a client's file starts as our server."""
    server = (read_table if client.is_toml else read_object)(content)[client.holder][SERVER]
    command = server.get("command") if isinstance(server, dict) else None
    yield from map(str, command[:1] if isinstance(command, list) else (command,))


def in_its_place(command: str, started: Iterable[str], piece: str) -> str:
    """Return what to write where a file that stays as it is starts other commands than the one asked for."""
    if command == SERVER or {*started} == {command}:
        return ""
    return f"; so that it starts `{command}`, write this in the place of what it has for mdmem:\n{piece}"


def content_to_grow(path: Path, base: Path) -> bytes | None:
    """Return the content of a file that may be added to, None for one that is not there.

    Raises MisfitError for what is no file of the project, or not the user's to write.
    """
    target = path.resolve()
    if not target.is_relative_to(base.resolve()):
        linked = next(one for one in (path, *path.parents) if one.is_symlink())
        raise MisfitError(f"it is a link that leads out of the project, to {linked.readlink()}")
    if ".git" in map(str.casefold, target.relative_to(base.resolve()).parts):
        raise MisfitError("it is a link that leads into git's own folder")
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise MisfitError("it is a link to what is not there") from None
        return None
    except OSError as error:
        raise MisfitError(f"it cannot be read: {_why(error)}") from error
    if not stat.S_ISREG(mode):
        raise MisfitError("it is no file")
    if not mode & stat.S_IWUSR:
        raise MisfitError("it is read-only")
    try:
        return read_regular(target)
    except OSError as error:
        raise MisfitError(f"it cannot be read: {_why(error)}") from error


def put(path: Path, content: bytes, *, is_new: bool) -> None:
    """Write a file of the project, through a link to where it really is; raises EnvironmentFaultError."""
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
