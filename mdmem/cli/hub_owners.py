"""`mdmem hub who`: who answers for an entry, and who depends on it, over all repositories."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.hub_common import dsn_option, now, reading, repositories_option
from mdmem.hub.owners import who
from mdmem.render.hub_owners import who_json, who_remarks, who_text


@click.command("who")
@click.argument("words", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS|WORDS...")
@repositories_option
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, words: tuple[str, ...], repositories: tuple[str, ...], dsn: str | None, form: str) -> int:
    """Show owners and dependents of an entry, or of those that say most about WORDS."""
    with reading(dsn) as reader:
        report = who(reader, " ".join(words), repositories=repositories, today=today())
    print_text(who_json(report, now=now()) if form == "json" else who_text(report, ink=given.ink(), now=now()))
    for said in who_remarks(report):
        given.remark(said)
    return 0
