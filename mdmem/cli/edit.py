"""`mdmem edit`: change an entry in the editor."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from mdmem.cli.common import Globals, global_options, open_workspace, print_written, write_options, write_options_from
from mdmem.cli.completion import complete_address
from mdmem.cli.editor import Typed, give_up_empty, typing
from mdmem.errors import EnvironmentFaultError, LostRaceError, UsageError
from mdmem.write.code_paths import set_applies_to
from mdmem.write.edit import faults_of, notes_on, open_entry, save_edit

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.edit import EditSession


@click.command("edit")
@click.argument("addresses", metavar="ADDRESS", nargs=-1, required=True, shell_complete=complete_address)
@click.option(
    "--applies-to",
    "globs",
    metavar="GLOB",
    multiple=True,
    help="No editor: set `applies_to` of all the ADDRESSes; `likely` takes the files that each text mentions.",
)
@click.option("--editorial", is_flag=True, help="Say in `editorial_at` that the words change and the rule does not.")
@write_options
@global_options
def command(
    given: Globals,
    addresses: tuple[str, ...],
    globs: tuple[str, ...],
    form: str,
    **options: bool | None,
) -> int:
    """Change an entry in your editor, as git chooses it; it opens again until the text has no new error.

    What you typed is never thrown away: where it cannot be written, it is kept in a file that is named. With
    --applies-to several entries can be changed at once; `wing/room/` stands for all of a room.
    """
    workspace, wanted = open_workspace(given), write_options_from(options)
    if globs:
        return print_written(given, workspace, set_applies_to(workspace, addresses, globs, wanted), form)
    if len(addresses) > 1:
        raise UsageError("an editor takes one entry; name one, or give --applies-to")
    opening = open_entry(workspace, addresses[0])
    if not sys.stdin.isatty():
        help_ = f"change {workspace.location.root / opening.path} with a tool of yours, then run `mdmem check`"
        raise EnvironmentFaultError(f"`mdmem edit` opens an editor and needs a terminal; {help_}")
    with typing(workspace, opening.address, opening.content) as typed:
        content = _ask(workspace, opening, typed)
        try:
            written = save_edit(workspace, opening, content, is_editorial=bool(options["editorial"]), options=wanted)
        except LostRaceError as error:
            paths = shlex.join([str(workspace.location.root / opening.path), str(typed.path)])
            hint = f"`mdmem edit {opening.address}` opens the file as it is now"
            error.add_note(f"`git diff --no-index {paths}` shows what differs; {hint}")
            raise
        typed.is_written = not wanted.is_dry
        return print_written(given, workspace, written, form)


def _ask(workspace: Workspace, opening: EditSession, typed: Typed) -> bytes:
    """Return the text without a new error; raises UsageError where the user leaves one with errors as it is."""
    content = typed.ask(opening.content)
    while content.strip() and content != opening.content and (faults := faults_of(workspace, opening, content)):
        left = typed.ask(content, notes_on(faults, content))
        if left == content:
            first = faults[0]
            place = f"{opening.path}:{first.place.line}"
            raise UsageError(f"nothing was written: {place}: {first.message}; {first.help}")
        content = left
    if not content.strip():
        give_up_empty()
    return content
