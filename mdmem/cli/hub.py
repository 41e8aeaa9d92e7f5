"""`mdmem hub`: the organisation's copy of many memories, on PostgreSQL."""

from __future__ import annotations

import difflib
import os

import click

from mdmem.cli import hub_ask
from mdmem.cli.common import Globals, format_option, global_options, open_workspace, print_text
from mdmem.cli.hub_common import INCOMPLETE, commit_options, dsn_option, open_hub, repository_option
from mdmem.hub.connection import init
from mdmem.hub.permissions import add_token, drop_token, grant, grants, revoke, rotate_token
from mdmem.hub.push import PushRequest, push
from mdmem.hub.repositories import forget, rename
from mdmem.hub.verify import status, verify
from mdmem.render.hub import (
    forget_json,
    forget_text,
    grants_json,
    grants_text,
    kept_remarks,
    new_token_json,
    new_token_text,
    push_json,
    push_text,
    rename_json,
    rename_text,
    schema_json,
    schema_text,
    status_json,
    status_text,
    verify_json,
    verify_text,
)

# One line a command: its sentence in the help.
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


class _Group(click.Group):
    """Commands in the order of the table, and a suggestion for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # click's names
        return list(COMMANDS)

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


@click.group("hub", cls=_Group)
@global_options
def hub_command(_: Globals) -> None:
    """Ask all memories of an organisation at once: their copy on PostgreSQL, which git can always make again."""


@hub_command.command("init")
@dsn_option
@format_option("text", "json")
@global_options
def init_command(_: Globals, *, dsn: str | None, form: str) -> int:
    """Make the hub's tables in a database, or bring them up to date; what they hold stays."""
    with open_hub(dsn, may_lack=True) as connection:
        done = init(connection)
    print_text(schema_json(done) if form == "json" else schema_text(done))
    return 0


@hub_command.command("push")
@commit_options
@click.option("--new", "is_new", is_flag=True, help="The hub has this history under another name, and this is another.")
@dsn_option
@format_option("text", "json")
@global_options
def push_command(
    given: Globals,
    *,
    repository: str | None,
    commit: str,
    rewritten: bool,
    is_new: bool,
    dsn: str | None,
    form: str,
) -> int:
    """Send what a commit changed since the one that the hub has; what is not committed is never sent.

    For CI, after a merge to the default branch. Nothing is sent by half, and the hub never goes back to an older
    commit. Exit code 3 where a pinned wing is not at hand: all the rest was sent.
    """
    return pushed(given, PushRequest(repository, commit, rewritten, is_new), dsn=dsn, form=form)


def pushed(given: Globals, request: PushRequest, *, dsn: str | None, form: str) -> int:
    """Push what is asked for, print what became of it, and return the exit code."""
    workspace = open_workspace(given)
    with open_hub(dsn) as connection:
        result = push(workspace, connection, request)
    for remark in (*result.missing, *kept_remarks(result)) if form == "text" else ():
        given.remark(remark)
    print_text(push_json(result) if form == "json" else push_text(result))
    return INCOMPLETE if result.missing else 0


@hub_command.command("status")
@dsn_option
@format_option("text", "json")
@global_options
def status_command(given: Globals, *, dsn: str | None, form: str) -> int:
    """List the repositories that the hub has, with commit, age and number of entries."""
    with open_hub(dsn) as connection:
        report = status(connection)
    print_text(status_json(report) if form == "json" else status_text(report))
    if not report.repositories and report.bytes is None and not os.environ.get("MDMEM_HUB_TOKEN"):
        given.remark("nothing is granted to this database role; with a token in MDMEM_HUB_TOKEN another asks")
    return 0


@hub_command.command("verify")
@repository_option
@dsn_option
@format_option("text", "json")
@global_options
def verify_command(given: Globals, *, repository: str | None, dsn: str | None, form: str) -> int:
    """Compare every row that the hub has of this memory with the commit it says it has.

    Exit code 1 for findings, 3 where a pinned wing is not at hand and so not compared.
    """
    workspace = open_workspace(given)
    with open_hub(dsn) as connection:
        report = verify(workspace, connection, repository)
    for remark in report.missing if form == "text" else ():
        given.remark(f"not compared: {remark}")
    print_text(verify_json(report) if form == "json" else verify_text(report))
    return INCOMPLETE if report.missing else int(bool(report.findings))


@hub_command.command("rebuild")
@commit_options
@dsn_option
@format_option("text", "json")
@global_options
def rebuild_command(
    given: Globals, *, repository: str | None, commit: str, rewritten: bool, dsn: str | None, form: str
) -> int:
    """Write every row of this memory anew, in one transaction; who asks meanwhile is answered from the old ones.

    For what `mdmem hub verify` finds. The hub does not go back to an older commit by it.
    """
    return pushed(given, PushRequest(repository, commit, rewritten, is_whole=True), dsn=dsn, form=form)


@hub_command.command("rename")
@click.argument("old")
@click.argument("new")
@dsn_option
@format_option("text", "json")
@global_options
def rename_command(_: Globals, *, old: str, new: str, dsn: str | None, form: str) -> int:
    """Give a repository of the hub another name; pushes and questions under the old one go on working."""
    with open_hub(dsn) as connection:
        done = rename(connection, old, new)
    print_text(rename_json(done) if form == "json" else rename_text(done))
    return 0


@hub_command.command("forget")
@click.argument("name")
@dsn_option
@format_option("text", "json")
@global_options
def forget_command(_: Globals, *, name: str, dsn: str | None, form: str) -> int:
    """Drop what the hub has of a repository; git has it still, and a push sends it again."""
    with open_hub(dsn) as connection:
        done = forget(connection, name)
    print_text(forget_json(done) if form == "json" else forget_text(done))
    return 0


@hub_command.command("grant")
@click.argument("name")
@click.argument("places", nargs=-1, metavar="REPOSITORY[/WING]...")
@click.option("--all", "sees_all", is_flag=True, help="It sees every repository, those to come as well.")
@click.option("--push", "may_push", is_flag=True, help="It may push the repositories, too; they need not be there yet.")
@dsn_option
@format_option("text", "json")
@global_options
def grant_command(
    _: Globals, *, name: str, places: tuple[str, ...], sees_all: bool, may_push: bool, dsn: str | None, form: str
) -> int:
    """Let a token or a database role see repositories, or wings of them, and say all that it sees.

    Who sees a repository sees the wings that it pins elsewhere, too. For the hub's owner.
    """
    if not places and (may_push or not sees_all):
        raise click.UsageError("say what is granted: REPOSITORY or REPOSITORY/WING, as often as need be, or --all")
    with open_hub(dsn) as connection:
        granted = grant(connection, name, places, may_push=may_push, sees_all=sees_all)
    print_text(grants_json([granted]) if form == "json" else grants_text([granted]))
    return 0


@hub_command.command("revoke")
@click.argument("name")
@click.argument("places", nargs=-1, metavar="[REPOSITORY[/WING]]...")
@click.option("--all", "sees_all", is_flag=True, help="What `grant --all` gave.")
@dsn_option
@format_option("text", "json")
@global_options
def revoke_command(
    _: Globals, *, name: str, places: tuple[str, ...], sees_all: bool, dsn: str | None, form: str
) -> int:
    """Take back what a token or a database role was granted, all of it where nothing is named, and say what is left.

    It holds from the next question on. For the hub's owner.
    """
    with open_hub(dsn) as connection:
        left = revoke(connection, name, places, sees_all=sees_all)
    print_text(grants_json([left]) if form == "json" else grants_text([left]))
    return 0


@hub_command.command("grants")
@click.argument("name", required=False)
@dsn_option
@format_option("text", "json")
@global_options
def grants_command(given: Globals, *, name: str | None, dsn: str | None, form: str) -> int:
    """List who sees and who pushes what; to anybody but the hub's owner, what they see themselves."""
    with open_hub(dsn) as connection:
        found = grants(connection, name)
    print_text(grants_json(found) if form == "json" else grants_text(found))
    if not found:
        given.remark("nobody but the hub's owner sees anything; `mdmem hub grant NAME REPOSITORY` changes that")
    return 0


@hub_command.command("token")
@click.argument("name")
@click.option("--rotate", "is_rotated", is_flag=True, help="Another text in the place of the one that it has.")
@click.option("--drop", "is_dropped", is_flag=True, help="End it, with all that it sees.")
@dsn_option
@format_option("text", "json")
@global_options
def token_command(_: Globals, *, name: str, is_rotated: bool, is_dropped: bool, dsn: str | None, form: str) -> int:
    """Make a token and print it, this once: the hub keeps its hash alone; `grant` says what it sees.

    For the hub's owner.
    """
    if is_rotated and is_dropped:
        raise click.UsageError("--rotate keeps the token and --drop ends it; give one of them")
    with open_hub(dsn) as connection:
        if is_dropped:
            drop_token(connection, name)
            print_text(f"`{name}` is good no more")
            return 0
        text = rotate_token(connection, name) if is_rotated else add_token(connection, name)
    print_text(new_token_json(text, name) if form == "json" else new_token_text(text, name))
    return 0


for _asking in (
    hub_ask.search_command,
    hub_ask.retrieve_command,
    hub_ask.list_command,
    hub_ask.show_command,
    hub_ask.why_command,
    hub_ask.owners_command,
):
    hub_command.add_command(_asking)
