"""`mdmem site`: the memory as pages."""

from __future__ import annotations

import gc
from importlib.util import find_spec

import click

from mdmem.cli.common import (
    Globals,
    StepProgress,
    at_option,
    global_options,
    open_workspace,
    print_text,
)
from mdmem.cli.completion import complete_revision, complete_wing
from mdmem.cli.filters import split_values
from mdmem.errors import UsageError
from mdmem.setup.installation import this_installation


def _require_extra() -> None:
    """Raise UsageError with the line to type where the libraries of the pages are not installed."""
    if find_spec("jinja2") is None or find_spec("markdown_it") is None:
        raise UsageError(f"the pages need the extra `site`; type `{this_installation().line_for('site')}`")


@click.group("site")
@global_options
def site_command(_: Globals) -> None:
    """Show the memory as pages, as a folder or live."""


@site_command.command("build", short_help="Write the pages into a folder.")
@click.option("--out", "-o", metavar="DIR", help="The folder of the site alone.  [default: site, kept out of git]")
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Repeatable.")
@click.option("--name", metavar="TEXT", help="The name above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add a page of the changes since REV.")
@at_option
@global_options
def build(
    given: Globals, *, out: str | None, wings: tuple[str, ...], name: str | None, base: str | None, revision: str | None
) -> int:
    """Write the pages: current rules, each entry, timeline, lineage, rules for code, open work, and a search.

    They need no server and load nothing from other servers. Only the files that changed are written again.
    """
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.build import build as build_site

    workspace = open_workspace(given, revision=revision)
    folder = out if out is not None else "site"
    request = SiteRequest(
        out=workspace.cwd / folder, wings=split_values(wings), name=name, base=base, ignored=out is None
    )
    progress = StepProgress("building {} files of the site")
    try:
        result = build_site(workspace, request, progress=None if given.quiet else progress)
    finally:
        progress.clear()
    gone = f", removed {len(result.removed)}" if result.removed else ""
    print_text(f"{folder}/index.html: {result.number} files, wrote {len(result.written)}{gone}")
    return 0


@site_command.command("serve", short_help="Show the same pages live, to this machine alone.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Repeatable.")
@click.option("--name", metavar="TEXT", help="The name above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add a page of the changes since REV.")
@global_options
def serve(given: Globals, *, port: int, wings: tuple[str, ...], name: str | None, base: str | None) -> int:
    """Show the same pages live, to this machine alone: an open page follows the files."""
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.serve import LiveSite, SiteServer

    workspace = open_workspace(given)
    request = SiteRequest(out=workspace.cwd, wings=split_values(wings), name=name, base=base)
    with SiteServer(LiveSite(workspace, request), port) as server:
        given.remark(f"{server.address} shows the memory; Ctrl-C ends it")
        # A command ends before garbage matters; a server does not.
        gc.freeze()
        gc.enable()
        server.serve_forever()
    return 0
