"""The commands import and export."""

from __future__ import annotations

import os
from typing import Any

import click

from mdmem.cli.common import (
    Globals,
    at_option,
    global_options,
    open_workspace,
    print_text,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_place, complete_wing
from mdmem.exchange.export import ExportRequest, examine_export, export
from mdmem.exchange.importer import import_records
from mdmem.exchange.intake import ImportRequest
from mdmem.exchange.memory_json import memory_document
from mdmem.render.exchange import import_json, import_remarks, import_text
from mdmem.render.json import dump
from mdmem.render.words import count
from mdmem.setup.seal import sealed
from mdmem.store.workspace.addresses import from_here

_DIALECTS = ("adr-tools", "madr", "log4brains", "basic-memory", "markdown", "instructions")


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option(
    "--from",
    "dialect",
    type=click.Choice(_DIALECTS),
    help="The tool that wrote them; default: recognised by each file.",
)
@click.option("--to", "place", metavar="WING[/ROOM]", shell_complete=complete_place, help="Where they go.")
@click.option("--move", is_flag=True, help="Move the files, as `git mv` does; `mdmem log` has their history.")
@click.option("--pointer", is_flag=True, help="With --move: leave a line that points to the new place.")
@click.option("--approved-by", metavar="NAME", help='Who approves the accepted records: "Name <email>".')
@write_options
@global_options
def import_command(given: Globals, paths: tuple[str, ...], form: str, **options: Any) -> int:
    """Import records of adr-tools, MADR, log4brains and basic-memory, plain Markdown, and instructions for agents.

    PATHs are files and folders of this project (copy others into it first); default: its usual places. Nothing is
    overwritten, and a second run changes nothing. The output lists what cannot be imported, and how many warnings
    `mdmem check` has about the new entries; --dry-run shows file, address, type and status.
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


_FORMS = ("madr", "agents-md", "cursor-rules", "copilot-instructions", "json")


@click.command("export")
@click.argument("form", metavar=f"[{'|'.join(_FORMS)}]", type=click.Choice(_FORMS))
@click.option("--out", "-o", metavar="PATH", help="The folder, or the single file.")
@click.option("--wing", "-w", "wings", metavar="WING", multiple=True, shell_complete=complete_wing, help="Repeatable.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not up to date.")
@at_option
@global_options
def export_command(
    given: Globals, form: str, *, out: str | None, wings: tuple[str, ...], check: bool, revision: str | None
) -> int:
    """Write the memory in the form of another tool, or update an earlier export.

    madr: decisions as records that adr-tools and log4brains read. agents-md, cursor-rules, copilot-instructions: the
    current rules, by the code that they apply to. json: everything, for `mdmem import`. Files that somebody else wrote,
    or changed since the export, stay as they are.
    """
    workspace = open_workspace(given, revision=revision)
    if form == "json" and out is None and not check:
        document, remarks = memory_document(workspace, wings)
        print_text(sealed(dump(document)))
        for remark in remarks:
            given.remark(remark)
        return 0
    request = ExportRequest(form=form, wings=wings, out=out)
    report = examine_export(workspace, request) if check else export(workspace, request)
    for change in report.changes:
        path = os.path.relpath(report.folder / change.path, workspace.cwd)
        word = "is gone" if change.text is None else "is missing" if change.is_new else "is outdated"
        done = "removed" if change.text is None else "wrote"
        print_text(f"{path} {word}" if check else f"{done} {path}")
    if not report.changes:
        given.remark(f"up to date: {count(len(report.files), 'file')}")
    for remark in report.remarks:
        given.remark(remark)
    return 1 if check and report.changes else 0
