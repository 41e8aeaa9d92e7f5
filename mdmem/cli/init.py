"""`mdmem init`: start a memory."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem.cli.common import Globals, global_options, print_text


@click.command("init")
@click.argument("folder", metavar="[DIR]", default="memory")
@click.option("--wing", "-w", help="The first wing; without it the repository's name.")
@click.option("--no-hook", is_flag=True, help="Leave git's hooks alone.")
@global_options
def command(given: Globals, folder: str, wing: str | None, *, no_hook: bool) -> int:
    """Start a memory in DIR (`memory`): settings, a first wing, the hook, a line in AGENTS.md.

    What exists is never changed; what could not be done is said, with the lines to add.
    """
    from mdmem.workspace.founding import found

    for step in found(Path.cwd(), given.root or folder, wing=wing, hook=not no_hook):
        print_text(step)
    return 0
