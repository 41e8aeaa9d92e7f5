"""`mdmem mv`: give an entry, a room or a wing another place."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    new_wing_from,
    new_wing_options,
    open_workspace,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_address, complete_place
from mdmem.write.move import move


@click.command("mv")
@click.argument("old", metavar="FROM", shell_complete=complete_address)
@click.argument("new", metavar="TO", shell_complete=complete_place)
@new_wing_options
@write_options
@global_options
def command(given: Globals, old: str, new: str, form: str, **options: Any) -> int:
    """Move an entry, a room (`wing/room/`) or a wing (`wing/`), and rewrite every link to what moves.

    TO is of the same kind; for an entry it may be short, or a room with its slash to keep the entry-id.
    """
    workspace, wing = open_workspace(given), new_wing_from(options)
    written = move(workspace, old, new, options=write_options_from(options), wing=wing)
    return print_written(given, workspace, written, form)
