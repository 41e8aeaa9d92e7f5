"""`mdmem hooks`: git's own hooks, for those who use no framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Globals, format_option, global_options, print_text
from mdmem.workspace.hook_text import STAGES

if TYPE_CHECKING:
    from mdmem.gitrepo import Repository


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


@command.command("install")
@_stage_option
@global_options
def install(given: Globals, stages: tuple[str, ...]) -> int:
    """Write the hooks that run `mdmem check --staged`, into the folder where git looks for them.

    A hook of somebody else's is never touched: what to add to it is said, and nothing is written (exit code 2).
    The hook calls the mdmem that wrote it, else the one in PATH. In a folder of the work tree, which others share
    by a commit, it names the one in PATH only.
    """
    from mdmem.render.hooks import steps_text
    from mdmem.workspace.hooking import Where, install_hooks

    steps = install_hooks(_repository(given), stages or STAGES)
    print_text(steps_text(steps))
    if any(step.hook.where is Where.WORK_TREE for step in steps):
        given.remark("they lie in the work tree: commit them to share them; they take `mdmem` from PATH")
    return 0


@command.command("uninstall")
@_stage_option
@global_options
def uninstall(given: Globals, stages: tuple[str, ...]) -> int:
    """Remove the hooks that mdmem wrote; one that was changed since is yours, and stays."""
    from mdmem.render.hooks import steps_text
    from mdmem.workspace.hooking import uninstall_hooks

    print_text(steps_text(uninstall_hooks(_repository(given), stages or STAGES)))
    return 0


@command.command("status")
@format_option("text", "json")
@global_options
def status(given: Globals, form: str) -> int:
    """Show what stands at each hook, and which framework runs it."""
    return _show_status(given, form)


def _show_status(given: Globals, form: str) -> int:
    from mdmem.render.hooks import hooks_json, hooks_text
    from mdmem.workspace.hooking import find_hooks

    hooks = find_hooks(_repository(given))
    print_text(hooks_json(hooks) if form == "json" else hooks_text(hooks))
    return 0


def _repository(given: Globals) -> Repository:
    from mdmem.errors import EnvironmentFaultError
    from mdmem.gitrepo import find_repository

    repository = find_repository(Path(given.root) if given.root else Path.cwd())
    if repository is None:
        raise EnvironmentFaultError(
            "not in the work tree of a git repository, so there is no hook; `git init` makes one"
        )
    return repository
