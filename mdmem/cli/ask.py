"""Define the commands that ask the memory: retrieve, brief, search, context, show and list."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis, Answers
from mdmem.ask.brief import always_note, brief, unreadable
from mdmem.ask.candidates import ContextRequest
from mdmem.ask.code_paths import remark_on
from mdmem.ask.context import compile_context, context_without_root
from mdmem.ask.facets import Intent, Layer
from mdmem.ask.fallback import retrieve_without_root, scope_after
from mdmem.ask.question import Question, read_request
from mdmem.ask.retrieve import retrieve, with_code_paths
from mdmem.ask.search import search, snippets
from mdmem.ask.show import count_hidden, digests_of, in_full, list_entries, list_problems, show, show_about, stance_of
from mdmem.cli.common import (
    Decorated,
    Globals,
    ShortHelp,
    at_option,
    filter_options,
    filters_from,
    format_option,
    global_options,
    open_workspace,
    print_result,
    print_text,
    repository_option,
    split_values,
)
from mdmem.cli.completion import complete_address, complete_file, complete_place, complete_wing
from mdmem.errors import LeftOutError, MdmemError, RootNotFoundError, UsageError
from mdmem.model.lineage import standing_marks
from mdmem.render.answers import Style, answers_json, answers_text, problems_text
from mdmem.render.context import pack_json, pack_markdown, pack_text
from mdmem.render.entries import (
    entry_list,
    excerpts_json,
    excerpts_text,
    hidden_text,
    search_text,
    shown_text,
    titles_by_room,
)
from mdmem.render.json import dump, entries_json, search_json
from mdmem.render.text import one_line
from mdmem.store.state.local_records import Sessions, briefed
from mdmem.store.workspace.addresses import from_root
from mdmem.store.workspace.scope import Filters, find_wing, not_there

if TYPE_CHECKING:
    from mdmem.ask.answer import SearchResult
    from mdmem.store.workspace.workspace import Workspace


class CallerSession(Struct):
    """The session of the options `--session` and `--fresh`, which remembers the shown entries.

    Without a name, nothing is recorded.
    """

    name: str | None
    is_fresh: bool
    sessions: Sessions | None = None

    def shown(self, workspace: Workspace) -> Mapping[str, str]:
        """Return the notes on the entries that the session has already seen, by address."""
        if self.name is None:
            return {}
        self.sessions = Sessions(workspace.state_folder)
        if self.is_fresh:
            self.sessions.forget(self.name)
        return self.sessions.given(self.name, datetime.now(UTC))

    def record(self, get_shown: Callable[[], Mapping[str, str]]) -> None:
        """Record the entries that an answer shows; call this after the answer was printed."""
        if self.name is not None and self.sessions is not None:
            self.sessions.give(self.name, get_shown(), datetime.now(UTC))


def session_options(command: Decorated) -> Decorated:
    """Add `--session` and `--fresh`."""
    fresh = click.option("--fresh", is_flag=True, help="Forget what the session has seen.")
    about = "Show what session ID has seen only as one line."
    return click.option("--session", metavar="ID", help=about)(fresh(command))


def syntax_option(command: Decorated) -> Decorated:
    """Add `--query-syntax`."""
    about = 'Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
    return click.option("--query-syntax", "syntax", is_flag=True, help=about)(command)


@click.command("retrieve", cls=ShortHelp, everyday=("paths", "asked", "wings", "rooms", "budget", "session", "fresh"))
@click.argument("words", nargs=-1)
@click.option(
    "--path",
    "-p",
    "paths",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_file,
    help="A file that you work on, or will make; repeatable.",
)
@click.option("--ask", "asked", multiple=True, metavar="QUESTION", help="Also answer this briefly; repeatable.")
@click.option(
    "--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size of the answer; a token is 4 bytes."
)
@syntax_option
@session_options
@filter_options
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def retrieve_command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Show the rules and notes that apply to WORDS and to files, and answer questions.

    Rules that always apply come first, then decisions, patterns and notes. For excerpts of entries that you know:
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
        main = work if work.words or paths or not questions else None
        # The path of a repository may contain line breaks.
        if remark := remark_on(workspace, paths):
            given.remark(one_line(remark))
        main = with_code_paths(workspace, main, paths) if main is not None and paths else main
        answers = retrieve(workspace, main, questions, budget=budget, shown=session.shown(workspace))
    except (RootNotFoundError, LeftOutError) as error:
        if given.root and isinstance(error, RootNotFoundError):
            raise
        everything = Question(words=" ".join(filter(None, (work.words, *asked))), filters=filters)
        answers = Answers(
            retrieve_without_root(Path.cwd(), everything, why=str(error), budget=budget, scope=scope_after(error)), ()
        )
    if form == "json":
        print_text(dump(answers_json(answers)))
    else:
        print_text(answers_text(answers, _style(given, form)))
    session.record(lambda: answers.shown)
    return 0


def _style(given: Globals, form: str) -> Style:
    return Style(is_markdown=form == "markdown", ink=given.ink())


@click.command("brief")
@click.argument("paths", nargs=-1, metavar="PATH…", shell_complete=complete_file)
@click.option("--path", "-p", "more", multiple=True, metavar="PATH", shell_complete=complete_file, help="As PATH.")
@click.option("--session", metavar="ID", help="Show each rule once in session ID, unless it changed.")
@click.option("--fresh", is_flag=True, help="Forget what the session has seen, as after a context was compacted.")
@global_options
def brief_command(
    given: Globals, paths: tuple[str, ...], more: tuple[str, ...], session: str | None, *, fresh: bool
) -> int:
    """Print the current rules whose `applies_to` matches a PATH, in at most 1,200 characters; else nothing.

    Invariants come first, then decisions, a line each. For rules that apply everywhere: `mdmem retrieve`.
    """
    paths = (*paths, *more)
    if not paths:
        raise click.MissingParameter(param_hint="'PATH…'", param_type="argument")
    workspace = open_workspace(given, files=paths)
    now, name = datetime.now(UTC), briefed(session) if session is not None else None
    sessions = Sessions(workspace.state_folder)
    before = sessions.given(name, now) if name is not None and not fresh else {}
    always = None
    try:
        answer = brief(workspace, paths, given=before)
        # A session has seen these rules at its start.
        always = always_note(workspace, paths) if session is None else None
    except RootNotFoundError:
        raise
    except (MdmemError, OSError) as error:
        answer = unreadable(str(error), before)
    print_text(answer.text)
    if remark := remark_on(workspace, paths):
        given.remark(one_line(remark))
    none = "" if answer.text else "no current rule has an `applies_to` that matches; "
    if always is not None:
        given.remark(f"{none}{always}")
    # If no rule applies, only a person needs a remark, not a program.
    elif none and session is None and sys.stdout.isatty():
        given.remark(f"{none}`mdmem retrieve --path {paths[0]}` searches further")
    if name is not None:
        if fresh:
            sessions.forget(name)
        sessions.give(name, answer.gave, now)
    return 0


@click.command("search", cls=ShortHelp, everyday=("limit", "wings", "rooms", "types", "all_wings"))
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Results at most.")
@syntax_option
@filter_options
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def search_command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
    """Find entries with any of WORDS, the best first. A superseded entry leads to the current one."""
    revision, syntax = options.pop("revision"), options.pop("syntax")
    filters = filters_from(options)
    workspace = open_workspace(given, revision=revision)
    question = Question(words=" ".join(words).strip(), filters=filters, syntax=syntax)
    result = search(workspace, question)
    snippet_of = snippets(workspace, result)
    if form == "json":
        print_text(dump(search_json(result, limit=limit, snippet_of=snippet_of)))
    else:
        print_text(search_text(result, _style(given, form), limit=limit, snippet_of=snippet_of))
    if result.drafts:
        shown = "1 draft matches, shown by" if result.drafts == 1 else f"{result.drafts} drafts match, shown by"
        given.remark(f"{'' if result.hits else 'nothing else found: '}{shown} --include-drafts")
    elif not result.hits:
        given.remark(f"nothing found: {_why_nothing(result, syntax=syntax)}")
    return 0 if result.hits else 1


def _why_nothing(result: SearchResult, *, syntax: bool) -> str:
    if result.basis.ended:
        return "the best match is not current; --include-deprecated shows it"
    if syntax:
        return "no entry matches this query"
    if not result.terms:
        return "the question has no word to search for, only stop words or signs"
    if unmatched := result.basis.unmatched_terms:
        return f"no entry has {', '.join(unmatched)}"
    return "the filters leave out everything that matches"


@click.command("context")
@click.argument("goal", nargs=-1, required=True)
@click.option(
    "--intent",
    type=click.Choice([one.value for one in Intent]),
    default="build",
    show_default=True,
    help="The kind of work.",
)
@click.option(
    "--layer",
    type=click.Choice([one.value for one in Layer]),
    default="recall",
    show_default=True,
    help="How deep to search: wake for the start of a session, deep_search for research.",
)
@click.option("--domain", metavar="DOMAIN", help="Only this tag, topic, label, room or focus.")
@click.option("--project", "-p", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--agent", "agent_id", metavar="NAME", help="Include the diary of this agent.")
@click.option("--limit", "-n", type=int, default=24, show_default=True, help="Items at most, 1 to 50.")
@click.option("--no-related", is_flag=True, help="Omit the entries that the items link to.")
@at_option
@format_option("text", "json", "markdown")
@global_options
def context_command(given: Globals, goal: tuple[str, ...], revision: str | None, form: str, **options: object) -> int:
    """Collect what matters for GOAL in groups: constraints, decisions, active work, gotchas, procedures, and more.

    The project's invariants are always part of the answer, whatever the limit.
    """
    stated = {"goal": " ".join(goal), "include_related": not options.pop("no_related"), **options}
    request = read_request(ContextRequest, stated)
    try:
        pack = compile_context(open_workspace(given, revision=revision), request)
    except (RootNotFoundError, LeftOutError) as error:
        if given.root and isinstance(error, RootNotFoundError):
            raise
        pack = context_without_root(Path.cwd(), request, why=str(error), scope=scope_after(error))
    given.remark(*pack["remarks"])
    text = pack_markdown(pack) if form == "markdown" else pack_text(pack, _style(given, form))
    print_result(form, pack_json(pack), text)
    return 0


@click.command("show", cls=ShortHelp, everyday=("about", "wing", "session"))
@click.argument("addresses", nargs=-1, required=True, metavar="ADDRESS...", shell_complete=complete_address)
@click.option(
    "--about",
    multiple=True,
    metavar="WORDS",
    help="Show only the passages most relevant to WORDS. Repeat once per ADDRESS, in order.",
)
@click.option(
    "--wing",
    "-w",
    multiple=True,
    metavar="WING",
    shell_complete=complete_wing,
    help="The wing that a short ADDRESS means, if several have it.",
)
@session_options
@repository_option
@at_option
@format_option("text", "json", "markdown")
@global_options
def show_command(
    given: Globals, addresses: tuple[str, ...], about: tuple[str, ...], form: str, revision: str | None, **options: Any
) -> int:
    """Show entries in full, or their passages about some words.

    An address may be short if it is unambiguous, or the path of a file. `wing/` and `wing/room/` mean their entries.
    """
    session, workspace = CallerSession(options["session"], options["fresh"]), open_workspace(given, revision=revision)
    wings = split_values(options["wing"])
    if about:
        found = show_about(workspace, addresses, about, wings=wings, shown=session.shown(workspace))
        print_result(form, excerpts_json(found), excerpts_text(found, _style(given, form)))
        session.record(lambda: {one.entry.address: one.note for one in found})
        return 0
    session.shown(workspace)
    shown = show(workspace, addresses, wings)
    print_result(form, entries_json(shown), shown_text(shown, _style(given, form)))
    session.record(lambda: digests_of(workspace, shown))
    return 0


@click.command("list", cls=ShortHelp, everyday=("wings", "rooms", "types", "statuses", "all_wings"))
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
    """List the current entries by address, of a wing or a room if one is given; filters show others, too."""
    if only_titles and form != "text":
        raise UsageError(f"`--titles` prints text; leave out `--format {form}`, whose answer has the titles")
    workspace = open_workspace(given, revision=options.pop("revision"))
    filters = filters_from(options)
    if place is not None:
        filters = _within(workspace, place, filters)
    found = list_entries(workspace, filters)
    if form == "json":
        print_text(dump(entries_json(in_full(workspace, found))))
    elif only_titles and found:
        print_text(titles_by_room(found, _style(given, form)))
    elif found:
        marks = {entry.address: " ".join(standing_marks(stance_of(workspace, entry))) for entry in found}
        print_text(entry_list(found, _style(given, form), marks))
    problems = list_problems(workspace, filters)
    alone = [f"{one.place.path}: {one.message} ({one.code})" for one in problems if len(problems) == 1]
    given.remark(*(alone or problems_text(AnswerBasis(problems=problems))))
    hidden = [*hidden_text(count_hidden(workspace, filters, found))]
    if not found:
        nothing = "no entry passes these filters" if filters != Filters() else "no entry is current"
        given.remark("; ".join([nothing, *hidden]))
    elif form != "json" and hidden:
        given.remark(f"and {'; '.join(hidden)}")
    return 0 if found else 1


def _within(workspace: Workspace, place: str, filters: Filters) -> Filters:
    """Return the filters with a place added: a wing, a room, or a room of a wing; raises UsageError for others."""
    wings = workspace.catalog.wings
    first, *rest = from_root(workspace, place).split("/")
    if len(rest) > 1:
        raise UsageError(
            f"`{place}` is neither a wing nor a room; `{workspace.location.command(f'show {place}')}` shows an entry"
        )
    if rest or find_wing(first, wings) is not None:
        return replace(filters, wings=(first, *filters.wings), rooms=(*rest, *filters.rooms))
    rooms = {address.split("/")[1] for address in workspace.catalog.addresses}
    if first not in rooms:
        absent = not_there("wing and no room", place, {*wings, *rooms})
        joint = "" if absent.endswith("?") else ";"
        raise UsageError(f"{absent}{joint} `{workspace.location.command('search')}` searches for words")
    return replace(filters, rooms=(first, *filters.rooms))
