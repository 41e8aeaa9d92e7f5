"""The commands for a team: sync and hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.change.fetch_wings import fetch_wings
from mdmem.change.sync import sync
from mdmem.cli.common import (
    Globals,
    format_option,
    global_options,
    open_workspace,
    print_text,
)
from mdmem.cli.completion import complete_wing
from mdmem.errors import EnvironmentFaultError
from mdmem.render.upkeep import (
    driver_text,
    hooks_json,
    hooks_text,
    steps_text,
    sync_remarks,
    synced_json,
    synced_text,
    wings_json,
    wings_text,
)
from mdmem.setup.hooks import STAGES, HookPlace, find_hooks, install_hooks, uninstall_hooks
from mdmem.setup.merge_driver import DriverState, find_driver, install_driver, uninstall_driver
from mdmem.store.git import find_repository

if TYPE_CHECKING:
    from mdmem.store.git import Repository


@click.command("sync")
@click.argument("wings", nargs=-1, metavar="[WING]...", shell_complete=complete_wing)
@click.option("--wings", "is_for_wings", is_flag=True, help="Fetch the wings of other repositories, and pin them anew.")
@click.option("--pinned", is_flag=True, help="With --wings: fetch the commits that mdmem.toml names, write nothing.")
@click.option(
    "--commit/--no-commit", default=None, help="With --wings: commit the pins, and nothing else.  [default: settings]"
)
@format_option("text", "json")
@global_options
def sync_command(
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


def _stage_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--stage", "stages", multiple=True, type=click.Choice(STAGES), help="Only these hooks; else all three."
    )(command)


@click.group("hooks", invoke_without_command=True)
@click.pass_context
@global_options
def hooks_command(given: Globals, context: click.Context) -> int:
    """Guard commits, merges and pushes by git's own hooks, where no framework does.

    With pre-commit or prek, name the hook `mdmem-check` in their configuration instead.
    Without a command: `status`.
    """
    return 0 if context.invoked_subcommand else _show_status(given, "text")


@hooks_command.command("install", short_help="Write the hooks, and set up the merge driver.")
@_stage_option
@click.option("--driver-only", is_flag=True, help="No hook, only the merge driver: for those whose hooks others run.")
@global_options
def install(given: Globals, stages: tuple[str, ...], *, driver_only: bool) -> int:
    """Write the hooks that run `mdmem check --staged`, into the folder where git looks for them, and the merge driver.

    A hook of somebody else's is never touched: what to add to it is said, and nothing is written (exit code 2).
    The hook calls the mdmem that wrote it, else the one in PATH. In a folder of the work tree, which others share
    by a commit, it names the one in PATH only.
    The merge driver joins entries key by key where git would see a conflict. It is set up in git's own folder, for the
    memories of this repository only; with --stage it is left alone.
    """
    repository = _repository(given)
    steps = () if driver_only else install_hooks(repository, stages or STAGES)
    print_text(steps_text(steps))
    driver = find_driver(repository) if driver_only or not stages else None
    if driver is not None:
        print_text(driver_text(driver, install_driver(repository, driver)))
    elif driver_only:
        given.remark("no memory here: `mdmem init` makes one")
    if any(step.hook.where is HookPlace.WORK_TREE for step in steps):
        given.remark("they lie in the work tree: commit them to share them; they take `mdmem` from PATH")
    return 0


@hooks_command.command("uninstall", short_help="Remove what mdmem wrote; what others wrote stays.")
@_stage_option
@click.option("--driver-only", is_flag=True, help="No hook, only the merge driver.")
@global_options
def uninstall(given: Globals, stages: tuple[str, ...], *, driver_only: bool) -> int:
    """Remove the hooks that mdmem wrote, and the merge driver; a hook that was changed since is yours, and stays.

    A hook that pre-commit or prek moved to `.legacy` is removed, too. Where such a program runs mdmem, the merge driver
    stays in use: it is removed with --driver-only.
    """
    repository = _repository(given)
    steps = () if driver_only else uninstall_hooks(repository, stages or STAGES)
    print_text(steps_text(steps))
    driver = find_driver(repository) if driver_only or not stages else None
    if driver is not None:
        is_used = any(step.hook.framework is not None and step.hook.framework.names_mdmem for step in steps)
        is_left = is_used and driver.state in (DriverState.CURRENT, DriverState.FORMER)
        print_text(driver_text(driver, "left" if is_left else uninstall_driver(repository, driver)))
    return 0


@hooks_command.command("status", short_help="Show what stands at each hook, and who runs it.")
@format_option("text", "json")
@global_options
def status(given: Globals, form: str) -> int:
    """Show what stands at each hook, which framework runs it, and whether git merges entries with mdmem."""
    return _show_status(given, form)


def _show_status(given: Globals, form: str) -> int:
    repository = _repository(given)
    hooks, driver = find_hooks(repository), find_driver(repository)
    print_text(hooks_json(hooks, driver) if form == "json" else hooks_text(hooks, driver))
    return 0


def _repository(given: Globals) -> Repository:
    repository = find_repository(Path(given.root) if given.root else Path.cwd())
    if repository is None:
        raise EnvironmentFaultError(
            "not in the work tree of a git repository, so there is no hook; `git init` makes one"
        )
    return repository
