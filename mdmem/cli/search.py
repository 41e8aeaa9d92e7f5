"""`mdmem search`: `retrieval.search` finds with lineage, over `index.fulltext`, as `index.scoring` ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdmem.ask.question import Question
from mdmem.ask.search import search, snippets
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.short_help import ShortHelp
from mdmem.render.entries import search_markdown, search_text
from mdmem.render.json import dump, search_json

if TYPE_CHECKING:
    from mdmem.ask.question import SearchResult


@click.command("search", cls=ShortHelp, everyday=("limit", "wing", "room", "types", "all_wings"))
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Hits at most.")
@click.option(
    "--query-syntax", "syntax", is_flag=True, help='Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
)
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
    """Find entries that hold any of WORDS, the best first; a superseded one yields what replaced it."""
    revision, syntax = options.pop("revision"), options.pop("syntax")
    filters = filters_from(options)
    workspace = open_workspace(given, revision=revision)
    question = Question(words=" ".join(words).strip(), filters=filters, syntax=syntax)
    result = search(workspace, question)
    if form == "json":
        print_text(dump(search_json(result, limit=limit, snippet_of=snippets(workspace, result))))
    elif form == "markdown":
        print_text(search_markdown(result, limit=limit, snippet_of=snippets(workspace, result)))
    else:
        print_text(search_text(result, limit=limit, snippet_of=snippets(workspace, result), ink=given.ink()))
    remark_nothing(given, result, syntax=syntax)
    return 0 if result.hits else 1


def remark_nothing(given: Globals, result: SearchResult, *, syntax: bool) -> None:
    """Say which drafts match, or why nothing was found."""
    if result.drafts:
        shown = "1 draft matches, shown by" if result.drafts == 1 else f"{result.drafts} drafts match, shown by"
        given.remark(f"{'' if result.hits else 'nothing else found: '}{shown} --include-drafts")
    elif not result.hits:
        given.remark(f"nothing found: {_why_nothing(result, syntax=syntax)}")


def _why_nothing(result: SearchResult, *, syntax: bool) -> str:
    if result.basis.ended:
        return "what matches best has ended; --include-deprecated shows it"
    if syntax:
        return "no entry matches this query"
    if not result.terms:
        return "the question holds no word to search for, only stop words or signs"
    if unmatched := result.basis.unmatched_terms:
        return f"no entry holds {', '.join(unmatched)}"
    return "the filters leave out everything that matches"
