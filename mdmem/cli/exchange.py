"""Define the commands import, export and site."""

from __future__ import annotations

import gc
import os
import shlex
from contextlib import suppress
from typing import Any

import click

from mdmem.cli import completion as complete
from mdmem.cli.common import (
    App,
    Decorated,
    Progress,
    new_wing_options,
    print_text,
    require_extra,
    shared_options,
    split_values,
    with_options,
    write_options,
)
from mdmem.disk import read_regular
from mdmem.exchange.dialects import DIALECTS
from mdmem.exchange.export import FORMS, export, memory_document
from mdmem.exchange.importer import import_records
from mdmem.exchange.sources import ImportRequest
from mdmem.render.exchange import import_json, import_remarks, import_text
from mdmem.render.text import count, dump
from mdmem.setup.agents_file import COMMAND_LINES, NAME, has_lines, with_checksum
from mdmem.store.git.status import list_not_added
from mdmem.store.workspace.addresses import from_here
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.write import WriteOptions


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option("--from", "dialect", type=click.Choice(DIALECTS), help="The tool that wrote them.  [default: recognised]")
@click.option("--to", "place", metavar="WING[/ROOM]", shell_complete=complete.place, help="Where the entries go.")
@click.option("--move", "moves", is_flag=True, help="Move the files, as `git mv` does; `mdmem log` has their history.")
@click.option("--pointer", "leaves_pointer", is_flag=True, help="With --move: leave a line with the new place.")
@click.option("--approved-by", metavar="NAME", help='Who approves the accepted records: "Name <email>".')
@new_wing_options
@write_options
def import_command(app: App, paths: tuple[str, ...], mode: WriteOptions, **options: Any) -> None:
    """Import records of adr-tools, MADR, log4brains and basic-memory, plain Markdown, and instructions for agents.

    PATHs are files and folders of this project (copy others into it first); default: its usual places. Nothing is
    overwritten, and a second run changes nothing. The output lists what cannot be imported.
    """
    workspace = app.open()
    report = import_records(workspace, ImportRequest(paths=paths, **options), mode)
    app.print_result(import_json(report), app.style.typed(import_text(report, app.style)))
    if app.form == "json":
        return
    dialect = [] if options["dialect"] is None else ["--from", options["dialect"]]
    moving = workspace.location.command(shlex.join(["import", "--move", *dialect, *paths]))
    app.remark(*import_remarks(report, moving=moving, new=_to_add(workspace)))


def _to_add(workspace: Workspace) -> list[str]:
    """Return the paths for `git add`: the memory, and AGENTS.md if `init` wrote into it and git does not have it."""
    location, show = workspace.location, from_here(workspace)
    if location.repository is None:
        return []
    lines = b""
    with suppress(OSError):
        if location.under and list_not_added(location.repository, NAME):
            lines = read_regular(location.base / NAME)
    agents = show(os.path.relpath(location.base / NAME, location.root))
    return [show("."), *([agents] if has_lines(lines, COMMAND_LINES) else [])]


@click.command("export")
@click.argument("form", metavar=f"[{'|'.join(FORMS)}]", type=click.Choice(list(FORMS)))
@click.option("--out", "-o", metavar="PATH", help="The folder, or the single file.")
@click.option("--wing", "-w", "wings", metavar="WING", multiple=True, shell_complete=complete.wing, help="Repeatable.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not up to date.")
@shared_options(at=True)
def export_command(app: App, form: str, *, out: str | None, wings: tuple[str, ...], check: bool) -> int:
    """Write the memory in the form of another tool, or update an earlier export.

    madr: decisions as records. agents-md, cursor-rules, copilot-instructions: the current rules, by the code that they
    apply to. json: everything. Files that somebody else wrote, or changed since the export, stay as they are.
    """
    workspace = app.open()
    if form == "json" and out is None and not check:
        document, remarks = memory_document(workspace, wings)
        print_text(with_checksum(dump(document)))
        app.remark(*remarks)
        return 0
    report = export(workspace, form, wings=wings, out=out, is_dry=check)
    for change in report.changes:
        path = os.path.relpath(report.folder / change.path, workspace.cwd)
        word = "is gone" if change.text is None else "is missing" if change.is_new else "is outdated"
        done = "removed" if change.text is None else "wrote"
        print_text(f"{path} {word}" if check else f"{done} {path}")
    if not report.changes:
        app.remark(f"up to date: {count(len(report.files), 'file')}")
    app.remark(*report.remarks)
    return 1 if check and report.changes else 0


@click.group("site")
@shared_options()
def site_command(_: App) -> None:
    """Show the memory as web pages, served live or built into a folder."""


def _page_options(command: Decorated) -> Decorated:
    return with_options(
        command,
        click.option("--wing", "-w", "wings", multiple=True, shell_complete=complete.wing, help="Repeatable."),
        click.option("--name", metavar="TEXT", help="The name above each page.  [default: the project's wing]"),
        click.option("--base", metavar="REV", help="Add a page: changes since REV."),
    )


@site_command.command("build", short_help="Write the pages into a folder.")
@click.option("--out", "-o", metavar="DIR", help="A folder for the site alone.  [default: site, kept out of git]")
@_page_options
@shared_options(at=True)
def build(app: App, *, out: str | None, wings: tuple[str, ...], name: str | None, base: str | None) -> None:
    """Write the pages: current rules, each entry, timeline, lineage, rules for code, open work, and a search."""
    require_extra("site", "jinja2", "markdown_it")
    from mdmem.site.build import SiteRequest
    from mdmem.site.build import build as build_site

    workspace = app.open()
    folder = out if out is not None else "site"
    request = SiteRequest(
        out=workspace.cwd / folder, wings=split_values(wings), name=name, base=base, ignored=out is None
    )
    progress = None if app.quiet else Progress("building {} files of the site")
    result = build_site(workspace, request, progress=progress)
    gone = f", removed {len(result.removed)}" if result.removed else ""
    print_text(f"{folder}/index.html: {result.number} files, wrote {len(result.written)}{gone}")


@site_command.command("serve", short_help="Serve the same pages live, to this machine alone.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free port.")
@_page_options
@shared_options()
def serve(app: App, *, port: int, wings: tuple[str, ...], name: str | None, base: str | None) -> None:
    """Serve the same pages live, to this machine alone: an open page follows the files."""
    require_extra("site", "jinja2", "markdown_it")
    from mdmem.site.build import SiteRequest
    from mdmem.site.serve import SiteServer

    workspace = app.open()
    request = SiteRequest(out=workspace.cwd, wings=split_values(wings), name=name, base=base)
    with SiteServer(workspace, request, port) as server:
        app.remark(f"{server.address} shows the memory; Ctrl-C ends it")
        # `main` disabled garbage collection, but a server runs for a long time.
        gc.freeze()
        gc.enable()
        server.serve_forever()
