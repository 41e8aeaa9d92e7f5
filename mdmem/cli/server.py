"""The commands that start a server: mcp and lsp."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from mdmem.cli.common import (
    Globals,
    global_options,
    say,
    today,
)
from mdmem.cli.completion import complete_wing
from mdmem.cli.filters import split_values
from mdmem.mcp.hub import HubAnswers
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING, Access
from mdmem.setup.installation import this_installation
from mdmem.store.state.tokens import BearerTokens

_EXTRA = ("mcp", "mcp_types", "anyio", "starlette", "uvicorn", "h11")


@click.command("mcp")
@click.option(
    "--profile",
    type=click.Choice(["core", "sessions", "research", "test", "graphbase", "sibyl", "all"]),
    metavar="PROFILE",
    help="Which tools: core, sessions, research or test.  [default: the setting `server.profile`, else core]",
)
@click.option(
    "--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Only these wings."
)
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP instead; port 0 takes a free one.")
@click.option("--hub", "has_hub", is_flag=True, help="Also answer for other repositories, from MDMEM_HUB_DSN.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="Another name that clients call it by.")
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

    With --wing the agent reads and writes these wings alone. With --http it serves many clients, each with a token of
    `mdmem token add`; without tokens, only those of this machine. With --hub the reading tools take a repository; the
    variables MDMEM_HUB_DSN and MDMEM_HUB_TOKEN say which hub, and who asks.
    """
    dsn = os.environ.get("MDMEM_HUB_DSN") if has_hub else ""
    if has_hub and not dsn:
        raise click.UsageError("--hub needs the variable MDMEM_HUB_DSN, such as `postgresql://USER@HOST/DATABASE`")
    named = split_values(wings)
    access = Access.to_wings(named) if named else EVERYTHING
    if address is None:
        if sys.stdin is None or sys.stdout is None:
            raise click.UsageError("standard input or output is closed; an MCP client keeps both open")
        if sys.stdin.isatty():
            given.remark("waiting for an MCP client on standard input; Ctrl-C ends this")
    # The command line turned it off. What is loaded by now is never garbage, and an answer among many entries makes
    # many objects that are none either.
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()
    provider = Provider(given.root, environment=os.environ, cwd=Path.cwd(), today=today)
    try:
        if address is None:
            _serve_stdio(provider, profile, access, dsn=dsn)
        else:
            _serve_http(provider, profile, access, address=address, names=split_values(names), dsn=dsn)
    except ModuleNotFoundError as error:
        raise _without_extra(error) from error
    return 0


def _serve_stdio(provider: Provider, profile: str | None, access: Access, *, dsn: str | None) -> None:
    from mdmem.mcp.calls import Session
    from mdmem.mcp.server import MemoryServer
    from mdmem.mcp.stdio import serve

    hub = _hub(provider, dsn)
    serve(MemoryServer(provider, profile=profile, access=lambda: access, is_warming=True, session=Session(), hub=hub))


def _serve_http(
    provider: Provider, profile: str | None, access: Access, *, address: str, names: Sequence[str], dsn: str | None
) -> None:
    from mdmem.mcp.http import caller, parse_address, serve_http
    from mdmem.mcp.server import MemoryServer

    listening = parse_address(address, names=names)
    bearers = BearerTokens(provider.workspace().state_folder)
    server = MemoryServer(provider, profile=profile, access=caller, is_warming=True, hub=_hub(provider, dsn))
    serve_http(server, bearers, listening, say=say, open_access=access)


def _hub(provider: Provider, dsn: str | None) -> HubAnswers | None:
    """Return the answers of a hub, None without one; each call opens a connection of its own."""
    if not dsn:
        return None
    from mdmem.mcp.hub import HubAnswers

    return HubAnswers(dsn, os.environ.get("MDMEM_HUB_TOKEN"), environment=os.environ, today=provider.today)


def _without_extra(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").split(".")[0] not in _EXTRA:
        return error
    return click.UsageError(f"the server needs the extra `mcp`; type `{this_installation().line_for('mcp')}`")


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
