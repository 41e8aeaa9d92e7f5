"""`mdmem show`: entries in full."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_address
from mdmem.cli.short_help import ShortHelp


@click.command("show", cls=ShortHelp, everyday=("about", "form"))
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete_address)
@click.option(
    "--about",
    multiple=True,
    metavar="WORDS",
    help="Only the passages that say most about WORDS; again for each address: the n-th for the n-th.",
)
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, addresses: tuple[str, ...], about: tuple[str, ...], form: str, revision: str | None) -> int:
    """Show entries in full, or what they say about some words.

    An address may be short where it is unambiguous, or the path of a file; `wing/` and `wing/room/` show all below.
    """
    if any(one.strip() for one in about):
        _tell(given, addresses, about, form=form, revision=revision)
        return 0
    from mdmem.render.entries import shown_markdown, shown_text
    from mdmem.render.json import dump, entries_json
    from mdmem.retrieval.entries import show

    shown = show(open_workspace(given, revision=revision), addresses)
    if form == "json":
        print_text(dump(entries_json(shown)))
    else:
        print_text(shown_markdown(shown) if form == "markdown" else shown_text(shown, given.ink()))
    return 0


def _tell(
    given: Globals, addresses: tuple[str, ...], about: tuple[str, ...], *, form: str, revision: str | None
) -> None:
    from mdmem.render.told import told_json, told_markdown, told_text
    from mdmem.retrieval.about import tell_about

    told = tell_about(open_workspace(given, revision=revision), addresses, about)
    if form == "json":
        from mdmem.render.json import dump

        print_text(dump(told_json(told)))
    else:
        print_text(told_markdown(told) if form == "markdown" else told_text(told, given.ink()))
