"""`mdmem approve`: put a draft in force."""

from __future__ import annotations

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    open_workspace,
    print_written,
    remark_if_proposed,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_draft
from mdmem.cli.options import option


@click.command("approve")
@click.argument("address", shell_complete=complete_draft)
@option("--by", metavar='"NAME <EMAIL>"', help="Who approves it.  [default: who commits here]")
@write_options
@global_options
def command(given: Globals, address: str, by: str | None, form: str, **options: bool | None) -> int:
    """Put a draft in force and end what it supersedes; who approved it is kept in it."""
    from mdmem.authoring.approve import approve

    workspace = open_workspace(given)
    written = approve(workspace, address, by=by, options=write_options_from(options))
    code = print_written(given, workspace, written, form)
    remark_if_proposed(given, written, form)
    return code
