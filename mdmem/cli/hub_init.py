"""`mdmem hub init`: the tables of a hub."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.schema import init
from mdmem.render.hub import schema_json, schema_text


@click.command("init")
@dsn_option
@format_option("text", "json")
@global_options
def command(_: Globals, *, dsn: str | None, form: str) -> int:
    """Make the hub's tables in a database, or bring them up to date; what they hold stays."""
    with open_hub(dsn, may_lack=True) as connection:
        done = init(connection)
    print_text(schema_json(done) if form == "json" else schema_text(done))
    return 0
