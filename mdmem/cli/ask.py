"""The commands that ask: retrieve, brief, search, context, show and list."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis, Answers
from mdmem.ask.brief import always_note, brief, unreadable
from mdmem.ask.candidates import ContextRequest
from mdmem.ask.code_paths import is_there, remark_on
from mdmem.ask.context import Pack, compile_context, context_without_root
from mdmem.ask.fallback import retrieve_without_root
from mdmem.ask.question import Question, read_request
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.ask.search import search, snippets
from mdmem.ask.show import (
    count_hidden,
    digests_of,
    in_full,
    list_entries,
    list_problems,
    show,
    show_about,
    stance_of,
)
from mdmem.cli.common import (
    Globals,
    ShortHelp,
    at_option,
    columns,
    filter_options,
    filters_from,
    format_option,
    global_options,
    open_workspace,
    print_text,
    repository_option,
)
from mdmem.cli.completion import complete_address, complete_code_path, complete_place
from mdmem.errors import MdmemError, RootNotFoundError, UsageError
from mdmem.model.lineage import marked
from mdmem.render.answers import answers_json, answers_markdown, answers_text
from mdmem.render.basis import problems_text
from mdmem.render.context import pack_json, pack_markdown, pack_text
from mdmem.render.entries import (
    entry_list,
    entry_table,
    excerpts_json,
    excerpts_markdown,
    excerpts_text,
    not_listed,
    nothing_listed,
    search_markdown,
    search_text,
    shown_markdown,
    shown_text,
    titles_by_room,
)
from mdmem.render.json import dump, entries_json, search_json
from mdmem.render.text import one_line
from mdmem.store.state.local_records import Sessions, briefed
from mdmem.store.workspace.addresses import from_root
from mdmem.store.workspace.remarks import aged_wings
from mdmem.store.workspace.scope import Filters, find_wing, not_there

if TYPE_CHECKING:
    from mdmem.ask.answer import SearchResult
    from mdmem.store.workspace.workspace import Workspace


class CallerSession(Struct):
    """What the answers under a name gave; without a name nothing is kept."""

    name: str | None
    is_fresh: bool
    kept: Sessions | None = None

    def given(self, workspace: Workspace) -> Mapping[str, str]:
        """Return what was given before, by address."""
        if self.name is None:
            return {}
        self.kept = Sessions(workspace.state_folder)
        if self.is_fresh:
            self.kept.forget(self.name)
        return self.kept.given(self.name, datetime.now(UTC))

    def note(self, gave: Callable[[], Mapping[str, str]]) -> None:
        """Note what an answer gave; one that could not be printed was not given."""
        if self.name is not None and self.kept is not None:
            self.kept.give(self.name, gave(), datetime.now(UTC))


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--session` and `--fresh`."""
    fresh = click.option("--fresh", is_flag=True, help="Forget what the session was given.")
    return click.option("--session", metavar="ID", help="What one ID was given before is one line.")(fresh(command))


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
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def retrieve_command(
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
        answers = _answer(workspace, given, main, questions, paths=paths, budget=budget, session=session)
    print_text(_rendered(answers, form, given))
    session.note(lambda: answers.shown)
    return 0


def _answer(
    workspace: Workspace,
    given: Globals,
    main: Question | None,
    questions: Sequence[Question],
    *,
    paths: tuple[str, ...],
    budget: int | None,
    session: CallerSession,
) -> Answers:
    work, read = main, None
    if paths:
        read = _misspelt(workspace, paths) or remark_on(workspace, paths)
        work = with_code_paths(workspace, main, paths) if main is not None else None
    for remark in (*aged_wings(workspace), *filter(None, [read])):
        # A clone may hold a name of several lines.
        given.remark(one_line(remark))
    return retrieve(workspace, work, questions, budget=budget, shown=session.given(workspace))


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


def _rendered(answers: Answers, form: str, given: Globals) -> str:
    if form == "json":
        return dump(answers_json(answers))
    return answers_markdown(answers) if form == "markdown" else answers_text(answers, ink=given.ink())


@click.command("brief")
@click.argument("paths", nargs=-1, metavar="PATH…", shell_complete=complete_code_path)
@click.option("--path", "-p", "more", multiple=True, metavar="PATH", shell_complete=complete_code_path, help="As PATH.")
@click.option("--session", metavar="ID", help="Say each rule once to all questions of one ID, unless it changed.")
@click.option("--fresh", is_flag=True, help="Forget what the session was told, as after a context was compacted.")
@global_options
def brief_command(
    given: Globals, paths: tuple[str, ...], more: tuple[str, ...], session: str | None, *, fresh: bool
) -> int:
    """Say which rules are about the files at PATH, in at most 1,200 characters; nothing where none is.

    Of the rules in force, those whose `applies_to` meets a path: invariants first, then decisions, a line each. What
    binds whatever the files are, `retrieve` says.
    """
    paths = (*paths, *more)
    if not paths:
        raise click.MissingParameter(param_hint="'PATH…'", param_type="argument")
    workspace = open_workspace(given, files=paths)
    now, name = datetime.now(UTC), briefed(session) if session is not None else None
    kept = Sessions(workspace.state_folder)
    before = kept.given(name, now) if name is not None and not fresh else {}
    always = None
    try:
        answer = brief(workspace, paths, given=before)
        # A session was told at its start.
        always = always_note(workspace, paths) if session is None else None
    except RootNotFoundError:
        raise
    except (MdmemError, OSError) as error:
        answer = unreadable(str(error), before)
    print_text(answer.text)
    read = remark_on(workspace, paths)
    if read is not None:
        given.remark(one_line(read))
    none = "" if answer.text else "no `applies_to` of a rule in force meets it; "
    if always is not None:
        given.remark(f"{none}{always}")
    # A program is told nothing where nothing binds; a person wonders.
    elif none and session is None and sys.stdout.isatty():
        given.remark(f"{none}`mdmem retrieve --path {paths[0]}` looks further")
    # What could not be printed was not told.
    if name is not None:
        if fresh:
            kept.forget(name)
        kept.give(name, answer.gave, now)
    return 0


@click.command("search", cls=ShortHelp, everyday=("limit", "wing", "room", "types", "all_wings"))
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Hits at most.")
@click.option(
    "--query-syntax", "syntax", is_flag=True, help='Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
)
@filter_options
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def search_command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
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


_INTENTS = ("build", "plan", "ideate", "research", "debug", "decide", "learn", "general")
_LAYERS = ("wake", "recall", "deep_search")


@click.command("context")
@click.argument("goal", nargs=-1, required=True)
@click.option("--intent", type=click.Choice(_INTENTS), default="build", show_default=True, help="What GOAL is about.")
@click.option("--layer", type=click.Choice(_LAYERS), default="recall", show_default=True, help="How deep to look.")
@click.option("--domain", metavar="DOMAIN", help="Tag, topic, label, room or focus to keep to.")
@click.option("--project", "-p", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--agent", "agent_id", metavar="NAME", help="Agent whose diary comes, too.")
@click.option("--limit", "-n", type=int, default=24, show_default=True, help="Items at most, 1 to 50.")
@click.option("--no-related", is_flag=True, help="Leave out what the items are linked with.")
@at_option
@format_option("text", "json", "markdown")
@global_options
def context_command(given: Globals, goal: tuple[str, ...], revision: str | None, form: str, **options: object) -> int:
    """Compile what matters for GOAL in facets: constraints, decisions, active work, gotchas, procedures, and more.

    Invariants of the project are always part of the answer, whatever the limit.
    """
    stated = {"goal": " ".join(goal), "include_related": not options.pop("no_related"), **options}
    pack = _compiled(given, read_request(ContextRequest, stated), revision)
    for remark in pack["remarks"]:
        given.remark(remark)
    if form == "json":
        print_text(dump(pack_json(pack)))
    else:
        print_text(pack_markdown(pack) if form == "markdown" else pack_text(pack, ink=given.ink()))
    return 0


def _compiled(given: Globals, request: ContextRequest, revision: str | None) -> Pack:
    try:
        workspace = open_workspace(given, revision=revision)
    except RootNotFoundError as error:
        if given.root:
            raise
        return context_without_root(Path.cwd(), request, why=str(error))
    return compile_context(workspace, request)


@click.command("show", cls=ShortHelp, everyday=("about", "session"))
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete_address)
@click.option(
    "--about",
    multiple=True,
    metavar="WORDS",
    help="Only the passages that say most about WORDS; again for each address: the n-th for the n-th.",
)
@session_options
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def show_command(
    given: Globals, addresses: tuple[str, ...], about: tuple[str, ...], form: str, revision: str | None, **options: Any
) -> int:
    """Show entries in full, or what they say about some words.

    An address may be short where it is unambiguous, or the path of a file; `wing/` and `wing/room/` show all below.
    """
    session, workspace = CallerSession(options["session"], options["fresh"]), open_workspace(given, revision=revision)
    if about:
        _show_about(given, workspace, addresses, about, form=form, session=session)
        return 0
    session.given(workspace)
    shown = show(workspace, addresses)
    if form == "json":
        print_text(dump(entries_json(shown)))
    else:
        print_text(shown_markdown(shown) if form == "markdown" else shown_text(shown, given.ink()))
    session.note(lambda: digests_of(workspace, shown))
    return 0


def _show_about(
    given: Globals,
    workspace: Workspace,
    addresses: tuple[str, ...],
    about: tuple[str, ...],
    *,
    form: str,
    session: CallerSession,
) -> None:
    found = show_about(workspace, addresses, about, shown=session.given(workspace))
    if form == "json":
        print_text(dump(excerpts_json(found)))
    else:
        print_text(excerpts_markdown(found) if form == "markdown" else excerpts_text(found, given.ink()))
    session.note(lambda: {one.entry.address: one.note for one in found})


@click.command("list", cls=ShortHelp, everyday=("wing", "room", "types", "status", "all_wings"))
@click.argument("place", metavar="[WING|ROOM|WING/ROOM]", required=False, shell_complete=complete_place)
@filter_options
@click.option(
    "--titles", "only_titles", is_flag=True, help="Print only `entry-id  title`, under a heading for each room."
)
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def list_command(given: Globals, place: str | None, form: str, *, only_titles: bool, **options: Any) -> int:
    """List entries by address: those in force, of a place where one is named, unless a filter asks for others."""
    if only_titles and form != "text":
        raise UsageError(f"`--titles` prints text; leave out `--format {form}`, whose answer has the titles")
    workspace = open_workspace(given, revision=options.pop("revision"))
    filters = filters_from(options)
    if place is not None:
        filters = within(workspace, place, filters)
    found = list_entries(workspace, filters)
    if form == "json":
        print_text(dump(entries_json(in_full(workspace, found))))
    elif only_titles and found:
        print_text(titles_by_room(found, given.ink()))
    elif found:
        marks = {entry.address: " ".join(marked(stance_of(workspace, entry))) for entry in found}
        print_text(
            entry_table(found, marks)
            if form == "markdown"
            else entry_list(found, given.ink(), marks, columns=columns())
        )
    problems = list_problems(workspace, filters)
    alone = [f"{one.place.path}: {one.message} ({one.code})" for one in problems if len(problems) == 1]
    for told in alone or problems_text(AnswerBasis(problems=problems)):
        given.remark(told)
    hidden = count_hidden(workspace, filters, found)
    if not found:
        given.remark(nothing_listed(hidden, is_filtered=filters != Filters()))
    elif form != "json" and (rest := not_listed(hidden)):
        given.remark(rest)
    return 0 if found else 1


def within(workspace: Workspace, place: str, filters: Filters) -> Filters:
    """Return filters narrowed to a wing, a room, or a room of a wing; raises UsageError for what is none of them."""
    wings = workspace.catalog.wings
    first, *rest = from_root(workspace, place).split("/")
    if len(rest) > 1:
        raise UsageError(
            f"`{place}` is no wing and no room; `{workspace.location.command(f'show {place}')}` shows an entry"
        )
    if rest or find_wing(first, wings) is not None:
        return replace(filters, wings=(first, *filters.wings), rooms=(*rest, *filters.rooms))
    rooms = {address.split("/")[1] for address in workspace.catalog.addresses}
    if first not in rooms:
        said = not_there("wing and no room", place, {*wings, *rooms})
        raise UsageError(
            f"{said}{'' if said.endswith('?') else ';'} `{workspace.location.command('search')}` looks for words"
        )
    return replace(filters, rooms=(first, *filters.rooms))
