"""The group of commands, loaded when they are called, and the one boundary that turns errors into exit codes."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click

from mdmem import __version__
from mdmem.cli.common import Globals, drop_what_is_printed, global_options, print_and_end, say
from mdmem.cli.short_help import WithHelp, named
from mdmem.disk import Written, count_written
from mdmem.errors import AnswerLostError, MdmemError, shown_message

# The names of the help and the sentences of the guide, here so that the help imports none of the commands.
GROUPS = {
    "Start here": {
        "init": "Start a memory: settings, a first wing, the hook, AGENTS.md.",
        "status": "Show where the memory is, what it holds, and how it stands.",
        "guide": "Print a page of the guide, or list its topics.",
    },
    "Ask": {
        "retrieve": "Answer what is binding here, now, in order, within a budget.",
        "brief": "Say in a few lines what binds the files at hand.",
        "search": "Find entries by words; what was superseded yields its heads.",
        "context": "Compile what matters for a goal: a set to start work from.",
        "show": "Show entries in full.",
        "list": "List entries, narrowed by filters.",
        "why": "Show how an entry came to bind or was replaced.",
        "log": "Show the last changes, or the history of one entry.",
    },
    "Write": {
        "new": "Write a new entry from the template of its type.",
        "supersede": "Replace an entry by another one, new or existing.",
        "approve": "Make drafts active, and deprecate what they supersede.",
        "doubt": "Put an entry under review, or end the review.",
        "verify": "Confirm that entries are still right.",
        "deprecate": "Deprecate an entry that nothing replaces.",
        "mv": "Move an entry, a room or a wing, and every link to it.",
        "edit": "Change an entry in the editor.",
    },
    "Review": {
        "check": "Check every file and every link of the memory.",
        "diff": "Show what a change does to what is believed.",
        "resolve": "Show what a merge left to be decided; or decide it.",
    },
    "Team": {
        "sync": "Pull with rebase, check, push; fetch wings from elsewhere.",
        "site": "Show the memory as pages: a folder for any browser.",
        "hub": "Ask all memories of an organisation: their copy on PostgreSQL.",
        "hooks": "Guard commits, merges and pushes by git's own hooks.",
    },
    "Agents and editors": {
        "mcp": "Serve the memory over the Model Context Protocol.",
        "lsp": "Serve the memory to a text editor.",
        "save": "Save an agent's record from JSON, compared first; list those that wait.",
        "token": "Give tokens: for one write to a shared wing, for clients.",
    },
    "Exchange": {
        "import": "Take in the records and instructions a project has.",
        "export": "Write the memory as other tools read it: MADR, AGENTS.md, …",
    },
    "Upkeep": {
        "hygiene": "Show what needs maintenance: duplicates, what is old.",
    },
    "Plumbing": {
        "hook-event": "Answer a client's hook; `init --hooks` sets it up.",
        "merge-driver": "Merge an entry for git; `hooks install` sets it up.",
    },
}
COMMANDS = {name: sentence for group in GROUPS.values() for name, sentence in group.items()}
# Commands that moved: the old names work for one version.
_FORMER = {
    "audit": "status --audit",
    "fields": "guide fields",
    "index": "status --rebuild",
    "blame": "log --fields",
    "graph": "why --format svg",
    "review": "doubt",
    "pending": "save --waiting",
}
# What agents and newcomers need; of the rest the names will do, since this is read before anything else.
_FIRST = (
    ('mdmem retrieve -p FILE -p FILE "YOUR TASK"', "what binds before an edit"),
    ('mdmem retrieve --ask "ONE?" --ask "TWO?"', "many questions, one call"),
    ('mdmem show A B --about "FOR A" --about "FOR B"', "passages of entries"),
    ('mdmem new note "TITLE" --body "TEXT"', "what you learned"),
    ("mdmem init", "a memory for this repository"),
    ("mdmem check", "what is wrong with it"),
)


# The module of each command; those that are not named here have a module of their own.
_MODULES = {
    "start": ("init", "status", "guide", "audit", "fields", "index"),
    "ask": ("retrieve", "brief", "search", "context", "show", "list"),
    "history": ("why", "log", "graph", "blame"),
    "write": ("new", "supersede", "approve", "doubt", "verify", "deprecate", "mv", "edit"),
    "review": ("diff", "resolve", "hygiene"),
    "team": ("sync", "hooks"),
    "agents": ("save", "token", "pending"),
    "server": ("mcp", "lsp"),
    "exchange": ("import", "export"),
    "plumbing": ("hook-event", "merge-driver"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def load_command(name: str) -> click.Command:
    """Import the module of a command and return the command."""
    module = import_module(f"mdmem.cli.{_HOMES.get(name, name)}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    return command


class LazyGroup(WithHelp, click.Group):
    """Imports a command's module only when that command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None where the table has none."""
        if cmd_name in _FORMER:
            if not ctx.resilient_parsing:
                say(f"mdmem: `{cmd_name}` is now `mdmem {_FORMER[cmd_name]}`; the old name ends with the next version")
            return load_command("doubt" if cmd_name == "review" else cmd_name)
        if cmd_name not in COMMANDS:
            return None
        return load_command(cmd_name)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines that most need, then the names of the commands, group by group, and of the options."""
        with formatter.section("Most need"):
            formatter.write_dl(_FIRST, col_max=60)
        with formatter.section("Commands (a sentence each: `mdmem guide commands`)"):
            for title, rows in GROUPS.items():
                formatter.write_text(f"{title}: {', '.join(rows)}")
        with formatter.section("Options"):
            formatter.write_text(" ".join(named(one) for one in self.get_params(ctx) if isinstance(one, click.Option)))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of the name."""
        if args and args[0] not in COMMANDS and args[0] not in _FORMER and not args[0].startswith("-"):
            ctx.fail(f"there is no command `{args[0]}`{_nearest(args[0])}")
        return super().resolve_command(ctx, args)


# What other tools call it.
_ELSEWHERE = {
    "help": "--help",
    "add": "new",
    "adr": "new decision",
    "create": "new",
    "note": "new note",
    "ask": "retrieve",
    "find": "search",
    "grep": "search",
    "get": "show",
    "cat": "show",
    "ls": "list",
    "rm": "deprecate",
    "remove": "deprecate",
    "move": "mv",
    "rename": "mv",
    "replace": "supersede",
    "accept": "approve",
    "lint": "check",
    "validate": "check",
    "history": "log",
    "serve": "mcp",
    "schema": "guide fields",
}


def _nearest(name: str) -> str:
    close = [_ELSEWHERE[name]] if name in _ELSEWHERE else difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean `mdmem {close[0]}`?" if close else "; `mdmem --help` lists them"


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  # as click calls it
    if value and not context.resilient_parsing:
        print_and_end(context, f"mdmem {__version__}")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@global_options
def cli(_: Globals) -> None:
    """Typed, scoped, reviewed memory as Markdown in git: what is binding here, now, and why."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code; nobody sees a traceback."""
    _open_closed_streams()
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        # File names may hold bytes that are no text; they are shown escaped instead of ending the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code: object = 0
    written = count_written()
    try:
        code = cli.main(args=list(arguments) or ["--help"], prog_name="mdmem", standalone_mode=False)
        sys.stdout.flush()
    except MdmemError as error:
        refused = _fail(shown_message(str(error), arguments), error.exit_code)
        # What somebody may do about it, below the sentence.
        for note in getattr(error, "__notes__", ()):
            say(note)
        return refused
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        return _fail(
            shown_message(_with_usage(error), arguments),
            error.exit_code,
            context.command_path if context else "mdmem",
        )
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        drop_what_is_printed(sys.stdout)
    except SystemExit as error:
        # click leaves this way after a completion, and when the reader has gone: then it has replaced the stream.
        return int(error.code or 0) if sys.stdout is stdout else 0
    except OSError as error:
        if error.filename is None:
            # Printing is what fails without a file; Python would try it once more as it ends, with a code of its own.
            drop_what_is_printed(sys.stdout)
            if written.count:
                return _fail(_unprinted(written, error), AnswerLostError.exit_code)
        where = f" {error.filename}" if error.filename else ""
        return _fail(shown_message(f"the system refuses{where}: {error.strerror or error}", arguments), 3)
    except Exception as error:  # noqa: BLE001  # the boundary: a fault of ours must not look like the user's
        return _fault(error, arguments)
    return code if isinstance(code, int) else 0


def _unprinted(written: Written, error: OSError) -> str:
    more = f" and {written.count - 1} more" if written.count > 1 else ""
    is_, reason = "are" if more else "is", error.strerror or error
    return f"{os.path.relpath(written.first)}{more} {is_} written, but the answer cannot be printed: {reason}"


def _with_usage(error: click.ClickException) -> str:
    """Return what click says, and what to type where an argument is missing or is one too many."""
    said, context = error.format_message(), getattr(error, "ctx", None)
    is_extra = "unexpected extra argument" in said
    if context is None or not (isinstance(error, click.MissingParameter) or is_extra):
        return said
    options = [one for one in context.command.params if isinstance(one, click.Option)]
    # A path too many is most often the place to write to, and words too many are a title.
    needed = [one for one in options if one.required or (is_extra and {"--out", "--title"}.intersection(one.opts))]
    stated = [f"{one.opts[0]} {one.make_metavar(context)}" for one in needed]
    line = " ".join([context.command_path, *context.command.collect_usage_pieces(context)[1:], *stated])
    return f"{said.rstrip('.')}; type `{line}`, and `{context.command_path} --help` tells the rest"


def _open_closed_streams() -> None:
    """Let what a caller closed be nothing: the next file opened would take its number, and be printed into."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free is the one of the stream.
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _fail(sentence: str, code: int, command: str = "mdmem") -> int:
    try:
        say(f"{command}: {sentence}")
    except OSError:
        # Where nothing can be printed at all, the exit code still tells.
        drop_what_is_printed(sys.stderr)
    return code


def _fault(error: Exception, arguments: Sequence[str]) -> int:
    if os.environ.get("MDMEM_DEBUG"):
        say("".join(traceback.format_exception(error)).rstrip())
    sentence = (
        f"a fault of mdmem itself ({type(error).__name__}: {error}); set MDMEM_DEBUG=1 for the traceback, and report it"
    )
    return _fail(shown_message(sentence, arguments), 3)
