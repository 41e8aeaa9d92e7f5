"""`mdmem show`: entries in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdmem.ask.about import gave, tell_about
from mdmem.ask.entries import digests_of, show
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address
from mdmem.cli.session import CallerSession, session_options
from mdmem.cli.short_help import ShortHelp
from mdmem.render.entries import shown_markdown, shown_text
from mdmem.render.json import dump, entries_json
from mdmem.render.told import told_json, told_markdown, told_text

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace


@click.command("show", cls=ShortHelp, everyday=("about", "session"))
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete_address)
@click.option(
    "--about",
    multiple=True,
    metavar="WORDS",
    help="Only the passages that say most about WORDS; again for each address: the n-th for the n-th.",
)
@session_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(
    given: Globals, addresses: tuple[str, ...], about: tuple[str, ...], form: str, revision: str | None, **options: Any
) -> int:
    """Show entries in full, or what they say about some words.

    An address may be short where it is unambiguous, or the path of a file; `wing/` and `wing/room/` show all below.
    """
    session, workspace = CallerSession(options["session"], options["fresh"]), open_workspace(given, revision=revision)
    if about:
        _tell(given, workspace, addresses, about, form=form, session=session)
        return 0
    session.given(workspace)
    shown = show(workspace, addresses)
    if form == "json":
        print_text(dump(entries_json(shown)))
    else:
        print_text(shown_markdown(shown) if form == "markdown" else shown_text(shown, given.ink()))
    session.note(lambda: digests_of(workspace, shown))
    return 0


def _tell(
    given: Globals,
    workspace: Workspace,
    addresses: tuple[str, ...],
    about: tuple[str, ...],
    *,
    form: str,
    session: CallerSession,
) -> None:
    told = tell_about(workspace, addresses, about, given=session.given(workspace))
    if form == "json":
        print_text(dump(told_json(told)))
    else:
        print_text(told_markdown(told) if form == "markdown" else told_text(told, given.ink()))
    session.note(lambda: gave(told))
