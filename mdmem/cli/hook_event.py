"""`mdmem hook-event`: what a client's hook runs; it never fails, and never keeps an edit waiting."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from mdmem.cli.common import Globals, global_options, print_text, today

# With the start of Python before it, it stays below two.
_SECONDS = 1.6


@click.command("hook-event")
@click.argument("client")
@global_options
def command(given: Globals, client: str) -> int:
    """Read an event of CLIENT from standard input and print what its model is to be told, in the client's form.

    At the start of a session that is what always holds, at an edit what binds the file, each rule once. Where anything
    goes wrong nothing is printed, and the exit code is 0.
    """
    from mdmem.events.limit import limited

    def work(content: bytes, send: Callable[[str], None]) -> None:
        from mdmem.events.run import answer_event

        answer_event(client, content, send, environment=os.environ, root=given.root, today=today())

    print_text(limited(work, seconds=_SECONDS))
    return 0
