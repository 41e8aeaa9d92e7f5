"""`mdmem list`: entries by filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.ask.entries import count_hidden, in_full, list_entries, list_problems, stance_of
from mdmem.ask.question import AnswerBasis
from mdmem.cli.common import Globals, at_option, columns, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_place
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.short_help import ShortHelp
from mdmem.errors import UsageError
from mdmem.model.standing import marked
from mdmem.render.basis import problems_text
from mdmem.render.entries import entry_list, entry_table, not_listed, nothing_listed
from mdmem.render.json import dump, entries_json
from mdmem.store.workspace.addresses import from_root
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.wings import find_wing, not_there

if TYPE_CHECKING:
    from mdmem.store.workspace.scope import Filters
    from mdmem.store.workspace.workspace import Workspace


@click.command("list", cls=ShortHelp, everyday=("wing", "room", "types", "status", "all_wings"))
@click.argument("place", metavar="[WING|ROOM|WING/ROOM]", required=False, shell_complete=complete_place)
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, place: str | None, form: str, **options: Any) -> int:
    """List entries by address: those in force, of a place where one is named, unless a filter asks for others."""
    workspace = open_workspace(given, revision=options.pop("revision"))
    filters = filters_from(options)
    if place is not None:
        filters = within(workspace, place, filters)
    found = list_entries(workspace, filters)
    if form == "json":
        print_text(dump(entries_json(in_full(workspace, found))))
    elif found:
        marks = {entry.address: " ".join(marked(stance_of(workspace, entry))) for entry in found}
        print_text(
            entry_table(found, marks)
            if form == "markdown"
            else entry_list(found, given.ink(), marks, columns=columns())
        )
    problems = list_problems(workspace, filters)
    alone = [f"{one.place.path}: {one.message} ({one.code})" for one in problems if len(problems) == 1]
    for told in alone or problems_text(AnswerBasis(problems=problems)):
        given.remark(told)
    hidden = count_hidden(workspace, filters, found)
    if not found:
        given.remark(nothing_listed(hidden, is_filtered=filters != Filters()))
    elif form != "json" and (rest := not_listed(hidden)):
        given.remark(rest)
    return 0 if found else 1


def within(workspace: Workspace, place: str, filters: Filters) -> Filters:
    """Return filters narrowed to a wing, a room, or a room of a wing; raises UsageError for what is none of them."""
    wings = workspace.catalog.wings
    first, *rest = from_root(workspace, place).split("/")
    if len(rest) > 1:
        raise UsageError(
            f"`{place}` is no wing and no room; `{workspace.location.command(f'show {place}')}` shows an entry"
        )
    if rest or find_wing(first, wings) is not None:
        return replace(filters, wings=(first, *filters.wings), rooms=(*rest, *filters.rooms))
    rooms = {address.split("/")[1] for address in workspace.catalog.addresses}
    if first not in rooms:
        said = not_there("wing and no room", place, {*wings, *rooms})
        raise UsageError(
            f"{said}{'' if said.endswith('?') else ';'} `{workspace.location.command('search')}` looks for words"
        )
    return replace(filters, rooms=(first, *filters.rooms))
