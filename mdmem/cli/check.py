"""`mdmem check`: every file and every link of the memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import AT_HELP, Globals, global_options, print_patch, print_text, split_values, workspace_at
from mdmem.cli.completion import complete_code
from mdmem.render.findings.formats import FORMATS, get_format

if TYPE_CHECKING:
    from mdmem.authoring.fix import FixResult
    from mdmem.checks.run import CheckRequest
    from mdmem.render.findings.report import CheckedRoot
    from mdmem.workspace.location import Location
    from mdmem.workspace.workspace import Workspace


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="Read git's index, as a hook does, and compare it with HEAD.")
@click.option("--rev", "--at", "revision", metavar="REV|DATE", help=AT_HELP)
@click.option("--base", metavar="REV", help="Say what changed since the tree left REV, and mark what is new.")
@click.option("--merge", "merge_into", metavar="REV", help="Read the result of merging into REV, before it happens.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without a change of meaning.")
@click.option("--unsafe-fixes", is_flag=True, help="Mend what decides something for you, too.")
@click.option("--diff", is_flag=True, help="Show what would be mended, and write nothing.")
@click.option("--select", multiple=True, metavar="CODE", shell_complete=complete_code, help="Run only these checks.")
@click.option("--ignore", multiple=True, metavar="CODE", shell_complete=complete_code, help="Run all but these checks.")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings that a file records.")
@click.option("--update-baseline", is_flag=True, help="Record every finding there is in the baseline.")
@click.option("--verbose", "-v", is_flag=True, help="Show findings of severity info, too.")
@click.option(
    "--explain", metavar="CODE", shell_complete=complete_code, help="Say what a check finds and why; `all` lists them."
)
@click.option(
    "--format", "form", type=click.Choice(tuple(FORMATS)), help="How to print; in GitHub Actions github, else text."
)
@global_options
def command(given: Globals, paths: tuple[str, ...], form: str | None, explain: str | None, **options: Any) -> int:
    """Check every file and every link of the memory; PATHs narrow what is reported, never what is read.

    Exit code 0: clean; 1: findings; 2: a wrong argument or setting; 3: something could not be read.
    """
    from mdmem.workspace.roots import concerns_staged, roots_to_check, snapshot_to_check

    if explain is not None:
        return _explain(explain)
    staged = options["staged"]
    snapshot = snapshot_to_check(
        os.environ, revision=options["revision"], staged=staged, merge_into=options["merge_into"]
    )
    locations = roots_to_check(given.root, os.environ, Path.cwd(), paths=paths, is_hook=staged)
    concerned = [one for one in locations if not snapshot.staged or concerns_staged(one, os.environ, Path.cwd())]
    workspaces = [_at(workspace_at(location, given, snapshot), given) for location in concerned]
    if options["update_baseline"]:
        return _update_baseline(given, workspaces, paths, options)
    runs = [_run(given, workspace, paths, options) for workspace in workspaces]
    if options["diff"]:
        _remark_sums(given, runs)
    is_silent = staged and form in (None, "text", "concise") and not any(one.report.findings for one in runs)
    if not is_silent and not options["diff"]:
        _print(runs, form or _usual_format(), given)
    return max((_exit_code(one, options) for one in runs), default=0)


def _at(workspace: Workspace, given: Globals) -> Workspace:
    """Return the workspace at the commit or the date that its snapshot names; a merge names its own commits."""
    if workspace.snapshot.revision is None or workspace.snapshot.merge_into is not None:
        return workspace
    found = workspace.as_of(workspace.snapshot.revision)
    for remark in found.snapshot.remarks:
        given.remark(remark)
    return found


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> CheckRequest:
    from mdmem.checks.run import CheckRequest

    return CheckRequest(
        select=split_values(options["select"]),
        ignore=split_values(options["ignore"]),
        paths=paths,
        base=options["base"],
        baseline=options["baseline"],
        strict=options["strict"],
        with_info=options["verbose"],
        with_older=options["verbose"] or not options["staged"],
        in_ci=bool(os.environ.get("CI") or os.environ.get("GITHUB_ACTIONS")),
        is_debugging=bool(os.environ.get("MDMEM_DEBUG")),
    )


def _run(given: Globals, workspace: Workspace, paths: tuple[str, ...], options: dict[str, Any]) -> CheckedRoot:
    from mdmem.checks.run import check
    from mdmem.render.findings.report import CheckedRoot

    request = _request(paths, options)
    if options["fix"] or options["unsafe_fixes"] or options["diff"]:
        from mdmem.authoring.fix import mend

        report, mended = mend(workspace, request, with_unsafe=options["unsafe_fixes"], is_dry=options["diff"])
        for refused in mended.refused:
            given.remark(refused.sentence)
        if options["diff"]:
            _print_diff(mended, workspace, given)
    else:
        report = check(workspace, request)
    location = workspace.location
    return CheckedRoot(
        report=report,
        under=location.under,
        line_of=workspace.line_of,
        bytes_of=workspace.bytes_of,
        show_path=_path_for_reader(location, workspace.cwd),
    )


def _path_for_reader(location: Location, cwd: Path) -> Callable[[str], str]:
    """Return a function that turns a path of the root into one that opens from the working folder."""

    def show(path: str) -> str:
        whole = location.root / path
        return os.path.relpath(whole, cwd) if whole.is_relative_to(cwd) else str(whole)

    return show


def _exit_code(checked: CheckedRoot, options: dict[str, Any]) -> int:
    report = checked.report
    if report.incomplete:
        return 3
    return int(report.is_failing or bool(options["diff"] and report.fixed))


def _usual_format() -> str:
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"


def _print(runs: list[CheckedRoot], form: str, given: Globals) -> None:
    from mdmem import __version__
    from mdmem.render.findings.report import Look
    from mdmem.render.ink import sent

    look = Look(given.ink(), __version__)
    print_text(get_format(form)(runs, look))
    if form == "concise":
        _remark_sums(given, runs)
    step_summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if step_summary and os.environ.get("GITHUB_ACTIONS") == "true":
        with Path(step_summary).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(sent(get_format("markdown")(runs, look)) + "\n")


def _remark_sums(given: Globals, runs: list[CheckedRoot]) -> None:
    from mdmem.render.findings.report import summary

    given.remark(summary(runs))


def _print_diff(mended: FixResult, workspace: Workspace, given: Globals) -> None:
    from mdmem.render.patch import FilePatch, diff_text

    under = f"{workspace.location.under}/" if workspace.location.under else ""
    changes = [
        FilePatch(f"{under}{one.to}", one.before, one.after, f"{under}{one.path}") for one in mended.plan.changes
    ]
    print_patch(diff_text(changes, given.ink()))


def _update_baseline(
    given: Globals, workspaces: list[Workspace], paths: tuple[str, ...], options: dict[str, Any]
) -> int:
    from mdmem.checks.run import update_baseline
    from mdmem.render.words import count

    if paths:
        raise click.UsageError("a baseline records the whole memory; leave out the paths")
    for workspace in workspaces:
        path, number = update_baseline(workspace, _request(paths, options))
        given.remark(f"{path} records {count(number, 'finding')}")
    return 0


def _explain(code: str) -> int:
    from mdmem.checks.engine import first_sentences, get_check
    from mdmem.checks.registry import FAMILIES
    from mdmem.render.findings.text import check_list, explanation

    if code == "all":
        print_text(check_list(FAMILIES, first_sentences()))
    else:
        print_text(explanation(code, get_check(code)))
    return 0
