"""`mdmem hub rebuild`: all of a repository anew."""

from __future__ import annotations

import click

from mdmem.cli.common import Globals, format_option, global_options
from mdmem.cli.hub_common import commit_options, dsn_option
from mdmem.cli.hub_push import pushed
from mdmem.hub.push import PushRequest


@click.command("rebuild")
@commit_options
@dsn_option
@format_option("text", "json")
@global_options
def command(given: Globals, *, repository: str | None, commit: str, rewritten: bool, dsn: str | None, form: str) -> int:
    """Write every row of this memory anew, in one transaction; who asks meanwhile is answered from the old ones.

    For what `mdmem hub verify` finds. The hub does not go back to an older commit by it.
    """
    return pushed(given, PushRequest(repository, commit, rewritten, is_whole=True), dsn=dsn, form=form)
