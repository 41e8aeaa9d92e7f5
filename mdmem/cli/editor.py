"""Let the user edit a text in their editor, and keep it in a file if it cannot be written."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import click

from mdmem.cli.common import say
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.store.git.process import editor
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.edit import notes_on_refusal, with_notes, without_notes

_Result = TypeVar("_Result")
# The most times that the editor is opened, since a script that is set as the editor might never give up.
_MOST_ROUNDS = 50


def piped_text(body: str | None) -> str | None:
    """Return the text of the option `--body` or of standard input; None if the user must type it in the editor."""
    if body is not None and body != "-":
        return body
    if body == "-" or not sys.stdin.isatty():
        return _decoded(sys.stdin.buffer.read()).removeprefix("\ufeff").replace("\r\n", "\n")
    return None


def edited(workspace: Workspace, address: str, text: str, write: Callable[[str], _Result]) -> _Result:
    """Open a text in the editor, then pass it to `write` and return the result.

    If `write` refuses the text, the editor opens again with the reason above the text, until the user closes it
    unchanged. An unchanged template or an empty text ends the command. If typed text is not written, it stays in a
    file, and a message says where.
    """
    with typing(workspace, address, text.encode("utf-8", "surrogateescape")) as typed:
        content, notes = typed.first, tuple[str, ...]()
        while True:
            left = typed.ask(content, notes)
            if not left.strip():
                give_up_empty()
            if left == typed.first and not notes:
                say("the template is unchanged; nothing is written")
                raise click.exceptions.Exit(1)
            try:
                written = write(_decoded(left))
            except UsageError as error:
                if notes and left == content:
                    raise
                content, notes = left, notes_on_refusal(str(error))
                continue
            typed.is_written = True
            return written


def give_up_empty() -> NoReturn:
    """End the command, since an empty text means that the user changed their mind."""
    say("the text is empty; nothing is written")
    raise click.Abort


def _decoded(content: bytes) -> str:
    # Bytes that are not UTF-8 are refused later, when the entry is written.
    return content.decode("utf-8", "surrogateescape")


class Typed:
    """A text in the user's editor: its temporary file, its first content, and whether it was written to the memory."""

    def __init__(self, workspace: Workspace, path: Path, first: bytes) -> None:
        """Store the path of the file and the first content; the editor is not opened yet."""
        self._workspace = workspace
        self.path, self.first, self.is_written = path, first, False
        self._rounds = 0

    def ask(self, content: bytes, notes: Sequence[str] = ()) -> bytes:
        """Open a text with notes above it, and return it without them; empty if the user deleted the file.

        Raises EnvironmentFaultError if the editor fails, or was opened too often.
        """
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS:
            raise EnvironmentFaultError(f"the editor left a faulty text {_MOST_ROUNDS} times; nothing is written")
        self.path.write_bytes(with_notes(content, notes))
        command = editor(self._workspace.location.base)
        try:
            code = subprocess.run([*shlex.split(command), str(self.path)], check=False).returncode
            if code:
                raise EnvironmentFaultError(f"the editor `{command}` ended with code {code}; nothing is written")
        except ValueError as error:
            what = f"the editor's command `{command}` has an open quote"
            raise EnvironmentFaultError(f"{what}; nothing is written") from error
        finally:
            left = read_regular(self.path) if self.path.exists() else b""
            left = without_notes(left) if notes else left
            self.path.write_bytes(left)
        return left


@contextmanager
def typing(workspace: Workspace, address: str, first: bytes) -> Iterator[Typed]:
    """Yield a text to edit; at the end its file is removed, unless the user's text was not written."""
    edits = workspace.state_folder / "edits"
    try:
        edits.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=f"{workspace.today}-", dir=edits)
    except OSError:
        # The state folder is not writable, so use the system's temporary folder.
        folder = tempfile.mkdtemp(prefix="mdmem-")
    typed = Typed(workspace, Path(folder, f"{address.rsplit('/', 1)[-1]}.md"), first)
    try:
        yield typed
    finally:
        left = read_regular(typed.path) if typed.path.exists() else b""
        if typed.is_written or not left.strip() or left == first:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"your text is kept in {typed.path}")
