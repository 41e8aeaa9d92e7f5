"""`mdmem hub rename`: another name for a repository."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.repositories import rename
from mdmem.render.hub import rename_json, rename_text


@click.command("rename")
@click.argument("old")
@click.argument("new")
@dsn_option
@format_option("text", "json")
@global_options
def command(_: Globals, *, old: str, new: str, dsn: str | None, form: str) -> int:
    """Give a repository of the hub another name; pushes and questions under the old one go on working."""
    with open_hub(dsn) as connection:
        done = rename(connection, old, new)
    print_text(rename_json(done) if form == "json" else rename_text(done))
    return 0
