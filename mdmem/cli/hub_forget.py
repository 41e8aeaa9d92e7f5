"""`mdmem hub forget`: what the hub has of a repository, dropped."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.repositories import forget
from mdmem.render.hub import forget_json, forget_text


@click.command("forget")
@click.argument("name")
@dsn_option
@format_option("text", "json")
@global_options
def command(_: Globals, *, name: str, dsn: str | None, form: str) -> int:
    """Drop what the hub has of a repository; git has it still, and a push sends it again."""
    with open_hub(dsn) as connection:
        done = forget(connection, name)
    print_text(forget_json(done) if form == "json" else forget_text(done))
    return 0
