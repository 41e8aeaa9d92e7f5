"""`mdmem hub show`: entries in full."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.hub_common import dsn_option
from mdmem.cli.hub_question import now, reading


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
    from mdmem.render import hub_copies
    from mdmem.retrieval.entries import show

    with reading(dsn) as reader:
        name, plain = repository_of(reader, addresses, named=repository)
        copy = open_copy(reader, name, today=today())
        shown = show(copy.workspace, plain)
        if form == "json":
            print_text(hub_copies.copy_entries_json(copy, shown, now=now()))
        else:
            print_text(hub_copies.copy_shown_text(copy, shown, ink=given.ink(), now=now()))
    return 0
