"""`mdmem hub`: the organisation's copy of many memories, on PostgreSQL; each of its commands is a module of its own."""

from __future__ import annotations

import difflib
from importlib import import_module

import click

from mdmem.cli.common import Globals, global_options

# One line a command, its sentence in the help, so that the help imports none of them.
COMMANDS = {
    "init": "Make the hub's tables in a database, or bring them up to date.",
    "push": "Send what a commit of this memory changed.",
    "search": "Find entries of all repositories by words.",
    "retrieve": "Answer what binds, in one repository or in all.",
    "list": "List entries, narrowed by filters.",
    "show": "Show entries in full.",
    "why": "Show how an entry came to bind or was replaced.",
    "who": "Show who answers for an entry, and what depends on it.",
    "status": "List the repositories: which commit of each, and how old.",
    "verify": "Compare what the hub has of this memory with its commit.",
    "rebuild": "Send all of this memory anew, in place of what the hub has.",
    "rename": "Give a repository another name; the old one goes on working.",
    "forget": "Drop what the hub has of a repository.",
    "grant": "Let a token or a database role see repositories, or wings.",
    "revoke": "Take back what a token or a role was granted.",
    "grants": "List who sees and who pushes what.",
    "token": "Make a token, print it once; replace it, or end it.",
}


class _LazyGroup(click.Group):
    """Imports a command's module only when that command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # click's names
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # A module is named by what it shows.
        name = "owners" if cmd_name == "who" else cmd_name
        command: click.Command = import_module(f"mdmem.cli.hub_{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:  # the sentence of `mdmem` itself
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command `hub {args[0]}`{_nearest(args[0])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


# What somebody may call it, who thinks of the database.
_ELSEWHERE = {"drop": "forget", "delete": "forget", "remove": "forget", "rm": "forget", "ls": "list", "mv": "rename"}
_ELSEWHERE |= {"sync": "push", "check": "verify", "migrate": "init", "create": "init", "get": "show", "find": "search"}


def _nearest(name: str) -> str:
    close = [_ELSEWHERE[name]] if name in _ELSEWHERE else difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean `mdmem hub {close[0]}`?" if close else "; `mdmem hub --help` lists them"


@click.group("hub", cls=_LazyGroup)
@global_options
def hub_command(_: Globals) -> None:
    """Ask all memories of an organisation at once: their copy on PostgreSQL, which git can always make again."""
