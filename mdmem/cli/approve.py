"""`mdmem approve`: put drafts in force."""

from __future__ import annotations

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    open_workspace,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_draft
from mdmem.cli.proposal import remark_if_proposed


@click.command("approve")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, required=True, shell_complete=complete_draft)
@click.option("--by", metavar='"NAME <EMAIL>"', help="Who approves them.  [default: who commits here]")
@write_options
@global_options
def command(given: Globals, addresses: tuple[str, ...], by: str | None, form: str, **options: bool | None) -> int:
    """Put drafts in force, all of them or none, and end what they supersede; who approved each is kept in it.

    `wing/room/` and `wing/` stand for the drafts in a room and in a wing.
    """
    from mdmem.authoring.approve import approve

    workspace = open_workspace(given)
    written = approve(workspace, addresses, by=by, options=write_options_from(options))
    code = print_written(given, workspace, written, form)
    remark_if_proposed(given, written, form)
    return code
