"""`mdmem hub token`: what says who asks a hub, where the database's role does not."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.permissions import add_token, drop_token, rotate_token
from mdmem.render.hub import new_token_json, new_token_text


@click.command("token")
@click.argument("name")
@click.option("--rotate", "is_rotated", is_flag=True, help="Another text in the place of the one that it has.")
@click.option("--drop", "is_dropped", is_flag=True, help="End it, with all that it sees.")
@dsn_option
@format_option("text", "json")
@global_options
def command(_: Globals, *, name: str, is_rotated: bool, is_dropped: bool, dsn: str | None, form: str) -> int:
    """Make a token and print it, this once: the hub keeps its hash alone; `grant` says what it sees.

    For the hub's owner.
    """
    if is_rotated and is_dropped:
        raise click.UsageError("--rotate keeps the token and --drop ends it; give one of them")
    with open_hub(dsn) as connection:
        if is_dropped:
            drop_token(connection, name)
            print_text(f"`{name}` is good no more")
            return 0
        text = rotate_token(connection, name) if is_rotated else add_token(connection, name)
    print_text(new_token_json(text, name) if form == "json" else new_token_text(text, name))
    return 0
