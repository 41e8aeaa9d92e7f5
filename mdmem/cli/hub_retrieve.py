"""`mdmem hub retrieve`: what binds, in one repository as its clone would answer, or in all."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click

from mdmem.ask.answers import answer_each
from mdmem.ask.question import Question
from mdmem.ask.retrieve import with_code_paths
from mdmem.cli.common import Globals, format_option, global_options, print_text, today
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.hub_common import dsn_option, now, reading, remark_reach, repositories_option
from mdmem.hub.repository_copy import open_copy
from mdmem.hub.union_answers import answer_each_across
from mdmem.render.answers import answers_json, answers_text, short_text_size
from mdmem.render.hub_answers import across_answers_json, across_answers_text, copy_json, copy_text
from mdmem.render.json import PrintedJson, pack_json
from mdmem.render.retrieval import text_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mdmem.ask.pack import Printed
    from mdmem.ask.question import Question
    from mdmem.hub.reader import Reader


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
def command(
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
