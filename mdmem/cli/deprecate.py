"""`mdmem deprecate`: end an entry that nothing replaces."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_written, write_options, write_options_from
from mdmem.cli.completion import complete_in_force
from mdmem.write.lifecycle import deprecate


@click.command("deprecate")
@click.argument("address", shell_complete=complete_in_force)
@click.option("--reason", "-m", required=True, metavar="TEXT", help="Why it ends.")
@write_options
@global_options
def command(given: Globals, address: str, reason: str, form: str, **options: bool | None) -> int:
    """End an entry that nothing replaces; the reason is kept in it. What replaces one: `mdmem supersede`."""
    workspace = open_workspace(given)
    written = deprecate(workspace, address, reason=reason, options=write_options_from(options))
    return print_written(given, workspace, written, form)
