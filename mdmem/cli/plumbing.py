"""The commands that clients and git call: hook-event and merge-driver."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from mdmem.change.driver import MergeDriverRequest, drive
from mdmem.cli.common import Globals, global_options, print_text, today
from mdmem.errors import MdmemError
from mdmem.markdown.merge import Sides
from mdmem.setup.event_limit import limited

# With the start of Python before it, it stays below two.
_SECONDS = 1.6
# An edit hands the file's new text over.
_MOST_BYTES = 16 * 1024 * 1024


@click.command("hook-event")
@click.argument("client")
@click.option("--unlimited", is_flag=True, hidden=True, help="Do the work in this process, however long it takes.")
@global_options
def hook_event_command(given: Globals, client: str, *, unlimited: bool) -> int:
    """Read an event of CLIENT from standard input and print context for its model, in the client's form.

    At the start of a session these are the rules that always apply, at an edit those for the file, each rule once. On
    any error nothing is printed, and the exit code is 0.
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
    # Late: the merge driver runs once for each file and needs no search.
    from mdmem.setup.events import answer_event

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


# Whatever goes wrong: git then takes the file for one that cannot be merged, and ours is as it was.
_CANNOT = 129


@click.command("merge-driver")
@click.argument("ancestor", metavar="%O")
@click.argument("ours", metavar="%A")
@click.argument("theirs", metavar="%B")
@click.argument("width", metavar="%L", default="7")
@click.argument("path", metavar="%P", default="")
@click.argument("our_label", metavar="%X", default="")
@click.argument("their_label", metavar="%Y", default="")
@global_options
def merge_driver_command(
    given: Globals, ancestor: str, ours: str, theirs: str, width: str, path: str, our_label: str, their_label: str
) -> int:
    """Merge an entry for git, key by key; `mdmem hooks install` sets it up, and nobody types it.

    The result takes the place of %A. Exit code 0: merged; 1: a conflict is marked in it; above 128: it cannot be.
    """
    labels = (_label(our_label, "ours"), _label(their_label, "theirs"))
    files = Sides(Path(ancestor), Path(ours), Path(theirs))
    request = MergeDriverRequest(
        files=files, path=path or ours, width=int(width) if width.isdecimal() else 7, labels=labels
    )
    try:
        outcome = drive(request, Path.cwd())
    except MdmemError as error:
        given.remark(f"mdmem: {error}")
        return _CANNOT
    if outcome.torn:
        where = " and ".join(f"`{name}`" for name in outcome.torn)
        given.remark(f"mdmem: both sides changed {where} of {path or ours}, and neither is taken: `mdmem resolve`")
    return 1 if outcome.torn else 0


def _label(given: str, side: str) -> str:
    """Return the name of a side: a git that does not know the sign for it hands the sign on."""
    return side if not given or given.startswith("%") else f"{side} ({given})"
