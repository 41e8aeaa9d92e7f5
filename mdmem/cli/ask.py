"""Define the commands that ask the memory: retrieve, search, show and list."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis, Answers, Question
from mdmem.ask.fallback import retrieve_without_root
from mdmem.ask.retrieve import other_wings, retrieve, with_code_paths
from mdmem.ask.search import (
    branch_state_notes,
    count_hidden,
    in_full,
    list_entries,
    list_problems,
    search,
    show,
    show_about,
    snippets,
)
from mdmem.cli import completion as complete
from mdmem.cli.common import (
    FILES,
    WINGS,
    App,
    CallerSession,
    ShortHelp,
    filter_options,
    print_text,
    session_options,
    shared_options,
    split_values,
)
from mdmem.errors import RootNotFoundError, SparseCheckoutError, UsageError
from mdmem.render import entries
from mdmem.render.answers import answers_json, answers_text, problems_text
from mdmem.render.entries import entries_json, search_json
from mdmem.render.text import dump
from mdmem.store.workspace.addresses import from_root
from mdmem.store.workspace.scope import Filters, find_wing, reading_scope

_SYNTAX = 'Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
syntax_option = click.option("--query-syntax", "syntax", is_flag=True, help=_SYNTAX)


@click.command("retrieve", cls=ShortHelp, everyday=("paths", "asked", "wings", "rooms", "budget", "session", "fresh"))
@click.argument("words", nargs=-1)
@click.option("--path", "-p", "paths", **FILES, help="A file that you will change or create; repeatable.")
@click.option("--ask", "asked", multiple=True, metavar="QUESTION", help="Also answer this briefly; repeatable.")
@click.option("--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size of the answer in tokens.")
@syntax_option
@session_options
@filter_options
@shared_options("text", "json", "markdown", at=True, repository=True)
def retrieve_command(
    app: App,
    words: tuple[str, ...],
    paths: tuple[str, ...],
    asked: tuple[str, ...],
    budget: int | None,
    session: CallerSession,
    filters: Filters,
    *,
    syntax: bool,
) -> None:
    """Show the rules and notes that apply to WORDS and to files, and answer questions.

    Rules that always apply come first, then decisions, patterns and notes. For excerpts of entries that you know:
    `mdmem show ADDRESS... --about WORDS`.
    """
    work = Question(words=" ".join(words).strip(), filters=filters, syntax=syntax)
    questions = [Question(words=one.strip(), filters=filters, syntax=syntax) for one in asked if one.strip()]
    try:
        workspace = app.open(paths)
        main = work if work.words or paths or not questions else None
        main = with_code_paths(workspace, main, paths) if main is not None else None
        answers = retrieve(workspace, main, questions, budget=budget, shown=session.shown(workspace))
    except (RootNotFoundError, SparseCheckoutError) as error:
        if app.root and isinstance(error, RootNotFoundError):
            raise
        question = Question(words=" ".join((*words, *asked)).strip(), filters=filters)
        answers = Answers(retrieve_without_root(Path.cwd(), question, error, budget=budget))
    app.print_result(answers_json(answers), answers_text(answers, app.style))
    session.record(lambda: answers.shown)


@click.command("search", cls=ShortHelp, everyday=("limit", "wings", "rooms", "types", "all_wings"))
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Results at most.")
@syntax_option
@filter_options
@shared_options("text", "json", "markdown", at=True, repository=True)
def search_command(app: App, words: tuple[str, ...], limit: int, filters: Filters, *, syntax: bool) -> int:
    """Find entries with any of WORDS, the best first. For a superseded entry, the current one is shown."""
    workspace = app.open()
    result = search(workspace, Question(words=" ".join(words).strip(), filters=filters, syntax=syntax))
    best = snippets(workspace, result, limit)
    app.print_result(search_json(result, best), entries.search_text(result, best, app.style))
    if result.drafts:
        matching = "1 draft matches" if result.drafts == 1 else f"{result.drafts} drafts match"
        app.remark(f"{'' if result.hits else 'nothing else found: '}{matching}, shown by --include-drafts")
    elif not result.hits:
        why = "nothing found: no entry that the filters admit matches"
        if result.basis.ended:
            why = "nothing current found; --include-deprecated shows entries that are not current"
        elif not (result.terms or syntax):
            why = "nothing found: the question has no word to search for, only stop words or signs"
        elif unmatched := result.basis.unmatched_terms:
            scope = reading_scope(workspace.catalog, workspace.settings, filters)
            is_narrow = workspace.catalog.wings.keys() - scope.wings
            where = f" of {', '.join(scope.wings)}" if is_narrow else ""
            wider = "; --all-wings searches every wing" if is_narrow else ""
            # The name of an entry is not part of its text.
            read = (one for one in workspace.catalog.entries if one.split("/")[0] in scope.wings)
            near = [one for one in read if any(f"-{word.lower()}-" in f"-{one.split('/')[2]}-" for word in unmatched)]
            wider = f"; did you mean {near[0]}?" if near else wider
            why = f"nothing found: no entry{where} has {', '.join(unmatched)}{wider}"
        app.remark(why)
    return 0 if result.hits else 1


@click.command("show", cls=ShortHelp, everyday=("about", "wing", "session"))
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete.address)
@click.option("--about", multiple=True, metavar="WORDS", help="Only passages on WORDS; once per ADDRESS, in order.")
@click.option("--wing", "-w", **WINGS, help="The wing of a short ADDRESS.")
@session_options
@shared_options("text", "json", "markdown", at=True, repository=True)
def show_command(
    app: App, addresses: tuple[str, ...], about: tuple[str, ...], wing: tuple[str, ...], session: CallerSession
) -> None:
    """Show entries in full, or their passages about some words.

    An address may be short if it is unambiguous, or the path of a file. `wing/` and `wing/room/` mean their entries.
    """
    workspace, wings = app.open(), split_values(wing)
    if about:
        found = show_about(workspace, addresses, about, wings=wings, shown=session.shown(workspace))
        app.print_result(entries.excerpts_json(found), entries.excerpts_text(found, app.style))
        session.record(lambda: {one.entry.address: one.note for one in found})
        return
    session.shown(workspace)
    shown = show(workspace, addresses, wings)
    app.print_result(entries_json(shown), entries.shown_text(shown, app.style))
    session.record(lambda: {one.entry.address: one.digest for one in shown})


@click.command("list", cls=ShortHelp, everyday=("wings", "rooms", "types", "statuses", "all_wings"))
@click.argument("place", metavar="[WING|ROOM|WING/ROOM]", required=False, shell_complete=complete.place)
@filter_options
@click.option("--titles", "only_titles", is_flag=True, help="Print only entry-ids and titles, under each room.")
@shared_options("text", "json", "markdown", at=True, repository=True)
def list_command(app: App, place: str | None, filters: Filters, *, only_titles: bool) -> int:
    """List the current entries of the memory, a wing or a room. Filters also show entries that are not current."""
    if only_titles and app.form != "text":
        raise UsageError(f"`--titles` prints text; leave out `--format {app.form}`, whose answer has the titles")
    workspace = app.open()
    if place is not None:
        first, *rest = from_root(workspace, place).split("/")
        if len(rest) > 1:
            show = workspace.location.command(f"show {place}")
            raise UsageError(f"`{place}` is neither a wing nor a room; `{show}` shows an entry")
        wings = (first,) if rest or find_wing(first, workspace.catalog.wings) is not None else ()
        rooms = rest if wings else [first]
        filters = replace(filters, wings=(*wings, *filters.wings), rooms=(*rooms, *filters.rooms))
    found = list_entries(workspace, filters)
    if app.form == "json":
        print_text(dump(entries_json(in_full(workspace, found))))
    elif only_titles and found:
        print_text(entries.titles_by_room(found, app.style))
    elif found:
        print_text(entries.entry_list(found, app.style, branch_state_notes(workspace, found)))
    problems = list_problems(workspace, filters)
    app.remark(*problems_text(AnswerBasis(problems=problems), app.style))
    hidden = [*entries.hidden_text(count_hidden(workspace, filters, found))]
    if not found:
        instead = other_wings(workspace.catalog, reading_scope(workspace.catalog, workspace.settings, filters))
        nothing = "no entry passes these filters" if filters != Filters() else "no entry is current"
        app.remark("; ".join([instead or nothing, *hidden]))
    elif app.form != "json" and hidden:
        app.remark(f"and {'; '.join(hidden)}")
    return 0 if found else 1
