"""`mdmem lsp`: the memory for text editors, over the Language Server Protocol."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from mdmem.cli.common import Globals, global_options, today
from mdmem.lsp.handshake import Greeting
from mdmem.setup.installation import this_installation


@click.command("lsp")
@global_options
def command(given: Globals) -> int:
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
