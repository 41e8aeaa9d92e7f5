"""`mdmem supersede`: put an entry, new or there already, in the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import (
    Globals,
    applies_to_option,
    global_options,
    new_wing_from,
    new_wing_options,
    open_workspace,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_address, complete_in_force, complete_place
from mdmem.cli.editor import edited, piped_text
from mdmem.cli.proposal import remark_if_proposed
from mdmem.model.entry import EntryType, Status
from mdmem.store.workspace.addresses import from_root, resolve_name
from mdmem.write.approve import in_own_name
from mdmem.write.create import Draft, address_of
from mdmem.write.place import require_wing
from mdmem.write.successor import compose_successor, supersede_with
from mdmem.write.supersede import supersede

if TYPE_CHECKING:
    from mdmem.model.entry import WingKind
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.write import WriteOptions, WriteResult


@click.command("supersede")
@click.argument("address", metavar="OLD", shell_complete=complete_in_force)
@click.option(
    "--reason", "-m", default="", metavar="TEXT", help="Why the old one is replaced; --by may name what says it."
)
@click.option("--by", metavar="ADDRESS", shell_complete=complete_address, help="The entry that takes its place.")
@click.option("--title", "-t", help="The title of a new entry that takes its place.")
@click.option(
    "--place", "-p", metavar="WING/ROOM[/ID]", shell_complete=complete_place, help="Where.  [default: beside the old]"
)
@click.option(
    "--type",
    "entry_type",
    type=click.Choice(["invariant", "decision", "pattern", "note"]),
    help="Its type.  [default: that of the old]",
)
@click.option("--status", "-s", type=click.Choice(["draft", "active"]), help="Its status.  [default: draft]")
@click.option("--body", "-b", help="Its text; `-` reads standard input. Without it: standard input, or your editor.")
@applies_to_option
@new_wing_options
@write_options
@global_options
def command(given: Globals, address: str, reason: str, by: str | None, form: str, **options: Any) -> int:
    """Put an entry in the place of OLD: one that is there (--by), or a new one (--title).

    While the newer one is a draft, OLD stays in force: `mdmem approve` then ends it.
    """
    wanted, wing, workspace = write_options_from(options), new_wing_from(options), open_workspace(given)
    if by is None:
        written = _with_new(given, workspace, address, reason=reason, stated=options, wanted=wanted, wing=wing)
    elif wing is not None or any(value not in (None, ()) for value in options.values()):
        raise click.UsageError("--by names an entry that is there; leave out what describes a new one")
    else:
        written = supersede(workspace, address, by=by, reason=reason, options=wanted)
    code = print_written(given, workspace, written, form)
    if options["status"] == "active":
        remark_if_proposed(given, written, form)
    return code


def _with_new(
    given: Globals,
    workspace: Workspace,
    old: str,
    *,
    reason: str,
    stated: dict[str, Any],
    wanted: WriteOptions,
    wing: WingKind | None,
) -> WriteResult:
    """Write a new entry in the place of an old one: from what is given, or as the editor leaves it."""
    if stated["title"] is None and stated["place"] is None:
        raise click.UsageError("say what takes its place: --by ADDRESS, or --title TEXT for a new entry")
    piped = piped_text(stated["body"])
    entry = workspace.catalog.entries[resolve_name(workspace, old)]
    draft = Draft(
        title=(stated["title"] or "").strip(),
        place=from_root(workspace, stated["place"]) if stated["place"] else f"{entry.wing}/{entry.room}",
        type=EntryType(stated["entry_type"]) if stated["entry_type"] else entry.type,
        status=Status(stated["status"] or "draft"),
        body=piped or "",
        applies_to=stated["applies_to"],
    )
    made = require_wing(workspace, address_of(draft), wing)
    new, start = compose_successor(workspace, entry.address, draft, reason=reason, beside=made)

    def write(left: str) -> WriteResult:
        text = in_own_name(workspace, new, left)
        return supersede_with(workspace, old, new, text, reason=reason, options=wanted, wing=wing)

    # Nobody types a text that a dry run would throw away.
    written = edited(workspace, new, start, write) if piped is None and not wanted.is_dry else write(start)
    if piped is not None and not piped.strip():
        given.remark("no text was given: the template stands in it and waits to be filled in")
    return written
