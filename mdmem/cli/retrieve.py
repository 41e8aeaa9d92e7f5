"""`mdmem retrieve`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import (
    Globals,
    at_option,
    filter_options,
    filters_from,
    format_option,
    global_options,
    open_workspace,
    print_text,
)
from mdmem.cli.completion import complete_code_path

if TYPE_CHECKING:
    from mdmem.retrieval.budget import Pack


@click.command("retrieve")
@click.argument("words", nargs=-1)
@click.option(
    "--path",
    "-p",
    "paths",
    multiple=True,
    metavar="CODEPATH",
    shell_complete=complete_code_path,
    help="Code at hand, matched with applies_to.",
)
@click.option(
    "--budget", "-b", type=click.IntRange(min=0), metavar="TOKENS", help="Size of the answer; a token is 4 bytes."
)
@click.option(
    "--query-syntax", "syntax", is_flag=True, help='Read WORDS as a query: AND, OR, NOT, "a phrase", field:word.'
)
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Answer what is binding here, now, for WORDS or the code at hand.

    Scope comes first, then authority (invariant, decision, pattern, note), then likeness. Invariants of the scope are
    always part of the answer. Without words and paths everything in force is.
    """
    pack = _retrieve(given, " ".join(words).strip(), paths, budget, options)
    print_text(_rendered(pack, form, given))
    return 0


def _retrieve(given: Globals, words: str, paths: tuple[str, ...], budget: int | None, options: dict[str, Any]) -> Pack:
    from mdmem.errors import RootNotFoundError
    from mdmem.retrieval.question import Question
    from mdmem.retrieval.retrieve import retrieve, with_code_paths
    from mdmem.workspace.remote_wings import aged_wings

    revision, syntax = options.pop("revision"), options.pop("syntax")
    question = Question(words=words, filters=filters_from(options), syntax=syntax)
    try:
        workspace = open_workspace(given, revision=revision)
    except RootNotFoundError as error:
        if given.root:
            raise
        from mdmem.retrieval.fallback import retrieve_without_root

        return retrieve_without_root(Path.cwd(), question, why=str(error), budget=budget)
    for remark in aged_wings(workspace):
        given.remark(remark)
    return retrieve(workspace, with_code_paths(workspace, question, paths), budget=budget)


def _rendered(pack: Pack, form: str, given: Globals) -> str:
    if form == "json":
        from mdmem.render.json import dump, pack_json

        return dump(pack_json(pack))
    from mdmem.render.retrieval import pack_markdown, pack_text

    return pack_markdown(pack) if form == "markdown" else pack_text(pack, ink=given.ink())
