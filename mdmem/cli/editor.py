"""The user's editor: a text goes into it as a file of the state, and what was typed is never thrown away."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from mdmem.cli.common import say
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, MdmemError, UsageError
from mdmem.store.git import editor
from mdmem.write.edit import notes_on_refusal, with_notes, without_notes

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace

_Result = TypeVar("_Result")
# A script in the place of an editor may never give up.
_MOST_ROUNDS = 50


def piped_text(body: str | None) -> str | None:
    """Return the text from the option or standard input; None where the editor is to be asked."""
    if body is not None and body != "-":
        return body
    if body == "-" or not sys.stdin.isatty():
        return text_of(sys.stdin.buffer.read()).removeprefix("\ufeff").replace("\r\n", "\n")
    return None


def edited(workspace: Workspace, address: str, text: str, write: Callable[[str], _Result]) -> _Result:
    """Write the text as the editor leaves it; it opens again with what is wrong above it, until it is left as it is.

    A text that nobody touched is not wanted. What was typed and is not written is kept and said to be.
    """
    with typing(workspace, address, text.encode("utf-8", "surrogateescape")) as typed:
        content, notes = typed.first, tuple[bytes, ...]()
        while True:
            left = typed.ask(content, notes)
            if not left.strip():
                give_up_empty()
            if left == typed.first and not notes:
                say("the template was left as it is; nothing is written")
                raise click.exceptions.Exit(1)
            try:
                written = write(text_of(left))
            except UsageError as error:
                if notes and left == content:
                    raise
                content, notes = left, notes_on_refusal(str(error), left)
                continue
            typed.is_written = True
            return written


def give_up_empty() -> NoReturn:
    """End the command: an empty text says that nothing is wanted."""
    say("the text is empty; nothing is written")
    raise click.Abort


def text_of(content: bytes) -> str:
    """Return bytes as text; what is no UTF-8 is refused where the entry is written, in one sentence."""
    return content.decode("utf-8", "surrogateescape")


class Typed:
    """A text in somebody's editor: its file, what it held first, and whether what it holds now is written."""

    def __init__(self, workspace: Workspace, path: Path, first: bytes) -> None:
        """Take the file and what it is to hold at first; nothing is opened yet."""
        self._workspace = workspace
        self.path, self.first, self.is_written = path, first, False
        self._rounds = 0

    def ask(self, content: bytes, notes: Sequence[bytes] = ()) -> bytes:
        """Open a text in the editor, with notes above it, and return what is left without them; empty for no file.

        Raises EnvironmentFaultError where the editor fails and OSError where it cannot be started.
        """
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS:
            raise EnvironmentFaultError(f"the editor left a faulty text {_MOST_ROUNDS} times; nothing is written")
        self.path.write_bytes(with_notes(content, notes))
        try:
            _run(self._workspace, self.path)
        finally:
            left = without_notes(read_regular(self.path), notes) if self.path.exists() else b""
            self.path.write_bytes(left)
        return left

    def close(self) -> str | None:
        """Remove the file if nothing in it is lost by that, else return the sentence that says where it is."""
        left = read_regular(self.path) if self.path.exists() else b""
        if self.is_written or not left.strip() or left == self.first:
            shutil.rmtree(self.path.parent, ignore_errors=True)
            return None
        return f"what you typed is kept in {self.path}"


@contextmanager
def typing(workspace: Workspace, address: str, first: bytes) -> Iterator[Typed]:
    """Give a text that is to be edited; at the end its file goes, unless it holds what is written nowhere else."""
    typed = Typed(workspace, _new_folder(workspace) / f"{address.rsplit('/', 1)[-1]}.md", first)
    is_told = False
    try:
        yield typed
    except MdmemError as error:
        is_told = True
        if kept := typed.close():
            error.add_note(kept)
        raise
    finally:
        if not is_told and (kept := typed.close()):
            say(kept)


def _new_folder(workspace: Workspace) -> Path:
    kept = workspace.state_folder / "edits"
    try:
        kept.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{workspace.today}-", dir=kept))
    except OSError:
        # Where the state cannot be written, a text may still be typed.
        return Path(tempfile.mkdtemp(prefix="mdmem-"))


def _run(workspace: Workspace, path: Path) -> None:
    command = editor(workspace.location.base)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EnvironmentFaultError(
            f"the editor's command `{command}` has an open quote; nothing is written"
        ) from error
    ended = subprocess.run([*words, str(path)], check=False).returncode
    if ended:
        raise EnvironmentFaultError(f"the editor `{command}` ended with code {ended}; nothing is written")
