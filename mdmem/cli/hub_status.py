"""`mdmem hub status`: what the hub has."""

from __future__ import annotations

import os

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.cli.hub_common import dsn_option, open_hub
from mdmem.hub.status import status
from mdmem.render.hub import status_json, status_text


@click.command("status")
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, *, dsn: str | None, form: str) -> int:
    """List the repositories that the hub has, with commit, age and number of entries."""
    with open_hub(dsn) as connection:
        report = status(connection)
    print_text(status_json(report) if form == "json" else status_text(report))
    if not report.repositories and report.bytes is None and not os.environ.get("MDMEM_HUB_TOKEN"):
        given.remark("nothing is granted to this database role; with a token in MDMEM_HUB_TOKEN another asks")
    return 0
