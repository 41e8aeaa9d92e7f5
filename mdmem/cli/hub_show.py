"""`mdmem hub show`: entries in full."""

from __future__ import annotations

import click

from mdmem.ask.about import require_words_for, tell_about
from mdmem.ask.entries import show
from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.hub_common import dsn_option, now, reading
from mdmem.hub.owners import by_repository
from mdmem.hub.repository_copy import open_copy
from mdmem.render import hub_answers


@click.command("show")
@click.argument("addresses", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS...")
@click.option(
    "--about",
    multiple=True,
    metavar="WORDS",
    help="Only the passages that say most about WORDS; again for each address: the n-th for the n-th.",
)
@click.option("--repository", metavar="NAME", help="The repository that they are of.")
@dsn_option
@format_option("text", "json")
@global_options
def command(
    given: Globals,
    addresses: tuple[str, ...],
    about: tuple[str, ...],
    repository: str | None,
    dsn: str | None,
    form: str,
) -> int:
    """Show entries in full; of which repository need not be said where one alone has the address."""
    require_words_for(addresses, about)
    with reading(dsn) as reader:
        asked = by_repository(reader, addresses, named=repository)
        copies = {name: open_copy(reader, name, today=today()) for name in dict.fromkeys(name for name, _ in asked)}
        if about:
            # Of several groups each is one address.
            each = [about] * len(asked) if len(about) == 1 or len(asked) == 1 else [(one,) for one in about]
            told = [
                (copies[name], tell_about(copies[name].workspace, plain, some))
                for (name, plain), some in zip(asked, each, strict=True)
            ]
            if form == "json":
                print_text(hub_answers.told_copies_json(told, now=now()))
            else:
                print_text(hub_answers.told_copies_text(told, ink=given.ink(), now=now()))
            return 0
        found = [(copies[name], show(copies[name].workspace, plain)) for name, plain in asked]
        if form == "json":
            print_text(hub_answers.copies_json(found, now=now()))
        else:
            print_text(hub_answers.copies_text(found, ink=given.ink(), now=now()))
    return 0
