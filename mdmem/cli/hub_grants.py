"""`mdmem hub grants`: who sees what of a hub, listed."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.permissions import grants
from mdmem.render.hub import grants_json, grants_text


@click.command("grants")
@click.argument("name", required=False)
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, *, name: str | None, dsn: str | None, form: str) -> int:
    """List who sees and who pushes what; to anybody but the hub's owner, what they see themselves."""
    with open_hub(dsn) as connection:
        found = grants(connection, name)
    print_text(grants_json(found) if form == "json" else grants_text(found))
    if not found:
        given.remark("nobody but the hub's owner sees anything; `mdmem hub grant NAME REPOSITORY` changes that")
    return 0
