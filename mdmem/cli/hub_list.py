"""`mdmem hub list`: entries by filter, of one repository or of all."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import Globals, columns, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, repositories_option


@click.command("list")
@click.option("--limit", "-n", type=click.IntRange(min=1), default=100, show_default=True, help="Entries at most.")
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, limit: int, form: str, **options: Any) -> int:
    """List entries by repository and address: those in force, unless a filter asks for others."""
    from mdmem.hub.across import AcrossRequest, list_across
    from mdmem.hub.repository_copy import open_copy
    from mdmem.render import hub_answers
    from mdmem.render.entries import entry_list
    from mdmem.render.json import entries_json
    from mdmem.retrieval.entries import in_full, list_entries
    from mdmem.retrieval.question import Question

    dsn, repositories = options.pop("dsn"), options.pop("repositories")
    filters = filters_from(options)
    with reading(dsn) as reader:
        if len(repositories) == 1:
            copy = open_copy(reader, repositories[0], today=today())
            found = list_entries(copy.workspace, filters)
            if form == "json":
                print_text(hub_answers.copy_json(copy, entries_json(in_full(copy.workspace, found)), now=now()))
            else:
                ink = given.ink()
                text = entry_list(found, ink, {}, columns=columns())
                print_text(hub_answers.copy_text(copy, text, ink=ink, now=now()))
            return 0 if found else 1
        request = AcrossRequest(Question(filters=filters), repositories, limit)
        answer = list_across(reader, request, today=today())
        if form == "json":
            print_text(hub_answers.across_entries_json(answer, now=now()))
        else:
            print_text(hub_answers.across_list_text(answer, ink=given.ink(), now=now(), columns=columns()))
        if not answer.reach.is_all:
            given.remark(f"there are more than {limit}; --limit shows them, filters and --repository narrow them")
    return 0 if answer.result else 1
