"""`mdmem export`: entries out to other tools."""

from __future__ import annotations

import os

import click

from mdmem.cli.common import Globals, at_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_wing
from mdmem.exchange.export import ExportRequest, examine_export, export
from mdmem.exchange.memory_json import memory_document
from mdmem.render.json import dump
from mdmem.render.words import count
from mdmem.setup.seal import sealed

_FORMS = ("madr", "agents-md", "cursor-rules", "copilot-instructions", "json")


@click.command("export")
@click.argument("form", metavar=f"[{'|'.join(_FORMS)}]", type=click.Choice(_FORMS))
@click.option("--out", "-o", metavar="PATH", help="Where to: a folder or the one file.")
@click.option("--wing", "-w", "wings", metavar="WING", multiple=True, shell_complete=complete_wing, help="Repeatable.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 where a file is not up to date.")
@at_option
@global_options
def command(
    given: Globals, form: str, *, out: str | None, wings: tuple[str, ...], check: bool, revision: str | None
) -> int:
    """Write the memory as other tools read it, and keep that up to date.

    madr: decisions as records that adr-tools and log4brains read. agents-md, cursor-rules, copilot-instructions: what
    is in force, by the code it applies to. json: everything, which `mdmem import` takes back. What somebody else wrote,
    or changed since, stays as it is.
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
