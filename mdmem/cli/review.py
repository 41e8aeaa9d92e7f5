"""Define the commands diff, resolve, hygiene, why and log."""

from __future__ import annotations

import os
from typing import Any

import click
from msgspec.structs import replace

from mdmem.change.history import blame, log, recent_changes, why
from mdmem.change.hygiene import hygiene_fields, run
from mdmem.change.resolve import ResolveRequest, find_conflicts, get_conflict, resolve
from mdmem.change.review import ReviewRequest, review_change
from mdmem.cli import completion as complete
from mdmem.cli.common import WINGS, App, print_text, shared_options, split_values, write_options
from mdmem.record import record_json
from mdmem.render import history
from mdmem.render.history import why_json
from mdmem.render.lineage import Relations, lineage_flowchart, lineage_svg
from mdmem.render.review import diff_page, review_json, review_markdown, review_text
from mdmem.render.upkeep import hygiene_text
from mdmem.render.writes import conflicts_json, conflicts_text
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.scope import get_wing
from mdmem.write.write import WriteOptions


@click.command("diff")
@click.argument("span", required=False, metavar="[A..B]")
@click.option("--staged", is_flag=True, help="Read git's index instead of the working tree.")
@click.option("--base", metavar="REV", help="Compare with the commit where the tree left REV, as CI does.")
@click.option("--query", "queries", multiple=True, metavar="TEXT", help="Show both answers to a question; repeatable.")
@click.option("--wing", "-w", "wings", **WINGS, help="The wings to ask.")
@click.option("--no-check", "skips_check", is_flag=True, help="Skip the checks, which take the longest.")
@click.option("--exit-code", is_flag=True, help="Return 1 if something changed, else 0.")
@shared_options("text", "markdown", "json")
def diff_command(app: App, *, skips_check: bool, exit_code: bool, **options: Any) -> int:
    """Show what a change does to the rules: which are new, replaced, reworded or deprecated, and the new findings.

    A..B compares two commits. A...B compares B with the commit at which B branched off from A. A alone compares A with
    the working tree; the default is HEAD.
    """
    queries = tuple(query for query in options.pop("queries") if query.strip())
    wings = split_values(options.pop("wings"))
    request = ReviewRequest(queries=queries, wings=wings, with_check=not skips_check, **options)
    report = review_change(app.open(), request)
    if app.form == "markdown":
        print_text(review_markdown(report, page=diff_page(report.page_url, os.environ)))
    else:
        app.print_result(review_json(report), review_text(report, app.style))
    return int(exit_code and not report.is_empty)


@click.command("resolve")
@click.argument("address", required=False)
@click.option("--take", metavar="ours|theirs|ADDRESS", help="The side or the successor to keep.")
@click.option("--behind", metavar="ADDRESS", shell_complete=complete.address, help="The successor to supersede.")
@click.option("--split", is_flag=True, help="Keep every successor, each for a part.")
@click.option("--reason", "-m", default="", metavar="TEXT", help="The reason for a deprecation or a split.")
@write_options
def resolve_command(app: App, address: str | None, mode: WriteOptions, **options: Any) -> int:
    """List the conflicts that a merge left, with their choices, or resolve the one of ADDRESS.

    A conflict is a file that git could not merge, in a merge, a rebase or a cherry-pick, or an entry that two others
    supersede. In a rebase, `ours` is the branch that you rebase onto, and `theirs` is your own commit.
    Exit code 1: there are conflicts.
    """
    workspace = app.open()
    chosen = [name for name in ("take", "behind", "split") if options[name]]
    if not chosen:
        conflicts = find_conflicts(workspace)
        if address is not None:
            conflicts = replace(conflicts, found=(get_conflict(workspace, address),))
        if app.form == "json" or conflicts.found:
            app.print_result(conflicts_json(conflicts), conflicts_text(conflicts, app.style))
        else:
            app.remark("no conflicts", *(f"then: {step}" for step in conflicts.then))
        return 1 if conflicts.found else 0
    if len(chosen) > 1 or address is None:
        raise click.UsageError("name one ADDRESS, and one of --take, --behind and --split")
    app.print_written(workspace, resolve(workspace, address, ResolveRequest(**options), mode))
    return 0


_SCOPE = click.Choice(["global", "project", "focus"])


@click.command("hygiene")
@click.option("--wing", "-w", metavar="WING", shell_complete=complete.wing, help="One wing; default: all.")
@click.option("--scope", type=_SCOPE, help="Only the shared wings, the wings of projects, or entries with a focus.")
@click.option("--pending-only", is_flag=True, help="Only the writes that did not complete.")
@click.option("--record", is_flag=True, help="Write today's date into the manifests as `last_hygiene_at`.")
@click.option("--commit/--no-commit", default=None, help="Commit what --record writes.  [default: settings]")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Cases of a kind; 0: all.")
@shared_options("text", "json", "markdown")
def hygiene_command(app: App, *, wing: str | None, scope: str | None, limit: int, **options: Any) -> None:
    """Show what needs maintenance, and what to type next; no entry is changed."""
    report = run(app.open(), wing, scope, **options)
    app.print_result(hygiene_fields(report), app.style.typed(hygiene_text(report, app.style, limit=limit)))
    if app.form == "text":
        app.remark(*report.remarks)


@click.command("why")
@click.argument("addresses", metavar="[ADDRESS]...", nargs=-1, shell_complete=complete.address)
@click.option("--wing", "-w", metavar="WING", shell_complete=complete.wing, help="Draw the relations of one wing.")
@shared_options("text", "json", "mermaid", "svg", at=True, repository=True)
def why_command(app: App, addresses: tuple[str, ...], wing: str | None) -> None:
    """Show what ADDRESS superseded and what superseded it, with reasons, dates and commits.

    `--format svg` and `--format mermaid` draw it, also for several addresses, for a wing, or for the whole memory.
    """
    is_drawn = app.form in ("mermaid", "svg")
    if is_drawn and addresses and wing is not None:
        raise click.UsageError("--wing draws a whole wing; leave out the addresses, or --wing")
    if not is_drawn and (wing is not None or len(addresses) != 1):
        raise click.UsageError("name one ADDRESS; `--format svg` and `mermaid` draw several, a --wing or all")
    workspace = app.open()
    if not is_drawn:
        explained = why(workspace, addresses[0])
        app.print_result(why_json(explained), history.why_text(explained, app.style))
        return
    own = None if wing is None else get_wing(wing, workspace.catalog.wings)
    asked = resolve_names(workspace, addresses)
    graph = Relations(workspace.catalog).graph(asked, today=workspace.today, wing=own)
    print_text((lineage_svg(graph) if app.form == "svg" else lineage_flowchart(graph)).rstrip("\n"))


@click.command("log")
@click.argument("address", required=False, shell_complete=complete.address)
@click.option("--fields", "by_field", is_flag=True, help="Show which commit last set each field of ADDRESS.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Without ADDRESS: how many.")
@shared_options("text", "json", at=True)
def log_command(app: App, address: str | None, limit: int, *, by_field: bool) -> None:
    """Show the history of ADDRESS, also before moves and a deletion, or the last changes of the memory."""
    if address is None and by_field:
        raise click.UsageError("--fields is about one entry; give its ADDRESS")
    workspace = app.open()
    if address is None:
        changes = recent_changes(workspace, limit)
        keys = {"commit": "digest", "entries": "paths"}
        commits = [record_json(one, "when", "author", "subject", **keys) for one in changes]
        app.print_result({"commits": commits}, history.recent_text(changes, app.style))
        if not changes:
            app.remark("no commit has an entry of this memory yet")
    elif by_field:
        fields = blame(workspace, address)
        app.print_result(history.blame_json(fields), history.blame_text(fields, app.style))
    else:
        found = log(workspace, address)
        app.print_result(history.log_json(found), history.log_text(found, app.style))
