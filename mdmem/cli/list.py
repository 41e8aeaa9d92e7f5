"""`mdmem list`: entries by filter."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import (
    Globals,
    at_option,
    filter_options,
    filters_from,
    format_option,
    global_options,
    open_workspace,
    print_text,
)


@click.command("list")
@click.argument("words", nargs=-1, metavar="")
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, words: tuple[str, ...], form: str, **options: Any) -> int:
    """List entries by address: those in force, unless a filter asks for others."""
    if words:
        raise click.UsageError(f"`{words[0]}` is no option; filter by `--wing {words[0]}`, or `mdmem search` for words")
    from mdmem.render.entries import entry_list, entry_table, nothing_listed
    from mdmem.render.json import dump, entries_json
    from mdmem.retrieval.entries import count_hidden, in_full, list_entries, list_problems, stance_of
    from mdmem.standing import marked

    workspace = open_workspace(given, revision=options.pop("revision"))
    filters = filters_from(options)
    found = list_entries(workspace, filters)
    if form == "json":
        print_text(dump(entries_json(in_full(workspace, found))))
    elif found:
        marks = {entry.address: " ".join(marked(stance_of(workspace, entry))) for entry in found}
        print_text(entry_table(found, marks) if form == "markdown" else entry_list(found, given.ink(), marks))
    for problem in list_problems(workspace, filters):
        given.remark(f"{problem.place.path}: {problem.message} ({problem.code})")
    if not found:
        given.remark(nothing_listed(count_hidden(workspace, filters)))
    return 0 if found else 1
