"""`mdmem hub push`: a commit of this memory to the hub."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_revision
from mdmem.cli.hub_common import dsn_option, open_hub


@click.command("push")
@click.option("--repository", metavar="NAME", help="Its name in the hub.  [default: owner/name of the remote]")
@click.option("--commit", default="HEAD", show_default=True, metavar="REV", shell_complete=complete_revision)
@click.option("--rewritten", is_flag=True, help="The history was rewritten: take the commit in place of the hub's.")
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
    commit.
    """
    from mdmem.hub.push import PushRequest, push
    from mdmem.render.hub import push_json, push_text

    workspace = open_workspace(given)
    with open_hub(dsn) as connection:
        result = push(workspace, connection, PushRequest(repository, commit, rewritten, is_new))
    for remark in result.missing if form == "text" else ():
        given.remark(remark)
    print_text(push_json(result) if form == "json" else push_text(result))
    return 0
