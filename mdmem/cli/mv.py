"""`mdmem mv`: give an entry, a room or a wing another place."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_written, write_options, write_options_from
from mdmem.cli.completion import complete_address, complete_place


@click.command("mv")
@click.argument("old", metavar="FROM", shell_complete=complete_address)
@click.argument("new", metavar="TO", shell_complete=complete_place)
@write_options
@global_options
def command(given: Globals, old: str, new: str, form: str, **options: bool | None) -> int:
    """Move an entry, a room (`wing/room/`) or a wing (`wing/`), and rewrite every link to what moves.

    TO is of the same kind; for an entry it may be short, or a room with its slash to keep the entry-id.
    """
    from mdmem.authoring.move import move

    workspace = open_workspace(given)
    written = move(workspace, old, new, options=write_options_from(options))
    return print_written(given, written, form, in_git=workspace.location.repository is not None)
