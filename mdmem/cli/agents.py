"""The commands for agents and editors: mcp, lsp, save, token, pending and audit."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import (
    Globals,
    format_option,
    global_options,
    is_confirmed,
    open_workspace,
    print_text,
    say,
    today,
)
from mdmem.cli.completion import complete_wing
from mdmem.cli.filters import split_values
from mdmem.lsp.handshake import Greeting
from mdmem.mcp.session import Session
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING, Access
from mdmem.render.audit import audit_json, audit_text
from mdmem.render.saves import (
    ID_LENGTH,
    pending_json,
    pending_text,
    retried_json,
    retried_text,
    saved_json,
    title_of_write,
)
from mdmem.render.tokens import (
    bearers_json,
    bearers_text,
    forbidden_json,
    new_bearer_json,
    new_bearer_text,
    token_json,
    token_text,
)
from mdmem.reply import replying
from mdmem.setup.installation import this_installation
from mdmem.store.state.audit import read_audit
from mdmem.store.state.bearer_tokens import BearerToken, BearerTokens, digest_of_token
from mdmem.store.workspace.visibility import wing_of
from mdmem.write.governance import GlobalWritesForbiddenError, ask_for_token
from mdmem.write.pending import blocked_saves
from mdmem.write.results import BatchSaveResult, SaveStatus
from mdmem.write.save import open_queue, save, save_with_learnings

if TYPE_CHECKING:
    from mdmem.mcp.hub import HubAnswers
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.results import SaveResult


_EXTRA = ("mcp", "mcp_types", "anyio", "starlette", "uvicorn", "h11")


@click.command("mcp")
@click.option(
    "--profile",
    type=click.Choice(["core", "sessions", "research", "test", "graphbase", "sibyl", "all"]),
    metavar="PROFILE",
    help="Which tools: core, sessions, research or test.  [default: the setting `server.profile`, else core]",
)
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Only these.")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP instead; port 0 takes a free one.")
@click.option("--hub", "has_hub", is_flag=True, help="Answer for other repositories, too: of MDMEM_HUB_DSN.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="A name that clients may call it by.")
@global_options
def mcp_command(
    given: Globals,
    profile: str | None,
    wings: tuple[str, ...],
    *,
    address: str | None,
    has_hub: bool,
    names: tuple[str, ...],
) -> int:
    """Serve the memory to an agent over standard input and output; the agent's client starts this.

    With --wing the agent reads and writes these wings alone. With --http many clients are served, each with a token of
    `mdmem token add`; without tokens, only those of this machine. With --hub the tools that read take a repository; the
    variables MDMEM_HUB_DSN and MDMEM_HUB_TOKEN say which hub, and who asks.
    """
    dsn = os.environ.get("MDMEM_HUB_DSN") if has_hub else ""
    if has_hub and not dsn:
        raise click.UsageError("--hub needs the variable MDMEM_HUB_DSN, such as `postgresql://USER@HOST/DATABASE`")
    if address is not None:
        return _serve_http(given, profile, wings, address=address, names=names, dsn=dsn)
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input or output is closed; an MCP client keeps both open")
    access = _access(wings)
    if sys.stdin.isatty():
        given.remark("waiting for an MCP client on standard input; Ctrl-C ends this")
    try:
        return _serve(given, profile, access, dsn=dsn)
    except ModuleNotFoundError as error:
        raise _without_extra(error) from error


def _serve(given: Globals, profile: str | None, access: Access, *, dsn: str | None) -> int:
    from mdmem.mcp.server import build_server
    from mdmem.mcp.stdio import serve

    _collect_garbage()
    provider = Provider(given.root, environment=os.environ, cwd=Path.cwd(), today=today)
    server = build_server(
        provider,
        profile=profile,
        access=lambda: access,
        is_warming=True,
        session=Session(),
        hub=_hub(provider, dsn),
    )
    serve(server)
    return 0


def _serve_http(
    given: Globals,
    profile: str | None,
    wings: tuple[str, ...],
    *,
    address: str,
    names: tuple[str, ...],
    dsn: str | None,
) -> int:
    try:
        from mdmem.mcp.auth import caller
        from mdmem.mcp.http import read_address, serve_http
        from mdmem.mcp.server import build_server
    except ModuleNotFoundError as error:
        raise _without_extra(error) from error
    _collect_garbage()
    listening = read_address(address, names=split_values(names))
    provider = Provider(given.root, environment=os.environ, cwd=Path.cwd(), today=today)
    bearers = BearerTokens(provider.workspace().state_folder)
    server = build_server(provider, profile=profile, access=caller, is_warming=True, hub=_hub(provider, dsn))
    serve_http(server, bearers, listening, say=say, open_access=_access(wings))
    return 0


def _hub(provider: Provider, dsn: str | None) -> HubAnswers | None:
    """Return what asks the hub; it is connected to at the first question."""
    if not dsn:
        return None
    from mdmem.hub.repository_copy import ServedHub
    from mdmem.mcp.hub import HubAnswers

    return HubAnswers(ServedHub(dsn, os.environ.get("MDMEM_HUB_TOKEN") or None), provider)


# So many objects more than before, of five or ten MB, before garbage is looked for.
_BETWEEN = 50_000


def _collect_garbage() -> None:
    """Let what goes round in circles be collected again: the command line ends too soon to need it, a server does not.

    Each connection leaves some 11 KB behind otherwise. What is loaded by now is never garbage, and what an answer among
    ten thousand entries is made of is gone with it: to look through that again and again took a fifth of its time.
    """
    gc.freeze()
    gc.set_threshold(_BETWEEN)
    gc.enable()


def _without_extra(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").split(".")[0] not in _EXTRA:
        return error
    return click.UsageError(f"the server needs the extra `mcp`; type `{this_installation().line_for('mcp')}`")


def _access(wings: tuple[str, ...]) -> Access:
    named = split_values(wings)
    return Access.to_wings(named) if named else EVERYTHING


@click.command("lsp")
@global_options
def lsp_command(given: Globals) -> int:
    """Serve the memory to a text editor over standard input and output; the editor starts this.

    Findings as one types, completion, hover, links and actions in the files of a memory; in code, what binds it.
    `mdmem guide editors` has the lines for each editor.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        line = this_installation().line_for("lsp")
        raise click.UsageError(f"the server for editors needs the extra `lsp`; type `{line}`")
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input or output is closed; an editor keeps both open")
    if sys.stdin.isatty():
        given.remark("waiting for an editor on standard input; Ctrl-C ends this")
    source, target = sys.stdin.buffer, sys.stdout.buffer
    first = Greeting(source, target).answer()
    if first is None:
        return 0
    from mdmem.lsp.roots import Roots
    from mdmem.lsp.server import Server, serve

    environment = {**os.environ, "MDMEM_ROOT": str(Path(given.root).absolute())} if given.root else os.environ
    serve(Server(Roots(environment=environment, today=today)), first, source, target)
    return 0


_KINDS = ("decision", "pattern", "context", "session", "entity")


@click.command("save")
@click.argument("kind", metavar="KIND", type=click.Choice(_KINDS))
@click.option("--json", "source", required=True, metavar="FILE", help="The record as JSON; `-` reads standard input.")
@click.option("--project", "-p", "project_id", metavar="ID", help="The project: its id, or the name of its wing.")
@click.option("--focus", metavar="FOCUS", help="The focus area within the project.")
@click.option("--token", "governance_token", metavar="TOKEN", help="What `mdmem token` gave, for a shared wing.")
@click.option("--agent", metavar="NAME", help="Who saves it; it is written into the entry.")
@click.option(
    "--distinct-from", multiple=True, metavar="ADDRESS", help="A similar decision that is to stand beside this one."
)
@click.option("--room", metavar="ROOM", help="The room.  [default: settings]")
@global_options
def save_command(
    given: Globals, kind: str, source: str, *, distinct_from: tuple[str, ...], **options: str | None
) -> int:
    """Save a decision, pattern, context, session or entity as agents do, compared with what is there; answers in JSON.

    The JSON is the record, or an object with the record under KIND and the other arguments beside it.
    """
    arguments = _arguments(kind, _read(source)) | {name: value for name, value in options.items() if value is not None}
    if distinct_from:
        record = arguments[kind]
        if kind != "decision" or not isinstance(record, dict):
            raise click.UsageError("--distinct-from is for a decision")
        arguments[kind] = {**record, "distinct_from": list(distinct_from)}
    with replying() as reply:
        result = _save(open_workspace(given), kind, arguments)
        print_text(saved_json(result))
        reply.has_left()
    return _exit_code(result)


def _read(source: str) -> object:
    name = "standard input" if source == "-" else source
    try:
        # Who names it may name a pipe.
        content = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from error
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name} is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise click.UsageError(f"{name} holds no JSON that can be read: it nests too deep") from error
    except ValueError as error:
        raise click.UsageError(f"{name} holds no JSON: {error}") from error


def _arguments(kind: str, stated: object) -> dict[str, Any]:
    is_whole = isinstance(stated, dict) and kind in stated
    return dict(stated) if isinstance(stated, dict) and is_whole else {kind: stated}


def _save(workspace: Workspace, kind: str, arguments: dict[str, Any]) -> SaveResult | BatchSaveResult:
    """Save a record of a kind; a session with decisions or patterns beside it is saved with them."""
    if kind == "session" and not {"decisions", "patterns"}.isdisjoint(arguments):
        _refuse_unknown(arguments, {kind, "project_id", "decisions", "patterns"}, ("focus", "agent"))
        return save_with_learnings(workspace, arguments)
    taken = {kind, "project_id", *(["related_entities"] if kind == "entity" else [])}
    _refuse_unknown(arguments, taken, ("focus", "governance_token", "agent", "room"))
    return save(workspace, kind, arguments)


def _refuse_unknown(arguments: dict[str, Any], taken: Collection[str], known: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in taken and name not in known:
            raise click.UsageError(f"there is no argument `{name}` here; write one of {', '.join(known)}")


def _exit_code(result: SaveResult | BatchSaveResult) -> int:
    """Return 0 for what is there, 1 for what a person has to look at, 3 for what waits, else 2."""
    if isinstance(result, BatchSaveResult):
        return {SaveStatus.SAVED: 0, SaveStatus.PARTIAL: 1}.get(result.overall, 2)
    if result.is_there:
        return 0
    return 1 if result.is_for_a_person else 3 if result.waits else 2


@click.group("token", invoke_without_command=True)
@click.option("--preview", metavar="TEXT", help="What is going to be written, shown with the token.")
@format_option("text", "json")
@global_options
def token_command(given: Globals, form: str, preview: str | None) -> int:
    """Get a token for one write to a shared wing; it is shown once and expires after a minute (a setting).

    `add`, `list` and `remove` are about the tokens that let clients in over HTTP.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return 0
    workspace = open_workspace(given)
    try:
        token = ask_for_token(workspace, datetime.now(UTC))
    except GlobalWritesForbiddenError as error:
        if form == "text":
            raise
        print_text(forbidden_json(str(error)))
        return error.exit_code
    seconds = workspace.settings.token_seconds
    print_text(token_json(token, seconds=seconds) if form == "json" else token_text(token, seconds=seconds))
    if preview:
        given.remark(f"for: {preview}")
    return 0


@token_command.command("add")
@click.argument("name")
@click.option("--wing", "-w", "wings", multiple=True, shell_complete=complete_wing, help="A wing that it reads.")
@click.option("--all-wings", is_flag=True, help="It reads every wing, those to come as well.")
@click.option("--write", "may_write", is_flag=True, help="It writes what it reads.")
@format_option("text", "json")
@global_options
def add(given: Globals, name: str, form: str, wings: tuple[str, ...], *, all_wings: bool, may_write: bool) -> int:
    """Make a bearer token for the HTTP server and print it, this once."""
    if bool(wings) == all_wings:
        raise click.UsageError("say what the token reads: --wing WING, as often as need be, or --all-wings")
    workspace = open_workspace(given)
    readable = None if all_wings else frozenset(_wings(given, workspace, split_values(wings)))
    access = Access(name, readable, readable if may_write else frozenset())
    now = datetime.now(UTC)
    text = BearerTokens(workspace.state_folder).add(name, access, now)
    bearer = BearerToken(access, digest_of_token(text), now)
    print_text(new_bearer_json(text, bearer) if form == "json" else new_bearer_text(text, bearer))
    return 0


def _wings(given: Globals, workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Return the wings that names mean; a wing may come to be later, with its first session."""
    found = [wing_of(workspace.catalog, name) for name in names]
    for wing in found:
        if wing not in workspace.catalog.wings:
            given.remark(f"there is no wing `{wing}` yet")
    return found


@token_command.command("list")
@format_option("text", "json")
@global_options
def list_(given: Globals, form: str) -> int:
    """List the bearer tokens of the HTTP server, by name and wings."""
    found = BearerTokens(open_workspace(given).state_folder).all()
    print_text(bearers_json(found) if form == "json" else bearers_text(found))
    if not found:
        given.remark("no client has a token; `mdmem token add NAME --wing WING` makes one")
    return 0


@token_command.command("remove")
@click.argument("name")
@global_options
def remove(given: Globals, name: str) -> int:
    """End a bearer token: it is good no more, at once."""
    BearerTokens(open_workspace(given).state_folder).remove(name)
    print_text(f"`{name}` is good no more")
    return 0


@click.group("pending", invoke_without_command=True)
@format_option("text", "json")
@click.pass_context
@global_options
def pending_command(given: Globals, context: click.Context, form: str) -> int:
    """List the writes that failed on the way, and the saves that a similar entry stopped.

    The next write tries the former again, and so does `mdmem pending retry`; the latter wait for their caller.
    """
    if context.invoked_subcommand is not None:
        return 0
    workspace = open_workspace(given)
    ledger = open_queue(workspace).ledger
    listed = ledger.pending(), blocked_saves(workspace, ledger), ledger.unreadable()
    print_text(pending_json(*listed) if form == "json" else pending_text(*listed))
    if not any(listed):
        given.remark("no write waits")
    return 0


@pending_command.command("retry", short_help="Try every write that waits again, or one by its id.")
@click.argument("id_", metavar="[ID]", required=False)
@format_option("text", "json")
@global_options
def retry(given: Globals, id_: str | None, form: str) -> int:
    """Try every write that waits again, or the one whose id begins so; exit code 1 where one still waits."""
    retried = open_queue(open_workspace(given)).retry(id_)
    print_text(retried_json(retried) if form == "json" else retried_text(retried))
    if not retried:
        given.remark("no write waits")
    return 0 if all(one.result.is_there for one in retried) else 1


@pending_command.command("drop")
@click.argument("id_", metavar="ID")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@global_options
def drop(given: Globals, id_: str, *, is_sure: bool) -> int:
    """Give up a write for good: what it was to save is lost."""
    pending = open_queue(open_workspace(given))
    write = pending.get(id_)
    named = f"{write.id[:ID_LENGTH]} ({title_of_write(write)})"
    if not is_sure and not is_confirmed(f"give up {named} for good?"):
        given.remark(f"{named} still waits")
        return 1
    pending.drop(write.id)
    given.remark(f"{named} is given up")
    return 0


@click.command("audit")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, the newest ones.")
@format_option("text", "json")
@global_options
def audit_command(given: Globals, limit: int, form: str) -> int:
    """List the context packs that were compiled, the oldest of them first; the log is this machine's own."""
    lines = list(read_audit(open_workspace(given).state_folder))
    print_text(audit_json(lines[-limit:], len(lines)) if form == "json" else audit_text(lines[-limit:]))
    if not lines:
        given.remark("no context pack was asked for yet")
    elif len(lines) > limit:
        given.remark(f"{len(lines) - limit} older ones; --limit shows more")
    return 0
