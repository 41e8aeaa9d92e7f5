"""The filters that commands share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Decorated
from mdmem.cli.completion import complete_room, complete_status, complete_type, complete_wing, values_of
from mdmem.model.entry import EntryType, Status

if TYPE_CHECKING:
    from mdmem.store.workspace.scope import Filters


def filter_options(command: Decorated) -> Decorated:
    """Add the filters, which are the same everywhere."""
    for add in reversed(_FILTERS):
        command = add(command)
    return command


_FILTERS = (
    *(
        click.option(*names, multiple=True, metavar=names[0][2:].upper(), shell_complete=complete, help=about)
        for names, complete, about in (
            (("--wing", "-w"), complete_wing, "Wings; the first is active."),
            (("--room", "-r"), complete_room, "Rooms."),
            (("--type", "-t", "types"), complete_type, "invariant, decision, pattern, note."),
            (("--status", "-s"), complete_status, "draft, active, under_review, deprecated."),
            (("--label",), values_of("label"), "Labels."),
            (("--tag",), values_of("tags"), "Tags."),
            (("--focus",), values_of("focus"), "Focus areas."),
            (("--owner",), values_of("owner"), "Owners."),
        )
    ),
    click.option("--all-wings", is_flag=True, help="Read every wing."),
    click.option("--include-deprecated", is_flag=True, help="Show what ended, too."),
    click.option("--include-drafts", is_flag=True, help="Show drafts, too."),
)


def filters_from(options: dict[str, Any]) -> Filters:
    """Take the filters out of a command's options; values joined by commas count one by one."""
    from mdmem.store.workspace.scope import Filters

    return Filters(
        wings=split_values(options.pop("wing")),
        rooms=split_values(options.pop("room")),
        types=tuple(_member(EntryType, "type", value) for value in split_values(options.pop("types"))),
        statuses=tuple(_member(Status, "status", value) for value in split_values(options.pop("status"))),
        labels=split_values(options.pop("label")),
        tags=split_values(options.pop("tag")),
        focuses=split_values(options.pop("focus")),
        owners=split_values(options.pop("owner")),
        all_wings=options.pop("all_wings"),
        include_deprecated=options.pop("include_deprecated"),
        include_drafts=options.pop("include_drafts"),
    )


def split_values(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values one by one, whether they came as several options or joined by commas."""
    parts = (part.strip() for value in values for part in value.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _member(closed_set: Any, name: str, value: str) -> Any:
    allowed = [member.value for member in closed_set]
    folded = value.casefold().replace("-", "_")
    if folded in allowed:
        return closed_set(folded)
    close = difflib.get_close_matches(folded, allowed, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"write one of {', '.join(allowed)}"
    raise click.UsageError(f"there is no {name} `{value}`; {hint}")
