"""`mdmem hooks`: git's own hooks, for those who use no framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.errors import EnvironmentFaultError
from mdmem.render.hooks import driver_text, hooks_json, hooks_text, steps_text
from mdmem.setup.hooks import STAGES, HookPlace, find_hooks, install_hooks, uninstall_hooks
from mdmem.setup.merge_driver import DriverState, find_driver, install_driver, uninstall_driver
from mdmem.store.git import find_repository

if TYPE_CHECKING:
    from mdmem.store.git import Repository


def _stage_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--stage", "stages", multiple=True, type=click.Choice(STAGES), help="Only these hooks; else all three."
    )(command)


@click.group("hooks", invoke_without_command=True)
@click.pass_context
@global_options
def command(given: Globals, context: click.Context) -> int:
    """Guard commits, merges and pushes by git's own hooks, where no framework does.

    With pre-commit or prek, name the hook `mdmem-check` in their configuration instead.
    Without a command: `status`.
    """
    return 0 if context.invoked_subcommand else _show_status(given, "text")


@command.command("install", short_help="Write the hooks, and set up the merge driver.")
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


@command.command("uninstall", short_help="Remove what mdmem wrote; what others wrote stays.")
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


@command.command("status", short_help="Show what stands at each hook, and who runs it.")
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
