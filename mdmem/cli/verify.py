"""`mdmem verify`: say of entries that they still hold."""

from __future__ import annotations

from datetime import datetime

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_written, write_options, write_options_from
from mdmem.cli.completion import complete_in_force
from mdmem.write.lifecycle import verify


@click.command("verify")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, required=True, shell_complete=complete_in_force)
@click.option("--at", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="When it was verified.  [default: today]")
@write_options
@global_options
def command(given: Globals, addresses: tuple[str, ...], at: datetime | None, form: str, **options: bool | None) -> int:
    """Say of entries that they still hold, all of them or none; a review ends with it.

    `wing/room/` and `wing/` stand for those in force in a room and in a wing.
    """
    day = at.date() if at is not None else None
    workspace = open_workspace(given)
    written = verify(workspace, addresses, at=day, options=write_options_from(options))
    return print_written(given, workspace, written, form)
