"""Define the commands that write entries: new, supersede, approve, doubt, verify, deprecate, mv and edit."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from typing import Any

import click

from mdmem.cli import completion as complete
from mdmem.cli.common import App, ShortHelp, applies_to_option, new_wing_options, print_text, today, write_options
from mdmem.cli.editor import edited, piped_text
from mdmem.errors import EnvironmentFaultError, LostRaceError, UsageError
from mdmem.model.entry import Entry, EntryType, Status, WingKind
from mdmem.model.fields import with_hints, without_hints
from mdmem.model.text import first_of
from mdmem.record import record_json
from mdmem.render.text import dump
from mdmem.render.writes import written_json
from mdmem.store.workspace.addresses import from_here, from_root, resolve_name
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet
from mdmem.write.create import Draft, new_text, place_of, plan_new, plan_supersession
from mdmem.write.lifecycle import (
    open_entry,
    plan_applies_to,
    plan_approvals,
    plan_deprecation,
    plan_review,
    plan_verification,
    save_edit,
    with_own_approval,
)
from mdmem.write.move import plan_named_moves
from mdmem.write.similar import SimilarEntry, find_near, find_on_subject
from mdmem.write.write import Plan, WriteOptions, WriteResult, write

_TYPES = [one.value for one in EntryType]
# The number of proposed entries that a remark lists.
_LISTED = 5
_TEMPLATE_LEFT = "no text was given: the entry has the template, to be filled in"


def _write_and_print(app: App, plan: Plan, mode: WriteOptions) -> None:
    workspace = app.open()
    app.print_written(workspace, write(workspace, plan, mode))


def _remark_on_proposed(app: App, written: WriteResult) -> None:
    """Print which of the approved and first written entries do not count yet, for lack of the default branch."""
    if not written.changes or written.is_dry or app.form == "json":
        return
    catalog = view_of(app.open()).checkout.catalog
    addresses = dict.fromkeys((*written.approved, written.changes[0].to.removesuffix(".md")))
    if waiting := [one for one in addresses if (state := catalog.branch_state(one)) and state.standing.is_proposal]:
        app.remark(f"takes effect when committed to the default branch: {first_of(waiting, _LISTED)}")


_AMENDS = "An entry that the new one changes in part, and that stays current; repeatable."
_STATUS = click.Choice(["draft", "active", "under_review"])


@click.command("new", cls=ShortHelp, everyday=("body", "applies_to", "amends", "status"), page="writing")
@click.argument("entry_type", metavar="TYPE", type=click.Choice(_TYPES))
@click.argument("place", metavar="[WING/ROOM[/ID]]", required=False, shell_complete=complete.place)
@click.argument("heading", metavar="[TITLE]", required=False)
@click.option("--title", "-t", help="The title, as TITLE; without an ID the entry-id is made from the title.")
@click.option("--status", "-s", type=_STATUS, help="[default: draft; of a note, active]")
@click.option("--body", "-b", help="The text; `-` reads standard input.  [default: standard input, or the editor]")
@applies_to_option
@click.option("--amends", multiple=True, metavar="ADDRESS", shell_complete=complete.address, help=_AMENDS)
@new_wing_options
@write_options
def new_command(app: App, wing: WingKind | None, mode: WriteOptions, **options: Any) -> None:
    """Write a new entry; an existing one is never overwritten.

    TYPE is invariant, decision, pattern or note. Without a place the entry goes to the default wing and the room of its
    type; a wing alone is enough. On a terminal without --body, git's editor opens with the template.
    """
    workspace, piped = app.open(), piped_text(options["body"])
    draft = _draft(workspace, options, piped, wing)
    address, text = new_text(workspace, draft, today=today())
    near: tuple[SimilarEntry, ...] = ()
    on_subject: tuple[Entry, ...] = ()

    def write_typed(typed: str) -> WriteResult:
        nonlocal near, on_subject
        left = with_own_approval(workspace, address, without_hints(typed), wing)
        near = find_near(workspace, address, left) if draft.body.strip() or without_hints(typed) != text else ()
        on_subject = find_on_subject(workspace, address, left, near)
        return write(workspace, lambda one: plan_new(one, draft, address, left), mode)

    # A dry run does not open the editor, since it would discard the typed text.
    is_typed = piped is None and not mode.is_dry
    written = edited(workspace, address, with_hints(text), write_typed) if is_typed else write_typed(text)
    if app.form == "json":
        names = ("entry.address", "entry.type", "entry.status", "entry.title")
        # The share of common words, from 0 to 1.
        alike = [{**record_json(one, *names), "similarity": round(one.similarity, 2)} for one in near]
        more = {"on_subject": [one.address for one in on_subject]} if on_subject else {}
        print_text(dump({**written_json(written), "near": alike, **more}))
    else:
        path = from_here(workspace)(written.changes[-1].to)
        print_text(app.text_of_written(workspace, written) if written.is_dry else path)
        similar = [f"{one.entry.address} ({one.entry.type}, {one.similarity:.0%})" for one in near]
        others = [f"{one.address} ({one.type})" for one in on_subject]
        for heading, listed in (("similar entries", similar), ("on this subject", others)):
            if listed:
                show = f"`mdmem show {shlex.quote(listed[0].split(' ')[0])}` shows it"
                app.remark(f"{heading}: {', '.join(listed)}; {show}")
        app.remark(*written.remarks, *([f"committed as {written.commit[:10]}"] if written.commit else []))
    if piped is not None and not piped.strip():
        app.remark(_TEMPLATE_LEFT)
    if not mode.is_dry:
        after = f", `mdmem approve {shlex.quote(address)}` makes it active" if draft.status is Status.DRAFT else ""
        app.remark(f"{address} is written ({draft.type}, {draft.status}); `mdmem check` checks it{after}")
        if options["status"] == "active":
            _remark_on_proposed(app, written)


def _draft(workspace: Workspace, options: dict[str, Any], piped: str | None, wing: WingKind | None) -> Draft:
    typed, heading, stated = options["place"], options["heading"], options["title"]
    if heading is not None and stated is not None:
        raise click.UsageError("a title is given twice; leave out TITLE or --title")
    title = stated if stated is not None else heading
    if typed is not None and title is None:
        # One argument is a place, such as `wing/room`, or a title. Windows writes paths with backslashes.
        first, slash, _ = typed.replace("\\", "/").partition("/")
        is_place = first in workspace.catalog.wings or (slash == "/" and not typed.split()[1:])
        typed, title = (typed, None) if is_place else (None, typed)
    type_ = EntryType(options["entry_type"])
    # The empty template of a note is not knowledge yet.
    has_text = piped is None or bool(piped.strip())
    status = Status.ACTIVE if type_ is EntryType.NOTE and has_text else Status.DRAFT
    amended = [resolve_name(workspace, one) for one in options["amends"]]
    return Draft(
        type=type_,
        place=place_of(workspace, type_, typed if typed is None else from_root(workspace, typed)),
        title=(title or "").strip(),
        status=Status(options["status"] or status),
        body=piped or "",
        applies_to=options["applies_to"],
        fields={"amends": amended} if amended else {},
        new_wing=wing,
    )


@click.command("supersede")
@click.argument("names", metavar="OLD", nargs=-1, required=True, shell_complete=complete.address)
@click.option("--reason", "-m", default="", metavar="TEXT", help="Why OLD is replaced.  [default: that of --by]")
@click.option("--by", metavar="ADDRESS", shell_complete=complete.address, help="An existing entry that replaces OLD.")
@click.option("--title", "-t", help="The title of a new entry that replaces OLD.")
@click.option("--place", "-p", metavar="WING/ROOM[/ID]", shell_complete=complete.place, help="[default: OLD's room]")
@click.option("--type", "entry_type", type=click.Choice(_TYPES), help="The type.  [default: that of OLD]")
@click.option("--status", "-s", type=click.Choice(["draft", "active"]), help="The status.  [default: draft]")
@click.option("--body", "-b", help="The text; `-` reads standard input.  [default: standard input, or the editor]")
@applies_to_option
@new_wing_options
@write_options
def supersede_command(
    app: App,
    names: tuple[str, ...],
    reason: str,
    by: str | None,
    wing: WingKind | None,
    mode: WriteOptions,
    **options: Any,
) -> None:
    """Replace OLD by another entry: an existing one (--by), or a new one (--title).

    While the newer one is a draft, OLD stays current: `mdmem approve` then deprecates it.
    """
    address, *others = names
    if by is None and options["title"] is None and options["place"] is None:
        raise click.UsageError("say what takes its place: --by ADDRESS, or --title TEXT for a new entry")
    if others:
        raise click.UsageError(f"OLD is one entry; leave out {' '.join(others)}")
    if by is not None:
        if wing is not None or any(value not in (None, ()) for value in options.values()):
            raise click.UsageError("--by takes an existing entry; leave out the options of a new one, such as --title")
        return _write_and_print(app, lambda one: plan_supersession(one, address, by=by, reason=reason), mode)
    workspace, title, place = app.open(), options["title"], options["place"]
    piped = piped_text(options["body"])
    old = workspace.catalog.entries[resolve_name(workspace, address)]
    draft = Draft(
        title=(title or "").strip(),
        place=from_root(workspace, place) if place else f"{old.wing}/{old.room}",
        type=EntryType(options["entry_type"]) if options["entry_type"] else old.type,
        status=Status(options["status"] or "draft"),
        body=piped or "",
        applies_to=options["applies_to"],
        old=address,
        reason=reason,
        new_wing=wing,
    )
    new, start = new_text(workspace, draft, today=workspace.today)

    def write_new(left: str) -> WriteResult:
        text = with_own_approval(workspace, new, left, wing)
        return write(workspace, lambda one: plan_new(one, draft, new, text), mode)

    written = edited(workspace, new, start, write_new) if piped is None and not mode.is_dry else write_new(start)
    if piped is not None and not piped.strip():
        app.remark(_TEMPLATE_LEFT)
    app.print_written(workspace, written)
    if options["status"] == "active":
        _remark_on_proposed(app, written)
    return None


@click.command("approve")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, shell_complete=complete.address)
@click.option("--active", is_flag=True, help="Approve active rules that nobody approved, such as imported ones.")
@click.option("--merged", is_flag=True, help="Approve agents' decisions that were merged without approval.")
@click.option("--by", metavar='"NAME <EMAIL>"', help="Who approves the entries.  [default: git's user]")
@write_options
def approve_command(
    app: App, addresses: tuple[str, ...], by: str | None, mode: WriteOptions, *, active: bool, merged: bool
) -> None:
    """Make drafts active, all of them or none, and deprecate the entries that they supersede.

    Each entry gets the name of its approver. `wing/room/` and `wing/` mean the drafts in a room and in a wing. With
    --active or --merged, they mean the entries there that are active, or were merged, without approval; without
    ADDRESS, those of the whole memory.
    """
    if not (addresses or merged or active):
        raise click.UsageError("name a draft, or use --active or --merged")
    if merged and active:
        raise click.UsageError("--active and --merged select different entries; use one of them")
    workspace = app.open()
    written = write(workspace, lambda one: plan_approvals(one, addresses, by=by, merged=merged, active=active), mode)
    app.print_written(workspace, written)
    _remark_on_proposed(app, written)


@click.command("doubt")
@click.argument("address", shell_complete=complete.address)
@click.option("--reason", "-m", metavar="TEXT", help="The doubt, which the entry shows during the review.")
@click.option("--done", is_flag=True, help="End the review: the entry is right.")
@write_options
def doubt_command(app: App, address: str, reason: str | None, mode: WriteOptions, *, done: bool) -> None:
    """Put an entry under review. It still applies, marked as uncertain, until you confirm or deprecate it."""
    if done == (reason is not None):
        raise click.UsageError("give --reason TEXT to begin a review, or --done to end one")

    def end_review(workspace: Workspace) -> ChangeSet:
        found = resolve_name(workspace, address)
        if (status := workspace.catalog.entries[found].status) is not Status.UNDER_REVIEW:
            raise UsageError(f"{found} has the status `{status}`, so there is no review to end")
        return plan_verification(workspace, [found])

    if reason is None:
        return _write_and_print(app, end_review, mode)
    return _write_and_print(app, lambda one: plan_review(one, address, reason=reason), mode)


@click.command("verify")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, required=True, shell_complete=complete.address)
@click.option("--at", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="The day.  [default: today]")
@write_options
def verify_command(app: App, addresses: tuple[str, ...], at: datetime | None, mode: WriteOptions) -> None:
    """Confirm that entries are still right, all or none. This ends their reviews.

    `wing/room/` and `wing/` mean the current entries in a room and in a wing.
    """
    day = at.date() if at is not None else None
    return _write_and_print(app, lambda one: plan_verification(one, addresses, at=day), mode)


@click.command("deprecate")
@click.argument("address", shell_complete=complete.address)
@click.option("--reason", "-m", required=True, metavar="TEXT", help="Why the entry is deprecated.")
@write_options
def deprecate_command(app: App, address: str, reason: str, mode: WriteOptions) -> None:
    """Deprecate an entry that nothing replaces. To replace it: `mdmem supersede`."""
    return _write_and_print(app, lambda one: plan_deprecation(one, address, reason=reason), mode)


@click.command("mv")
@click.argument("old", metavar="FROM", shell_complete=complete.address)
@click.argument("new", metavar="TO", shell_complete=complete.place)
@new_wing_options
@write_options
def mv_command(app: App, old: str, new: str, wing: WingKind | None, mode: WriteOptions) -> None:
    """Move an entry, a room (`wing/room/`) or a wing (`wing/`), and rewrite every link to it.

    TO is of the same kind as FROM, or for an entry a room with a slash at the end, which keeps the entry-id.
    """
    return _write_and_print(app, lambda one: plan_named_moves(one, {old: new}, wing=wing), mode)


@click.command("edit")
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, required=True, shell_complete=complete.address)
@click.option("--applies-to", "globs", metavar="GLOB", multiple=True, help="Set `applies_to`, without editor.")
@click.option("--editorial", is_flag=True, help="Record in `editorial_at` that the words change, but not the rule.")
@write_options
def edit_command(
    app: App, addresses: tuple[str, ...], globs: tuple[str, ...], mode: WriteOptions, *, editorial: bool
) -> None:
    """Change an entry in git's editor. The editor opens again until the text has no new error.

    --applies-to changes several entries at once; `wing/room/` means all entries of a room.
    """
    if globs:
        return _write_and_print(app, lambda one: plan_applies_to(one, addresses, globs), mode)
    workspace = app.open()
    if len(addresses) > 1:
        raise UsageError("the editor opens one entry; give one ADDRESS, or use --applies-to for several")
    address, before = open_entry(workspace, addresses[0])
    if not sys.stdin.isatty():
        also = f", set `editorial_at: {workspace.today}`" if editorial else ""
        help_ = f"change {workspace.location.root / address}.md with your own editor{also}, then run `mdmem check`"
        raise EnvironmentFaultError(f"`mdmem edit` opens an editor and needs a terminal; {help_}")

    def write_edit(left: str) -> WriteResult:
        content = left.encode("utf-8", "surrogateescape")
        return save_edit(workspace, address, before, content, is_editorial=editorial, options=mode)

    text = before.decode("utf-8", "surrogateescape")
    try:
        written = edited(workspace, address, text, write_edit, is_template=False)
    except LostRaceError as error:
        error.add_note(f"`mdmem edit {shlex.quote(address)}` opens the file as it is now")
        raise
    return app.print_written(workspace, written)
