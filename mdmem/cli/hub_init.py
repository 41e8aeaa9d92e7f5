"""`mdmem hub init`: the tables of a hub."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub


@click.command("init")
@dsn_option
@global_options
def command(_: Globals, *, dsn: str | None) -> int:
    """Make the hub's tables in a database, or bring them up to date; what they hold stays."""
    from mdmem.hub.schema import init
    from mdmem.render.hub import schema_text

    with open_hub(dsn, may_lack=True) as connection:
        print_text(schema_text(init(connection)))
    return 0
