"""Define the commands init, status, guide, sync and hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from mdmem.change.status import refresh_index, report_status
from mdmem.change.sync import fetch_wings, sync
from mdmem.cli import completion as complete
from mdmem.cli.common import App, print_text, shared_options
from mdmem.errors import EnvironmentFaultError
from mdmem.guide import page, summary, topics
from mdmem.model.fields import FIELDS
from mdmem.model.spelling import get_field
from mdmem.record import record_json
from mdmem.render import upkeep
from mdmem.render.entries import fields_json, fields_markdown
from mdmem.render.text import count
from mdmem.render.upkeep import status_json
from mdmem.setup.clients import CLIENTS
from mdmem.setup.hooks import (
    HookPlace,
    HookState,
    find_driver,
    find_hooks,
    install_driver,
    install_hooks,
    uninstall_driver,
    uninstall_hooks,
)
from mdmem.setup.init import init
from mdmem.store.git.process import Repository, find_repository
from mdmem.store.state.local_records import read_audit

_CLIENT = click.Choice(list(CLIENTS))


@click.command("init")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--wing", "-w", help="The first wing.  [default: the name of the repository]")
@click.option("--no-hook", "skips_hook", is_flag=True, help="Do not change git hooks.")
@click.option("--client", "clients", multiple=True, type=_CLIENT, help="Add the MCP server to this client; repeatable.")
@click.option("--hooks", "client_hooks", is_flag=True, help="With --client: also hooks, for rules at an edit.")
@click.option("--command", default="mdmem", metavar="PATH", help="The command that starts mdmem.  [default: mdmem]")
@shared_options()
def init_command(app: App, folder: str | None, *, skips_hook: bool, **options: Any) -> None:
    """Start a memory in DIR (`memory`): settings, a first wing, hooks, and lines in AGENTS.md.

    Existing files are not changed; the output has the lines to add by hand. Only --client adds to the client's file and
    to AGENTS.md.
    """
    if options["client_hooks"] and not options["clients"]:
        raise click.UsageError("--hooks adds hooks to a client; name it with --client")
    for step in init(Path.cwd(), app.root or folder, hook=not skips_hook, **options):
        print_text(step)


@click.command("status")
@click.option("--audit", "is_audit", is_flag=True, help="List the requests for context packs.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="With --audit: how many.")
@click.option("--rebuild", is_flag=True, help="Build the full-text index again.")
@shared_options("text", "json", at=True)
def status_command(app: App, limit: int, *, is_audit: bool, rebuild: bool) -> None:
    """Show the root and how it was found, the wings, the index, the findings, and what is due."""
    if sum((is_audit, rebuild, app.revision is not None)) > 1:
        raise click.UsageError("--audit, --rebuild and --at cannot be combined; give one of them")
    workspace = app.open()
    if is_audit:
        lines = list(read_audit(workspace.state_folder))
        app.print_result({"total": len(lines), "lines": lines[-limit:]}, upkeep.audit_text(lines[-limit:]))
        if not lines:
            app.remark("no requests for context packs yet")
        elif len(lines) > limit:
            app.remark(f"{len(lines) - limit} older ones; --limit shows more")
    elif rebuild:
        done = refresh_index(workspace, rebuild=True)
        text = f"the index is built again: {count(done.total, 'entry', 'entries')}"
        app.print_result(record_json(done, "total", "added", "removed", "rebuilt"), text)
    else:
        report = report_status(workspace)
        app.print_result(status_json(report), app.style.typed(upkeep.status_text(report, app.style)))


@click.command("guide")
@click.argument("topic", required=False)
@click.argument("field", metavar="[FIELD]", required=False)
@shared_options("text", "json", "markdown")
def guide_command(app: App, topic: str | None, field: str | None) -> None:
    """Print the page TOPIC, or list the pages. `guide fields FIELD` explains one field."""
    if topic == "fields" and (field is not None or app.form != "text"):
        fields = FIELDS if field is None else (get_field(field),)
        app.print_result(fields_json(fields), fields_markdown(fields))
        return
    if field is not None or app.form == "json":
        raise click.UsageError("only `mdmem guide fields` takes a name or prints JSON")
    if topic is None:
        width = max(map(len, topics()))
        print_text("\n".join(f"{name:<{width}}  {summary(name)}" for name in topics()))
        return
    print_text(page(topic).rstrip("\n"))


@click.command("sync")
@click.argument("wings", nargs=-1, metavar="[WING]...", shell_complete=complete.wing)
@click.option("--wings", "is_for_wings", is_flag=True, help="Fetch wings of other repositories, and pin them.")
@click.option("--pinned", is_flag=True, help="With --wings: fetch the pinned commits, write nothing.")
@click.option("--commit/--no-commit", default=None, help="With --wings: commit the pins alone.  [default: settings]")
@shared_options("text", "json")
def sync_command(app: App, wings: tuple[str, ...], *, is_for_wings: bool, pinned: bool, commit: bool | None) -> int:
    """Pull with rebase, check the result, and push it if it has no new errors.

    With --wings nothing is pulled or pushed: the wings of other repositories, or those given as WING, are fetched and
    pinned to their newest commits. No other command fetches anything.
    """
    if not is_for_wings:
        if wings or pinned or commit is not None:
            raise click.UsageError("names of wings, --pinned and --commit need --wings")
        synced = sync(app.open())
        app.print_result(asdict(synced), upkeep.synced_text(synced))
        app.remark(*upkeep.sync_remarks(synced))
        return 0
    workspace = app.open()
    fetched = fetch_wings(workspace, wings, pinned=pinned, commit=commit)
    app.print_result(upkeep.wings_json(fetched), app.style.typed(upkeep.wings_text(fetched, app.style)))
    if not fetched.wings:
        app.remark("no wing is in another repository; add one with `[wings.NAME] git = ...` in mdmem.toml")
    if fetched.is_written and fetched.commit is None:
        then = ": see `mdmem diff`, then commit it" if workspace.location.repository else ""
        app.remark(f"mdmem.toml has the new commits{then}")
    if any(wing.fault is not None for wing in fetched.wings):
        return 3
    return 1 if fetched.faults else 0


@click.group("hooks")
@shared_options()
def hooks_command(_: App) -> None:
    """Install, remove or show the git hooks that check commits, merges and pushes.

    With pre-commit or prek, add the hook `mdmem-check` to their configuration instead.
    """


@hooks_command.command("install", short_help="Write the hooks, and set up the merge driver.")
@click.option("--driver-only", is_flag=True, help="Set up only the merge driver, for users of a hook framework.")
@shared_options()
def install(app: App, *, driver_only: bool) -> None:
    """Write the hooks that run `mdmem check --staged`, and set up the merge driver for this repository only.

    A hook that another tool wrote is not changed. In that case nothing is written (exit code 2), and the output has the
    line to add to the hook. The hooks call the mdmem that wrote them, or else the mdmem on the PATH; those in the work
    tree, which may be committed, only the one on the PATH.
    """
    repository = _repository(app)
    steps = () if driver_only else install_hooks(repository)
    print_text(upkeep.steps_text(steps))
    driver = find_driver(repository)
    if driver is not None:
        print_text(upkeep.driver_text(driver, install_driver(repository, driver)))
    elif driver_only:
        app.remark("no memory here: `mdmem init` makes one")
    if any(step.where is HookPlace.WORK_TREE for step in steps):
        app.remark("they are in the work tree: commit them to share them; they use the `mdmem` on the PATH")


@hooks_command.command("uninstall", short_help="Remove the hooks that mdmem wrote.")
@click.option("--driver-only", is_flag=True, help="No hook, only the merge driver.")
@shared_options()
def uninstall(app: App, *, driver_only: bool) -> None:
    """Remove the hooks that mdmem wrote, and the merge driver; a hook that was changed since stays.

    If pre-commit or prek runs mdmem, the merge driver stays; --driver-only removes it.
    """
    repository = _repository(app)
    steps = () if driver_only else uninstall_hooks(repository)
    print_text(upkeep.steps_text(steps))
    driver = find_driver(repository)
    if driver is not None:
        is_used = any(step.framework is not None and step.addition is None for step in steps)
        is_left = is_used and driver.state in (HookState.CURRENT, HookState.FORMER)
        text = upkeep.driver_text(driver, "left" if is_left else uninstall_driver(repository, driver))
        print_text(app.style.typed(text))


@hooks_command.command("status", short_help="Show the hook of each stage, and who runs it.")
@shared_options("text", "json")
def status(app: App) -> None:
    """Show the hook of each stage, which framework runs it, and whether git merges entries with mdmem."""
    repository = _repository(app)
    hooks, driver = find_hooks(repository), find_driver(repository)
    app.print_result(upkeep.hooks_json(hooks, driver), upkeep.hooks_text(hooks, driver))


def _repository(app: App) -> Repository:
    repository = find_repository(Path(app.root) if app.root else Path.cwd())
    if repository is None:
        raise EnvironmentFaultError("not in a git repository, so there are no hooks; `git init` makes a repository")
    return repository
