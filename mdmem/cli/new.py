"""`mdmem new`: an entry from the template of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    open_workspace,
    print_text,
    today,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_place
from mdmem.cli.editor import edited, piped_text

if TYPE_CHECKING:
    from mdmem.authoring.create import Draft, SimilarEntry
    from mdmem.authoring.write import WriteOptions, WriteResult
    from mdmem.workspace.workspace import Workspace


@click.command("new")
@click.argument("entry_type", metavar="TYPE", type=click.Choice(["invariant", "decision", "pattern", "note"]))
@click.argument("place", metavar="WING/ROOM[/ID]", shell_complete=complete_place)
@click.option("--title", "-t", default="", help="The title; the entry-id is made from it where none is given.")
@click.option(
    "--status", "-s", default="draft", show_default=True, type=click.Choice(["draft", "active", "under_review"])
)
@click.option("--body", "-b", help="The text; `-` reads standard input. Without it: standard input, or your editor.")
@write_options
@global_options
def command(given: Globals, form: str, **options: Any) -> int:
    """Write a new entry; one that exists is never overwritten.

    Without --body on a terminal the template opens in your editor, as git chooses it.
    Entries that say nearly the same are named.
    """
    wanted, workspace = write_options_from(options), open_workspace(given)
    piped = piped_text(options["body"])
    draft = _draft(workspace, options, piped or "")
    address, written, near = _written(workspace, draft, wanted, is_typed=piped is None)
    _print(given, workspace, written, near, form)
    if piped is not None and not piped.strip():
        given.remark("no text was given: the template stands in it and waits to be filled in")
    if form != "json":
        _remark(given, written, near)
    if not wanted.is_dry:
        given.remark(f"{address} is written ({draft.type}, {draft.status}); `mdmem check` checks it")
    return 0


def _draft(workspace: Workspace, options: dict[str, Any], body: str) -> Draft:
    from mdmem.authoring.create import Draft
    from mdmem.entry.model import EntryType, Status
    from mdmem.workspace.addresses import from_root

    return Draft(
        type=EntryType(options["entry_type"]),
        place=from_root(workspace, options["place"]),
        title=options["title"].strip(),
        status=Status(options["status"]),
        body=body,
    )


def _written(
    workspace: Workspace, draft: Draft, wanted: WriteOptions, *, is_typed: bool
) -> tuple[str, WriteResult, tuple[SimilarEntry, ...]]:
    """Write the entry, as the editor leaves it where it is asked, and say what was near before."""
    from mdmem.authoring.create import address_of, compose, create_entry, find_near, refuse_taken
    from mdmem.entry.templates import with_hints, without_hints

    address = address_of(draft)
    refuse_taken(workspace, address)
    text = compose(draft, today=today())

    def write(said: str) -> tuple[WriteResult, tuple[SimilarEntry, ...]]:
        left = without_hints(said)
        near = find_near(workspace, address, left) if draft.body.strip() or left != text else ()
        return create_entry(workspace, address, left, options=wanted), near

    # Nobody types a text that a dry run would throw away.
    is_edited = is_typed and not wanted.is_dry
    written, near = edited(workspace, address, with_hints(text), write) if is_edited else write(text)
    return address, written, near


def _print(
    given: Globals, workspace: Workspace, written: WriteResult, near: tuple[SimilarEntry, ...], form: str
) -> None:
    from mdmem.render.writes import near_json, written_json, written_text

    if form == "json":
        print_text(written_json(written, near=[near_json(one.entry, one.similarity) for one in near]))
    elif written.is_dry:
        print_text(written_text(written, given.ink()))
    else:
        print_text(str(workspace.location.root / written.changes[0].to))


def _remark(given: Globals, written: WriteResult, near: tuple[SimilarEntry, ...]) -> None:
    from mdmem.authoring.create import near_remarks

    commit = (f"committed as {written.commit[:10]}",) if written.commit else ()
    for remark in (*near_remarks(near), *written.remarks, *commit):
        given.remark(remark)
