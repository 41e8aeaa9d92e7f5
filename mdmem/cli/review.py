"""`mdmem review`: put an entry under review, or end the review."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_written, write_options, write_options_from
from mdmem.cli.completion import complete_in_force
from mdmem.write.lifecycle import end_review, review


@click.command("review")
@click.argument("address", shell_complete=complete_in_force)
@click.option("--reason", "-m", metavar="TEXT", help="What is in doubt; kept in the entry while the review lasts.")
@click.option("--done", is_flag=True, help="The entry still holds: end its review.")
@write_options
@global_options
def command(given: Globals, address: str, reason: str | None, form: str, *, done: bool, **options: bool | None) -> int:
    """Put an entry under review: it binds on, shown as uncertain, until somebody confirms, replaces or ends it."""
    if done == (reason is not None):
        raise click.UsageError("give --reason TEXT to begin a review, or --done to end one")
    workspace, wanted = open_workspace(given), write_options_from(options)
    if reason is None:
        return print_written(given, workspace, end_review(workspace, address, options=wanted), form)
    return print_written(given, workspace, review(workspace, address, reason=reason, options=wanted), form)
