"""`mdmem hub forget`: what the hub has of a repository, dropped."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub


@click.command("forget")
@click.argument("name")
@dsn_option
@global_options
def command(_: Globals, *, name: str, dsn: str | None) -> int:
    """Drop what the hub has of a repository; git has it still, and a push sends it again."""
    from mdmem.hub.repositories import forget
    from mdmem.render.hub import forget_text

    with open_hub(dsn) as connection:
        print_text(forget_text(forget(connection, name)))
    return 0
