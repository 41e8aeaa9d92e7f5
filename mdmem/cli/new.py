"""`mdmem new`: an entry from the template of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from mdmem.cli.common import (
    Globals,
    applies_to_option,
    global_options,
    new_wing_from,
    new_wing_options,
    open_workspace,
    print_text,
    text_of_written,
    today,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_place
from mdmem.cli.editor import edited, piped_text
from mdmem.cli.proposal import is_proposed
from mdmem.cli.short_help import ShortHelp
from mdmem.model.entry import EntryType, Status
from mdmem.model.spelling import meant_value
from mdmem.model.templates import with_hints, without_hints
from mdmem.render.writes import near_json, written_json
from mdmem.store.workspace.addresses import from_here, from_root
from mdmem.write.approve import in_own_name
from mdmem.write.create import (
    Draft,
    address_of,
    compose,
    create_entry,
    find_near,
    find_on_subject,
    near_remarks,
    refuse_taken,
    subject_remarks,
)
from mdmem.write.place import is_place, place_of, require_wing

if TYPE_CHECKING:
    from mdmem.model.entry import Entry, WingKind
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.create import Draft, SimilarEntry
    from mdmem.write.write import WriteOptions, WriteResult


_TYPES = ("invariant", "decision", "pattern", "note")


class _TypeName(click.Choice[str]):
    """The name of a type; another format's word for one is told which it is."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        meant = meant_value(value, _TYPES)
        if value not in _TYPES and meant in _TYPES:
            self.fail(f"`{value}` is no type; write `{meant}` (of {', '.join(_TYPES)})", param, ctx)
        return super().convert(value, param, ctx)


@click.command("new", cls=ShortHelp, everyday=("body", "applies_to", "status"), page="writing")
@click.argument("entry_type", metavar="TYPE", type=_TypeName(_TYPES))
@click.argument("place", metavar="[WING/ROOM[/ID]]", required=False, shell_complete=complete_place)
@click.argument("heading", metavar="[TITLE]", required=False)
@click.option("--title", "-t", help="The title, as TITLE; the entry-id is made from it where none is given.")
@click.option(
    "--status", "-s", default="draft", show_default=True, type=click.Choice(["draft", "active", "under_review"])
)
@click.option("--body", "-b", help="The text; `-` reads standard input. Without it: standard input, or your editor.")
@applies_to_option
@new_wing_options
@write_options
@global_options
def command(given: Globals, form: str, **options: Any) -> int:
    """Write a new entry; one that exists is never overwritten.

    TYPE is invariant, decision, pattern or note. Without a place it goes to the default wing and the room of its type;
    a wing alone, or a room of the default wing, will do. Without --body on a terminal the template opens in your
    editor, as git chooses it.
    Entries that say nearly the same, or speak of the same subject, are named.
    """
    wanted, wing, workspace = write_options_from(options), new_wing_from(options), open_workspace(given)
    piped = piped_text(options["body"])
    draft = _draft(workspace, options, piped or "")
    written = _written(workspace, draft, wanted, is_typed=piped is None, wing=wing)
    _print(given, workspace, written, form)
    if piped is not None and not piped.strip():
        given.remark("no text was given: the template stands in it and waits to be filled in")
    if form != "json":
        _remark(given, written)
    if not wanted.is_dry:
        after = f", `mdmem approve {written.address}` puts it in force" if draft.status == "draft" else ""
        if draft.status == "active" and is_proposed(given, written.address):
            after = "; it is only proposed until a commit of the default branch has it"
        given.remark(f"{written.address} is written ({draft.type}, {draft.status}); `mdmem check` checks it{after}")
    return 0


def _draft(workspace: Workspace, options: dict[str, Any], body: str) -> Draft:
    typed, heading, stated = options["place"], options["heading"], options["title"]
    if heading is not None and stated is not None:
        raise click.UsageError("a title is given twice; leave out TITLE or --title")
    title = stated if stated is not None else heading
    if typed is not None and title is None and not is_place(workspace, typed):
        typed, title = None, typed
    type_ = EntryType(options["entry_type"])
    return Draft(
        type=type_,
        place=place_of(workspace, type_, typed if typed is None else from_root(workspace, typed)),
        title=(title or "").strip(),
        status=Status(options["status"]),
        body=body,
        applies_to=options["applies_to"],
    )


class _Written(Struct, frozen=True):
    """A new entry, and what was there before: what says nearly the same, and what else speaks of its subject."""

    address: str
    result: WriteResult
    near: tuple[SimilarEntry, ...]
    on_subject: tuple[Entry, ...]


def _written(
    workspace: Workspace, draft: Draft, wanted: WriteOptions, *, is_typed: bool, wing: WingKind | None
) -> _Written:
    """Write the entry, as the editor leaves it where it is asked, and say what was near before."""
    address = address_of(draft)
    require_wing(workspace, address, wing)
    refuse_taken(workspace, address)
    text = compose(draft, today=today())

    def write(said: str) -> _Written:
        left = in_own_name(workspace, address, without_hints(said))
        near = find_near(workspace, address, left) if draft.body.strip() or without_hints(said) != text else ()
        on_subject = find_on_subject(workspace, address, left, near)
        return _Written(address, create_entry(workspace, address, left, wanted, wing=wing), near, on_subject)

    # Nobody types a text that a dry run would throw away.
    is_edited = is_typed and not wanted.is_dry
    return edited(workspace, address, with_hints(text), write) if is_edited else write(text)


def _print(given: Globals, workspace: Workspace, written: _Written, form: str) -> None:
    if form == "json":
        near = [near_json(one.entry, one.similarity) for one in written.near]
        on_subject = [one.address for one in written.on_subject]
        print_text(written_json(written.result, near=near, **({"on_subject": on_subject} if on_subject else {})))
    elif written.result.is_dry:
        print_text(text_of_written(given, workspace, written.result))
    else:
        print_text(from_here(workspace)(written.result.changes[-1].to))


def _remark(given: Globals, written: _Written) -> None:
    commit = (f"committed as {written.result.commit[:10]}",) if written.result.commit else ()
    for remark in (*near_remarks(written.near), *subject_remarks(written.on_subject), *written.result.remarks, *commit):
        given.remark(remark)
