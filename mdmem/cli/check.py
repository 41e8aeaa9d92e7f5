"""`mdmem check`: every file and every link of the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import (
    Globals,
    at_option,
    format_option,
    global_options,
    path_for_reader,
    print_text,
    split_values,
    workspace_at,
)
from mdmem.cli.completion import complete_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mdmem.checks.engine import Report
    from mdmem.workspace.location import Location
    from mdmem.workspace.workspace import Workspace


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="Read git's index, as a hook does.")
@click.option("--select", multiple=True, metavar="CODE", shell_complete=complete_code, help="Run only these checks.")
@click.option("--ignore", multiple=True, metavar="CODE", shell_complete=complete_code, help="Run all but these checks.")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@click.option("--verbose", "-v", is_flag=True, help="Show findings of severity info, too.")
@click.option(
    "--explain", metavar="CODE", shell_complete=complete_code, help="Say what a check finds and why; `all` lists them."
)
@at_option
@format_option("text", "concise", "json", "github")
@global_options
def command(given: Globals, paths: tuple[str, ...], form: str, explain: str | None, **options: Any) -> int:
    """Check every file and every link of the memory; PATHs narrow what is reported, never what is read.

    Exit code 0: clean; 1: findings; 2: a wrong argument or setting; 3: something could not be read.
    """
    if explain is not None:
        return _explain(explain)
    staged, revision = options["staged"], options["revision"]
    if staged and revision is not None:
        raise click.UsageError("--staged and --at name two trees; choose one")
    pushed = _pushed_commit(os.environ) if staged else None
    worst = 0
    for location in _locations(given, paths, staged=staged):
        workspace = workspace_at(location, given, revision=revision or pushed, staged=staged and pushed is None)
        if staged and pushed is None and not workspace.concerns_staged():
            continue
        report = _checked(workspace, paths, options)
        _print(report, workspace, form, given, silent=staged and not report.findings)
        worst = max(worst, _exit_code(report, workspace, strict=options["strict"]))
    return worst


def _pushed_commit(environment: Mapping[str, str]) -> str | None:
    """Return the commit that pre-commit's pre-push hook is about; None where a commit is being made."""
    # pre-commit names no commit for a branch whose whole history is new; the remote it names at a push only.
    remote = environment.get("PRE_COMMIT_REMOTE_NAME")
    return environment.get("PRE_COMMIT_TO_REF") or ("HEAD" if remote else None)


def _locations(given: Globals, paths: tuple[str, ...], *, staged: bool) -> tuple[Location, ...]:
    """Return the root that is meant, or every root of the repository, or those of them that hold a path."""
    from mdmem.errors import RootNotFoundError
    from mdmem.workspace.location import SeveralRootsError, locate, located

    try:
        return (locate(given.root, os.environ, Path.cwd()),)
    except RootNotFoundError:
        # A hook runs on every branch, also on those without a memory.
        if staged and given.root is None:
            return ()
        raise
    except SeveralRootsError as error:
        named = [Path(path).resolve() for path in paths]
        chosen = [root for root in error.roots if any(path.is_relative_to(root) for path in named)]
        return tuple(located(root, "one of several in the repository") for root in chosen or error.roots)


def _checked(workspace: Workspace, paths: tuple[str, ...], options: dict[str, Any]) -> Report:
    from dataclasses import replace

    from mdmem.checks.engine import chosen_codes
    from mdmem.finding import Severity

    codes = chosen_codes(workspace.settings, split_values(options["select"]), split_values(options["ignore"]))
    report = workspace.check(codes, paths=paths)
    shown = tuple(one for one in report.findings if options["verbose"] or one.severity is not Severity.INFO)
    return replace(report, findings=shown)


def _exit_code(report: Report, workspace: Workspace, *, strict: bool) -> int:
    from mdmem.finding import Severity

    if report.incomplete:
        return 3
    return int(report.worst_at_or_above(Severity.WARNING if strict else workspace.settings.fail_on))


def _print(report: Report, workspace: Workspace, form: str, given: Globals, *, silent: bool) -> None:
    from mdmem.render.findings import (
        findings_concise,
        findings_github,
        findings_json,
        findings_text,
        summary_line,
    )

    location = workspace.location
    show_path: Callable[[str], str] = path_for_reader(location, workspace.cwd)
    if form == "json":
        print_text(findings_json(report, root=location.under or "."))
    elif form == "github":
        from_top = f"{location.under}/" if location.under else ""
        print_text(findings_github(report, show_path=lambda path: f"{from_top}{path}"))
    elif silent:
        return
    elif form == "concise":
        print_text(findings_concise(report, show_path=show_path))
        given.remark(summary_line(report))
    else:
        print_text(findings_text(report, line_of=workspace.line_of, show_path=show_path, ink=given.ink()))


def _explain(code: str) -> int:
    from mdmem.checks.engine import first_sentences, get_check
    from mdmem.checks.registry import FAMILIES
    from mdmem.render.findings import check_list, explanation

    if code == "all":
        print_text(check_list(FAMILIES, first_sentences()))
    else:
        print_text(explanation(code, get_check(code)))
    return 0
