"""`mdmem init`: start a memory."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem.cli.common import Globals, global_options, print_text
from mdmem.setup.init import init


@click.command("init")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--wing", "-w", help="The first wing; without it the repository's name.")
@click.option("--no-hook", is_flag=True, help="Leave git's hooks alone.")
@click.option(
    "--client",
    "clients",
    multiple=True,
    type=click.Choice(
        [
            *("claude-code", "cursor", "vscode", "codex", "gemini"),
            *("opencode", "copilot", "qwen", "continue", "generic"),
        ]
    ),
    help="Add the MCP server to this client's configuration of the project; repeatable.",
)
@click.option(
    "--hooks",
    "client_hooks",
    is_flag=True,
    help="With --client: add its own hooks, too, so that what binds a file reaches the model when it edits it.",
)
@click.option(
    "--command", "started", default="mdmem", metavar="PATH", help="What starts mdmem there.  [default: mdmem]"
)
@global_options
def command(
    given: Globals,
    folder: str | None,
    wing: str | None,
    *,
    no_hook: bool,
    clients: tuple[str, ...],
    client_hooks: bool,
    started: str,
) -> int:
    """Start a memory in DIR (`memory`): settings, a first wing, the hook, a line in AGENTS.md.

    What exists is never changed; what could not be done is said, with the lines to add. With --client the server
    `mdmem mcp` is added to the client's file, and AGENTS.md names its tools, both without a change to the rest.
    """
    if client_hooks and not clients:
        raise click.UsageError("--hooks adds the hooks of a client; name it with --client")
    steps = init(
        Path.cwd(),
        given.root or folder,
        wing=wing,
        hook=not no_hook,
        clients=clients,
        client_hooks=client_hooks,
        command=started,
    )
    for step in steps:
        print_text(step)
    return 0
