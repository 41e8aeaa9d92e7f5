"""`mdmem hygiene`: what needs maintenance."""

from __future__ import annotations

import click

from mdmem.change.hygiene import HygieneRequest, run
from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_wing
from mdmem.render.hygiene import hygiene_json, hygiene_markdown, hygiene_text


@click.command("hygiene")
@click.option(
    "--wing", "-w", metavar="WING", shell_complete=complete_wing, help="One wing; without it all are examined."
)
@click.option(
    "--scope",
    type=click.Choice(["global", "project", "focus"]),
    help="Only the shared wings, the projects' own, or what has a focus.",
)
@click.option("--pending-only", is_flag=True, help="Only the writes that did not complete.")
@click.option("--record", is_flag=True, help="Write today's date into the manifests as `last_hygiene_at`.")
@click.option("--commit/--no-commit", default=None, help="Commit what --record writes.  [default: settings]")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Cases shown of each kind; 0 shows all."
)
@format_option("text", "json", "markdown")
@global_options
def command(
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

    Writes that did not complete, rules whose code changed since, duplicates, entities of one name, copies of shared
    rules, citations of what is superseded, decisions and patterns that nobody looked at for long, empty rooms.
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
