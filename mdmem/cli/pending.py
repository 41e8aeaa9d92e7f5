"""`mdmem pending`: the writes of agents that failed on the way."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, is_confirmed, open_workspace, print_text
from mdmem.render.saves import ID_LENGTH, pending_json, pending_text, retried_json, retried_text, title_of_write
from mdmem.write.pending import blocked_saves
from mdmem.write.save import open_queue


@click.group("pending", invoke_without_command=True)
@format_option("text", "json")
@click.pass_context
@global_options
def command(given: Globals, context: click.Context, form: str) -> int:
    """List the writes that failed on the way, and the saves that a similar entry stopped.

    The next write tries the former again, and so does `mdmem pending retry`; the latter wait for their caller.
    """
    if context.invoked_subcommand is not None:
        return 0
    workspace = open_workspace(given)
    ledger = open_queue(workspace).ledger
    listed = ledger.pending(), blocked_saves(workspace, ledger), ledger.unreadable()
    print_text(pending_json(*listed) if form == "json" else pending_text(*listed))
    if not any(listed):
        given.remark("no write waits")
    return 0


@command.command("retry", short_help="Try every write that waits again, or one by its id.")
@click.argument("id_", metavar="[ID]", required=False)
@format_option("text", "json")
@global_options
def retry(given: Globals, id_: str | None, form: str) -> int:
    """Try every write that waits again, or the one whose id begins so; exit code 1 where one still waits."""
    retried = open_queue(open_workspace(given)).retry(id_)
    print_text(retried_json(retried) if form == "json" else retried_text(retried))
    if not retried:
        given.remark("no write waits")
    return 0 if all(one.result.is_there for one in retried) else 1


@command.command("drop")
@click.argument("id_", metavar="ID")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@global_options
def drop(given: Globals, id_: str, *, is_sure: bool) -> int:
    """Give up a write for good: what it was to save is lost."""
    pending = open_queue(open_workspace(given))
    write = pending.get(id_)
    named = f"{write.id[:ID_LENGTH]} ({title_of_write(write)})"
    if not is_sure and not is_confirmed(f"give up {named} for good?"):
        given.remark(f"{named} still waits")
        return 1
    pending.drop(write.id)
    given.remark(f"{named} is given up")
    return 0
