"""`mdmem resolve`: what a merge left to be decided, and deciding it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.change.conflicts import find_conflicts
from mdmem.change.resolve import ResolveRequest, find_conflict, resolve
from mdmem.cli.common import (
    Globals,
    global_options,
    open_workspace,
    print_text,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_address, complete_conflict
from mdmem.render.conflicts import conflicts_json, conflicts_text

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace


@click.command("resolve")
@click.argument("address", required=False, shell_complete=complete_conflict)
@click.option("--take", metavar="ours|theirs|ADDRESS", help="The side that holds, or the successor that stays.")
@click.option(
    "--behind", metavar="ADDRESS", shell_complete=complete_address, help="It came first; the other one replaces it."
)
@click.option("--split", is_flag=True, help="Every successor holds, each for a part.")
@click.option("--reason", "-m", default="", metavar="TEXT", help="Why, where something ends or is split.")
@write_options
@global_options
def command(given: Globals, address: str | None, form: str, **options: Any) -> int:
    """Show what a merge left to be decided, with what to type; with an option, decide it for ADDRESS.

    It speaks of files that git could not merge, in a merge, a rebase or a cherry-pick, and of entries that two others
    replaced. In a rebase `ours` is the branch that you rebase onto, `theirs` your own commit.
    Exit code 1: there is something to decide.
    """
    wanted, workspace = write_options_from(options), open_workspace(given)
    chosen = [name for name in ("take", "behind", "split") if options[name]]
    if not chosen:
        return _show(given, workspace, address, form)
    if len(chosen) > 1 or address is None:
        raise click.UsageError("name one ADDRESS, and one of --take, --behind and --split")
    return print_written(given, workspace, resolve(workspace, address, ResolveRequest(**options), wanted), form)


def _show(given: Globals, workspace: Workspace, address: str | None, form: str) -> int:
    conflicts = find_conflicts(workspace)
    if address is not None:
        conflicts = replace(conflicts, found=(find_conflict(workspace, address),))
    if form == "json":
        print_text(conflicts_json(conflicts))
    elif conflicts.found:
        print_text(conflicts_text(conflicts, given.ink()))
    else:
        given.remark("nothing is to be decided")
        for step in conflicts.then:
            given.remark(f"then: {step}")
    return 1 if conflicts.found else 0
