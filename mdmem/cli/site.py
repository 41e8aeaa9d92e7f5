"""`mdmem site`: the memory as pages."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    pass


def _require_extra() -> None:
    """Raise UsageError where the libraries of the pages are not installed, with the line that mends it."""
    if find_spec("jinja2") is None or find_spec("markdown_it") is None:
        raise UsageError(f"the pages need the extra `site`; type `{this_installation().line_for('site')}`")


@click.group("site")
@global_options
def site_command(_: Globals) -> None:
    """Show the memory as pages, as a folder or live."""


@site_command.command("build", short_help="Write the pages into a folder.")
@click.option("--out", "-o", metavar="DIR", help="The folder; it is the site's own.  [default: site, kept out of git]")
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Repeatable.")
@click.option("--name", metavar="TEXT", help="What stands above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add the page of what changed since REV.")
@at_option
@global_options
def build(
    given: Globals, *, out: str | None, wings: tuple[str, ...], name: str | None, base: str | None, revision: str | None
) -> int:
    """Write the pages: what binds, each entry, lineage, timeline, code under rules, what waits, search.

    They need no server and load nothing from outside. Only what changed is written again.
    """
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.build import build as build_site

    workspace = open_workspace(given, revision=revision)
    folder = out if out is not None else "site"
    request = SiteRequest(
        out=workspace.cwd / folder, wings=split_values(wings), name=name, base=base, ignored=out is None
    )
    progress = StepProgress("building pages in {} steps")
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
@click.option("--name", metavar="TEXT", help="What stands above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add the page of what changed since REV.")
@global_options
def serve(given: Globals, *, port: int, wings: tuple[str, ...], name: str | None, base: str | None) -> int:
    """Show the same pages live, to this machine alone: a page that is open follows the files."""
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.serve import LiveSite, SiteServer

    workspace = open_workspace(given)
    request = SiteRequest(out=workspace.cwd, wings=split_values(wings), name=name, base=base)
    with SiteServer(LiveSite(workspace, request), port) as server:
        given.remark(f"{server.address} shows the memory; Ctrl-C ends it")
        # Each change of a file leaves what it was read to behind, in circles, which a command else leaves to its end.
        gc.freeze()
        gc.enable()
        server.serve_forever()
    return 0
