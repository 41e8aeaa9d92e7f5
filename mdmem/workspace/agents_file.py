"""The lines in AGENTS.md that make agents consult the memory through its MCP server.

Codex, Cursor and VS Code read AGENTS.md. Claude Code reads it since 2.1.277, but only where no CLAUDE.md stands beside
it (https://code.claude.com/docs/en/memory): one that is there has to take it in with `@AGENTS.md`, and a new one would
hide it, so none is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mdmem.clientfile import MisfitError
from mdmem.regular_file import read_regular
from mdmem.workspace.clients import content_to_grow, put

NAME = "AGENTS.md"
# Lines that somebody wrote in other words count, too.
_MARK = "MCP server `mdmem`"
# The tools of each profile: what to ask first, and what to write with.
_TOOLS: Mapping[str, tuple[str, str]] = {
    "graphbase": ("retrieve_context", "save_decision"),
    "sibyl": ("context", "remember"),
}
_IMPORT = re.compile(rb"@(?:\.{1,2}/)?AGENTS\.md")
_CLAUDE_FILES = ("CLAUDE.md", ".claude/CLAUDE.md")


def agents_lines(profile: str) -> str:
    """Return what AGENTS.md says where the server lists the tools of a profile."""
    ask, write = _TOOLS.get(profile, ("retrieve", "propose"))
    return f"""\
Before you change code or decide anything, call the tool `{ask}` of the {_MARK}.
Say what you are about to do, and which files you touch.
Propose what you learned with its tool `{write}`; people approve it.
Where the server is not at hand, type `mdmem retrieve --path FILE "what you are about to do"` and `mdmem new`.
"""


def tell_agents(base: Path, *, profile: str, is_claude: bool) -> Iterator[str]:
    """Add the lines to the end of the AGENTS.md of a project, and yield what was done or is left to do."""
    lines = agents_lines(profile)
    try:
        yield _added(base / NAME, base, lines)
    except MisfitError as error:
        yield f"{NAME} is there and stays as it is: {error}; add this to it:\n{lines}".rstrip()
    if is_claude:
        yield from (_advice(name) for name in _CLAUDE_FILES if _hides_agents(base / name, base / NAME))


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
    gap = "" if not text.strip() else newline if text.endswith("\n") else 2 * newline
    put(path, f"{text}{gap}{lines.replace(chr(10), newline)}".encode(), is_new=False)
    return f"added the lines for agents to {NAME}"


def _hides_agents(path: Path, agents: Path) -> bool:
    """Say whether a file keeps Claude Code from reading AGENTS.md: it is another one and does not take that in."""
    try:
        return not path.samefile(agents) and not _IMPORT.search(read_regular(path))
    except OSError:
        return False


def _advice(name: str) -> str:
    taken_in = "@AGENTS.md" if name == "CLAUDE.md" else "@../AGENTS.md"
    return f"Claude Code reads {name} in place of {NAME}; add this line to it:\n{taken_in}"
