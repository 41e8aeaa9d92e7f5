"""Define `mdmem check`, which checks every file and every link of the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from mdmem.cli import completion as complete
from mdmem.cli.common import AT_HELP, App, Progress, print_patch, print_text, shared_options, split_values
from mdmem.model.text import shell_word
from mdmem.render.text import count, printable
from mdmem.store.workspace.location import concerns_staged, push_target, roots_to_check, snapshot_to_check

if TYPE_CHECKING:
    from mdmem.checks.run import CheckRequest
    from mdmem.render.findings import CheckedRoot
    from mdmem.store.workspace.workspace import Workspace


# Each format is a function with this name in `mdmem.render.findings`.
FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown", "rdjson")


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete.file)
@click.option("--staged", is_flag=True, help="Read git's index, as a hook does, and compare it with HEAD.")
@click.option("--rev", "--at", "revision", metavar="REV|DATE", help=AT_HELP)
@click.option("--base", metavar="REV", help="Compare with the merge base of the tree and REV, and mark new findings.")
@click.option("--merge", "merge_into", metavar="REV", help="Check the result of a merge with REV, before you merge.")
@click.option("--fix", is_flag=True, help="Make the fixes that keep the meaning.")
@click.option("--unsafe-fixes", is_flag=True, help="Make fixes that decide something for you, too.")
@click.option("--diff", is_flag=True, help="Show what would be fixed, and write nothing.")
@click.option("--select", multiple=True, metavar="CODE", shell_complete=complete.code, help="Run only these checks.")
@click.option("--ignore", multiple=True, metavar="CODE", shell_complete=complete.code, help="Run all but these checks.")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@click.option("--baseline", metavar="FILE", help="Omit the findings recorded in FILE (a path from the root).")
@click.option("--no-baseline", is_flag=True, help="Show the findings that the baseline records, too.")
@click.option("--update-baseline", is_flag=True, help="Accept all findings: record them in the baseline.")
@click.option("--verbose", "-v", is_flag=True, help="Show findings of severity info, too.")
@click.option("--explain", metavar="CODE", shell_complete=complete.code, help="Explain a check; `all` lists them.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="[default: text; in GitHub Actions, github]")
@shared_options()
def check_command(app: App, paths: tuple[str, ...], form: str | None, explain: str | None, **options: Any) -> int:
    """Check every file and link of the memory. With PATHs, report only their findings.

    Exit code 0: clean; 1: findings; 2: a wrong argument or setting; 3: something could not be read.
    """
    if explain is not None:
        from mdmem.checks.check import get_check, get_checks
        from mdmem.render.findings import check_list, explanation

        text = check_list(get_checks().values()) if explain == "all" else explanation(explain, get_check(explain))
        print_text(text)
        return 0
    if options["no_baseline"] and (options["baseline"] or options["update_baseline"]):
        raise click.UsageError("--no-baseline cannot be combined with --baseline or --update-baseline")
    staged = options["staged"]
    snapshot = snapshot_to_check(
        push_target(os.environ), revision=options["revision"], staged=staged, merge_into=options["merge_into"]
    )
    locations = roots_to_check(app.root, os.environ, Path.cwd(), paths=paths, is_hook=staged)
    concerned = [one for one in locations if not snapshot.staged or concerns_staged(one, os.environ, Path.cwd())]
    if not concerned and staged and form in (None, "text", "concise"):
        # Most commits change nothing under a root. For them, return before heavy modules are imported.
        return 0
    workspaces = [app.workspace_at(location, snapshot) for location in concerned]
    if snapshot.revision is not None and snapshot.merge_into is None:
        workspaces = [one.as_of(snapshot.revision) for one in workspaces]
        app.remark(*(remark for one in workspaces for remark in one.snapshot.remarks))
    return _check(app, workspaces, paths, form, options)


def _check(
    app: App, workspaces: list[Workspace], paths: tuple[str, ...], form: str | None, options: dict[str, Any]
) -> int:
    """Check the memories or update their baselines, print the report, and return the exit code."""
    from mdmem.checks.run import CheckRequest
    from mdmem.render import findings

    staged, verbose, is_for_people = options["staged"], options["verbose"], form in (None, "text", "concise")
    request = CheckRequest(
        **{name: options[name] for name in ("base", "baseline", "no_baseline", "strict")},
        select=split_values(options["select"]),
        ignore=split_values(options["ignore"]),
        paths=paths,
        with_info=verbose,
        shows_old=verbose,
        with_uncommitted=True,
        pushed=push_target(os.environ) if staged else None,
        in_ci=bool(os.environ.get("CI") or os.environ.get("GITHUB_ACTIONS")),
        is_debugging=bool(os.environ.get("MDMEM_DEBUG")),
        progress=None if app.quiet else Progress("checking {} files"),
    )
    if options["update_baseline"]:
        return _update_baseline(app, workspaces, request)
    runs = [_run(app, workspace, request, options) for workspace in workspaces]
    reports = [one.report for one in runs]
    in_actions, step_summary = os.environ.get("GITHUB_ACTIONS") == "true", os.environ.get("GITHUB_STEP_SUMMARY")
    style = replace(app.style, is_whole=verbose or bool(options["select"]))
    if options["diff"]:
        app.remark(findings.summary(runs))
    elif staged and is_for_people and not any(one.reported for one in reports):
        # Old findings are mentioned only if they are severe enough to fail a commit.
        failing = [one for one in reports if any(it.level.rank <= one.fail_on.rank for it in one.left_out)]
        app.remark(*map(findings.old_line, failing))
    else:
        print_text(getattr(findings, form or ("github" if in_actions else "text"))(runs, style))
        if form == "concise":
            app.remark(findings.summary(runs))
        if step_summary and in_actions:
            with Path(step_summary).open("a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(printable(findings.markdown(runs, style)) + "\n")
    code = 3 if any(one.incomplete for one in reports) else 0
    code = code or int(any(any(map(one.fails, one.findings)) or (options["diff"] and one.fixed) for one in reports))
    # git sets this variable when it runs a hook.
    if code and staged and "GIT_INDEX_FILE" in os.environ:
        app.remark("`git commit` was refused: fix this and `git add` it")
    return code


def _run(app: App, workspace: Workspace, request: CheckRequest, options: dict[str, Any]) -> CheckedRoot:
    from mdmem.checks.run import check
    from mdmem.render.findings import CheckedRoot, fixed_lines
    from mdmem.store.workspace.addresses import from_here

    under, show = workspace.location.under, from_here(workspace)
    if options["fix"] or options["unsafe_fixes"] or options["diff"]:
        from mdmem.render.writes import changes_diff
        from mdmem.write.fix import fix

        report, fixed = fix(workspace, request, with_unsafe=options["unsafe_fixes"], is_dry=options["diff"])
        if options["diff"]:
            print_patch(changes_diff(fixed.plan.changes, under, app.style))
        else:
            app.remark(*fixed_lines(report, show))
        app.remark(*(refused.sentence(show) for refused in fixed.refused))
    else:
        report = check(workspace, request)
    program = app.style.program
    if workspace.location.is_one_of_several:
        program = f"mdmem --root {shell_word(show('.'))}"
    return CheckedRoot(report, under, workspace.line_of, show, program)


def _update_baseline(app: App, workspaces: list[Workspace], request: CheckRequest) -> int:
    from mdmem.checks.run import update_baseline
    from mdmem.store.workspace.addresses import from_here

    if request.paths:
        raise click.UsageError("a baseline records the whole memory; leave out the paths")
    for workspace in workspaces:
        done, show = update_baseline(workspace, request), from_here(workspace)
        app.remark(f"{show(os.fspath(done.path))} records {count(done.number, 'finding')}")
        if done.settings is not None:
            then = "both are staged" if done.is_staged else "commit both"
            app.remark(f"{show(os.fspath(done.settings))} has its path now; {then}")
    return 0
