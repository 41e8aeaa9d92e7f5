"""The group of commands, loaded when they are called, and the one boundary that turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from mdmem import __version__
from mdmem.cli.common import Globals, global_options, say
from mdmem.errors import MdmemError, told

# One line a command: its module and its sentence in the help, so that the help imports none of them.
COMMANDS = {
    "init": ("init", "Start a memory: settings, a first wing, the hook, a line in AGENTS.md."),
    "status": ("status", "Show where the memory is, what it holds, and how its index and findings stand."),
    "new": ("new", "Write a new entry from the template of its type."),
    "save": ("save", "Save what an agent hands over as JSON, compared with what is there."),
    "show": ("show", "Show entries in full."),
    "list": ("list", "List entries, narrowed by filters."),
    "search": ("search", "Find entries by words; superseded ones yield what replaced them."),
    "retrieve": ("retrieve", "Answer what is binding here, now, in order, within a budget."),
    "context": ("context", "Compile what matters for a goal, in facets: a working set to start from."),
    "supersede": ("supersede", "Put an entry, new or there already, in the place of another."),
    "approve": ("approve", "Put a draft in force, and end what it supersedes."),
    "review": ("review", "Put an entry under review, or end the review."),
    "verify": ("verify", "Say of entries that they still hold."),
    "deprecate": ("deprecate", "End an entry that nothing replaces."),
    "mv": ("mv", "Move an entry, a room or a wing, with every link to it."),
    "edit": ("edit", "Change an entry in the editor."),
    "why": ("why", "Show how an entry came to bind or was replaced."),
    "log": ("log", "Show the history of an entry, through its moves."),
    "blame": ("blame", "Show who last set each field of an entry, and when."),
    "fields": ("fields", "List the fields of a front matter, or show one with its example."),
    "check": ("check", "Check every file and every link of the memory."),
    "diff": ("diff", "Show what a change does to what is believed, and what merging it would do."),
    "hygiene": ("hygiene", "Show what needs maintenance: duplicates, what is old, what the code has outgrown."),
    "index": ("index", "Bring the full-text index up to date, or build it anew."),
    "sync": ("sync", "Pull with rebase, check the result, push; fetch the wings of other repositories."),
    "pending": ("pending", "List the writes that failed on the way; try them again, or give one up."),
    "token": ("token", "Get a one-time token for a write to a shared wing."),
    "hooks": ("hooks", "Guard commits, merges and pushes by git's own hooks, where no framework does."),
    "resolve": ("resolve", "Show what a merge left to be decided, with the choices; or decide it."),
    "merge-driver": ("merge_driver", "Merge an entry for git, key by key; `hooks install` sets it up."),
    "mcp": ("mcp", "Serve the memory to agents over the Model Context Protocol."),
}


class LazyGroup(click.Group):
    """Imports a command's module only when that command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None where the table has none."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"mdmem.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table into the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of the name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else "; `mdmem --help` lists them"
            ctx.fail(f"there is no command `{args[0]}`{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="mdmem", message="%(prog)s %(version)s")
@global_options
def cli(_: Globals) -> None:
    """Typed, scoped, reviewed memory as Markdown in git: what is binding here, now, and why."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code; nobody sees a traceback."""
    stdout = sys.stdout
    for stream in (stdout, sys.stderr):
        # File names may hold bytes that are no text; they are shown escaped instead of ending the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=list(arguments) or ["--help"], prog_name="mdmem", standalone_mode=False)
        sys.stdout.flush()
    except MdmemError as error:
        code = _fail(told(str(error), arguments), error.exit_code)
        # What somebody may do about it, below the sentence.
        for note in getattr(error, "__notes__", ()):
            say(note)
        return code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        return _fail(
            told(error.format_message(), arguments), error.exit_code, context.command_path if context else "mdmem"
        )
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # The reader has gone; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as error:
        # click leaves this way after a completion, and when the reader has gone: then it has replaced the stream.
        return int(error.code or 0) if sys.stdout is stdout else 0
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        return _fail(told(f"the system refuses{where}: {error.strerror or error}", arguments), 3)
    except Exception as error:  # noqa: BLE001  # the boundary: a fault of ours must not look like the user's
        return _fault(error, arguments)
    return code if isinstance(code, int) else 0


def _fail(sentence: str, code: int, command: str = "mdmem") -> int:
    say(f"{command}: {sentence}")
    return code


def _fault(error: Exception, arguments: Sequence[str]) -> int:
    if os.environ.get("MDMEM_DEBUG"):
        import traceback

        say("".join(traceback.format_exception(error)).rstrip())
    sentence = (
        f"a fault of mdmem itself ({type(error).__name__}: {error}); set MDMEM_DEBUG=1 for the traceback, and report it"
    )
    return _fail(told(sentence, arguments), 3)
