"""`mdmem show`: entries in full."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address


@click.command("show")
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete_address)
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, addresses: tuple[str, ...], form: str, revision: str | None) -> int:
    """Show entries in full.

    An address may be short where it is unambiguous, or the path of a file; `wing/` and `wing/room/` show all below.
    """
    from mdmem.render.entries import shown_markdown, shown_text
    from mdmem.render.json import dump, entries_json
    from mdmem.retrieval.entries import show

    shown = show(open_workspace(given, revision=revision), addresses)
    if form == "json":
        print_text(dump(entries_json(shown)))
    else:
        print_text(shown_markdown(shown) if form == "markdown" else shown_text(shown, given.ink()))
    return 0
