"""`mdmem context`: what matters for a goal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem.ask.context.answer import pack_markdown
from mdmem.ask.context.compile import compile_context, context_without_root
from mdmem.ask.context.request import read_request
from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.errors import RootNotFoundError
from mdmem.render.context import context_json, context_text

if TYPE_CHECKING:
    from mdmem.ask.context.pack import ContextPack
    from mdmem.ask.context.request import ContextRequest

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
def command(given: Globals, goal: tuple[str, ...], revision: str | None, form: str, **options: object) -> int:
    """Compile what matters for GOAL in facets: constraints, decisions, active work, gotchas, procedures, and more.

    Invariants of the project are always part of the answer, whatever the limit.
    """
    request = read_request(
        {"goal": " ".join(goal).strip(), "include_related": not options.pop("no_related"), **options}
    )
    pack = _compiled(given, request, revision)
    for remark in pack.remarks:
        given.remark(remark)
    print_text(_rendered(pack, form, given))
    return 0


def _compiled(given: Globals, request: ContextRequest, revision: str | None) -> ContextPack:
    try:
        workspace = open_workspace(given, revision=revision)
    except RootNotFoundError as error:
        if given.root:
            raise
        return context_without_root(Path.cwd(), request, why=str(error))
    return compile_context(workspace, request)


def _rendered(pack: ContextPack, form: str, given: Globals) -> str:
    if form == "markdown":
        return pack_markdown(pack)
    return context_json(pack) if form == "json" else context_text(pack, ink=given.ink())
