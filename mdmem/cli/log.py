"""`mdmem log`: the history of one entry."""

from __future__ import annotations

import click

from mdmem.change.log import log
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address
from mdmem.render.history import log_json, log_text
from mdmem.render.json import dump


@click.command("log")
@click.argument("address", shell_complete=complete_address)
@at_option
@format_option("text", "json")
@global_options
def command(given: Globals, address: str, form: str, revision: str | None) -> int:
    """Show the history of ADDRESS, through its moves, the newest first: who changed what, in which commit.

    One that is gone has a history, too, by its full address.
    """
    found = log(open_workspace(given, revision=revision), address)
    print_text(dump(log_json(found)) if form == "json" else log_text(found, given.ink()))
    return 0
