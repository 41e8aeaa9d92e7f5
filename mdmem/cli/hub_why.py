"""`mdmem hub why`: how an entry came to bind or was replaced."""

from __future__ import annotations

import click

from mdmem.change.why import why
from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.hub_common import dsn_option, now, reading
from mdmem.hub.owners import repository_of
from mdmem.hub.repository_copy import open_copy
from mdmem.render.history import why_text
from mdmem.render.hub_answers import copy_json, copy_text
from mdmem.render.json import why_json


@click.command("why")
@click.argument("address", metavar="[REPOSITORY:]ADDRESS")
@click.option("--repository", metavar="NAME", help="The repository that it is of.")
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, address: str, repository: str | None, dsn: str | None, form: str) -> int:
    """Show the chain of ADDRESS in both directions, with reasons and dates; the commits are in the clone."""
    with reading(dsn) as reader:
        name, plain = repository_of(reader, [address], named=repository)
        copy = open_copy(reader, name, today=today())
        explained = why(copy.workspace, plain[0])
        if form == "json":
            print_text(copy_json(copy, why_json(explained), now=now()))
        else:
            ink = given.ink()
            print_text(copy_text(copy, why_text(explained, ink), ink=ink, now=now()))
    return 0
