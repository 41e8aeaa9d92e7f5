"""The commands why, graph, log and blame."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mdmem.change.log import blame, log, recent_changes
from mdmem.change.why import why
from mdmem.cli.common import (
    Globals,
    at_option,
    format_option,
    global_options,
    open_workspace,
    print_text,
    repository_option,
)
from mdmem.cli.completion import complete_address, complete_wing
from mdmem.render.history import (
    blame_json,
    blame_text,
    log_json,
    log_text,
    recent_json,
    recent_text,
    why_text,
)
from mdmem.render.ink import Ink
from mdmem.render.json import dump, why_json
from mdmem.render.lineage_graph import lineage_graph, lineage_text, linked_graph
from mdmem.render.mermaid import lineage_flowchart
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.scope import get_wing
from mdmem.store.workspace.workspace import Workspace


@click.command("graph")
@click.argument("addresses", metavar="[ADDRESS]...", nargs=-1, shell_complete=complete_address)
@click.option("--wing", "-w", metavar="WING", shell_complete=complete_wing, help="Draw the relations of one wing.")
@at_option
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "svg", "mermaid")),
    default="text",
    show_default=True,
    help="As lines, as a picture, or as Mermaid.",
)
@global_options
def graph_command(given: Globals, addresses: tuple[str, ...], wing: str | None, form: str, revision: str | None) -> int:
    """Draw what replaced what, with drafts, amendments, overrides and contradictions: `mdmem graph A B`.

    Without an address: whatever replaces, amends, overrides or contradicts something, as far as a picture holds it.
    `--format svg > lineage.svg` keeps it as a picture; that of some addresses gives the reasons too.
    """
    if addresses and wing is not None:
        raise click.UsageError("--wing draws a whole wing; leave out the addresses, or --wing")
    print_drawing(open_workspace(given, revision=revision), addresses, form, given.ink(), wing=wing)
    return 0


def print_drawing(workspace: Workspace, names: Sequence[str], form: str, ink: Ink, *, wing: str | None = None) -> None:
    """Print the lineage of entries as SVG, for Mermaid, or as lines; raises NotFoundError and UsageError."""
    from mdmem.render.svg import lineage_svg

    catalog, today = workspace.catalog, workspace.today
    own = None if wing is None else get_wing(wing, catalog.wings)
    asked = resolve_names(workspace, names)
    graph = lineage_graph(catalog, asked, today=today) if names else linked_graph(catalog, today=today, wing=own)
    if form == "text":
        print_text(lineage_text(graph, ink))
    else:
        print_text((lineage_svg(graph) if form == "svg" else lineage_flowchart(graph)).rstrip("\n"))


@click.command("why")
@click.argument("addresses", metavar="[ADDRESS]...", nargs=-1, shell_complete=complete_address)
@click.option("--wing", "-w", metavar="WING", shell_complete=complete_wing, help="Draw the links of one wing.")
@repository_option
@at_option
@format_option("text", "json", "mermaid", "svg")
@global_options
def why_command(given: Globals, addresses: tuple[str, ...], wing: str | None, form: str, revision: str | None) -> int:
    """Show the chain of ADDRESS in both directions, with reasons, dates and commits.

    `--format svg` and `--format mermaid` draw it, also for several addresses, for a wing, or for the whole memory.
    """
    if form in ("mermaid", "svg"):
        if addresses and wing is not None:
            raise click.UsageError("--wing draws a whole wing; leave out the addresses, or --wing")
        print_drawing(open_workspace(given, revision=revision), addresses, form, given.ink(), wing=wing)
        return 0
    if wing is not None:
        raise click.UsageError("--wing is for `--format svg` and `--format mermaid`")
    if not addresses:
        raise click.MissingParameter(param_hint="'ADDRESS'", param_type="argument")
    if len(addresses) > 1:
        raise click.UsageError(f"one address at a time ({addresses[1]}); `--format svg` draws several")
    explained = why(open_workspace(given, revision=revision), addresses[0])
    print_text(dump(why_json(explained)) if form == "json" else why_text(explained, given.ink()))
    return 0


@click.command("log")
@click.argument("address", required=False, shell_complete=complete_address)
@click.option("--fields", "by_field", is_flag=True, help="Show which commit last set each field of ADDRESS.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Without ADDRESS: how many.")
@at_option
@format_option("text", "json")
@global_options
def log_command(
    given: Globals, address: str | None, limit: int, form: str, revision: str | None, *, by_field: bool
) -> int:
    """Show the history of ADDRESS through its moves, or the last changes of the memory; the newest first.

    An entry that was deleted has a history, too, by its full address.
    """
    if address is None and by_field:
        raise click.UsageError("--fields is for one entry: name its address")
    workspace = open_workspace(given, revision=revision)
    if address is None:
        changes = recent_changes(workspace, limit)
        print_text(dump(recent_json(changes)) if form == "json" else recent_text(changes, given.ink()))
        if not changes:
            given.remark("no commit holds an entry of this memory yet")
    elif by_field:
        fields = blame(workspace, address)
        print_text(dump(blame_json(fields)) if form == "json" else blame_text(fields, given.ink()))
    else:
        found = log(workspace, address)
        print_text(dump(log_json(found)) if form == "json" else log_text(found, given.ink()))
    return 0


@click.command("blame")
@click.argument("address", shell_complete=complete_address)
@at_option
@format_option("text", "json")
@global_options
def blame_command(given: Globals, address: str, form: str, revision: str | None) -> int:
    """Show which commit last set each field of ADDRESS and its body, through its moves, and who made it."""
    found = blame(open_workspace(given, revision=revision), address)
    print_text(dump(blame_json(found)) if form == "json" else blame_text(found, given.ink()))
    return 0
