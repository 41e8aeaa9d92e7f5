"""Let the user edit a text in their editor, and keep it in a file if it cannot be written."""

from __future__ import annotations

import codecs
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from mdmem.cli.common import say
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.store.git.process import editor
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.write import WriteResult

# The most times that the editor is opened, since a script that is set as the editor might never give up.
_MAX_ROUNDS = 50
# The user may have changed the words or line ends of the notes. An entry itself begins with `---`.
_NOTES = re.compile(rb"\A(\xef\xbb\xbf)?(?:# mdmem: [^\n]*(?:\n|\Z))+")


def piped_text(body: str | None) -> str | None:
    """Return the text of the option `--body` or of standard input; None if the user must type it in the editor.

    Raises UsageError if standard input is empty.
    """
    if body is not None and body != "-":
        return body
    if body == "-" or not sys.stdin.isatty():
        text = _decoded(sys.stdin.buffer.read()).removeprefix("\ufeff").replace("\r\n", "\n")
        if not text.strip():
            raise UsageError('no text was given; `--body TEXT` takes it, and `--body ""` writes the template')
        return text
    return None


def edited(
    workspace: Workspace, address: str, text: str, write: Callable[[str], WriteResult], *, is_template: bool = True
) -> WriteResult:
    """Open a text in the editor, then pass it to `write` and return the result.

    If `write` refuses the text, the editor opens again with the reason above the text, until the user closes it
    unchanged. An unchanged template or an empty text ends the command. If typed text is not written, it stays in a
    file, and a message says where.
    """
    edits = workspace.state_folder / "edits"
    edits.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=f"{workspace.today}-", dir=edits)
    path, first = Path(folder, f"{address.rsplit('/', 1)[-1]}.md"), text.encode("utf-8", "surrogateescape")
    content, why, is_written = first, "", False
    try:
        for _ in range(_MAX_ROUNDS):
            left = _ask(editor(workspace.location.base), path, content, why)
            if not left.strip():
                say("the text is empty; nothing is written")
                raise click.Abort
            if is_template and left == first and not why:
                say("the template is unchanged; nothing is written")
                raise click.exceptions.Exit(1)
            try:
                written = write(_decoded(left))
            except UsageError as error:
                if why and left == content:
                    raise
                content, why = left, str(error)
            else:
                is_written = not written.is_dry
                return written
        raise EnvironmentFaultError(f"the text still has errors after {_MAX_ROUNDS} attempts; nothing was written")
    finally:
        left = read_regular(path) if path.exists() else b""
        if is_written or not left.strip() or left == first:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"your text is kept in {path}")


def _ask(command: str, path: Path, content: bytes, why: str) -> bytes:
    """Let the user edit a text below the reason why it was refused, and return it; empty if the file was deleted."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    ending = "\r\n" if b"\r\n" in content else "\n"
    hint = "fix it, or close the file without changes; this line is removed again, and line numbers do not count it"
    above = f"# mdmem: {' '.join(why.split())}; {hint}{ending}" if why else ""
    path.write_bytes(mark + above.encode("utf-8", "backslashreplace") + content.removeprefix(mark))
    try:
        code = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        if code:
            raise EnvironmentFaultError(f"the editor `{command}` ended with code {code}; nothing was written")
    except ValueError as error:
        raise EnvironmentFaultError(f"the editor `{command}` has an open quote; nothing was written") from error
    finally:
        left = read_regular(path) if path.exists() else b""
        left = _NOTES.sub(rb"\1", left) if why else left
        path.write_bytes(left)
    return left


# Bytes that are not UTF-8 are refused later, when the entry is written.
def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
