"""The commands for a team: diff, resolve, sync, hygiene, site and hooks."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.change.conflicts import find_conflicts
from mdmem.change.fetch_wings import fetch_wings
from mdmem.change.hygiene import HygieneRequest, run
from mdmem.change.resolve import ResolveRequest, find_conflict, resolve
from mdmem.change.review import ReviewRequest, page_url, review_change
from mdmem.change.sync import sync
from mdmem.cli.common import (
    Globals,
    StepProgress,
    at_option,
    format_option,
    global_options,
    open_workspace,
    print_text,
    print_written,
    write_options,
    write_options_from,
)
from mdmem.cli.completion import complete_address, complete_conflict, complete_revision, complete_wing
from mdmem.cli.filters import split_values
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.render.conflicts import conflicts_json, conflicts_text
from mdmem.render.hooks import driver_text, hooks_json, hooks_text, steps_text
from mdmem.render.hygiene import hygiene_json, hygiene_markdown, hygiene_text
from mdmem.render.review.bodies import diff_page, file_links
from mdmem.render.review.json import review_json
from mdmem.render.review.markdown import review_markdown
from mdmem.render.review.text import review_text
from mdmem.render.sync import sync_remarks, synced_json, synced_text, wings_json, wings_text
from mdmem.setup.hooks import STAGES, HookPlace, find_hooks, install_hooks, uninstall_hooks
from mdmem.setup.installation import this_installation
from mdmem.setup.merge_driver import DriverState, find_driver, install_driver, uninstall_driver
from mdmem.store.git import find_repository

if TYPE_CHECKING:
    from mdmem.change.review_report import ReviewReport
    from mdmem.store.git import Repository
    from mdmem.store.workspace.workspace import Workspace


@click.command("diff")
@click.argument("span", required=False, metavar="[A..B]", shell_complete=complete_revision)
@click.option("--staged", is_flag=True, help="Read git's index instead of the working tree.")
@click.option(
    "--base", metavar="REV", shell_complete=complete_revision, help="Compare with where the tree left REV, as CI does."
)
@click.option("--query", "queries", multiple=True, metavar="TEXT", help="Show what both sides answer to a question.")
@click.option(
    "--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Wings of the questions."
)
@click.option("--no-check", is_flag=True, help="Leave out what the checks would find new; that takes the longest.")
@click.option("--exit-code", is_flag=True, help="Return 1 where something changed, 0 where nothing did.")
@format_option("text", "markdown", "json")
@global_options
def diff_command(
    given: Globals,
    span: str | None,
    form: str,
    *,
    staged: bool,
    base: str | None,
    queries: tuple[str, ...],
    wings: tuple[str, ...],
    no_check: bool,
    exit_code: bool,
) -> int:
    """Show what changed in meaning: what binds, what it replaces and why, who depends on that, what merging would do.

    A..B compares two commits, A...B what B did since it left A, A alone the working tree with A; without any the
    working tree is compared with HEAD.
    """
    request = ReviewRequest(
        span=span,
        base=base,
        staged=staged,
        queries=tuple(query for query in queries if query.strip()),
        wings=split_values(wings),
        with_check=not no_check,
    )
    workspace = open_workspace(given)
    report = review_change(workspace, request)
    print_text(_rendered(report, form, given, workspace, request))
    return int(exit_code and not report.is_empty)


def _rendered(report: ReviewReport, form: str, given: Globals, workspace: Workspace, request: ReviewRequest) -> str:
    if form == "json":
        return review_json(report)
    if form == "markdown":
        links = file_links(os.environ, workspace.location.under)
        return review_markdown(report, links, page=diff_page(page_url(workspace, request), os.environ))
    return review_text(report, given.ink())


@click.command("resolve")
@click.argument("address", required=False, shell_complete=complete_conflict)
@click.option("--take", metavar="ours|theirs|ADDRESS", help="The side that holds, or the successor that stays.")
@click.option(
    "--behind", metavar="ADDRESS", shell_complete=complete_address, help="It came first; the other one replaces it."
)
@click.option("--split", is_flag=True, help="Every successor holds, each for a part.")
@click.option("--reason", "-m", default="", metavar="TEXT", help="Why, where something ends or is split.")
@write_options
@global_options
def resolve_command(given: Globals, address: str | None, form: str, **options: Any) -> int:
    """Show what a merge left to be decided, with what to type; with an option, decide it for ADDRESS.

    It speaks of files that git could not merge, in a merge, a rebase or a cherry-pick, and of entries that two others
    replaced. In a rebase `ours` is the branch that you rebase onto, `theirs` your own commit.
    Exit code 1: there is something to decide.
    """
    wanted, workspace = write_options_from(options), open_workspace(given)
    chosen = [name for name in ("take", "behind", "split") if options[name]]
    if not chosen:
        return _show(given, workspace, address, form)
    if len(chosen) > 1 or address is None:
        raise click.UsageError("name one ADDRESS, and one of --take, --behind and --split")
    return print_written(given, workspace, resolve(workspace, address, ResolveRequest(**options), wanted), form)


def _show(given: Globals, workspace: Workspace, address: str | None, form: str) -> int:
    conflicts = find_conflicts(workspace)
    if address is not None:
        conflicts = replace(conflicts, found=(find_conflict(workspace, address),))
    if form == "json":
        print_text(conflicts_json(conflicts))
    elif conflicts.found:
        print_text(conflicts_text(conflicts, given.ink()))
    else:
        given.remark("nothing is to be decided")
        for step in conflicts.then:
            given.remark(f"then: {step}")
    return 1 if conflicts.found else 0


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


@click.command("hygiene")
@click.option(
    "--wing", "-w", metavar="WING", shell_complete=complete_wing, help="One wing; without it all are examined."
)
@click.option(
    "--scope",
    type=click.Choice(["global", "project", "focus"]),
    help="Only the shared wings, the projects' own, or what has a focus.",
)
@click.option("--pending-only", is_flag=True, help="Only the writes that did not complete.")
@click.option("--record", is_flag=True, help="Write today's date into the manifests as `last_hygiene_at`.")
@click.option("--commit/--no-commit", default=None, help="Commit what --record writes.  [default: settings]")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Cases shown of each kind; 0 shows all."
)
@format_option("text", "json", "markdown")
@global_options
def hygiene_command(
    given: Globals,
    form: str,
    *,
    wing: str | None,
    scope: str | None,
    pending_only: bool,
    record: bool,
    commit: bool | None,
    limit: int,
) -> int:
    """Show what needs maintenance, and what to type next; no entry is changed.

    Writes that did not complete, rules whose code changed since, duplicates, entities of one name, copies of shared
    rules, citations of what is superseded, decisions and patterns that nobody looked at for long, empty rooms.
    """
    request = HygieneRequest(wing=wing, scope=scope, pending_only=pending_only, record=record, commit=commit)
    report = run(open_workspace(given), request)
    if form == "text":
        print_text(hygiene_text(report, given.ink(), limit=limit))
        for remark in report.remarks:
            given.remark(remark)
    else:
        print_text(hygiene_json(report) if form == "json" else hygiene_markdown(report, limit=limit))
    return 0


def _require_extra() -> None:
    """Raise UsageError where the libraries of the pages are not installed, with the line that mends it."""
    if find_spec("jinja2") is None or find_spec("markdown_it") is None:
        raise UsageError(f"the pages need the extra `site`; type `{this_installation().line_for('site')}`")


@click.group("site")
@global_options
def site_command(_: Globals) -> None:
    """Show the memory as pages, as a folder or live."""


@site_command.command("build", short_help="Write the pages into a folder.")
@click.option("--out", "-o", metavar="DIR", help="The folder; it is the site's own.  [default: site, kept out of git]")
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Repeatable.")
@click.option("--name", metavar="TEXT", help="What stands above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add the page of what changed since REV.")
@at_option
@global_options
def build(
    given: Globals, *, out: str | None, wings: tuple[str, ...], name: str | None, base: str | None, revision: str | None
) -> int:
    """Write the pages: what binds, each entry, lineage, timeline, code under rules, what waits, search.

    They need no server and load nothing from outside. Only what changed is written again.
    """
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.build import build as build_site

    workspace = open_workspace(given, revision=revision)
    folder = out if out is not None else "site"
    request = SiteRequest(
        out=workspace.cwd / folder, wings=split_values(wings), name=name, base=base, ignored=out is None
    )
    progress = StepProgress("building pages in {} steps")
    try:
        result = build_site(workspace, request, progress=None if given.quiet else progress)
    finally:
        progress.clear()
    gone = f", removed {len(result.removed)}" if result.removed else ""
    print_text(f"{folder}/index.html: {result.number} files, wrote {len(result.written)}{gone}")
    return 0


@site_command.command("serve", short_help="Show the same pages live, to this machine alone.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--wing", "-w", "wings", multiple=True, metavar="WING", shell_complete=complete_wing, help="Repeatable.")
@click.option("--name", metavar="TEXT", help="What stands above each page.  [default: the project's wing]")
@click.option("--base", metavar="REV", shell_complete=complete_revision, help="Add the page of what changed since REV.")
@global_options
def serve(given: Globals, *, port: int, wings: tuple[str, ...], name: str | None, base: str | None) -> int:
    """Show the same pages live, to this machine alone: a page that is open follows the files."""
    _require_extra()
    from mdmem.site.build import SiteRequest
    from mdmem.site.serve import LiveSite, SiteServer

    workspace = open_workspace(given)
    request = SiteRequest(out=workspace.cwd, wings=split_values(wings), name=name, base=base)
    with SiteServer(LiveSite(workspace, request), port) as server:
        given.remark(f"{server.address} shows the memory; Ctrl-C ends it")
        # Each change of a file leaves what it was read to behind, in circles, which a command else leaves to its end.
        gc.freeze()
        gc.enable()
        server.serve_forever()
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
