"""What the commands that write share: their options, and printing what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Globals, format_option, print_text

if TYPE_CHECKING:
    from mdmem.authoring.write import WriteOptions, WriteResult

Decorated = Callable[..., Any]


def write_options(command: Decorated) -> Decorated:
    """Add `--dry-run`, `--commit` and `--format`."""
    for option in (
        format_option("text", "json"),
        click.option(
            "--commit/--no-commit", default=None, help="Commit what is written, and nothing else.  [default: settings]"
        ),
        click.option("--dry-run", is_flag=True, help="Show what would be written as a diff, and write nothing."),
    ):
        command = option(command)
    return command


def write_options_from(options: dict[str, Any]) -> WriteOptions:
    """Take the options of a write out of a command's options."""
    from mdmem.authoring.write import WriteOptions

    return WriteOptions(is_dry=bool(options.pop("dry_run")), commit=options.pop("commit"))


def print_written(given: Globals, written: WriteResult, form: str, *, in_git: bool = False) -> int:
    """Print what was written and return the exit code; `in_git` says that the memory's files are kept in git."""
    from mdmem.render.writes import written_json, written_text

    if form == "json":
        print_text(written_json(written))
        return 0
    print_text(written_text(written, given.ink()))
    for remark in written.remarks:
        given.remark(remark)
    if in_git and _is_half_known(written):
        given.remark("commit these files together: some name a file that git does not have yet")
    if not written.changes:
        given.remark("nothing to change: the files say so already")
    return 0


def _is_half_known(written: WriteResult) -> bool:
    """Say whether files were written of which some are new, so that a commit of the others alone would break links."""
    is_open = written.commit is None and not written.is_dry and len(written.changes) > 1
    return is_open and any(one.before is None or one.path != one.to for one in written.changes)
