"""`mdmem hub search`: full text over the repositories that the caller may read."""

from __future__ import annotations

from typing import Any

import click

from mdmem.ask.question import Question
from mdmem.ask.search import search, snippets
from mdmem.cli.ask import remark_nothing
from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, remark_reach, repositories_option
from mdmem.hub.across import AcrossRequest, search_across
from mdmem.hub.repository_copy import open_copy
from mdmem.render import hub_answers
from mdmem.render.entries import search_text
from mdmem.render.json import search_json


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Hits at most.")
@click.option("--query-syntax", "syntax", is_flag=True, help="Read WORDS as a query; with one --repository.")
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
    """Find entries of all repositories that hold any of WORDS, the best first, each with its repository."""
    dsn, repositories, syntax = options.pop("dsn"), options.pop("repositories"), options.pop("syntax")
    question = Question(words=" ".join(words).strip(), filters=filters_from(options), syntax=syntax)
    with reading(dsn) as reader:
        if len(repositories) == 1:
            copy = open_copy(reader, repositories[0], today=today())
            found = search(copy.workspace, question)
            snippet_of = snippets(copy.workspace, found)
            if form == "json":
                content = search_json(found, limit=limit, snippet_of=snippet_of)
                print_text(hub_answers.copy_json(copy, content, now=now()))
            else:
                ink = given.ink()
                said = search_text(found, limit=limit, snippet_of=snippet_of, ink=ink)
                print_text(hub_answers.copy_text(copy, said, ink=ink, now=now()))
            remark_nothing(given, found, syntax=syntax)
            return 0 if found.hits else 1
        answer = search_across(reader, AcrossRequest(question, repositories, limit), today=today())
        hits, snippet_of = answer.result.hits, snippets(answer.workspace, answer.result)
        if form == "json":
            print_text(hub_answers.across_search_json(answer, limit=limit, snippet_of=snippet_of, now=now()))
        else:
            text = hub_answers.across_search_text
            print_text(text(answer, limit=limit, snippet_of=snippet_of, ink=given.ink(), now=now()))
        remark_reach(given, answer)
        if not hits:
            given.remark("nothing found in the repositories that you may read")
    return 0 if hits else 1
