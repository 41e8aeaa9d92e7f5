"""`mdmem retrieve`: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.ask.answers import Answers, answer_each
from mdmem.ask.code_paths import is_there, remark_on
from mdmem.ask.fallback import retrieve_without_root
from mdmem.ask.question import Question
from mdmem.ask.retrieve import with_code_paths
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_code_path
from mdmem.cli.filters import filter_options, filters_from
from mdmem.cli.session import CallerSession, session_options
from mdmem.cli.short_help import ShortHelp
from mdmem.errors import RootNotFoundError
from mdmem.render.answers import answers_json, answers_markdown, answers_text, short_markdown_size, short_text_size
from mdmem.render.characters import one_line
from mdmem.render.json import PrintedJson, dump, pack_json
from mdmem.render.retrieval import markdown_size, text_size
from mdmem.store.workspace.remote_wings import aged_wings

if TYPE_CHECKING:
    from mdmem.ask.answers import Answers
    from mdmem.ask.pack import Printed
    from mdmem.ask.question import Question
    from mdmem.store.workspace.workspace import Workspace


_LIKE = 0.75


@click.command("retrieve", cls=ShortHelp, everyday=("paths", "asked", "wing", "room", "budget", "session", "fresh"))
@click.argument("words", nargs=-1)
@click.option(
    "--path",
    "-p",
    "paths",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_code_path,
    help="A file at hand, or to be made; all of them in one call.",
)
@click.option(
    "--ask", "asked", multiple=True, metavar="QUESTION", help="One of several questions, each answered in short."
)
@click.option(
    "--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size of an answer; a token is 4 bytes."
)
@click.option(
    "--query-syntax", "syntax", is_flag=True, help='Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
)
@session_options
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Answer what is binding here, now, for WORDS, the files at hand, and any number of questions.

    Rules that always hold come first, then decisions, patterns, notes. For passages of entries that you know:
    `mdmem show ADDRESS... --about WORDS`.
    """
    revision, syntax = options.pop("revision"), options.pop("syntax")
    session = CallerSession(options.pop("session"), is_fresh=options.pop("fresh"))
    asked = [one.strip() for one in options.pop("asked") if one.strip()]
    filters = filters_from(options)
    work = Question(words=" ".join(words).strip(), filters=filters, syntax=syntax)
    questions = [Question(words=one, filters=filters, syntax=syntax) for one in asked]
    try:
        workspace = open_workspace(given, revision=revision, files=paths)
    except RootNotFoundError as error:
        if given.root:
            raise
        everything = Question(words=" ".join(filter(None, (work.words, *asked))), filters=filters)
        answers = Answers(retrieve_without_root(Path.cwd(), everything, why=str(error), budget=budget), ())
    else:
        main = work if work.words or paths or not questions else None
        answers = _answer(workspace, given, main, questions, paths=paths, budget=budget, form=form, session=session)
    print_text(_rendered(answers, form, given))
    session.note(lambda: answers.gave)
    return 0


def _answer(
    workspace: Workspace,
    given: Globals,
    main: Question | None,
    questions: Sequence[Question],
    *,
    paths: tuple[str, ...],
    budget: int | None,
    form: str,
    session: CallerSession,
) -> Answers:
    work, read = main, None
    if paths:
        read = _misspelt(workspace, paths) or remark_on(workspace, paths)
        work = with_code_paths(workspace, main, paths) if main is not None else None
    for remark in (*aged_wings(workspace), *filter(None, [read])):
        # A clone may hold a name of several lines.
        given.remark(one_line(remark))
    printed, short = _printed(form)
    before = session.given(workspace)
    return answer_each(workspace, work, questions, budget=budget, printed=printed, printed_short=short, given=before)


def _misspelt(workspace: Workspace, paths: tuple[str, ...]) -> str | None:
    """Return, for the first path that is no file, what there is of a like name beside it; a file may be yet to come."""
    for path in paths:
        here = workspace.cwd / path
        top = workspace.location.base / path
        if is_there(here) or is_there(top):
            continue
        place = here if is_there(here.parent) and here.parent.is_dir() else top
        with suppress(OSError, ValueError):
            near = get_close_matches(place.name, [one.name for one in place.parent.iterdir()], n=1, cutoff=_LIKE)
            if near:
                return f"there is no `{path}`; did you mean `{Path(path).with_name(near[0])}`?"
    return None


def _printed(form: str) -> tuple[Printed, Printed]:
    """Return what the parts of an answer take in the form that is printed, and those of a short one."""
    if form == "json":
        return PrintedJson(), PrintedJson()
    return (markdown_size, short_markdown_size) if form == "markdown" else (text_size, short_text_size)


def _rendered(answers: Answers, form: str, given: Globals) -> str:
    if form == "json":
        return dump(answers_json(answers, pack_json))
    return answers_markdown(answers) if form == "markdown" else answers_text(answers, ink=given.ink())
