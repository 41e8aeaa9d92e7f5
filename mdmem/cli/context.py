"""Define the commands that collect entries for agents: brief and context."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem.ask.answer import read_request
from mdmem.ask.brief import brief, unreadable_brief
from mdmem.ask.context import ContextRequest, compile_context, context_without_root
from mdmem.ask.facets import Intent, Layer
from mdmem.cli import completion as complete
from mdmem.cli.common import FILES, App, CallerSession, print_text, session_options, shared_options
from mdmem.errors import MdmemError, RootNotFoundError, SparseCheckoutError
from mdmem.render.context import pack_markdown
from mdmem.store.state.local_records import brief_session


@click.command("brief")
@click.argument("paths", nargs=-1, metavar="PATH…", shell_complete=complete.file)
@click.option("--path", "-p", "more", **FILES, help="As PATH.")
@session_options
@shared_options()
def brief_command(app: App, paths: tuple[str, ...], more: tuple[str, ...], session: CallerSession) -> None:
    """Print the current rules whose `applies_to` matches a PATH, in at most 1,200 characters; else nothing.

    Invariants come first, then decisions, a line each. For rules that apply everywhere: `mdmem retrieve`.
    """
    paths = (*paths, *more)
    if not paths:
        raise click.MissingParameter(param_hint="'PATH…'", param_type="argument")
    workspace = app.open(paths)
    # A session has two lists of entries: those of briefs, and those of answers.
    caller = CallerSession(None if session.name is None else brief_session(session.name), session.is_fresh)
    before = caller.shown(workspace)
    try:
        answer = brief(workspace, paths, reported=before)
    except RootNotFoundError:
        raise
    except (MdmemError, OSError) as error:
        answer = unreadable_brief(str(error), before)
    print_text(answer.text)
    # A session has seen these invariants at its start.
    if answer.always and session.name is None:
        none = "" if answer.text else "no current rule has an `applies_to` that matches; "
        app.remark(f"{none}invariants that always apply: {answer.always} (`mdmem retrieve --path FILE` shows them)")
    caller.record(lambda: answer.reported)


_INTENT, _LAYER = (click.Choice([*map(str, names)]) for names in (Intent, Layer))


@click.command("context")
@click.argument("goal", nargs=-1, required=True)
@click.option("--intent", type=_INTENT, default="build", show_default=True, help="The kind of work.")
@click.option("--layer", type=_LAYER, default="recall", show_default=True, help="How deep: wake, to start a session.")
@click.option("--domain", metavar="DOMAIN", help="Only this tag, topic, label, room or focus.")
@click.option("--project", "-p", "--wing", "-w", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--agent", "agent_id", metavar="NAME", help="Include the diary of this agent.")
@click.option("--limit", "-n", type=int, default=24, show_default=True, help="Items at most, 1 to 50.")
@click.option("--no-related", is_flag=True, help="Omit the entries that the items link to.")
@shared_options("text", "json", "markdown", at=True)
def context_command(app: App, goal: tuple[str, ...], **options: object) -> None:
    """Collect the entries for GOAL in groups, such as constraints, decisions and gotchas.

    The project's invariants are always part of the answer, whatever the limit.
    """
    values = {"goal": " ".join(goal), "include_related": not options.pop("no_related"), **options}
    request = read_request(ContextRequest, values)
    try:
        pack = compile_context(app.open(), request)
    except (RootNotFoundError, SparseCheckoutError) as error:
        if app.root and isinstance(error, RootNotFoundError):
            raise
        pack = context_without_root(Path.cwd(), request, error)
    text = pack_markdown(pack)
    app.print_result({**pack, "markdown": text}, text)
