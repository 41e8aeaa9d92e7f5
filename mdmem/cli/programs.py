"""Define the commands that other programs start: mcp, lsp, hook-event and merge-driver."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from mdmem.cli import completion as complete
from mdmem.cli.common import App, print_text, require_extra, say, shared_options, split_values, today
from mdmem.disk import read_regular
from mdmem.errors import MdmemError
from mdmem.markdown.merge import NARROWEST, Marks, Sides, merge_entries
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.text import visible
from mdmem.store.git.history import merge_file, shows_base
from mdmem.store.state.files import write_whole

_PROFILE = click.Choice(["core", "sessions", "research", "test", "graphbase", "sibyl", "all"])
_TOOLS = "core, sessions, research or test.  [default: the setting `server.profile`, else core]"


@click.command("mcp")
@click.option("--profile", type=_PROFILE, metavar="PROFILE", help=f"Which tools: {_TOOLS}")
@click.option("--wing", "-w", "wings", multiple=True, shell_complete=complete.wing, help="Only these wings.")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP instead; port 0 takes a free port.")
@click.option("--hub", "has_hub", is_flag=True, help="Also answer for other repositories, from MDMEM_HUB_DSN.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="Another host name that clients use.")
@shared_options()
def mcp_command(app: App, *, address: str | None, has_hub: bool, **options: Any) -> None:
    """Serve the memory to an agent over standard input and output; the agent's client starts this.

    With --wing the agent reads and writes these wings alone. With --http it serves many clients, each with a token of
    `mdmem token add`; without tokens, only those of this machine. With --hub the reading tools take a repository; the
    variables MDMEM_HUB_DSN and MDMEM_HUB_TOKEN are the database and the caller's token.
    """
    dsn = os.environ.get("MDMEM_HUB_DSN")
    if has_hub and not dsn:
        raise click.UsageError("--hub needs the variable MDMEM_HUB_DSN, such as `postgresql://USER@HOST/DATABASE`")
    require_extra("mcp", "mcp", "anyio", "starlette", "uvicorn")
    if address is None:
        _require_streams(app, "an MCP client")
    # `main` disabled garbage collection. Objects that exist by now are kept anyway, so they are not scanned.
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()
    from mdmem.mcp.server import MemoryServer, serve_stdio
    from mdmem.mcp.workspaces import Provider

    hub = None
    if has_hub and dsn:
        from mdmem.mcp.hub import HubAnswers

        hub = HubAnswers(dsn, os.environ.get("MDMEM_HUB_TOKEN"), environment=os.environ, today=today)
    wings = split_values(options["wings"])
    access = Access.to_wings(wings) if wings else EVERYTHING
    provider = Provider(app.root, environment=os.environ, cwd=Path.cwd(), today=today)
    server = partial(MemoryServer, provider, profile=options["profile"], is_warming=True, hub=hub)
    if address is None:
        serve_stdio(server(access=lambda: access, remembers=True))
        return
    from mdmem.mcp.http import caller, parse_address, serve_http
    from mdmem.store.state.tokens import BearerTokens

    listening = parse_address(address, names=split_values(options["names"]))
    bearers = BearerTokens(provider.workspace().state_folder)
    serve_http(server(access=caller), bearers, listening, say=say, access=access)


def _require_streams(app: App, caller: str) -> None:
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError(f"standard input or output is closed; {caller} must keep both open")
    if sys.stdin.isatty():
        app.remark(f"waiting for {caller} on standard input; Ctrl-C ends this")


@click.command("lsp")
@shared_options()
def lsp_command(app: App) -> None:
    """Serve the memory to a text editor over standard input and output; the editor starts this.

    `mdmem guide editors` has the lines for each editor.
    """
    require_extra("lsp", "pygls", "lsprotocol")
    _require_streams(app, "an editor")
    from mdmem.lsp.server import serve

    environment = {**os.environ, "MDMEM_ROOT": str(Path(app.root).absolute())} if app.root else os.environ
    # `main` disabled garbage collection, but a server runs for a long time.
    gc.enable()
    serve(environment, today)


# The time limit in seconds. Clients wait for two seconds, of which Python needs some to start.
_SECONDS = 1.6
# The largest event that is read. The event of an edit contains the new text of the file.
_MAX_BYTES = 16 * 1024 * 1024


@click.command("hook-event")
@click.argument("client")
@click.option("--unlimited", is_flag=True, hidden=True, help="Do the work in this process, however long it takes.")
@shared_options()
def hook_event_command(app: App, client: str, *, unlimited: bool) -> None:
    """Read an event of CLIENT from standard input and print context for its model, in the client's form.

    On any error, nothing is printed, and the exit code is 0.
    """
    if not unlimited:
        if not os.isatty(0):
            # With -P, Python imports no module from the working directory of the client.
            mdmem = [sys.executable, "-P", "-m", "mdmem", "hook-event", "--unlimited"]
            root = ["--root", app.root] if app.root else []
            print_text(run_with_limit([*mdmem, *root, "--", client], seconds=_SECONDS).removesuffix("\n"))
        return
    # Imported here, since the merge driver in this module runs once for each file and does not need it.
    from mdmem.setup.events import answer_event

    content = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        # Read the rest, so that the client's write to our standard input does not fail.
        while sys.stdin.buffer.read(_MAX_BYTES):
            pass
        return

    def send(text: str) -> None:
        print_text(text)
        sys.stdout.flush()

    answer_event(client, content, send, environment=os.environ, root=app.root, today=today())


def run_with_limit(command: Sequence[str], *, seconds: float) -> str:
    """Run a command with the same standard input for some seconds, and return its output; empty if it cannot start."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    except OSError:
        return ""
    with process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            printed = late.stdout or b""
            # Windows has no process groups.
            if not hasattr(os, "killpg"):
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    # The process group includes the git processes that the command started.
                    os.killpg(process.pid, signal.SIGKILL)
    return printed.decode("utf-8", "replace")


# If the exit code is above 128, git treats the file as one that cannot be merged, and keeps our version.
_CANNOT_MERGE = 129


@click.command("merge-driver")
@click.argument("ancestor", metavar="%O")
@click.argument("ours", metavar="%A")
@click.argument("theirs", metavar="%B")
@click.argument("width", metavar="%L", default="7")
@click.argument("path", metavar="%P", default="")
@click.argument("our_label", metavar="%X", default="")
@click.argument("their_label", metavar="%Y", default="")
@shared_options()
def merge_driver_command(
    app: App, ancestor: str, ours: str, theirs: str, width: str, path: str, our_label: str, their_label: str
) -> int:
    """Merge an entry for git, key by key; `mdmem hooks install` sets it up, and nobody types it.

    The result takes the place of %A. Exit code 0: merged; 1: a conflict is marked in it; above 128: the merge failed.
    """
    files, cwd, named = Sides(Path(ancestor), Path(ours), Path(theirs)), Path.cwd(), path or ours
    # An old git passes a placeholder such as `%X` instead of its label.
    mine, other = (
        f"{side} ({label})" if label and not label.startswith("%") else side
        for side, label in (("ours", our_label), ("theirs", their_label))
    )
    size = int(width[:4]) if width.isdecimal() else NARROWEST
    marks = Marks(ours=mine, theirs=other, width=max(size, NARROWEST))

    def by_git(texts: Sides[bytes]) -> tuple[bytes, bool]:
        versions = (texts.ours, texts.ancestor, texts.theirs)
        return merge_file(cwd, versions, labels=(marks.ours, "base", marks.theirs), width=marks.width)

    try:
        sides = files.map(read_regular)
        outcome = merge_entries(named, sides, merge_text=by_git, marks=marks)
        if outcome.conflicts and shows_base(cwd):
            outcome = merge_entries(named, sides, merge_text=by_git, marks=replace(marks, shows_base=True))
        if outcome.content != sides.ours:
            write_whole(files.ours, outcome.content, durable=False)
    except (OSError, MdmemError) as error:
        app.remark(f"mdmem: cannot merge `{visible(named)}`: {getattr(error, 'strerror', None) or error}")
        return _CANNOT_MERGE
    if outcome.conflicts:
        where = ", ".join(f"`{name}`" for name in outcome.conflicts)
        app.remark(f"mdmem: the sides of {visible(named)} differ in {where}: `mdmem resolve` shows the choices")
    return 1 if outcome.conflicts else 0
