"""Define the command line: import a command when it is called, and turn all errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

import click

from mdmem import __version__
from mdmem.cli.common import App, discard_output, named, print_text, say, shared_options
from mdmem.disk import count_written
from mdmem.errors import MdmemError, shown_message

# The commands by group; `mdmem guide commands` has the first paragraph of the help of each.
GROUPS = {
    "Start here": ("init", "status", "guide"),
    "Ask": ("retrieve", "search", "context", "show", "list", "why", "log"),
    "Write": ("new", "supersede", "approve", "doubt", "verify", "deprecate", "mv", "edit"),
    "Review": ("check", "diff", "resolve"),
    "Team": ("sync", "site", "hub", "hooks"),
    "Agents": ("save", "token"),
    "Exchange": ("import", "export"),
    "Upkeep": ("hygiene",),
}
# These commands are called by agents' clients, editors and git, as configured by `init` or `hooks install`.
PROGRAMS = ("mcp", "lsp", "brief", "hook-event", "merge-driver")
COMMANDS = (*(name for names in GROUPS.values() for name in names), *PROGRAMS)
# Old names of commands, with the new ones. The old names work until version 0.3.
_OLD_NAMES = {
    "audit": "status --audit",
    "fields": "guide fields",
    "index": "status --rebuild",
    "blame": "log --fields",
    "graph": "why --format svg",
    "review": "doubt",
    "pending retry": "save --retry",
    "pending drop": "save --drop",
    "pending": "save --waiting",
    "hub retrieve": "retrieve --repository",
    "hub list": "list --repository",
    "hub show": "show --repository",
    "hub why": "why --repository",
}
_PLACED = re.compile(r"[^\s:-][^\s:]*:[^\s/]+/[^\s/]+/[^\s/]+\Z")
# The help explains only these commands, since agents read it before anything else.
_FIRST = (
    ('mdmem retrieve -p FILE -p FILE "YOUR TASK"', "the rules before an edit"),
    ('mdmem retrieve --ask "ONE?" --ask "TWO?"', "many questions, one call"),
    ('mdmem show A B --about "FOR A" --about "FOR B"', "excerpts of entries"),
    ('mdmem new note "TITLE" --body "TEXT"', "what you learned"),
    ("mdmem init", "a memory for this repository"),
    ("mdmem check", "what is wrong with it"),
)
# The modules of commands. A command that is not listed is in the module of its own name.
_MODULES = {
    "start": ("init", "status", "guide", "sync", "hooks"),
    "ask": ("retrieve", "search", "show", "list"),
    "context": ("brief", "context"),
    "write": ("new", "supersede", "approve", "doubt", "verify", "deprecate", "mv", "edit"),
    "review": ("diff", "resolve", "hygiene", "why", "log"),
    "agents": ("save", "token"),
    "programs": ("mcp", "lsp", "hook-event", "merge-driver"),
    "exchange": ("import", "export", "site"),
}


def load_command(name: str) -> click.Command:
    """Import the module of a command and return the command."""
    home = next((module for module, names in _MODULES.items() if name in names), name)
    command: click.Command = getattr(import_module(f"mdmem.cli.{home}"), f"{name.replace('-', '_')}_command")
    return command


class _Commands(click.Group):
    """The group of all commands; the module of a command is imported when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Replace the old name of a command by the new one; if the name is unknown, fail and suggest a similar one."""
        for length in (2, 1):
            old = " ".join(args[:length])
            if old in _OLD_NAMES:
                new = _OLD_NAMES[old]
                if not ctx.resilient_parsing:
                    say(f"mdmem: `{old}` is now `mdmem {new}`; the old name ends with version 0.3")
                name, *more = new.split()
                rest = args[length:]
                if more == ["--repository"]:
                    # If the name of the repository is missing, this is an error, so that the local memory is not read.
                    is_named = any(one.partition("=")[0] == "--repository" for one in rest)
                    # `mdmem hub search` prints REPOSITORY:ADDRESS.
                    placed = {one.partition(":")[0] for one in rest if _PLACED.match(one)}
                    if len(placed) == 1 and not is_named:
                        (repository,) = placed
                        rest, more = [one.removeprefix(f"{repository}:") for one in rest], [*more, repository]
                    args = [name, *rest, *([] if is_named else more)]
                else:
                    args = [name, *more, *rest]
                break
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            close = get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean `mdmem {close[0]}`?" if close else "`mdmem --help` lists them"
            ctx.fail(f"there is no command `{args[0]}`; {hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Most used"):
            formatter.write_dl(_FIRST, col_max=60)
        with formatter.section("Commands (a sentence each: `mdmem guide commands`)"):
            for title, names in (*GROUPS.items(), ("For programs", PROGRAMS)):
                formatter.write_text(f"{title}: {', '.join(names)}")
        with formatter.section("Options"):
            formatter.write_text(" ".join(named(one) for one in self.get_params(ctx) if isinstance(one, click.Option)))


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  # called by click
    if not value or ctx.resilient_parsing:
        return
    if ctx.meta["mdmem.verbose"]:
        facts = import_module("mdmem.setup.installation").describe_installation()
        print_text("\n".join(f"{name}: {fact}" for name, fact in facts.items()))
    else:
        print_text(f"mdmem {__version__}")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--verbose",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update({"mdmem.verbose": value}),
    help="With --version: commit, extras, Python and system.",
)
@click.option("-V", "--version", is_flag=True, expose_value=False, callback=_print_version, help="Print the version.")
@shared_options()
def cli(_: App) -> None:
    """Memory for coding agents as Markdown in git: the rules that apply here, now, and why."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code; errors are printed without a traceback."""
    _open_closed_streams()
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        # Bytes of a file name that are not valid text are printed as escapes.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code: object = 0
    written = count_written()
    try:
        code = cli.main(args=list(arguments) or ["--help"], prog_name="mdmem", standalone_mode=False)
        sys.stdout.flush()
    except MdmemError as error:
        refused = _fail(shown_message(str(error), arguments), error.exit_code)
        for note in getattr(error, "__notes__", ()):
            say(note)
        return refused
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "mdmem"
        # click writes each choice of a missing argument on its own line.
        said = error.format_message().replace("Choose from:\n\t", "Choose from: ").replace(",\n\t", ", ")
        return _fail(shown_message(said, arguments), error.exit_code, path)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        discard_output(sys.stdout)
    except SystemExit as error:
        # click exits this way after a completion. It also does so if the reader closed the pipe, and replaces stdout.
        return int(error.code or 0) if sys.stdout is stdout else 0
    except OSError as error:
        if error.filename is None:
            # An error without a file name means that printing failed. Python would try to print again when it exits.
            discard_output(sys.stdout)
            if written.count:
                is_ = f" and {written.count - 1} more are" if written.count > 1 else " is"
                lost = f"written, but the answer cannot be printed: {error.strerror or error}"
                return _fail(f"{os.path.relpath(written.first)}{is_} {lost}", 5)
        where = f" {error.filename}" if error.filename else ""
        return _fail(shown_message(f"the system refuses{where}: {error.strerror or error}", arguments), 3)
    except Exception as error:  # noqa: BLE001  # a bug of mdmem must not look like a mistake of the user
        if os.environ.get("MDMEM_DEBUG"):
            say("".join(traceback.format_exception(error)).rstrip())
        fault = f"a fault of mdmem itself ({type(error).__name__}: {error})"
        return _fail(shown_message(f"{fault}; set MDMEM_DEBUG=1 for the traceback, and report it", arguments), 3)
    return code if isinstance(code, int) else 0


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, since the next opened file would get their descriptor."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            # `os.open` returns the lowest free descriptor, which is that of the closed stream.
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _fail(sentence: str, code: int, command: str = "mdmem") -> int:
    try:
        say(f"{command}: {sentence}")
    except OSError:
        # The message cannot be printed. The exit code still reports the failure.
        discard_output(sys.stderr)
    return code
