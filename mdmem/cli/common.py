"""Share between commands: common options, opening a workspace, and printing."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from msgspec import Struct
from msgspec.structs import replace

from mdmem.cli import completion as complete
from mdmem.errors import MdmemError
from mdmem.model.entry import EntryType, Status, WingKind
from mdmem.model.text import shell_word
from mdmem.render.text import Style, dump, printable, with_colors

if TYPE_CHECKING:
    from mdmem.store.state.local_records import Sessions
    from mdmem.store.workspace.location import Location, Snapshot
    from mdmem.store.workspace.workspace import Workspace
    from mdmem.write.write import WriteResult

Decorated = Callable[..., Any]


class App(Struct, frozen=True):
    """The global options of a call. Its methods open the memory and print results according to these options."""

    root: str | None = None
    quiet: bool = False
    color: str = "auto"
    no_pager: bool = False
    form: str = "text"
    revision: str | None = None
    repository: str | None = None

    @property
    def style(self) -> Style:
        """Return how to print a result; it has colours if the user asked for them, or if stdout is a terminal."""
        can_color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        color, is_markdown = self.color == "always" or (self.color == "auto" and can_color), self.form == "markdown"
        program = "mdmem" if self.root is None else f"mdmem --root {shell_word(self.root)}"
        return Style(color=color and not is_markdown, is_markdown=is_markdown, program=program)

    def remark(self, *texts: str) -> None:
        """Print remarks on stderr, unless `--quiet` was given."""
        for text in texts if not self.quiet else ():
            say(self.style.typed(text))

    def print_result(self, content: Mapping[str, Any], text: str) -> None:
        """Print `content` as JSON if the format is `json`, otherwise `text`."""
        print_text(dump(content) if self.form == "json" else text)

    def print_written(self, workspace: Workspace, written: WriteResult) -> None:
        """Print the result of a write, and what to do about it in git."""
        from mdmem.render.writes import written_json

        self.print_result(written_json(written), self.text_of_written(workspace, written))
        if self.form == "json":
            return
        self.remark(*written.remarks)
        if workspace.location.repository is not None and written.commit is None and not written.is_dry:
            is_moved = any(one.before is not None and one.path != one.to for one in written.changes)
            if is_moved or (len(written.changes) > 1 and any(one.before is None for one in written.changes)):
                self.remark("commit these files together, with `git add` first: `git commit -a` omits the new ones")
        if not written.changes:
            self.remark("nothing to change: the files already have this content")

    def text_of_written(self, workspace: Workspace, written: WriteResult) -> str:
        """Return the changes of a write with paths from the working directory; for a dry run, return the diff."""
        from mdmem.render.writes import written_text
        from mdmem.store.workspace.addresses import from_here

        return written_text(written, self.style, show_path=from_here(workspace), under=workspace.location.under)

    def open(self, files: Sequence[str] = ()) -> Workspace:
        """Return the workspace of the memory root, or of the hub's copy of a repository, and print its remarks.

        With `--at`, the workspace has the files of that commit. Raises UsageError if `--at` is given for a hub.
        """
        from mdmem.store.workspace.location import Snapshot, locate

        if self.repository is None:
            location = locate(self.root, os.environ, Path.cwd(), files)
            workspace = self.workspace_at(location, Snapshot()).as_of(self.revision)
        else:
            from mdmem.hub.connection import open_hub
            from mdmem.hub.copy import open_copy

            if self.revision is not None:
                raise click.UsageError("the hub has one commit of each repository; leave out --at, or --repository")
            environment, progress = os.environ, self._index_progress()
            with open_hub(os.environ.get("MDMEM_HUB_DSN"), os.environ.get("MDMEM_HUB_TOKEN")) as hub:
                workspace = open_copy(hub, self.repository, environment=environment, today=today(), progress=progress)
        self.remark(*workspace.snapshot.remarks)
        return workspace

    def workspace_at(self, location: Location, snapshot: Snapshot) -> Workspace:
        """Return the workspace of a root; the snapshot says whether to read files, git's index or a commit."""
        from mdmem.store.workspace.workspace import Workspace

        return Workspace(
            location=replace(location, typed=f"{self.style.program} {{}}"),
            environment=os.environ,
            cwd=Path.cwd(),
            today=today(),
            snapshot=snapshot,
            progress=self._index_progress(),
        )

    def _index_progress(self) -> Progress | None:
        return None if self.quiet else Progress("indexing {} entries, once", is_announced=True)


def shared_options(*formats: str, at: bool = False, repository: bool = False) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds options of `App` to a command, which gets them as its first argument.

    `--format` is added if there are `formats`, of which the first is the default. A global option after the command's
    name replaces one before it.
    """
    taken = ["root", "quiet", "color", "no_pager"]
    added = [
        click.option("--root", metavar="DIR", shell_complete=complete.folder, help="The folder of mdmem.toml."),
        click.option("--quiet", "-q", is_flag=True, help="Print no remarks on stderr."),
        click.option("--no-pager", is_flag=True, help="Do not use the pager (PAGER)."),
        click.option("--color", type=click.Choice(["auto", "always", "never"]), help="Use colours; see NO_COLOR."),
    ]
    if formats:
        taken.append("form")
        choices = click.Choice(formats)
        added.insert(0, click.option("--format", "form", type=choices, default=formats[0], show_default=True))
    if at:
        taken.append("revision")
        added.insert(0, click.option("--at", "revision", metavar="REV|DATE", help=AT_HELP))
    if repository:
        taken.append("repository")
        about = "Ask the hub's copy of a repository (MDMEM_HUB_DSN)."
        added.insert(0, click.option("--repository", metavar="NAME", help=about))

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def with_globals(**options: Any) -> Any:
            context = click.get_current_context()
            outer = (context.parent and context.parent.obj) or App()
            app = App(**{name: options.pop(name) or getattr(outer, name) for name in taken})
            context.obj = app
            # If stdout is not a terminal, click removes colours unless its context says otherwise.
            context.color = {"always": True, "never": False}.get(app.color)
            try:
                return command(app, **options)
            except MdmemError as error:
                error.args = (app.style.typed(str(error)),)
                error.__notes__ = [app.style.typed(note) for note in getattr(error, "__notes__", ())]
                raise

        return with_options(with_globals, *added)

    return decorate


AT_HELP = "Read a commit, branch or tag, or the memory of a day such as 2026-01-31 (`mdmem guide asking`)."


def with_options(command: Decorated, *decorators: Decorated) -> Decorated:
    """Apply the decorators of several options, so that the help lists the options in this order."""
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


class ShortHelp(click.Command):
    """A command with a short help for agents: it explains the most used options and only lists the others."""

    def __init__(self, *arguments: Any, everyday: tuple[str, ...] = (), page: str = "asking", **options: Any) -> None:
        """Store the names of the options to explain (`everyday`), and the guide's page about the other options."""
        super().__init__(*arguments, **options)
        self._everyday, self._page = everyday, page

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday options with their explanations, and the others as one paragraph of names."""
        by_name = {one.name: one for one in self.get_params(ctx) if isinstance(one, click.Option)}
        records = [by_name[name].get_help_record(ctx) for name in self._everyday]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        with formatter.section(f"Other options (`mdmem guide {self._page}`)"):
            formatter.write_text(" ".join(named(one) for name, one in by_name.items() if name not in self._everyday))


def named(option: click.Option) -> str:
    """Return an option as it is typed, with the name or the choices of its argument."""
    longest = max((*option.opts, *option.secondary_opts), key=len)
    choices = "|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.metavar
    return longest if option.is_flag or not choices else f"{longest} {choices}"


def write_options(command: Decorated) -> Decorated:
    """Add `--dry-run` and `--commit`, which the command gets as `mode`, and the options of `shared_options`."""

    @wraps(command)
    def with_write_options(*arguments: Any, dry_run: bool, commit: bool | None, **options: Any) -> Any:
        from mdmem.write.write import WriteOptions

        return command(*arguments, mode=WriteOptions(is_dry=dry_run, commit=commit), **options)

    return with_options(
        shared_options("text", "json")(with_write_options),
        click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing."),
        click.option("--commit/--no-commit", default=None, help="Commit the written files.  [default: settings]"),
    )


def new_wing_options(command: Decorated) -> Decorated:
    """Add `--new-wing` and `--shared`; the command gets the kind of the new wing as `wing`, or None for no new wing."""

    @wraps(command)
    def with_wing(*, new_wing: bool, shared: bool, **options: Any) -> Any:
        if shared and not new_wing:
            raise click.UsageError("--shared needs --new-wing")
        kind = WingKind.SHARED if shared else WingKind.PROJECT
        return command(wing=kind if new_wing else None, **options)

    return with_options(
        with_wing,
        click.option("--new-wing", is_flag=True, help="Create the wing, with a manifest."),
        click.option("--shared", is_flag=True, help="With --new-wing: other projects read it, too."),
    )


# Options that several commands have, each with its own help.
FILES: dict[str, Any] = {"multiple": True, "metavar": "FILE", "shell_complete": complete.file}
WINGS: dict[str, Any] = {"multiple": True, "metavar": "WING", "shell_complete": complete.wing}
_APPLIES_TO = "Code that the entry applies to, from the top of the repository, as `src/pay/**`; repeatable."
applies_to_option = click.option("--applies-to", **{**FILES, "metavar": "GLOB"}, help=_APPLIES_TO)


def filter_options(command: Decorated) -> Decorated:
    """Add the options that filter entries by wing, room, type, status, and so on; the command gets `filters`."""

    @wraps(command)
    def with_filters(**options: Any) -> Any:
        from mdmem.store.workspace.scope import Filters

        found: dict[str, Any] = {name: split_values(options.pop(name)) for name in _LISTS}
        found["types"] = tuple(_member(EntryType, "type", value) for value in found["types"])
        found["statuses"] = tuple(_member(Status, "status", value) for value in found["statuses"])
        found |= {name: options.pop(name) for name in ("all_wings", "include_deprecated", "include_drafts")}
        return command(filters=Filters(**found), **options)

    return with_options(with_filters, *_FILTERS)


_LISTS = ("wings", "rooms", "types", "statuses", "labels", "tags", "focuses", "owners")
_FILTERS = (
    *(
        click.option(*names, multiple=True, metavar=names[0][2:].upper(), shell_complete=complete, help=about)
        for names, complete, about in (
            (("--wing", "-w", "wings"), complete.wing, "Wings; the first is active."),
            (("--room", "-r", "rooms"), complete.room, "Rooms."),
            (("--type", "-t", "types"), complete.type_, "invariant, decision, pattern, note."),
            (("--status", "-s", "statuses"), complete.status, "draft, active, under_review, deprecated."),
            (("--label", "labels"), None, "Labels."),
            (("--tag", "tags"), None, "Tags."),
            (("--focus", "focuses"), None, "Focus areas."),
            (("--owner", "owners"), None, "Owners."),
        )
    ),
    click.option("--all-wings", is_flag=True, help="Read every wing."),
    click.option("--include-deprecated", is_flag=True, help="Show deprecated entries, too."),
    click.option("--include-drafts", is_flag=True, help="Show drafts, too."),
)


def split_values(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values of a repeated option without duplicates, and split values that contain commas."""
    parts = (part.strip() for value in values for part in value.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def _member(closed_set: Any, name: str, value: str) -> Any:
    from mdmem.store.workspace.scope import unknown_name

    allowed = [member.value for member in closed_set]
    folded = value.casefold().replace("-", "_")
    if folded not in allowed:
        raise click.UsageError(unknown_name(name, value, allowed))
    return closed_set(folded)


def require_extra(extra: str, *modules: str) -> None:
    """Raise UsageError with the command that installs an extra if one of its modules is missing."""
    from mdmem.setup.installation import this_installation

    if any(find_spec(one) is None for one in modules):
        raise click.UsageError(f"this needs the extra `{extra}`; type `{this_installation().line_for(extra)}`")


def today() -> date:
    """Return today's date, or the date in the variable `MDMEM_TODAY`; raises UsageError if that is not YYYY-MM-DD."""
    stated = os.environ.get("MDMEM_TODAY")
    if not stated:
        return date.today()  # noqa: DTZ011  # the user's own day is meant
    try:
        return date.fromisoformat(stated)
    except ValueError as error:
        raise click.UsageError(f"MDMEM_TODAY is `{stated}`; write a day as YYYY-MM-DD") from error


class Progress:
    """A progress bar on a terminal. Elsewhere nothing is printed, or only the label, once, with `is_announced`."""

    _MIN_TOTAL = 500

    def __init__(self, doing: str, *, is_announced: bool = False) -> None:
        """Store the label (`doing`), in which `{}` stands for the total."""
        self._doing, self._is_announced = doing, is_announced
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Update the bar; there is none for a small total."""
        if total < self._MIN_TOTAL or not (self._is_announced or sys.stderr.isatty()):
            return
        if self._bar is None:
            self._bar = click.progressbar(length=total, label=self._doing.format(total), file=sys.stderr)
            # This also shows the cursor again if the command is interrupted.
            click.get_current_context().call_on_close(self.close)
        # The number of files is known only roughly before they are read.
        self._bar.length = total
        self._bar.update(done - self._bar.pos)
        if done == total:
            self.close()

    def close(self) -> None:
        """Finish the bar, and end its line."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.render_finish()


def _echo(text: str, *, err: bool = False) -> None:
    """Print a text; if the reader has closed the pipe, discard further output without an error."""
    try:
        click.echo(text, err=err)
    except BrokenPipeError:
        discard_output(sys.stderr if err else sys.stdout)


def discard_output(stream: TextIO) -> None:
    """Redirect a stream to the null device after its reader closed it, so that Python's flush at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # A stream that is not a file has no file descriptor.
    with contextlib.suppress(OSError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_text(text: str) -> None:
    """Print a text, unless it is empty; escape control characters, but keep the colours of mdmem.

    On a terminal, a text that is longer than the window is shown in the pager.
    """
    if not text:
        return
    shown, context = printable(text), click.get_current_context()
    is_long = sys.stdout.isatty() and shown.count("\n") >= shutil.get_terminal_size().lines - 1
    if is_long and not context.obj.no_pager and sys.stdin.isatty() and os.environ.get("TERM") != "dumb":
        click.echo_via_pager(f"{shown}\n", color=context.color)
    else:
        _echo(shown)


def print_patch(text: str) -> None:
    """Print a patch, unless it is empty; control characters are escaped only on a terminal, not for a program."""
    if text:
        _echo(printable(text) if sys.stdout.isatty() else with_colors(text))


def say(text: str) -> None:
    """Print a text on stderr, with control characters escaped."""
    _echo(printable(text), err=True)


def is_confirmed(question: str) -> bool:
    """Ask a yes-or-no question on stderr, and return whether the answer is yes."""
    return click.confirm(printable(question), err=True)


class CallerSession(Struct):
    """The session named by `--session` and restarted by `--fresh`; it remembers the shown entries if it has a name."""

    name: str | None
    is_fresh: bool
    sessions: Sessions | None = None

    def shown(self, workspace: Workspace) -> Mapping[str, str]:
        """Return a hash of each entry that the session has already seen, by address; none with `--fresh`."""
        if self.name is None:
            return {}
        from mdmem.store.state.local_records import Sessions

        self.sessions = Sessions(workspace.state_folder)
        if self.is_fresh:
            self.sessions.forget(self.name)
        return self.sessions.shown(self.name, datetime.now(UTC))

    def record(self, get_shown: Callable[[], Mapping[str, str]]) -> None:
        """Record the entries that an answer shows; call this after the answer was printed."""
        if self.name is not None and self.sessions is not None:
            self.sessions.record(self.name, get_shown(), datetime.now(UTC))


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--session` and `--fresh`, which the command gets as `session`."""

    @wraps(command)
    def with_session(*, session: str | None, fresh: bool, **options: Any) -> Any:
        return command(session=CallerSession(session, fresh), **options)

    return with_options(
        with_session,
        click.option("--session", metavar="ID", help="Do not repeat the texts that session ID has seen."),
        click.option("--fresh", is_flag=True, help="Forget what the session has seen."),
    )
