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
from mdmem.write.approve import approve


@click.command("approve")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, shell_complete=complete_draft)
@click.option("--merged", is_flag=True, help="The decisions of agents that were merged and that nobody approved.")
@click.option("--by", metavar='"NAME <EMAIL>"', help="Who approves them.  [default: who commits here]")
@write_options
@global_options
def command(
    given: Globals, addresses: tuple[str, ...], by: str | None, form: str, *, merged: bool, **options: bool | None
) -> int:
    """Put drafts in force, all of them or none, and end what they supersede; who approved each is kept in it.

    `wing/room/` and `wing/` stand for the drafts in a room and in a wing. With --merged, these are the decisions that
    agents wrote and that were merged into the default branch without an approval: all of them, or those named.
    """
    if not (addresses or merged):
        raise click.UsageError("name a draft, or write --merged")
    workspace = open_workspace(given)
    written = approve(workspace, addresses, by=by, options=write_options_from(options), merged=merged)
    code = print_written(given, workspace, written, form)
    remark_if_proposed(given, written, form)
    return code
