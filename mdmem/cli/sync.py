"""`mdmem sync`: bring what is here and what others pushed together."""

from __future__ import annotations

import click

from mdmem.change.fetch_wings import fetch_wings
from mdmem.change.sync import sync
from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.completion import complete_wing
from mdmem.render.sync import sync_remarks, synced_json, synced_text, wings_json, wings_text


@click.command("sync")
@click.argument("wings", nargs=-1, metavar="[WING]...", shell_complete=complete_wing)
@click.option("--wings", "is_for_wings", is_flag=True, help="Fetch the wings of other repositories, and pin them anew.")
@click.option("--pinned", is_flag=True, help="With --wings: fetch the commits that mdmem.toml names, write nothing.")
@click.option(
    "--commit/--no-commit", default=None, help="With --wings: commit the pins, and nothing else.  [default: settings]"
)
@format_option("text", "json")
@global_options
def command(
    given: Globals, wings: tuple[str, ...], form: str, *, is_for_wings: bool, pinned: bool, commit: bool | None
) -> int:
    """Pull with rebase, check the result, push; nothing is pushed that breaks the memory.

    Until git has merged and the checks have passed, nothing here changes; files that are not committed stay as they
    are. Where others push first, it is tried again.

    With --wings nothing is pulled or pushed: the wings that live in other repositories, or those that are named, are
    fetched and pinned to what they are now. No other command fetches anything.
    """
    if not is_for_wings:
        if wings or pinned or commit is not None:
            raise click.UsageError("names of wings, --pinned and --commit go with --wings")
        return _sync(given, form)
    workspace = open_workspace(given)
    fetched = fetch_wings(workspace, wings, pinned=pinned, commit=commit)
    print_text(wings_json(fetched) if form == "json" else wings_text(fetched, given.ink()))
    if not fetched.wings:
        given.remark("no wing lives in another repository; `[wings.NAME] git = ...` in mdmem.toml names one")
    if fetched.is_written and fetched.commit is None:
        then = ": look at it with `mdmem diff`, then commit it" if workspace.location.repository else ""
        given.remark(f"mdmem.toml names the new commits{then}")
    if any(wing.fault is not None for wing in fetched.wings):
        return 3
    return 1 if fetched.faults else 0


def _sync(given: Globals, form: str) -> int:
    synced = sync(open_workspace(given))
    print_text(synced_json(synced) if form == "json" else synced_text(synced))
    for remark in sync_remarks(synced):
        given.remark(remark)
    return 0
