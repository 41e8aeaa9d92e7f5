"""What commands share: the global options, the filters, opening the workspace, printing."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from msgspec import Struct

from mdmem.cli.completion import complete_code_path, complete_folder, complete_revision

if TYPE_CHECKING:
    from mdmem.model.entry import WingKind
    from mdmem.render.ink import Ink
    from mdmem.store.workspace.location import Location, Snapshot
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.write import WriteOptions, WriteResult

Decorated = Callable[..., Any]
# The one that was opened last lives on: the system takes its entries apart faster than Python, as the process ends.
_opened: list[Workspace] = []


class Globals(Struct, frozen=True):
    """The options that every command takes, before or after its name."""

    root: str | None = None
    quiet: bool = False
    color: str = "auto"
    no_pager: bool = False

    def ink(self) -> Ink:
        """Return colours if the user or the terminal wants them."""
        from mdmem.render.ink import Ink

        wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return Ink(color=self.color == "always" or (self.color == "auto" and wanted))

    def remark(self, text: str) -> None:
        """Say something on stderr, unless the user wants quiet."""
        if not self.quiet:
            say(text)


def global_options(command: Decorated) -> Decorated:
    """Add the global options; the ones given after the command's name win."""

    def with_globals(
        *arguments: Any, root: str | None, quiet: bool, color: str | None, no_pager: bool, **options: Any
    ) -> Any:
        context = click.get_current_context()
        outer = (
            context.parent.obj if context.parent is not None and isinstance(context.parent.obj, Globals) else Globals()
        )
        merged = Globals(
            root or outer.root, quiet or outer.quiet, color or outer.color, no_pager=no_pager or outer.no_pager
        )
        context.obj = merged
        # click strips colours where stdout is no terminal unless its context says otherwise.
        context.color = {"always": True, "never": False}.get(merged.color)
        return command(merged, *arguments, **options)

    with_globals.__doc__ = command.__doc__
    with_globals.__name__ = command.__name__
    with_globals.__click_params__ = list(getattr(command, "__click_params__", ()))  # type: ignore[attr-defined]
    decorated: Decorated = with_globals
    for add in (
        click.option("--color", type=click.Choice(["auto", "always", "never"]), help="Colours; NO_COLOR is honoured."),
        click.option("--no-pager", is_flag=True, help="Never page by page; PAGER names the pager."),
        click.option("--quiet", "-q", is_flag=True, help="No remarks on stderr."),
        click.option("--root", metavar="DIR", shell_complete=complete_folder, help="The folder that holds mdmem.toml."),
    ):
        decorated = add(decorated)
    return decorated


def at_option(command: Decorated) -> Decorated:
    """Add `--at REV` or `--at DATE`."""
    return click.option("--at", "revision", metavar="REV|DATE", shell_complete=complete_revision, help=AT_HELP)(command)


def repository_option(command: Decorated) -> Decorated:
    """Add `--repository NAME`: then `open_workspace` returns the hub's copy of that repository."""
    about = "Ask the hub's copy of a repository (MDMEM_HUB_DSN)."
    return click.option("--repository", metavar="NAME", expose_value=False, callback=_remember_copy, help=about)(
        command
    )


def _remember_copy(context: click.Context, _: click.Parameter, name: str | None) -> None:
    context.meta[_COPY] = name


_COPY = "mdmem.copy"
AT_HELP = (
    "Read the files of a commit, branch or tag; or, with 2026-01-31, 2026-01-31T12:00Z, `yesterday` or `2 weeks ago`, "
    "what was binding then: the last commit by then on the default branch, a merge counting from its own day. A day "
    "lasts until its end in UTC, so that it means the same everywhere; a time without an offset is UTC. What is both "
    "is read as a branch or tag."
)


def format_option(*formats: str) -> Callable[[Decorated], Decorated]:
    """Add `--format`, the first one being the default."""
    return click.option("--format", "form", type=click.Choice(formats), default=formats[0], show_default=True)


def write_options(command: Decorated) -> Decorated:
    """Add `--dry-run`, `--commit` and `--format`."""
    for add in (
        format_option("text", "json"),
        click.option(
            "--commit/--no-commit", default=None, help="Commit what is written, and nothing else.  [default: settings]"
        ),
        click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing."),
    ):
        command = add(command)
    return command


def new_wing_options(command: Decorated) -> Decorated:
    """Add `--new-wing` and `--shared`."""
    for add in (
        click.option("--shared", is_flag=True, help="With --new-wing: other projects read it, too."),
        click.option("--new-wing", is_flag=True, help="The wing is not there yet: make it, with a manifest."),
    ):
        command = add(command)
    return command


def applies_to_option(command: Decorated) -> Decorated:
    """Add `--applies-to GLOB`, any number of times."""
    return click.option(
        "--applies-to",
        "applies_to",
        multiple=True,
        metavar="GLOB",
        shell_complete=complete_code_path,
        help="Files of code that it is about, from the repository's top, as `src/pay/**`; any number of times.",
    )(command)


def new_wing_from(options: dict[str, Any]) -> WingKind | None:
    """Take out of a command's options the kind of the wing that it may make; None for none."""
    from mdmem.model.entry import WingKind

    is_new, is_shared = options.pop("new_wing"), options.pop("shared")
    if is_shared and not is_new:
        raise click.UsageError("--shared says what --new-wing makes; give both, or neither")
    return (WingKind.SHARED if is_shared else WingKind.PROJECT) if is_new else None


def write_options_from(options: dict[str, Any]) -> WriteOptions:
    """Take the options of a write out of a command's options."""
    from mdmem.write.write import WriteOptions

    return WriteOptions(is_dry=bool(options.pop("dry_run")), commit=options.pop("commit"))


def open_workspace(given: Globals, *, revision: str | None = None, files: Sequence[str] = ()) -> Workspace:
    """Return the workspace of the root that the options, the working folder or files mean, at a revision or a date."""
    from mdmem.store.workspace.location import Snapshot, locate

    copied = click.get_current_context().meta.get(_COPY)
    if copied is not None:
        workspace = _open_copy(given, copied, revision)
    else:
        workspace = workspace_at(locate(given.root, os.environ, Path.cwd(), files), given, Snapshot()).as_of(revision)
    _opened[:] = [workspace]
    for remark in workspace.snapshot.remarks:
        given.remark(remark)
    return workspace


def _open_copy(given: Globals, name: str, revision: str | None) -> Workspace:
    """Return the hub's copy of a repository."""
    from mdmem.hub.connection import open_hub
    from mdmem.hub.copy import open_copy

    if revision is not None:
        raise click.UsageError("the hub has one commit of each repository; leave out --at, or --repository")
    progress = None if given.quiet else _Progress()
    with open_hub(os.environ.get("MDMEM_HUB_DSN"), os.environ.get("MDMEM_HUB_TOKEN")) as connection:
        return open_copy(connection, name, environment=os.environ, today=today(), progress=progress)


def workspace_at(location: Location, given: Globals, snapshot: Snapshot) -> Workspace:
    """Return the workspace of one root at one snapshot."""
    from mdmem.store.workspace.workspace import Workspace

    return Workspace(
        location=location,
        environment=os.environ,
        cwd=Path.cwd(),
        today=today(),
        snapshot=snapshot,
        progress=None if given.quiet else _Progress(),
    )


def today() -> date:
    """Return the day to judge by: `MDMEM_TODAY` (YYYY-MM-DD) where it is set, else the clock's."""
    stated = os.environ.get("MDMEM_TODAY")
    if not stated:
        return date.today()  # noqa: DTZ011  # the user's own day is meant
    try:
        return date.fromisoformat(stated)
    except ValueError as error:
        raise click.UsageError(f"MDMEM_TODAY is `{stated}`; write a day as YYYY-MM-DD") from error


class StepProgress:
    """Shows on a terminal how far what takes long has come, and takes that away at the end; elsewhere nothing."""

    _WORTH_SAYING = 500

    def __init__(self, doing: str = "checking {} files") -> None:
        """Start with nothing shown; `doing` has a place for the number of all."""
        self._doing = doing
        self._width = 0
        self._said = -1

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        percent = done * 100 // max(1, total)
        if total < self._WORTH_SAYING or percent == self._said or not sys.stderr.isatty():
            return
        self._said = percent
        said = f"{self._doing.format(total)}: {percent} %"
        self._width = max(self._width, len(said))
        _echo(f"\r{said}", err=True, nl=False)

    def clear(self) -> None:
        """Take away what was shown."""
        if self._width:
            _echo(f"\r{' ' * self._width}\r", err=True, nl=False)


class _Progress:
    """Shows on a terminal how far a long build has come; elsewhere it says once that one is under way."""

    _WORTH_SAYING = 500

    def __init__(self) -> None:
        self._said = 0

    def __call__(self, done: int, total: int) -> None:
        if total < self._WORTH_SAYING:
            return
        if not sys.stderr.isatty():
            if not self._said:
                say(f"indexing {total} entries, once")
            self._said = 1
            return
        percent = done * 100 // total
        if percent != self._said or done == total:
            self._said = percent
            # Nothing of a file is in it, and the carriage return is meant.
            _echo(f"\rindexing {total} entries, once: {percent} %", err=True, nl=done == total)


def _echo(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Print, or drop what nobody reads any more: what a command does, and its exit code, hang on no reader."""
    try:
        click.echo(text, err=err, nl=nl, color=color)
    except BrokenPipeError:
        drop_what_is_printed(sys.stderr if err else sys.stdout)


def drop_what_is_printed(stream: TextIO) -> None:
    """Let a stream whose reader has gone lead nowhere, with what it still holds: Python would complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # A stream that is no file leads nowhere else.
    with contextlib.suppress(OSError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_text(text: str, *, is_page: bool = False) -> None:
    """Print a result, if there is one, with every control character in it but the colours of our ink written out.

    A terminal gets what is meant for people broken at words, and page by page what is longer than its window.
    `is_page` says that it is Markdown of ours, in which tables and code stay as they are.
    """
    if not text:
        return
    if not sys.stdout.isatty():
        _echo(_sent(text))
        return
    from mdmem.render.ink import fitted, fitted_page

    window = shutil.get_terminal_size()
    context = click.get_current_context()
    is_prose = context.params.get("form", "text") in ("text", "concise", None)
    shown = _sent((fitted_page if is_page else fitted)(text, window.columns) if is_prose else text)
    is_long = shown.count("\n") >= window.lines - 1 and not context.obj.no_pager
    if is_long and sys.stdin.isatty() and os.environ.get("TERM") != "dumb":
        click.echo_via_pager(f"{shown}\n", color=context.color)
    else:
        _echo(shown)


def columns() -> int | None:
    """Return how wide the terminal is that a result goes to; None where it goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_patch(text: str) -> None:
    """Print a patch, if there is one: as it is for a program, and for a terminal as any other result."""
    from mdmem.render.ink import sent_as_is

    if text:
        _echo(_sent(text) if sys.stdout.isatty() else sent_as_is(text))


def print_and_end(context: click.Context, text: str) -> None:
    """Print what is of no file, as the help, and end the command."""
    _echo(text, color=context.color)
    context.exit()


def say(text: str) -> None:
    """Say something on stderr, with every control character in it written out."""
    _echo(_sent(text), err=True)


def is_confirmed(question: str) -> bool:
    """Ask on stderr and return the answer; the question is shown as all else that is said."""
    return click.confirm(_sent(question), err=True)


def _sent(text: str) -> str:
    # The help prints nothing of this, and does without.
    from mdmem.render.ink import sent

    return sent(text)


def print_written(given: Globals, workspace: Workspace, written: WriteResult, form: str) -> int:
    """Print what was written and return the exit code."""
    from mdmem.render.writes import written_json

    if form == "json":
        print_text(written_json(written))
        return 0
    print_text(text_of_written(given, workspace, written))
    for remark in written.remarks:
        given.remark(remark)
    is_open = workspace.location.repository is not None and written.commit is None and not written.is_dry
    if is_open and (remark := _to_commit(written)):
        given.remark(remark)
    if not written.changes:
        given.remark("nothing to change: the files say so already")
    return 0


def text_of_written(given: Globals, workspace: Workspace, written: WriteResult) -> str:
    """Return what was written, its files as git takes them where the user stands; of a dry run the diff."""
    from mdmem.render.writes import written_text
    from mdmem.store.workspace.addresses import from_here

    return written_text(written, given.ink(), show_path=from_here(workspace), under=workspace.location.under)


def _to_commit(written: WriteResult) -> str:
    """Return what to know where a commit of what git knows alone would break links, or lose what was moved."""
    if any(one.before is not None and one.path != one.to for one in written.changes):
        return "commit these files together, with `git add` of the new places: `git commit -a` alone loses them"
    is_half_known = len(written.changes) > 1 and any(one.before is None for one in written.changes)
    return "commit these files together: some name a file that git does not have yet" if is_half_known else ""
