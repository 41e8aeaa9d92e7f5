"""`mdmem hub verify`: the hub and this clone compared."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.hub_common import INCOMPLETE, dsn_option, open_hub, repository_option
from mdmem.hub.verify import verify
from mdmem.render.hub import verify_json, verify_text


@click.command("verify")
@repository_option
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, *, repository: str | None, dsn: str | None, form: str) -> int:
    """Compare every row that the hub has of this memory with the commit it says it has.

    Exit code 1 for findings, 3 where a pinned wing is not at hand and so not compared.
    """
    workspace = open_workspace(given)
    with open_hub(dsn) as connection:
        report = verify(workspace, connection, repository)
    for remark in report.missing if form == "text" else ():
        given.remark(f"not compared: {remark}")
    print_text(verify_json(report) if form == "json" else verify_text(report))
    return INCOMPLETE if report.missing else int(bool(report.findings))
