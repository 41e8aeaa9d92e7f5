"""`mdmem retrieve`: the main job."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Globals, at_option, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_code_path
from mdmem.cli.filters import filter_options, filters_from

if TYPE_CHECKING:
    from mdmem.retrieval.pack import Given, Pack, Printed
    from mdmem.retrieval.question import Question
    from mdmem.state.sessions import Sessions
    from mdmem.workspace.workspace import Workspace


_LIKE = 0.75


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
@click.option("--session", metavar="ID", help="Give an entry whole once to all questions of one ID.")
@click.option("--fresh", is_flag=True, help="Forget what the session was given.")
@filter_options
@at_option
@format_option("text", "json", "markdown")
@global_options
def command(
    given: Globals, words: tuple[str, ...], paths: tuple[str, ...], budget: int | None, form: str, **options: Any
) -> int:
    """Answer what is binding here, now, for WORDS or the code at hand.

    Scope comes first, then authority (invariant, decision, pattern, note), then likeness. Invariants of the scope are
    always part of the answer. Without words and paths everything in force is. Several paths are one question.
    """
    from mdmem.errors import RootNotFoundError
    from mdmem.retrieval.question import Question

    revision, syntax = options.pop("revision"), options.pop("syntax")
    session = _Session(options.pop("session"), is_fresh=options.pop("fresh"))
    question = Question(words=" ".join(words).strip(), filters=filters_from(options), syntax=syntax)
    try:
        workspace = open_workspace(given, revision=revision)
    except RootNotFoundError as error:
        if given.root:
            raise
        from mdmem.retrieval.fallback import retrieve_without_root

        pack = retrieve_without_root(Path.cwd(), question, why=str(error), budget=budget)
    else:
        pack = _retrieve(workspace, given, question, paths, budget=budget, form=form, session=session)
    print_text(_rendered(pack, form, given))
    # An answer that could not be printed was not given.
    session.note(pack)
    return 0


@dataclass(slots=True)
class _Session:
    """The questions that one caller asks under one name; without a name nothing is kept."""

    name: str | None
    is_fresh: bool
    kept: Sessions | None = None

    def ask(self, workspace: Workspace, answer: Callable[[Given], Pack]) -> Pack:
        """Return an answer to one who was given something before."""
        if self.name is None:
            return answer({})
        from mdmem.state.sessions import Sessions

        self.kept = Sessions(workspace.state_folder)
        return answer({} if self.is_fresh else self.kept.given(self.name, datetime.now(UTC)))

    def note(self, pack: Pack) -> None:
        """Note what an answer gave."""
        if self.name is not None and self.kept is not None:
            self.kept.give(self.name, pack.gave, datetime.now(UTC))


def _retrieve(
    workspace: Workspace,
    given: Globals,
    question: Question,
    paths: tuple[str, ...],
    *,
    budget: int | None,
    form: str,
    session: _Session,
) -> Pack:
    from mdmem.retrieval.retrieve import retrieve, with_code_paths
    from mdmem.workspace.remote_wings import aged_wings

    for remark in (*aged_wings(workspace), *_misspelt(workspace, paths)):
        given.remark(remark)
    asked, printed = with_code_paths(workspace, question, paths), _printed(form)
    return session.ask(
        workspace, lambda before: retrieve(workspace, asked, budget=budget, printed=printed, given=before)
    )


def _misspelt(workspace: Workspace, paths: tuple[str, ...]) -> list[str]:
    """Return, for the first path that is no file, what there is of a like name beside it; a file may be yet to come."""
    for path in paths:
        here = workspace.cwd / path
        top = workspace.location.base / path
        if here.exists() or top.exists():
            continue
        place = here if here.parent.is_dir() else top
        with suppress(OSError, ValueError):
            near = get_close_matches(place.name, [one.name for one in place.parent.iterdir()], n=1, cutoff=_LIKE)
            if near:
                return [f"there is no `{path}`; did you mean `{Path(path).with_name(near[0])}`?"]
    return []


def _printed(form: str) -> Printed:
    """Return what the parts of an answer take in the form that is printed."""
    if form == "json":
        from mdmem.render.json import PrintedJson

        return PrintedJson()
    from mdmem.render.retrieval import markdown_size, text_size

    return markdown_size if form == "markdown" else text_size


def _rendered(pack: Pack, form: str, given: Globals) -> str:
    if form == "json":
        from mdmem.render.json import dump, pack_json

        return dump(pack_json(pack))
    from mdmem.render.retrieval import pack_markdown, pack_text

    return pack_markdown(pack) if form == "markdown" else pack_text(pack, ink=given.ink())
