"""`mdmem hub retrieve`: what binds, in one repository as its clone would answer, or in all."""

from __future__ import annotations

from typing import Any

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, remark_reach, repositories_option


@click.command("retrieve")
@click.argument("words", nargs=-1)
@click.option("--path", "-p", "paths", multiple=True, metavar="FILE", help="A file, from the repository's top.")
@click.option("--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size; a token is 4 bytes.")
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Answer what binds for WORDS: in one --repository as its clone does, else in all that match, invariants first."""
    from mdmem.hub.across import AcrossRequest, retrieve_across
    from mdmem.hub.repository_copy import open_copy
    from mdmem.render import hub_answers
    from mdmem.render.json import PrintedJson, pack_json
    from mdmem.render.retrieval import pack_text, text_size
    from mdmem.retrieval.question import Question
    from mdmem.retrieval.retrieve import retrieve, with_code_paths

    dsn, repositories = options.pop("dsn"), options.pop("repositories")
    question = Question(words=" ".join(words).strip(), filters=filters_from(options))
    printed = PrintedJson() if form == "json" else text_size
    with reading(dsn) as reader:
        if len(repositories) == 1:
            copy = open_copy(reader, repositories[0], today=today())
            asked = with_code_paths(copy.workspace, question, paths)
            pack = retrieve(copy.workspace, asked, budget=budget, printed=printed)
            if form == "json":
                print_text(hub_answers.copy_json(copy, pack_json(pack), now=now()))
            else:
                ink = given.ink()
                print_text(hub_answers.copy_text(copy, pack_text(pack, ink=ink), ink=ink, now=now()))
            return 0
        if paths:
            raise click.UsageError("a --path is a file of one repository; name that with --repository")
        if not question.words:
            raise click.UsageError("give words; without them name a --repository")
        request = AcrossRequest(question, repositories)
        answer = retrieve_across(reader, request, today=today(), budget=budget, printed=printed)
        if form == "json":
            print_text(hub_answers.across_pack_json(answer, now=now()))
        else:
            print_text(hub_answers.across_pack_text(answer, ink=given.ink(), now=now()))
        remark_reach(given, answer)
    return 0
