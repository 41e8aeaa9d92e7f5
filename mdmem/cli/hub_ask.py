"""The commands of `mdmem hub` that answer questions."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.ask.about import require_words_for, tell_about
from mdmem.ask.answers import answer_each
from mdmem.ask.entries import count_hidden, in_full, list_entries, show
from mdmem.ask.question import Question
from mdmem.ask.retrieve import with_code_paths
from mdmem.ask.search import search, snippets
from mdmem.change.why import why
from mdmem.cli.ask import remark_nothing, within
from mdmem.cli.common import Globals, columns, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, remark_reach, repositories_option
from mdmem.hub.across import AcrossRequest, answer_each_across, list_across, search_across
from mdmem.hub.owners import by_repository, repository_of, who
from mdmem.hub.repository_copy import open_copy
from mdmem.render import hub_answers
from mdmem.render.answers import answers_json, answers_text, short_text_size
from mdmem.render.entries import entry_list, nothing_listed, search_text
from mdmem.render.history import why_text
from mdmem.render.hub_answers import (
    across_answers_json,
    across_answers_text,
    copy_json,
    copy_text,
    who_json,
    who_remarks,
    who_text,
)
from mdmem.render.json import PrintedJson, entries_json, pack_json, search_json, why_json
from mdmem.render.retrieval import text_size
from mdmem.store.workspace.scope import Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.ask.pack import Printed
    from mdmem.hub.reader import Reader


@click.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Hits at most.")
@click.option("--query-syntax", "syntax", is_flag=True, help="Read WORDS as a query; with one --repository.")
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def search_command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
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


@click.command("retrieve")
@click.argument("words", nargs=-1)
@click.option("--path", "-p", "paths", multiple=True, metavar="FILE", help="A file, from the repository's top.")
@click.option(
    "--ask", "asked", multiple=True, metavar="QUESTION", help="One of several questions, each answered in short."
)
@click.option("--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size; a token is 4 bytes.")
@click.option("--query-syntax", "syntax", is_flag=True, help="Read WORDS as a query; with one --repository.")
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def retrieve_command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Answer what binds for WORDS and any number of questions.

    In one --repository as its clone does, else in all that match, invariants first.
    """
    dsn, repositories = options.pop("dsn"), options.pop("repositories")
    asked = [one.strip() for one in options.pop("asked") if one.strip()]
    syntax = options.pop("syntax")
    filters = filters_from(options)
    work = Question(words=" ".join(words).strip(), filters=filters, syntax=syntax)
    main = work if work.words or paths or not asked else None
    questions = [Question(words=one, filters=filters, syntax=syntax) for one in asked]
    with reading(dsn) as reader:
        if len(repositories) == 1:
            _print_of_copy(given, reader, repositories[0], main, questions, paths=paths, budget=budget, form=form)
            return 0
        if paths:
            raise click.UsageError("a --path is a file of one repository; name that with --repository")
        if main is not None and not main.words:
            raise click.UsageError("give words; without them name a --repository")
        _print_across(given, reader, main, questions, repositories=repositories, budget=budget, form=form)
    return 0


def _print_of_copy(
    given: Globals,
    reader: Reader,
    name: str,
    main: Question | None,
    questions: Sequence[Question],
    *,
    paths: tuple[str, ...],
    budget: int | None,
    form: str,
) -> None:
    """Print what one repository answers, as its clone would."""
    copy, (printed, short) = open_copy(reader, name, today=today()), _sizes(form)
    meant = main if main is None else with_code_paths(copy.workspace, main, paths)
    answers = answer_each(copy.workspace, meant, questions, budget=budget, printed=printed, printed_short=short)
    if form == "json":
        print_text(copy_json(copy, answers_json(answers, pack_json), now=now()))
    else:
        ink = given.ink()
        print_text(copy_text(copy, answers_text(answers, ink=ink), ink=ink, now=now()))


def _print_across(
    given: Globals,
    reader: Reader,
    main: Question | None,
    questions: Sequence[Question],
    *,
    repositories: tuple[str, ...],
    budget: int | None,
    form: str,
) -> None:
    """Print what many repositories answer, and how far that reaches."""
    # What each question read goes round in circles, which a command else leaves to its end.
    gc.freeze()
    gc.enable()
    printed, short = _sizes(form)
    several = answer_each_across(
        reader,
        main,
        questions,
        repositories=repositories,
        today=today(),
        budget=budget,
        printed=printed,
        printed_short=short,
    )
    if form == "json":
        print_text(across_answers_json(several, now=now()))
    else:
        print_text(across_answers_text(several, ink=given.ink(), now=now()))
    remark_reach(given, *several.found)


def _sizes(form: str) -> tuple[Printed, Printed]:
    """Return what the parts of an answer take in the form that is printed, and those of a short one."""
    if form == "json":
        return PrintedJson(), PrintedJson()
    return text_size, short_text_size


_MOST = 100


@click.command("list")
@click.option(
    "--limit",
    "-n",
    type=click.IntRange(min=1),
    help=f"Entries at most.  [default: {_MOST}; all of one --repository]",
)
@click.argument("place", metavar="[WING|ROOM|WING/ROOM]", required=False)
@repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def list_command(given: Globals, place: str | None, limit: int | None, form: str, **options: Any) -> int:
    """List entries by repository and address: those in force, of a place where one is named, unless a filter asks."""
    dsn, repositories = options.pop("dsn"), options.pop("repositories")
    filters = filters_from(options)
    with reading(dsn) as reader:
        if len(repositories) == 1:
            copy = open_copy(reader, repositories[0], today=today())
            filters = within(copy.workspace, place, filters) if place is not None else filters
            listed = list_entries(copy.workspace, filters)
            found = listed[:limit]
            if form == "json":
                print_text(hub_answers.copy_json(copy, entries_json(in_full(copy.workspace, found)), now=now()))
            else:
                ink = given.ink()
                text = entry_list(found, ink, {}, columns=columns())
                print_text(hub_answers.copy_text(copy, text, ink=ink, now=now()))
            if len(listed) > len(found):
                given.remark(f"{len(listed) - len(found)} more; raise --limit to see them")
            if not found:
                given.remark(
                    nothing_listed(count_hidden(copy.workspace, filters, listed), is_filtered=filters != Filters())
                )
            return 0 if found else 1
        filters = _within(reader, place, filters) if place is not None else filters
        request = AcrossRequest(Question(filters=filters), repositories, limit or _MOST)
        answer = list_across(reader, request, today=today())
        if form == "json":
            print_text(hub_answers.across_entries_json(answer, now=now()))
        else:
            print_text(hub_answers.across_list_text(answer, ink=given.ink(), now=now(), columns=columns()))
        for said in hub_answers.list_remarks(answer, most="--limit", within="--repository"):
            given.remark(said)
        if not answer.result:
            given.remark("no entry that you may read passes these filters")
    return 0 if answer.result else 1


def _within(reader: Reader, place: str, filters: Filters) -> Filters:
    """Return filters narrowed to a place of any repository: a wing, a room, or a room of a wing."""
    first, *rest = place.strip("/").split("/")
    if len(rest) > 1:
        raise click.UsageError(f"`{place}` is no wing and no room; `mdmem hub show {place}` shows an entry")
    if rest or reader.wings_named([first]):
        return replace(filters, wings=(first, *filters.wings), rooms=(*rest, *filters.rooms))
    return replace(filters, rooms=(first, *filters.rooms))


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
def show_command(
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


@click.command("why")
@click.argument("address", metavar="[REPOSITORY:]ADDRESS")
@click.option("--repository", metavar="NAME", help="The repository that it is of.")
@dsn_option
@format_option("text", "json")
@global_options
def why_command(given: Globals, address: str, repository: str | None, dsn: str | None, form: str) -> int:
    """Show the chain of ADDRESS in both directions, with reasons and dates; the commits are in the clone."""
    with reading(dsn) as reader:
        name, plain = repository_of(reader, [address], named=repository)
        copy = open_copy(reader, name, today=today())
        explained = why(copy.workspace, plain[0])
        if form == "json":
            print_text(copy_json(copy, why_json(explained), now=now()))
        else:
            ink = given.ink()
            print_text(copy_text(copy, why_text(explained, ink), ink=ink, now=now()))
    return 0


@click.command("who")
@click.argument("words", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS|WORDS...")
@repositories_option
@dsn_option
@format_option("text", "json")
@global_options
def owners_command(
    given: Globals, words: tuple[str, ...], repositories: tuple[str, ...], dsn: str | None, form: str
) -> int:
    """Show owners and dependents of an entry, or of those that say most about WORDS."""
    with reading(dsn) as reader:
        report = who(reader, " ".join(words), repositories=repositories, today=today())
    print_text(who_json(report, now=now()) if form == "json" else who_text(report, ink=given.ink(), now=now()))
    for said in who_remarks(report):
        given.remark(said)
    return 0
