"""`mdmem status`: where the memory is and how it stands."""

from __future__ import annotations

import click

from mdmem.change.status import report_status
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.render.json import dump, status_json
from mdmem.render.status import status_text


@click.command("status")
@at_option
@format_option("text", "json")
@global_options
def command(given: Globals, form: str, revision: str | None) -> int:
    """Show the root and why it is the root, the wings, the index and the findings."""
    report = report_status(open_workspace(given, revision=revision))
    print_text(dump(status_json(report)) if form == "json" else status_text(report, given.ink()))
    return 0
