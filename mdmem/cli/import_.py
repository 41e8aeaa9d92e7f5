"""`mdmem import`: take in the records and instructions that a project has."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    open_workspace,
    print_text,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_place
from mdmem.exchange.importer import import_records
from mdmem.exchange.intake import ImportRequest
from mdmem.render.exchange import import_json, import_remarks, import_text
from mdmem.store.workspace.addresses import from_here

_DIALECTS = ("adr-tools", "madr", "log4brains", "basic-memory", "markdown", "instructions")


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option("--from", "dialect", type=click.Choice(_DIALECTS), help="What wrote them; else each file tells.")
@click.option("--to", "place", metavar="WING[/ROOM]", shell_complete=complete_place, help="Where they go.")
@click.option("--move", is_flag=True, help="Move the files, as `git mv` does; `mdmem log` has their history.")
@click.option("--pointer", is_flag=True, help="With --move: leave a line that leads to the new place.")
@click.option("--approved-by", metavar="NAME", help='Who stands behind what was accepted already: "Name <email>".')
@write_options
@global_options
def command(given: Globals, paths: tuple[str, ...], form: str, **options: Any) -> int:
    """Take in records of adr-tools, MADR, log4brains and basic-memory, plain Markdown, and instructions for agents.

    PATHs are files and folders; without one, what stands where these are usually kept. Nothing is overwritten, a second
    run changes nothing, and what cannot be carried over is said. --dry-run shows file, address, type and status.
    """
    workspace = open_workspace(given)
    request = ImportRequest(
        paths=paths,
        dialect=options["dialect"],
        place=options["place"],
        approved_by=options["approved_by"],
        moves=options["move"],
        leaves_pointer=options["pointer"],
    )
    report = import_records(workspace, request, write_options_from(options))
    if form == "json":
        print_text(import_json(report))
        return 0
    print_text(import_text(report, given.ink()))
    for remark in import_remarks(
        report, memory=from_here(workspace)("."), is_in_git=workspace.location.repository is not None
    ):
        given.remark(remark)
    return 0
