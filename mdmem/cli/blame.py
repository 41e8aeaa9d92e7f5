"""`mdmem blame`: who last set each field of an entry."""

from __future__ import annotations

import click

from mdmem.change.log import blame
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address
from mdmem.render.history import blame_json, blame_text
from mdmem.render.json import dump


@click.command("blame")
@click.argument("address", shell_complete=complete_address)
@at_option
@format_option("text", "json")
@global_options
def command(given: Globals, address: str, form: str, revision: str | None) -> int:
    """Show which commit last set each field of ADDRESS and its body, through its moves, and who made it."""
    found = blame(open_workspace(given, revision=revision), address)
    print_text(dump(blame_json(found)) if form == "json" else blame_text(found, given.ink()))
    return 0
