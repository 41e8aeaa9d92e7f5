"""`mdmem new`: an entry from the template of its type."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_text, today

if TYPE_CHECKING:
    from mdmem.workspace.workspace import Workspace


@click.command("new")
@click.argument("entry_type", metavar="TYPE", type=click.Choice(["invariant", "decision", "pattern", "note"]))
@click.argument("place", metavar="WING/ROOM[/ID]")
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
    draft = Draft(type=EntryType(entry_type), place=place, title=title.strip(), status=Status(status), body=piped or "")
    address = address_of(draft)
    workspace.refuse_taken(address)
    text = compose(draft, today=today())
    if piped is None:
        text = _edited(workspace, address, text)
    path = workspace.create(address, text)
    print_text(str(path))
    given.remark(f"{address} is written as a {entry_type} ({status}); `mdmem check` checks it")
    return 0


def _piped(body: str | None) -> str | None:
    """Return the text from the option or standard input; None where the editor is to be asked."""
    if body is not None and body != "-":
        return body
    if body == "-" or not sys.stdin.isatty():
        return sys.stdin.read()
    return None


def _edited(workspace: Workspace, address: str, text: str) -> str:
    """Return the text as the editor left it; raises Abort where it was emptied."""
    from mdmem.gitrepo import editor

    with tempfile.TemporaryDirectory(prefix="mdmem-") as folder:
        path = Path(folder) / f"{address.rsplit('/', 1)[-1]}.md"
        path.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor(workspace.location.base)), str(path)], check=True)
        left = path.read_text(encoding="utf-8")
    if not left.strip():
        click.echo("the text is empty; nothing is written", err=True)
        raise click.Abort
    return left
