"""Define the commands for agents: save and token."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import IO, Any

import click
from msgspec.structs import replace

from mdmem.cli import completion as complete
from mdmem.cli.common import App, is_confirmed, print_text, shared_options, split_values
from mdmem.model.access import Access
from mdmem.model.text import visible
from mdmem.render import upkeep as rendered
from mdmem.render.text import dump
from mdmem.render.upkeep import ID_LENGTH
from mdmem.store.state.tokens import BearerTokens, new_bearer
from mdmem.store.workspace.visibility import wing_of
from mdmem.write.records import BatchSaveResult, SaveStatus
from mdmem.write.save import GlobalWritesForbiddenError, Saver, request_approval, waiting_saves

_KINDS = ("decision", "pattern", "context", "session", "entity")
_ALL = "all"


@click.command("save")
@click.argument("kind", metavar="[KIND]", required=False, type=click.Choice(_KINDS))
@click.option("--json", "source", type=click.File("rb"), metavar="FILE", help="The record as JSON; `-` reads stdin.")
@click.option("--project", "-p", "project_id", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--focus", metavar="FOCUS", help="The focus area within the project.")
@click.option("--token", "governance_token", metavar="TOKEN", help="The output of `mdmem token`, for a shared wing.")
@click.option("--agent", metavar="NAME", help="The name of the agent, written into the entry.")
@click.option("--distinct-from", multiple=True, metavar="ADDRESS", help="A similar decision that stays current.")
@click.option("--room", metavar="ROOM", help="The room.  [default: settings]")
@click.option("--waiting", is_flag=True, help="List the saves that failed, or that a similar entry stopped.")
@click.option("--retry", "retried", metavar="[ID]", is_flag=False, flag_value=_ALL, help="Try one save again, or all.")
@click.option("--drop", "dropped", metavar="ID", help="Drop one waiting save.")
@click.option("--yes", "is_sure", is_flag=True, help="With --drop: do not ask.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), help="The format of --waiting and --retry.")
@shared_options()
def save_command(
    app: App,
    kind: str | None,
    source: IO[bytes] | None,
    *,
    distinct_from: tuple[str, ...],
    waiting: bool,
    retried: str | None,
    dropped: str | None,
    is_sure: bool,
    form: str | None,
    **options: str | None,
) -> int:
    """Save a decision, pattern, context, session or entity from JSON, after a search for similar entries.

    The JSON is the record, or an object with the record under KIND and the other arguments next to it. The answer is
    JSON, too. A save that may succeed later is kept, and the next save tries it again; --waiting lists such saves.
    Exit code 1: a person must decide, or only a part is saved; 2: refused; 3: kept.
    """
    app = replace(app, form=form or "text")
    if kind is None or source is None:
        if not waiting and retried is None and dropped is None:
            raise click.UsageError("give a KIND and its record with --json FILE; or --waiting, --retry or --drop")
        # The list changes nothing, whatever else is given.
        return _manage_waiting(app, None if waiting else retried, None if waiting else dropped, is_sure=is_sure)
    try:
        record = json.loads(source.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{source.name} is not JSON: {error}") from error
    stated: dict[str, Any] = record if isinstance(record, dict) and kind in record else {kind: record}
    arguments = stated | {name: value for name, value in options.items() if value is not None}
    if distinct_from:
        record = arguments[kind]
        if kind != "decision" or not isinstance(record, dict):
            raise click.UsageError("--distinct-from is for a decision")
        arguments[kind] = {**record, "distinct_from": list(distinct_from)}
    # A session may have the decisions and patterns that it produced.
    has_learnings = kind == "session" and not {"decisions", "patterns"}.isdisjoint(arguments)
    parts = {"session": ("decisions", "patterns"), "entity": ("related_entities",)}.get(kind, ())
    known = (kind, *parts, "project_id", "focus", "agent", *(() if has_learnings else ("governance_token", "room")))
    for name in arguments:
        if name not in known:
            raise click.UsageError(f"there is no argument `{name}` here; write one of {', '.join(known)}")
    saver = Saver(app.open())
    result = saver.save_with_learnings(arguments) if has_learnings else saver.save(kind, arguments)
    print_text(dump(result.as_json()))
    # 1 if a person has to decide, 3 if the save is kept for another try.
    if isinstance(result, BatchSaveResult):
        return {SaveStatus.SAVED: 0, SaveStatus.PARTIAL: 1}.get(result.overall, 2)
    if result.is_stored or result.is_for_a_person:
        return 0 if result.is_stored else 1
    return 3 if result.waits else 2


def _manage_waiting(app: App, retried: str | None, dropped: str | None, *, is_sure: bool) -> int:
    """List the waiting saves, try some again, or drop one; the exit code is 1 if a save still waits after that."""
    workspace = app.open()
    saver = Saver(workspace)
    if retried is not None:
        tried = saver.retry(None if retried == _ALL else retried)
        lines = [f"{one.id[:ID_LENGTH]}  {result.status}  {visible(result.message or '')}" for one, result in tried]
        text = app.style.typed("\n".join(lines))
        app.print_result({"retried": [{"id": one.id, **it.as_json()} for one, it in tried]}, text)
        if not tried:
            app.remark("no write waits")
        return int(not all(result.is_stored for _, result in tried))
    if dropped is not None:
        write = saver.get(dropped)
        named = f"{write.id[:ID_LENGTH]} ({rendered.title_of_write(write)})"
        is_given_up = is_sure or is_confirmed(f"give up {named} for good?")
        if is_given_up:
            saver.drop(write.id)
        app.remark(f"{named} {'is given up' if is_given_up else 'still waits'}")
        return int(not is_given_up)
    found = waiting_saves(workspace)
    app.print_result(rendered.pending_json(found), app.style.typed(rendered.pending_text(found)))
    if not found:
        app.remark("no write waits")
    return 0


@click.group("token", invoke_without_command=True)
@shared_options("text", "json")
def token_command(app: App) -> int:
    """Get a token for one write to a shared wing. It is shown once and expires after a minute.

    `add`, `list` and `remove` manage the tokens of clients that connect over HTTP.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return 0
    try:
        content = request_approval(app.open())
    except GlobalWritesForbiddenError as error:
        if app.form == "text":
            raise
        print_text(dump({"blocked": True, "reason": str(error)}))
        return error.exit_code
    until = f"expires {content['expires_at']}, in {content['ttl_seconds']} s; good for one write"
    app.print_result(content, f"{content['token']}\n{until}")
    return 0


@token_command.command("add")
@click.argument("name")
@click.option("--wing", "-w", "wings", multiple=True, shell_complete=complete.wing, help="A wing that the token reads.")
@click.option("--all-wings", is_flag=True, help="The token reads every wing, also future ones.")
@click.option("--write", "may_write", is_flag=True, help="The token may also write these wings.")
@shared_options("text", "json")
def add(app: App, name: str, wings: tuple[str, ...], *, all_wings: bool, may_write: bool) -> None:
    """Make a bearer token for the HTTP server and print it, this once."""
    if bool(wings) == all_wings:
        raise click.UsageError("say which wings the token may read: --wing WING (repeatable), or --all-wings")
    workspace = app.open()
    named = [wing_of(workspace.catalog, name) for name in split_values(wings)]
    # A token may be for a wing that does not exist yet, since saving the first session creates the wing.
    app.remark(*(f"there is no wing `{wing}` yet" for wing in named if wing not in workspace.catalog.wings))
    readable = None if all_wings else frozenset(named)
    access = Access(name, readable, readable if may_write else frozenset())
    now = datetime.now(UTC)
    text = BearerTokens(workspace.state_folder).add(name, access, now)
    bearer = new_bearer(name, text, access, now)
    once = "it is shown only once, send it as `Authorization: Bearer TOKEN`"
    shown = f"{text}\n{rendered.bearers_text([bearer])}; {once}"
    app.print_result({"token": text, **rendered.bearer_json(bearer)}, shown)


@token_command.command("list")
@shared_options("text", "json")
def list_(app: App) -> None:
    """List the bearer tokens of the HTTP server, by name and wings."""
    found = BearerTokens(app.open().state_folder).all()
    app.print_result({"tokens": [rendered.bearer_json(one) for one in found]}, rendered.bearers_text(found))
    if not found:
        app.remark("no client has a token; `mdmem token add NAME --wing WING` makes one")


@token_command.command("remove")
@click.argument("name")
@shared_options()
def remove(app: App, name: str) -> None:
    """Remove a bearer token; it stops working at once."""
    BearerTokens(app.open().state_folder).remove(name)
    print_text(f"`{name}` is no longer valid")
