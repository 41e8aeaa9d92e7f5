"""`mdmem diff`: what a change does to what is believed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from mdmem.change.review import ReviewRequest, page_url, review_change
from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_revision, complete_wing
from mdmem.cli.filters import split_values
from mdmem.render.review.bodies import diff_page, file_links
from mdmem.render.review.json import review_json
from mdmem.render.review.markdown import review_markdown
from mdmem.render.review.text import review_text

if TYPE_CHECKING:
    from mdmem.change.review import ReviewRequest
    from mdmem.change.review_report import ReviewReport
    from mdmem.store.workspace.workspace import Workspace


@click.command("diff")
@click.argument("span", required=False, metavar="[A..B]", shell_complete=complete_revision)
@click.option("--staged", is_flag=True, help="Read git's index instead of the working tree.")
@click.option(
    "--base", metavar="REV", shell_complete=complete_revision, help="Compare with where the tree left REV, as CI does."
)
@click.option("--query", "queries", multiple=True, metavar="TEXT", help="Show what both sides answer to a question.")
@click.option(
    "--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Wings of the questions."
)
@click.option("--no-check", is_flag=True, help="Leave out what the checks would find new; that takes the longest.")
@click.option("--exit-code", is_flag=True, help="Return 1 where something changed, 0 where nothing did.")
@format_option("text", "markdown", "json")
@global_options
def command(
    given: Globals,
    span: str | None,
    form: str,
    *,
    staged: bool,
    base: str | None,
    queries: tuple[str, ...],
    wings: tuple[str, ...],
    no_check: bool,
    exit_code: bool,
) -> int:
    """Show what changed in meaning: what binds, what it replaces and why, who depends on that, what merging would do.

    A..B compares two commits, A...B what B did since it left A, A alone the working tree with A; without any the
    working tree is compared with HEAD.
    """
    request = ReviewRequest(
        span=span,
        base=base,
        staged=staged,
        queries=tuple(query for query in queries if query.strip()),
        wings=split_values(wings),
        with_check=not no_check,
    )
    workspace = open_workspace(given)
    report = review_change(workspace, request)
    print_text(_rendered(report, form, given, workspace, request))
    return int(exit_code and not report.is_empty)


def _rendered(report: ReviewReport, form: str, given: Globals, workspace: Workspace, request: ReviewRequest) -> str:
    if form == "json":
        return review_json(report)
    if form == "markdown":
        links = file_links(os.environ, workspace.location.under)
        return review_markdown(report, links, page=diff_page(page_url(workspace, request), os.environ))
    return review_text(report, given.ink())
