"""Write the lines for agents into AGENTS.md, and report which other files have to refer to AGENTS.md.

Exported regions in such files have a seal, a hash that shows whether somebody changed the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from mdmem import EXPORT_BEGIN, EXPORT_END
from mdmem.disk import read_regular
from mdmem.model.entry import Wing
from mdmem.model.text import text_hash
from mdmem.setup.client_config import InsertError, add_piece, append_piece, decode_utf8

NAME = "AGENTS.md"
# A text that contains this phrase is taken as instructions for the server.
_MARK = "MCP server `mdmem`"
_COMMAND = "mdmem retrieve"
# The tools of each profile: the tool to ask with first, and the tool to write with.
_TOOLS: Mapping[str, tuple[str, str]] = {
    "sessions": ("retrieve_context", "save_decision"),
    "research": ("context", "remember"),
}
# A line in a client's own file that refers to AGENTS.md or mentions mdmem.
_REFERS = re.compile(rb"(?:@(?:\.{1,2}/)?|^Read )AGENTS\.md|\bmdmem retrieve\b|MCP server `mdmem`", re.MULTILINE)
# The files that clients read, and the clients' names. If such a file exists, all clients but Copilot ignore AGENTS.md.
_OWN_FILES = {
    "claude-code": (("CLAUDE.md", ".claude/CLAUDE.md"), "Claude Code"),
    "gemini": (("GEMINI.md",), "Gemini CLI"),
    "qwen": (("QWEN.md",), "Qwen Code"),
    "copilot": ((".github/copilot-instructions.md",), "GitHub Copilot"),
}

# The text for AGENTS.md if the project uses no server.
COMMAND_LINES = """\
Before you change code, ask once what applies to all files that you will touch: \
`mdmem retrieve --session TASK --path FILE --path FILE --ask "QUESTION" --ask "QUESTION"` \
(TASK: any name for your work).
The answer has every rule for these files, and the best matches for your words: \
ask again only in other words, if no match fits.
For questions without code, leave out `--path`, and put all of them into one call, with one fact in each `--ask`.
`mdmem list --titles` prints the title of every entry: run it once when you do not know which words to ask for.
Read more of entries with `mdmem show --session TASK ID ID --about "WORDS" --about "WORDS"` (one for each ID), \
and open no other file of the memory.
Propose what you learned with `mdmem new decision "TITLE" --applies-to FILE --body "THE RULE, AND WHY"`; \
people approve it.
"""
# The lines that version 0.1 wrote, and those that any later version wrote, for the command or for a server.
# They were never more than a dozen. Without a limit, each of thousands of beginnings would be searched for its end.
OWN_LINES = re.compile(
    r"^Before you change code(?:, ask once what is binding, with all files(?:[^\n]*\n){1,20}?People approve it"
    r"|, ask once what applies to all files(?:[^\n]+\n){1,20}?[^\n]*; people approve it"
    r"| or decide anything, call the tool (?:[^\n]*\n){0,20}?[^\n]*?`mdmem new`)\.\r?\n"
    r"(?:Several projects share this memory: [^\n]*\n)?(?:Until this folder is in git, [^\n]*\n)?",
    re.MULTILINE,
)
_RULES = re.compile(r"^[ \t]*(?:##+|[-*+]|\d+[.)])[ \t]", re.MULTILINE)
# An additional line for a memory with several projects, and the remark that it is missing.
WINGS_LINE = "Several projects share this memory: without a file, `retrieve` takes `--wing NAME`, or `--all-wings`.\n"
NO_WINGS_LINE = f"several projects share this memory, and {NAME} does not say so: `mdmem init` prints the line to add"
# An additional line outside git, where a command finds only a memory in or above the working folder.
ROOT_LINE = "Until this folder is in git, add `{}` to each command.\n"


_END = re.compile(rf"{re.escape(EXPORT_END)}(?:\r?\n)?")
_SEAL = re.compile(rf"{re.escape(EXPORT_BEGIN)} ([0-9a-f]{{12}}|): ")


def begin_marker(about: str) -> str:
    """Return the first line of exported text, still without the checksum. `about` is one line for human readers."""
    return f"{EXPORT_BEGIN} : {about.replace('--', '—')} -->"


def with_checksum(text: str) -> str:
    """Return a text with its checksum in the first line. Line endings do not affect the checksum."""
    return _SEAL.sub(f"{EXPORT_BEGIN} {_digest(text)}: ", text, count=1)


def is_unmodified(text: str) -> bool | None:
    """Return whether nobody changed a text since its export, by its checksum; None if mdmem did not export it."""
    seal = _SEAL.search(text)
    return None if seal is None else seal[1] == _digest(text)


def _digest(text: str) -> str:
    bare = _SEAL.sub(f"{EXPORT_BEGIN} : ", text.replace("\r\n", "\n"), count=1)
    return text_hash(bare.rstrip("\n"))[:12]


def region_of(text: str, at: int = 0) -> tuple[int, int] | None:
    """Return the start and end offset of the first exported region that begins at an offset or later, or None."""
    # A single pattern would be slow, because it searches for the end again from each of thousands of starts.
    begin = _SEAL.search(text, at)
    end = _END.search(text, begin.end()) if begin is not None else None
    return None if begin is None or end is None else (begin.start(), end.end())


def without_regions(text: str) -> str:
    """Return a text without its exported regions."""
    parts, at = [], 0
    while (place := region_of(text, at)) is not None:
        parts.append(text[at : place[0]])
        at = place[1]
    return "".join([*parts, text[at:]])


def has_own_rules(path: Path) -> bool:
    """Return whether a file of instructions has a list or a section that mdmem did not write."""
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:
        return False
    return _RULES.search(without_regions(OWN_LINES.sub("", text))) is not None


def agents_lines(profile: str) -> str:
    """Return the text for AGENTS.md if a server with the tools of a profile is set up."""
    ask, write = _TOOLS.get(profile, ("retrieve", "propose"))
    return f"""\
Before you change code or decide anything, call the tool `{ask}` of the {_MARK}.
Call it once, with what you are about to do and all files that you will touch: the answer has every rule \
for these files, and the best matches for your words: ask again only in other words, if no match fits.
Propose what you learned with its tool `{write}`; people approve it.
Without the server, type `mdmem retrieve --path FILE "what you are about to do"` and `mdmem new`.
"""


def add_server_lines(base: Path, *, profile: str, clients: Iterable[str]) -> Iterator[str]:
    """Add the lines for a server to AGENTS.md. Yield a sentence for each step that is done or left to do.

    They replace the lines that `init` wrote. If the file mentions mdmem in another way, it stays as it is.
    """
    lines = agents_lines(profile)

    def extend(before: bytes) -> bytes | str:
        text = decode_utf8(before)
        if _MARK in text:
            return f"{NAME} mentions the {_MARK} already and stays as it is"
        newline = "\r\n" if "\r\n" in text else "\n"
        ours, others = (one.replace("\n", newline) for one in (lines, COMMAND_LINES))
        if others in text:
            return text.replace(others, ours).encode()
        # An exported region may mention the command. It is ignored, because each export rewrites it.
        if _COMMAND in without_regions(text):
            raise InsertError(f"it already describes `{_COMMAND}` in words that mdmem did not write")
        return append_piece(text, lines).encode()

    yield add_piece(base, NAME, f"changed {NAME}: it lists the tools of the server", lines, extend)
    yield from point_to_agents(base, clients)


def has_lines(content: bytes, lines: str) -> bool:
    """Return whether AGENTS.md contains these lines, or instructions for the server."""
    return lines.encode() in content.replace(b"\r\n", b"\n") or _MARK.encode() in content


def lacks_wings_line(base: Path, wings: Iterable[Wing]) -> bool:
    """Return whether AGENTS.md has the lines for a memory with one project, and the memory has several."""
    content = b""
    with suppress(OSError):
        content = read_regular(base / NAME)
    is_shared = sum(not one.is_shared for one in wings) > 1
    return is_shared and has_lines(content, COMMAND_LINES) and not re.search(rb"--wing\b|%b" % _MARK.encode(), content)


def point_to_agents(base: Path, clients: Iterable[str] = _OWN_FILES) -> Iterator[str]:
    """Yield a sentence, with the line to add, for each client's own file that does not refer to AGENTS.md."""
    for client in clients:
        files, called = _OWN_FILES.get(client, ((), ""))
        for name in files:
            # Without such a file, the client reads AGENTS.md.
            try:
                is_enough = (base / name).samefile(base / NAME) or _REFERS.search(read_regular(base / name))
            except OSError:
                is_enough = True
            if is_enough:
                continue
            if name.startswith(".github/"):
                line = f"Read {NAME} at the top of this repository before anything else."
                yield f"{called} reads {name}, and {NAME} not everywhere; add this line to it:\n{line}"
            else:
                line = "@../AGENTS.md" if "/" in name else "@AGENTS.md"
                yield f"{called} reads {name} in place of {NAME}; add this line to it:\n{line}"
