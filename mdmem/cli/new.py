"""`mdmem new`: an entry from the template of its type."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_text, today
from mdmem.cli.completion import complete_place
from mdmem.errors import EnvironmentFaultError, MdmemError

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace


@click.command("new")
@click.argument("entry_type", metavar="TYPE", type=click.Choice(["invariant", "decision", "pattern", "note"]))
@click.argument("place", metavar="WING/ROOM[/ID]", shell_complete=complete_place)
@click.option("--title", "-t", default="", help="The title; the entry-id is made from it where none is given.")
@click.option(
    "--status", "-s", default="draft", show_default=True, type=click.Choice(["draft", "active", "under_review"])
)
@click.option("--body", "-b", help="The text; `-` reads standard input. Without it: standard input, or your editor.")
@global_options
def command(given: Globals, entry_type: str, place: str, title: str, status: str, body: str | None) -> int:
    """Write a new entry; one that exists is never overwritten.

    Without --body on a terminal the template opens in your editor, as git chooses it.
    """
    from mdmem.authoring.create import Draft, address_of, compose
    from mdmem.entry.model import EntryType, Status

    workspace = open_workspace(given)
    piped = _piped(body)
    draft = Draft(
        type=EntryType(entry_type),
        place=workspace.from_root(place),
        title=title.strip(),
        status=Status(status),
        body=piped or "",
    )
    address = address_of(draft)
    workspace.refuse_taken(address)
    wing = address.split("/")[0]
    is_new_wing = not (workspace.location.root / wing).is_dir()
    text = compose(draft, today=today())
    path = _edited(workspace, address, text) if piped is None else workspace.create(address, text)
    print_text(str(path))
    if piped is not None and not piped.strip():
        given.remark("no text was given: the template stands in it and waits to be filled in")
    if is_new_wing:
        given.remark(f"`{wing}` is a new wing")
    given.remark(f"{address} is written ({entry_type}, {status}); `mdmem check` checks it")
    return 0


def _piped(body: str | None) -> str | None:
    """Return the text from the option or standard input; None where the editor is to be asked."""
    if body is not None and body != "-":
        return body
    if body == "-" or not sys.stdin.isatty():
        return _text_of(sys.stdin.buffer.read()).removeprefix("\ufeff").replace("\r\n", "\n")
    return None


def _edited(workspace: Workspace, address: str, text: str) -> Path:
    """Write the text as the editor leaves it; where that fails, what was typed is kept and said to be."""
    typed = Path(tempfile.mkdtemp(prefix="mdmem-")) / f"{address.rsplit('/', 1)[-1]}.md"
    typed.write_bytes(text.encode("utf-8", "surrogateescape"))
    try:
        left = _edit(workspace, typed)
        path = workspace.create(address, left) if left.strip() else None
    except (MdmemError, OSError):
        click.echo(f"what you typed is kept in {typed}", err=True)
        raise
    shutil.rmtree(typed.parent)
    if path is None:
        click.echo("the text is empty; nothing is written", err=True)
        raise click.Abort
    return path


def _edit(workspace: Workspace, typed: Path) -> str:
    from mdmem.gitrepo import editor

    command = editor(workspace.location.base)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EnvironmentFaultError(
            f"the editor's command `{command}` has an open quote; nothing is written"
        ) from error
    ended = subprocess.run([*words, str(typed)], check=False).returncode
    if ended:
        raise EnvironmentFaultError(f"the editor `{command}` ended with code {ended}; nothing is written")
    return _text_of(typed.read_bytes())


def _text_of(content: bytes) -> str:
    # What is no UTF-8 is refused where the entry is written, in one sentence.
    return content.decode("utf-8", "surrogateescape")
