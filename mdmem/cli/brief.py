"""`mdmem brief`: what binds the files at hand, in a few lines."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from mdmem.ask.brief import brief, unreadable, unsaid
from mdmem.ask.code_paths import remark_on
from mdmem.cli.common import Globals, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_code_path
from mdmem.errors import MdmemError, RootNotFoundError
from mdmem.render.characters import one_line
from mdmem.store.state.sessions import Sessions, briefed


@click.command("brief")
@click.argument("paths", nargs=-1, metavar="PATH…", shell_complete=complete_code_path)
@click.option("--path", "-p", "more", multiple=True, metavar="PATH", shell_complete=complete_code_path, help="As PATH.")
@click.option("--session", metavar="ID", help="Say each rule once to all questions of one ID, unless it changed.")
@click.option("--fresh", is_flag=True, help="Forget what the session was told, as after a context was compacted.")
@global_options
def command(given: Globals, paths: tuple[str, ...], more: tuple[str, ...], session: str | None, *, fresh: bool) -> int:
    """Say which rules are about the files at PATH, in at most 1,200 characters; nothing where none is.

    Of the rules in force, those whose `applies_to` meets a path: invariants first, then decisions, a line each. What
    binds whatever the files are, `retrieve` says.
    """
    paths = (*paths, *more)
    if not paths:
        raise click.MissingParameter(param_hint="'PATH…'", param_type="argument")
    workspace = open_workspace(given, files=paths)
    now, name = datetime.now(UTC), briefed(session) if session is not None else None
    kept = Sessions(workspace.state_folder)
    before = kept.given(name, now) if name is not None and not fresh else {}
    always = None
    try:
        answer = brief(workspace, paths, given=before)
        # A session was told at its start.
        always = unsaid(workspace, paths) if session is None else None
    except RootNotFoundError:
        raise
    except (MdmemError, OSError) as error:
        answer = unreadable(str(error), before)
    print_text(answer.text)
    read = remark_on(workspace, paths)
    if read is not None:
        given.remark(one_line(read))
    none = "" if answer.text else "no `applies_to` of a rule in force meets it; "
    if always is not None:
        given.remark(f"{none}{always}")
    # A program is told nothing where nothing binds; a person wonders.
    elif none and session is None and sys.stdout.isatty():
        given.remark(f"{none}`mdmem retrieve --path {paths[0]}` looks further")
    # What could not be printed was not told.
    if name is not None:
        if fresh:
            kept.forget(name)
        kept.give(name, answer.gave, now)
    return 0
