"""`mdmem hub list`: entries by filter, of one repository or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.ask.entries import count_hidden, in_full, list_entries
from mdmem.ask.question import Question
from mdmem.cli.ask import within
from mdmem.cli.common import Globals, columns, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, repositories_option
from mdmem.hub.across import AcrossRequest, list_across
from mdmem.hub.repository_copy import open_copy
from mdmem.render import hub_answers
from mdmem.render.entries import entry_list, nothing_listed
from mdmem.render.json import entries_json
from mdmem.store.workspace.scope import Filters

if TYPE_CHECKING:
    from mdmem.hub.reader import Reader
    from mdmem.store.workspace.scope import Filters


_MOST = 100


@click.command("list")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=1),
    help=f"Entries at most.  [default: {_MOST}; all of one --repository]",
)
@click.argument("place", metavar="[WING|ROOM|WING/ROOM]", required=False)
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, place: str | None, limit: int | None, form: str, **options: Any) -> int:
    """List entries by repository and address: those in force, of a place where one is named, unless a filter asks."""
    dsn, repositories = options.pop("dsn"), options.pop("repositories")
    filters = filters_from(options)
    with reading(dsn) as reader:
        if len(repositories) == 1:
            copy = open_copy(reader, repositories[0], today=today())
            filters = within(copy.workspace, place, filters) if place is not None else filters
            listed = list_entries(copy.workspace, filters)
            found = listed[:limit]
            if form == "json":
                print_text(hub_answers.copy_json(copy, entries_json(in_full(copy.workspace, found)), now=now()))
            else:
                ink = given.ink()
                text = entry_list(found, ink, {}, columns=columns())
                print_text(hub_answers.copy_text(copy, text, ink=ink, now=now()))
            if len(listed) > len(found):
                given.remark(f"{len(listed) - len(found)} more; raise --limit to see them")
            if not found:
                given.remark(
                    nothing_listed(count_hidden(copy.workspace, filters, listed), is_filtered=filters != Filters())
                )
            return 0 if found else 1
        filters = _within(reader, place, filters) if place is not None else filters
        request = AcrossRequest(Question(filters=filters), repositories, limit or _MOST)
        answer = list_across(reader, request, today=today())
        if form == "json":
            print_text(hub_answers.across_entries_json(answer, now=now()))
        else:
            print_text(hub_answers.across_list_text(answer, ink=given.ink(), now=now(), columns=columns()))
        for said in hub_answers.list_remarks(answer, most="--limit", within="--repository"):
            given.remark(said)
        if not answer.result:
            given.remark("no entry that you may read passes these filters")
    return 0 if answer.result else 1


def _within(reader: Reader, place: str, filters: Filters) -> Filters:
    """Return filters narrowed to a place of any repository: a wing, a room, or a room of a wing."""
    first, *rest = place.strip("/").split("/")
    if len(rest) > 1:
        raise click.UsageError(f"`{place}` is no wing and no room; `mdmem hub show {place}` shows an entry")
    if rest or reader.wings_named([first]):
        return replace(filters, wings=(first, *filters.wings), rooms=(*rest, *filters.rooms))
    return replace(filters, rooms=(first, *filters.rooms))
