"""`mdmem hub revoke`: what of a hub somebody sees no more."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.permissions import revoke
from mdmem.render.hub import grants_json, grants_text


@click.command("revoke")
@click.argument("name")
@click.argument("places", nargs=-1, metavar="[REPOSITORY[/WING]]...")
@click.option("--all", "sees_all", is_flag=True, help="What `grant --all` gave.")
@dsn_option
@format_option("text", "json")
@global_options
def command(_: Globals, *, name: str, places: tuple[str, ...], sees_all: bool, dsn: str | None, form: str) -> int:
    """Take back what a token or a database role was granted, all of it where nothing is named, and say what is left.

    It holds from the next question on. For the hub's owner.
    """
    with open_hub(dsn) as connection:
        left = revoke(connection, name, places, sees_all=sees_all)
    print_text(grants_json([left]) if form == "json" else grants_text([left]))
    return 0
