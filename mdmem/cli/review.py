"""The commands diff, resolve and hygiene."""

from __future__ import annotations

import os
from typing import Any

import click
from msgspec.structs import replace

from mdmem.change.conflicts import find_conflicts
from mdmem.change.hygiene import HygieneRequest, run
from mdmem.change.resolve import ResolveRequest, find_conflict, resolve
from mdmem.change.review import ReviewRequest, page_url, review_change
from mdmem.change.review_model import ReviewReport
from mdmem.cli.common import (
    Globals,
    format_option,
    global_options,
    open_workspace,
    print_text,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_address, complete_conflict, complete_revision, complete_wing
from mdmem.cli.filters import split_values
from mdmem.render.review import review_json, review_text
from mdmem.render.review_markdown import diff_page, file_links, review_markdown
from mdmem.render.upkeep import hygiene_json, hygiene_markdown, hygiene_text
from mdmem.render.writes import conflicts_json, conflicts_text
from mdmem.store.workspace.workspace import Workspace


@click.command("diff")
@click.argument("span", required=False, metavar="[A..B]", shell_complete=complete_revision)
@click.option("--staged", is_flag=True, help="Use git's index instead of the working tree.")
@click.option(
    "--base",
    metavar="REV",
    shell_complete=complete_revision,
    help="Compare with the commit where the tree left REV, as CI does.",
)
@click.option("--query", "queries", multiple=True, metavar="TEXT", help="Show the answers of both sides to a question.")
@click.option(
    "--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="The wings to ask."
)
@click.option("--no-check", is_flag=True, help="Do not run the checks, which take the longest.")
@click.option("--exit-code", is_flag=True, help="Return 1 if something changed, else 0.")
@format_option("text", "markdown", "json")
@global_options
def diff_command(
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
    """Show what changed in meaning: current entries, what they supersede and why, references to that, new findings.

    A..B compares two commits, A...B the commit where B left A with B, and A alone compares A with the working tree.
    The default is HEAD.
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


@click.command("resolve")
@click.argument("address", required=False, shell_complete=complete_conflict)
@click.option("--take", metavar="ours|theirs|ADDRESS", help="The side or the successor to keep.")
@click.option(
    "--behind", metavar="ADDRESS", shell_complete=complete_address, help="The successor that the other one supersedes."
)
@click.option("--split", is_flag=True, help="Keep every successor, each for a part.")
@click.option("--reason", "-m", default="", metavar="TEXT", help="The reason for a deprecation or a split.")
@write_options
@global_options
def resolve_command(given: Globals, address: str | None, form: str, **options: Any) -> int:
    """List the conflicts that a merge left, with their choices; with an option, resolve the one of ADDRESS.

    Conflicts are files that git could not merge, in a merge, a rebase or a cherry-pick, and entries that two others
    supersede. In a rebase `ours` is the branch that you rebase onto, `theirs` your own commit.
    Exit code 1: there are conflicts.
    """
    wanted, workspace = write_options_from(options), open_workspace(given)
    chosen = [name for name in ("take", "behind", "split") if options[name]]
    if not chosen:
        return _show(given, workspace, address, form)
    if len(chosen) > 1 or address is None:
        raise click.UsageError("name one ADDRESS, and one of --take, --behind and --split")
    return print_written(given, workspace, resolve(workspace, address, ResolveRequest(**options), wanted), form)


def _show(given: Globals, workspace: Workspace, address: str | None, form: str) -> int:
    conflicts = find_conflicts(workspace)
    if address is not None:
        conflicts = replace(conflicts, found=(find_conflict(workspace, address),))
    if form == "json":
        print_text(conflicts_json(conflicts))
    elif conflicts.found:
        print_text(conflicts_text(conflicts, given.ink()))
    else:
        given.remark("no conflicts")
        for step in conflicts.then:
            given.remark(f"then: {step}")
    return 1 if conflicts.found else 0


@click.command("hygiene")
@click.option("--wing", "-w", metavar="WING", shell_complete=complete_wing, help="One wing; default: all.")
@click.option(
    "--scope",
    type=click.Choice(["global", "project", "focus"]),
    help="Only the shared wings, the wings of projects, or entries with a focus.",
)
@click.option("--pending-only", is_flag=True, help="Only the writes that did not complete.")
@click.option("--record", is_flag=True, help="Write today's date into the manifests as `last_hygiene_at`.")
@click.option("--commit/--no-commit", default=None, help="Commit what --record writes.  [default: settings]")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="The number of cases of each kind; 0 shows all.",
)
@format_option("text", "json", "markdown")
@global_options
def hygiene_command(
    given: Globals,
    form: str,
    *,
    wing: str | None,
    scope: str | None,
    pending_only: bool,
    record: bool,
    commit: bool | None,
    limit: int,
) -> int:
    """Show what needs maintenance, and what to type next; no entry is changed.

    Pending writes, rules whose code changed since they were verified, near-duplicates, entities with one name, copies
    of shared rules, references to superseded entries, decisions and patterns not verified for long, empty rooms.
    """
    request = HygieneRequest(wing=wing, scope=scope, pending_only=pending_only, record=record, commit=commit)
    report = run(open_workspace(given), request)
    if form == "text":
        print_text(hygiene_text(report, given.ink(), limit=limit))
        for remark in report.remarks:
            given.remark(remark)
    else:
        print_text(hygiene_json(report) if form == "json" else hygiene_markdown(report, limit=limit))
    return 0
