"""`mdmem merge-driver`: what git calls to merge one entry; its start is most of its time."""

from __future__ import annotations

from pathlib import Path

import click

from mdmem.change.driver import MergeDriverRequest, drive
from mdmem.cli.common import Globals, global_options
from mdmem.errors import MdmemError
from mdmem.markdown.merge_keys import Sides

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
def command(
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
