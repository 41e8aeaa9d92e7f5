"""`mdmem token`: a one-time token for a write to a shared wing, and the bearer tokens of the HTTP server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_wing
from mdmem.cli.filters import split_values
from mdmem.model.access import Access
from mdmem.render.tokens import (
    bearers_json,
    bearers_text,
    forbidden_json,
    new_bearer_json,
    new_bearer_text,
    token_json,
    token_text,
)
from mdmem.store.state.bearer_tokens import BearerToken, BearerTokens, digest_of_token
from mdmem.store.workspace.visibility import wing_of
from mdmem.write.governance import GlobalWritesForbiddenError, ask_for_token

if TYPE_CHECKING:
    from mdmem.store.workspace.workspace import Workspace


@click.group("token", invoke_without_command=True)
@click.option("--preview", metavar="TEXT", help="What is going to be written, shown with the token.")
@format_option("text", "json")
@global_options
def command(given: Globals, form: str, preview: str | None) -> int:
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


@command.command("add")
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


@command.command("list")
@format_option("text", "json")
@global_options
def list_(given: Globals, form: str) -> int:
    """List the bearer tokens of the HTTP server, by name and wings."""
    found = BearerTokens(open_workspace(given).state_folder).all()
    print_text(bearers_json(found) if form == "json" else bearers_text(found))
    if not found:
        given.remark("no client has a token; `mdmem token add NAME --wing WING` makes one")
    return 0


@command.command("remove")
@click.argument("name")
@global_options
def remove(given: Globals, name: str) -> int:
    """End a bearer token: it is good no more, at once."""
    BearerTokens(open_workspace(given).state_folder).remove(name)
    print_text(f"`{name}` is good no more")
    return 0
