"""`mdmem hub`: the organisation's copy of many memories, on PostgreSQL."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mdmem.ask.question import Question
from mdmem.cli.common import Decorated, Globals, format_option, global_options, open_workspace, print_text, say
from mdmem.cli.completion import complete_revision
from mdmem.cli.filters import filter_options, filters_from
from mdmem.hub.connection import init, open_hub, transaction
from mdmem.hub.grants import add_token, drop_token, grant, grants, revoke, rotate_token
from mdmem.hub.push import PushRequest, push
from mdmem.hub.repositories import forget, rename
from mdmem.hub.search import search_hub
from mdmem.hub.verify import status, verify
from mdmem.hub.who import who
from mdmem.render import hub as rendered
from mdmem.render.json import dump

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection

_INCOMPLETE = 3
"""The exit code if a pinned wing is not fetched, as that of `mdmem check`; it wins over that for findings."""

# The sentence of each command in the help.
COMMANDS = {
    "init": "Make the hub's tables in a database, or bring them up to date.",
    "push": "Send what a commit of this memory changed.",
    "search": "Find entries of all repositories by words.",
    "show": "Show entries in full, by REPOSITORY:ADDRESS.",
    "who": "Show who answers for an entry, and what depends on it.",
    "status": "List the repositories: which commit of each, and how old.",
    "verify": "Compare what the hub has of this memory with its commit.",
    "rebuild": "Send all of this memory again, in place of what the hub has.",
    "rename": "Give a repository another name; the old one keeps working.",
    "forget": "Drop what the hub has of a repository.",
    "grant": "Let a token or a database role see repositories, or wings.",
    "revoke": "Take back what a token or a role was granted.",
    "grants": "List who sees and who pushes what.",
    "token": "Make a token, print it once; replace it, or end it.",
}
# The old names of `mdmem … --repository` work for one version.
_FORMER = ("retrieve", "list", "why")


class _Group(click.Group):
    """Commands in the order of the table, and a suggestion for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # click's names
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:  # the sentence of `mdmem` itself
        if args[0] not in (*COMMANDS, *_FORMER) and not args[0].startswith("-"):
            ctx.fail(f"there is no command `hub {args[0]}`{_nearest(args[0])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


# Words that somebody may type who thinks of the database.
_ELSEWHERE = {"drop": "forget", "delete": "forget", "remove": "forget", "rm": "forget", "ls": "status", "mv": "rename"}
_ELSEWHERE |= {"sync": "push", "check": "verify", "migrate": "init", "create": "init", "get": "show", "find": "search"}


def _nearest(name: str) -> str:
    close = [_ELSEWHERE[name]] if name in _ELSEWHERE else difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean `mdmem hub {close[0]}`?" if close else "; `mdmem hub --help` lists them"


def dsn_option(command: Decorated) -> Decorated:
    """Add `--dsn`."""
    return click.option("--dsn", metavar="DSN", help="Where the hub is.  [default: MDMEM_HUB_DSN]")(command)


def _repository_option(command: Decorated) -> Decorated:
    named = "Its name in the hub.  [default: owner/name of the remote]"
    return click.option("--repository", metavar="NAME", help=named)(command)


def _repositories_option(command: Decorated) -> Decorated:
    about = "Only in this one; repeatable."
    return click.option("--repository", "repositories", multiple=True, metavar="NAME", help=about)(command)


def _commit_options(command: Decorated) -> Decorated:
    """Add the options that say which commit is sent, and under which name."""
    for add in (
        click.option("--rewritten", is_flag=True, help="The history was rewritten: take the commit all the same."),
        click.option(
            "--commit",
            default="HEAD",
            show_default=True,
            metavar="REV",
            shell_complete=complete_revision,
            help="The commit, branch or tag that is sent.",
        ),
        _repository_option,
    ):
        command = add(command)
    return command


def _print(form: str, content: Mapping[str, Any], text: str) -> None:
    print_text(dump(content) if form == "json" else text)


@contextmanager
def _opened(dsn: str | None) -> Iterator[HubConnection]:
    with open_hub(dsn or os.environ.get("MDMEM_HUB_DSN"), os.environ.get("MDMEM_HUB_TOKEN")) as connection:
        yield connection


@click.group("hub", cls=_Group)
@global_options
def hub_command(_: Globals) -> None:
    """Ask all memories of an organisation at once: their copy on PostgreSQL, which git can always make again."""


@hub_command.command("init")
@dsn_option
@format_option("text", "json")
@global_options
def init_command(_: Globals, *, dsn: str | None, form: str) -> int:
    """Make the hub's tables in a database, or bring them up to date; their rows stay."""
    with open_hub(dsn or os.environ.get("MDMEM_HUB_DSN"), None, may_lack=True) as connection:
        done = init(connection)
    _print(form, rendered.schema_json(done), rendered.schema_text(done))
    return 0


@hub_command.command("push")
@_commit_options
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
    commit. Exit code 3 if a pinned wing is not fetched: all the rest was sent.
    """
    return _push(given, PushRequest(repository, commit, rewritten, is_new), dsn=dsn, form=form)


def _push(given: Globals, request: PushRequest, *, dsn: str | None, form: str) -> int:
    workspace = open_workspace(given)
    with _opened(dsn) as connection:
        result = push(workspace, connection, request)
    for remark in (*result.missing, *rendered.kept_remarks(result)) if form == "text" else ():
        given.remark(remark)
    _print(form, rendered.push_json(result), rendered.push_text(result))
    return _INCOMPLETE if result.missing else 0


@hub_command.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=10, show_default=True, help="Hits at most.")
@click.option("--query-syntax", "syntax", is_flag=True, hidden=True)
@_repositories_option
@filter_options
@dsn_option
@format_option("text", "json")
@global_options
def search_command(given: Globals, words: tuple[str, ...], limit: int, form: str, **options: Any) -> int:
    """Find the repositories that have entries on WORDS, the best entries first.

    What is binding in a repository, `mdmem retrieve --repository NAME` answers.
    """
    dsn, repositories, syntax = options.pop("dsn"), options.pop("repositories"), options.pop("syntax")
    question = Question(words=" ".join(words).strip(), filters=filters_from(options), syntax=syntax)
    with _opened(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        found = search_hub(cursor, question, repositories=repositories, limit=limit)
    _print(form, rendered.hub_search_json(found), rendered.hub_search_text(found, ink=given.ink()))
    for remark in rendered.search_remarks(found):
        given.remark(remark)
    return 0 if found.hits else 1


@hub_command.command("show", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="REPOSITORY:ADDRESS...")
@click.option("--repository", metavar="NAME", help="The repository of addresses without one.")
@dsn_option
@global_options
@click.pass_context
def show_command(
    ctx: click.Context, given: Globals, arguments: tuple[str, ...], repository: str | None, dsn: str | None
) -> int:
    """Show entries in full, as `mdmem show --repository` does; options of `mdmem show` follow."""
    names = {one.rpartition(":")[0] for one in arguments if _is_placed(one)} | ({repository} if repository else set())
    if len(names) != 1:
        said = "the addresses are of several repositories" if names else "say of which repository: REPOSITORY:ADDRESS"
        raise click.UsageError(f"{said}; `mdmem hub search` finds them, and one is asked at a time")
    plain = [one.rpartition(":")[2] if _is_placed(one) else one for one in arguments]
    return _run(ctx, given, ["show", *plain, "--repository", *names], dsn)


def _is_placed(argument: str) -> bool:
    """Say whether an argument is an address with its repository."""
    repository, _, address = argument.rpartition(":")
    return bool(repository) and not argument.startswith("-") and " " not in argument and address.count("/") == 2


def _run(ctx: click.Context, given: Globals, arguments: Sequence[str], dsn: str | None) -> int:
    """Run a command of `mdmem` on the hub's copy of a repository."""
    if dsn:
        os.environ["MDMEM_HUB_DSN"] = dsn
    flags = [name for name, is_set in (("--quiet", given.quiet), ("--no-pager", given.no_pager)) if is_set]
    main = ctx.find_root().command.main
    code: int = main([*arguments, *flags, "--color", given.color], prog_name="mdmem", standalone_mode=False)
    return code


@hub_command.command("who")
@click.argument("words", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS|WORDS...")
@_repositories_option
@dsn_option
@format_option("text", "json")
@global_options
def who_command(
    given: Globals, words: tuple[str, ...], repositories: tuple[str, ...], dsn: str | None, form: str
) -> int:
    """Show owners and dependents of an entry, in all repositories, or of the best three for WORDS."""
    with _opened(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        report = who(cursor, " ".join(words), repositories=repositories)
    _print(form, rendered.who_json(report), rendered.who_text(report, ink=given.ink()))
    for remark in rendered.who_remarks(report):
        given.remark(remark)
    return 0


@hub_command.command("status")
@dsn_option
@format_option("text", "json")
@global_options
def status_command(given: Globals, *, dsn: str | None, form: str) -> int:
    """List the repositories that the hub has, with commit, age and number of entries."""
    with _opened(dsn) as connection:
        report = status(connection)
    _print(form, rendered.status_json(report), rendered.status_text(report))
    if not report.repositories and report.bytes is None and not os.environ.get("MDMEM_HUB_TOKEN"):
        given.remark("nothing is granted to this database role; with a token in MDMEM_HUB_TOKEN another asks")
    return 0


@hub_command.command("verify")
@_repository_option
@dsn_option
@format_option("text", "json")
@global_options
def verify_command(given: Globals, *, repository: str | None, dsn: str | None, form: str) -> int:
    """Compare every row that the hub has of this memory with the commit it says it has.

    Exit code 1 for findings, 3 if a pinned wing is not fetched and so not compared.
    """
    workspace = open_workspace(given)
    with _opened(dsn) as connection:
        report = verify(workspace, connection, repository)
    for remark in report.missing if form == "text" else ():
        given.remark(f"not compared: {remark}")
    _print(form, rendered.verify_json(report), rendered.verify_text(report))
    return _INCOMPLETE if report.missing else int(bool(report.findings))


@hub_command.command("rebuild")
@_commit_options
@dsn_option
@format_option("text", "json")
@global_options
def rebuild_command(
    given: Globals, *, repository: str | None, commit: str, rewritten: bool, dsn: str | None, form: str
) -> int:
    """Send every file of this memory again, in one transaction; questions meanwhile are answered from the old rows.

    For what `mdmem hub verify` finds. The hub does not go back to an older commit by it.
    """
    return _push(given, PushRequest(repository, commit, rewritten, is_whole=True), dsn=dsn, form=form)


@hub_command.command("rename")
@click.argument("old")
@click.argument("new")
@dsn_option
@format_option("text", "json")
@global_options
def rename_command(_: Globals, *, old: str, new: str, dsn: str | None, form: str) -> int:
    """Give a repository of the hub another name; pushes and questions under the old one keep working."""
    with _opened(dsn) as connection:
        before = rename(connection, old, new)
    is_same = before == new
    text = f"{new} has this name already" if is_same else f"{before} is {new} now; the old name keeps working"
    _print(form, {"before": before, "repository": new}, text)
    return 0


@hub_command.command("forget")
@click.argument("name")
@dsn_option
@format_option("text", "json")
@global_options
def forget_command(_: Globals, *, name: str, dsn: str | None, form: str) -> int:
    """Drop what the hub has of a repository; git still has it, and a push sends it again."""
    with _opened(dsn) as connection:
        done = forget(connection, name)
    text = f"the hub has nothing of {done.name} any more; `mdmem hub push` sends it again"
    _print(form, {"repository": done.name, "commit": done.commit}, text)
    return 0


@hub_command.command("grant")
@click.argument("name")
@click.argument("places", nargs=-1, metavar="REPOSITORY[/WING]...")
@click.option("--all", "sees_all", is_flag=True, help="It sees every repository, future ones as well.")
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
    with _opened(dsn) as connection:
        granted = grant(connection, name, places, may_push=may_push, sees_all=sees_all)
    _print(form, rendered.grants_json([granted]), rendered.grants_text([granted]))
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
    """Take back what a token or a database role was granted, everything if nothing is named, and say what is left.

    The next question is answered without it. For the hub's owner.
    """
    with _opened(dsn) as connection:
        left = revoke(connection, name, places, sees_all=sees_all)
    _print(form, rendered.grants_json([left]), rendered.grants_text([left]))
    return 0


@hub_command.command("grants")
@click.argument("name", required=False)
@dsn_option
@format_option("text", "json")
@global_options
def grants_command(given: Globals, *, name: str | None, dsn: str | None, form: str) -> int:
    """List who sees and who pushes what; to anybody but the hub's owner, what they see themselves."""
    with _opened(dsn) as connection:
        found = grants(connection, name)
    _print(form, rendered.grants_json(found), rendered.grants_text(found))
    if not found:
        given.remark("nobody but the hub's owner sees anything; `mdmem hub grant NAME REPOSITORY` changes that")
    return 0


@hub_command.command("token")
@click.argument("name")
@click.option("--rotate", "is_rotated", is_flag=True, help="Replace its text by another one.")
@click.option("--drop", "is_dropped", is_flag=True, help="End it, with all that it sees.")
@dsn_option
@format_option("text", "json")
@global_options
def token_command(_: Globals, *, name: str, is_rotated: bool, is_dropped: bool, dsn: str | None, form: str) -> int:
    """Make a token and print it, this once: the hub stores its hash alone; `grant` says what it sees.

    For the hub's owner.
    """
    if is_rotated and is_dropped:
        raise click.UsageError("--rotate keeps the token and --drop ends it; give one of them")
    with _opened(dsn) as connection:
        if is_dropped:
            drop_token(connection, name)
            print_text(f"`{name}` is good no more")
            return 0
        text = rotate_token(connection, name) if is_rotated else add_token(connection, name)
    shown = f"{text}\n{name}: it is shown this once; whoever holds it sets it as MDMEM_HUB_TOKEN"
    _print(form, {"token": text, "name": name}, shown)
    return 0


def _former(name: str) -> None:
    """Add the old name of a command: it runs `mdmem NAME --repository`, or says what to type over all repositories."""

    @hub_command.command(name, hidden=True, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    @click.option("--repository", "repositories", multiple=True)
    @dsn_option
    @global_options
    @click.pass_context
    def former_command(
        ctx: click.Context, given: Globals, arguments: tuple[str, ...], repositories: tuple[str, ...], dsn: str | None
    ) -> int:
        if len(repositories) != 1:
            asks = f"`mdmem hub search` finds the repository, and `mdmem {name} --repository NAME` asks it"
            raise click.UsageError(f"`hub {name}` over several repositories is gone: {asks}")
        say(f"mdmem: `hub {name}` is now `mdmem {name} --repository`; the old name ends with the next version")
        return _run(ctx, given, [name, *arguments, "--repository", *repositories], dsn)


for _name in _FORMER:
    _former(_name)
