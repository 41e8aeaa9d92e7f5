"""`mdmem hook-event`: what a client's hook runs; it never fails, and never keeps an edit waiting."""

from __future__ import annotations

import os
import sys

import click

from mdmem.cli.common import Globals, global_options, print_text, today
from mdmem.setup.event_limit import limited
from mdmem.setup.events import answer_event

# With the start of Python before it, it stays below two.
_SECONDS = 1.6
# An edit hands the file's new text over.
_MOST_BYTES = 16 * 1024 * 1024


@click.command("hook-event")
@click.argument("client")
@click.option("--unlimited", is_flag=True, hidden=True, help="Do the work in this process, however long it takes.")
@global_options
def command(given: Globals, client: str, *, unlimited: bool) -> int:
    """Read an event of CLIENT from standard input and print what its model is to be told, in the client's form.

    At the start of a session that is what always holds, at an edit what binds the file, each rule once. Where anything
    goes wrong nothing is printed, and the exit code is 0.
    """
    if unlimited:
        _answer(given, client)
    elif not os.isatty(0):
        # -P: no module is imported from the folder in which the client works.
        mdmem = [sys.executable, "-P", "-m", "mdmem", "hook-event", "--unlimited"]
        root = ["--root", given.root] if given.root else []
        print_text(limited([*mdmem, *root, "--", client], seconds=_SECONDS).removesuffix("\n"))
    return 0


def _answer(given: Globals, client: str) -> None:
    content = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        # Read to its end, so that whoever writes it is not refused.
        while sys.stdin.buffer.read(_MOST_BYTES):
            pass
        return

    def send(text: str) -> None:
        print_text(text)
        sys.stdout.flush()

    answer_event(client, content, send, environment=os.environ, root=given.root, today=today())
