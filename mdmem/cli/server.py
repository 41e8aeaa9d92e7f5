"""The commands that start a server: mcp and lsp."""

from __future__ import annotations

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    say,
    today,
)
from mdmem.cli.completion import complete_wing
from mdmem.cli.filters import split_values
from mdmem.mcp.session import Session
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING, Access
from mdmem.setup.installation import this_installation
from mdmem.store.state.tokens import BearerTokens

if TYPE_CHECKING:
    from mdmem.mcp.hub import HubAnswers


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

    Show findings as you type, completion, hover, links and actions in the files of a memory, and the rules for code.
    `mdmem guide editors` has the lines for each editor.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        line = this_installation().line_for("lsp")
        raise click.UsageError(f"the server for editors needs the extra `lsp`; type `{line}`")
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input or output is closed; an editor keeps both open")
    if sys.stdin.isatty():
        given.remark("waiting for an editor on standard input; Ctrl-C ends this")
    from mdmem.lsp.serve import serve

    environment = {**os.environ, "MDMEM_ROOT": str(Path(given.root).absolute())} if given.root else os.environ
    # A command ends before garbage matters; a server does not.
    gc.enable()
    serve(environment, today)
    return 0
