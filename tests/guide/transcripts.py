"""Transcripts of a page, run as a reader would: one command after the other, from the top of a clone."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mdmem.cli.main import run

# Only a shell can run these; anything else runs in this process, which is ten times as fast.
_SHELL = re.compile(r"[|<>;$()*?`]|(?<!&)&(?!&)|\b(for|echo)\b")
_QUOTED = re.compile(r"'[^']*'|\"[^\"`$]*\"")


def transcripts(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of the console blocks with the lines that follow it."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        command, shown = "", []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, shown
                command, shown = line[2:], []
            else:
                shown.append(line)
        yield command, shown


def pattern_of(shown: list[str]) -> str:
    """Return what the output must match: a line of dots stands for any lines, dots within a line for any text."""
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in shown]
    return "".join(lines)


class Reader:
    """Types the commands of a page; `said` is the error output of the last command."""

    def __init__(self, folder: Path) -> None:
        """Open a shell in a folder."""
        self._folder, self._code, self.said = folder, 0, ""

    def types(self, line: str) -> str:
        """Return what a line prints."""
        if _SHELL.search(_QUOTED.sub("", line)):
            return self._in_a_shell(line)
        printed, self.said = "", ""
        for part in re.split(r" && (?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", line):
            printed += self._simple(part)
            if self._code:
                break
        return printed

    def _simple(self, command: str) -> str:
        name, *arguments = shlex.split(command)
        if name == "cd":
            self._folder = (self._folder / arguments[0]).resolve()
            assert self._folder.is_dir(), command
            return ""
        if name != "mdmem":
            return self._in_a_shell(command)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self._code = run(arguments)
        self.said += err.getvalue()
        return out.getvalue()

    def _in_a_shell(self, line: str) -> str:
        program = f'mdmem() {{ {shlex.quote(sys.executable)} -m mdmem "$@"; }}\n(exit {self._code})\n{line}'
        done = subprocess.run(
            ["bash", "-c", program], cwd=self._folder, env=os.environ, capture_output=True, text=True, check=False
        )
        self._code, self.said = done.returncode, self.said + done.stderr
        return done.stdout
