"""`mdmem audit`: which context packs were asked for, by whom, and what they held."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.render.audit import audit_json, audit_text
from mdmem.store.state.audit import read_audit


@click.command("audit")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest ones.")
@format_option("text", "json")
@global_options
def command(given: Globals, limit: int, form: str) -> int:
    """List the context packs that were compiled, the oldest of them first; the log is this machine's own."""
    lines = list(read_audit(open_workspace(given).state_folder))
    print_text(audit_json(lines[-limit:], len(lines)) if form == "json" else audit_text(lines[-limit:]))
    if not lines:
        given.remark("no context pack was asked for yet")
    elif len(lines) > limit:
        given.remark(f"{len(lines) - limit} older ones; --limit shows more")
    return 0
