"""`mdmem hub push`: a commit of this memory to the hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.hub_common import INCOMPLETE, commit_options, dsn_option, open_hub
from mdmem.hub.push import PushRequest, push
from mdmem.render.hub import kept_remarks, push_json, push_text

if TYPE_CHECKING:
    from mdmem.hub.push import PushRequest


@click.command("push")
@commit_options
@click.option("--new", "is_new", is_flag=True, help="The hub has this history under another name, and this is another.")
@dsn_option
@format_option("text", "json")
@global_options
def command(
    given: Globals,
    *,
    repository: str | None,
    commit: str,
    rewritten: bool,
    is_new: bool,
    dsn: str | None,
    form: str,
) -> int:
    """Send what a commit changed since the one that the hub has; what is not committed is never sent.

    For CI, after a merge to the default branch. Nothing is sent by half, and the hub never goes back to an older
    commit. Exit code 3 where a pinned wing is not at hand: all the rest was sent.
    """
    return pushed(given, PushRequest(repository, commit, rewritten, is_new), dsn=dsn, form=form)


def pushed(given: Globals, request: PushRequest, *, dsn: str | None, form: str) -> int:
    """Push what is asked for, print what became of it, and return the exit code."""
    workspace = open_workspace(given)
    with open_hub(dsn) as connection:
        result = push(workspace, connection, request)
    for remark in (*result.missing, *kept_remarks(result)) if form == "text" else ():
        given.remark(remark)
    print_text(push_json(result) if form == "json" else push_text(result))
    return INCOMPLETE if result.missing else 0
