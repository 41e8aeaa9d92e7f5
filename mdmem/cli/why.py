"""`mdmem why`: how an entry came to bind or was replaced."""

from __future__ import annotations

import click

from mdmem.change.why import why
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address
from mdmem.cli.graph import print_drawing
from mdmem.render.history import why_text
from mdmem.render.json import dump, why_json


@click.command("why")
@click.argument("address", shell_complete=complete_address)
@at_option
@format_option("text", "json", "mermaid", "svg")
@global_options
def command(given: Globals, address: str, form: str, revision: str | None) -> int:
    """Show the chain of ADDRESS in both directions, with reasons, dates and commits."""
    if form in ("mermaid", "svg"):
        print_drawing(open_workspace(given, revision=revision), (address,), form, given.ink())
        return 0
    explained = why(open_workspace(given, revision=revision), address)
    print_text(dump(why_json(explained)) if form == "json" else why_text(explained, given.ink()))
    return 0
