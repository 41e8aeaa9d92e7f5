"""`mdmem hub grant`: who sees what of a hub."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.permissions import grant
from mdmem.render.hub import grants_json, grants_text


@click.command("grant")
@click.argument("name")
@click.argument("places", nargs=-1, metavar="REPOSITORY[/WING]...")
@click.option("--all", "sees_all", is_flag=True, help="It sees every repository, those to come as well.")
@click.option("--push", "may_push", is_flag=True, help="It may push the repositories, too; they need not be there yet.")
@dsn_option
@format_option("text", "json")
@global_options
def command(
    _: Globals, *, name: str, places: tuple[str, ...], sees_all: bool, may_push: bool, dsn: str | None, form: str
) -> int:
    """Let a token or a database role see repositories, or wings of them, and say all that it sees.

    Who sees a repository sees the wings that it pins elsewhere, too. For the hub's owner.
    """
    if not places and (may_push or not sees_all):
        raise click.UsageError("say what is granted: REPOSITORY or REPOSITORY/WING, as often as need be, or --all")
    with open_hub(dsn) as connection:
        granted = grant(connection, name, places, may_push=may_push, sees_all=sees_all)
    print_text(grants_json([granted]) if form == "json" else grants_text([granted]))
    return 0
