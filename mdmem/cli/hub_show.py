"""`mdmem hub show`: entries in full."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.hub_common import dsn_option, now, reading


@click.command("show")
@click.argument("addresses", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS...")
@click.option("--repository", metavar="NAME", help="The repository that they are of.")
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, addresses: tuple[str, ...], repository: str | None, dsn: str | None, form: str) -> int:
    """Show entries of a repository in full; which one need not be said where one alone has the address."""
    from mdmem.hub.owners import repository_of
    from mdmem.hub.repository_copy import open_copy
    from mdmem.render.entries import shown_text
    from mdmem.render.hub_answers import copy_json, copy_text
    from mdmem.render.json import entries_json
    from mdmem.retrieval.entries import show

    with reading(dsn) as reader:
        name, plain = repository_of(reader, addresses, named=repository)
        copy = open_copy(reader, name, today=today())
        shown = show(copy.workspace, plain)
        if form == "json":
            print_text(copy_json(copy, entries_json(shown), now=now()))
        else:
            ink = given.ink()
            print_text(copy_text(copy, shown_text(shown, ink), ink=ink, now=now()))
    return 0
