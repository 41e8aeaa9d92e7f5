"""`mdmem index`: bring the full-text index up to date."""

from __future__ import annotations

import click

from mdmem.change.status import refresh_index
from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.render.json import dump
from mdmem.render.words import count


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Build it anew, whatever is there.")
@format_option("text", "json")
@global_options
def command(given: Globals, form: str, *, rebuild: bool) -> int:
    """Bring the full-text index up to date.

    Nobody needs to: every question sees the files as they are. It saves the next question the work.
    """
    done = refresh_index(open_workspace(given), rebuild=rebuild)
    if form == "json":
        print_text(dump({"total": done.total, "added": done.added, "removed": done.removed, "rebuilt": done.rebuilt}))
    else:
        how = ", built anew" if done.rebuilt else ""
        print_text(
            f"{count(done.total, 'entry', 'entries')} in the index: {done.added} taken in, {done.removed} dropped{how}"
        )
    return 0
