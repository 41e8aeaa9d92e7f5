"""Define `mdmem hub`, which copies the memories of many repositories into one PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import click

from mdmem.ask.answer import Question
from mdmem.cli.common import App, Decorated, filter_options, print_text, shared_options, with_options
from mdmem.hub.connection import HubConnection, init, open_hub, transaction
from mdmem.hub.push import push, verify
from mdmem.hub.repositories import Grant, drop_token, forget, grant, grants, make_token, rename, revoke, status
from mdmem.hub.search import search_hub, who
from mdmem.record import record_json
from mdmem.render import hub as rendered
from mdmem.store.workspace.scope import Filters

# The exit code if a pinned wing (of another repository) is not fetched, as in `mdmem check`.
_INCOMPLETE = 3


@click.group("hub")
@shared_options()
def hub_command(_: App) -> None:
    """Search all memories of an organisation, copied into one PostgreSQL database."""


_META = "mdmem.dsn"
_DSN = click.option(
    "--dsn",
    metavar="DSN",
    expose_value=False,
    envvar="MDMEM_HUB_DSN",
    callback=lambda ctx, _, dsn: ctx.meta.update({_META: dsn}),
    help="The hub's database.  [default: MDMEM_HUB_DSN]",
)


def _opened() -> AbstractContextManager[HubConnection]:
    return open_hub(click.get_current_context().meta[_META], os.environ.get("MDMEM_HUB_TOKEN"))


def _command(name: str, *decorators: Decorated) -> Callable[[Decorated], click.Command]:
    """Return a decorator that adds a subcommand with its own options and the options of all hub commands."""

    def register(command: Decorated) -> click.Command:
        return hub_command.command(name)(with_options(shared_options("text", "json")(command), *decorators, _DSN))

    return register


_NAME = click.argument("name")
_NAMED = "The name in the hub.  [default: owner/name of the remote]"
_REPOSITORY = click.option("--repository", metavar="NAME", help=_NAMED)
_ONLY = "Search only this repository; repeatable."
_REPOSITORIES = click.option("--repository", "repositories", multiple=True, metavar="NAME", help=_ONLY)
_COMMIT = (
    click.option("--commit", default="HEAD", show_default=True, metavar="REV"),
    click.option("--rewritten", "is_rewritten", is_flag=True, help="Accept a commit whose history was rewritten."),
)


@_command("init")
def init_command(app: App) -> None:
    """Make the hub's tables in a database, or bring them up to date."""
    with open_hub(click.get_current_context().meta[_META], None, may_be_missing=True) as connection:
        before, version = init(connection)
    word = "already" if before == version else "now"
    app.print_result({"before": before, "version": version}, f"the hub's tables are {word} of version {version}")


@_command("push", _REPOSITORY, *_COMMIT)
def push_command(app: App, **options: Any) -> int:
    """Send the changes of a commit since the last push. Uncommitted changes are never sent.

    A push is sent whole or not at all, and the hub never goes back to an older commit. Exit code 3 if a pinned wing is
    not fetched: all the rest was sent.
    """
    return _push(app, **options)


def _push(app: App, **options: Any) -> int:
    workspace = app.open()
    with _opened() as connection:
        result = push(workspace, connection, **options)
    if app.form == "text":
        app.remark(*result.missing)
        if result.kept:
            why = "other repositories read it, too; only the hub's owner can send it again"
            app.remark(f"pinned {', '.join(f'`{name}`' for name in result.kept)} stays as it was: {why}")
    sent = {
        **record_json(result, "repository", "commit", "before", "pushed", "succession", unchanged="is_unchanged"),
        **record_json(result, "added", "changed", "removed", "pins", "kept", "missing"),
    }
    app.print_result(sent, rendered.push_text(result))
    return _INCOMPLETE if result.missing else 0


@_command(
    "search",
    click.argument("words", nargs=-1, required=True),
    click.option("--limit", "-n", type=click.IntRange(1, 1000), default=10, show_default=True, help="Results at most."),
    _REPOSITORIES,
    filter_options,
)
def search_command(
    app: App, words: tuple[str, ...], limit: int, repositories: tuple[str, ...], filters: Filters
) -> int:
    """Find the repositories that have entries on WORDS, the best first."""
    question = Question(words=" ".join(words).strip(), filters=filters)
    with _opened() as connection, transaction(connection, is_snapshot=True) as cursor:
        found = search_hub(cursor, question, repositories=repositories, limit=limit)
    app.print_result(rendered.hub_search_json(found), rendered.hub_search_text(found, app.style))
    app.remark(*rendered.search_remarks(found))
    return 0 if found.entries else 1


@_command(
    "who", click.argument("words", nargs=-1, required=True, metavar="[REPOSITORY:]ADDRESS|WORDS..."), _REPOSITORIES
)
def who_command(app: App, words: tuple[str, ...], repositories: tuple[str, ...]) -> None:
    """Show who owns an entry, and which entries of all repositories depend on it; for WORDS, of the three best."""
    with _opened() as connection, transaction(connection, is_snapshot=True) as cursor:
        report = who(cursor, " ".join(words), repositories=repositories)
    app.print_result(rendered.who_json(report), rendered.who_text(report, app.style))
    app.remark(*rendered.who_remarks(report))


@_command("status")
def status_command(app: App) -> None:
    """List the repositories of the hub, with commit and age."""
    with _opened() as connection:
        report = status(connection)
    app.print_result(record_json(report, "version", "repositories", "bytes"), rendered.status_text(report))


@_command("verify", _REPOSITORY)
def verify_command(app: App, *, repository: str | None) -> int:
    """Compare the hub's rows of this memory with the commit that they were sent from.

    Exit code 1 for findings, 3 if a pinned wing is not fetched and so not compared.
    """
    workspace = app.open()
    with _opened() as connection:
        report = verify(workspace, connection, repository)
    if app.form == "text":
        app.remark(*(f"not compared: {one}" for one in report.missing))
    found = [record_json(one, "code", "message", "help", path="place.path") for one in report.findings]
    facts = {**record_json(report, "repository", "commit", "checked", "missing"), "findings": found}
    app.print_result(facts, app.style.typed(rendered.verify_text(report)))
    return _INCOMPLETE if report.missing else int(bool(report.findings))


@_command("rebuild", _REPOSITORY, *_COMMIT)
def rebuild_command(app: App, **options: Any) -> int:
    """Send every file of this memory again, in one transaction, to repair what `mdmem hub verify` finds."""
    return _push(app, is_whole=True, **options)


@_command("rename", click.argument("old"), click.argument("new"))
def rename_command(app: App, *, old: str, new: str) -> None:
    """Give a repository of the hub another name. Pushes and questions under the old one keep working."""
    with _opened() as connection:
        before = rename(connection, old, new)
    is_same = before == new
    text = f"{new} has this name already" if is_same else f"{before} is {new} now; the old name keeps working"
    app.print_result({"before": before, "repository": new}, text)


@_command("forget", _NAME)
def forget_command(app: App, *, name: str) -> None:
    """Drop the hub's rows of a repository. Git still has it, and a push sends it again."""
    with _opened() as connection:
        done = forget(connection, name)
    text = f"the hub no longer has a copy of {done.name}; `mdmem hub push` sends one again"
    app.print_result({"repository": done.name, "commit": done.commit}, app.style.typed(text))


_PLACES = click.argument("places", nargs=-1, metavar="REPOSITORY[/WING]...")


def _print_grants(app: App, found: Sequence[Grant]) -> None:
    kinds = [None if one.name is None else "role" if one.is_role else "token" for one in found]
    shown = [{"name": one.name, "kind": kind, "sees": one.permissions} for one, kind in zip(found, kinds, strict=True)]
    app.print_result({"grants": shown}, rendered.grants_text(found))


@_command(
    "grant",
    _NAME,
    _PLACES,
    click.option("--all", "sees_all", is_flag=True, help="NAME reads every repository, also future ones."),
    click.option("--push", "may_push", is_flag=True, help="NAME may also push the repositories, also new ones."),
)
def grant_command(app: App, *, name: str, places: tuple[str, ...], sees_all: bool, may_push: bool) -> None:
    """Let a token or a database role read or push repositories.

    A grant for a repository includes the wings that it pins. The output lists all grants of NAME. For the hub's owner.
    """
    if not places and (may_push or not sees_all):
        raise click.UsageError("name what is granted: REPOSITORY or REPOSITORY/WING, repeatable, or --all")
    with _opened() as connection:
        granted = grant(connection, name, places, sees_all=sees_all, may_push=may_push)
    _print_grants(app, [granted])


@_command("revoke", _NAME, _PLACES, click.option("--all", "sees_all", is_flag=True, help="Revoke what `--all` gave."))
def revoke_command(app: App, *, name: str, places: tuple[str, ...], sees_all: bool) -> None:
    """Revoke grants of a token or a role, or all of them, from the next question on. For the hub's owner.

    The output lists the grants that are left.
    """
    with _opened() as connection:
        left = revoke(connection, name, places, sees_all=sees_all)
    _print_grants(app, [left])


@_command("grants", click.argument("name", required=False))
def grants_command(app: App, *, name: str | None) -> None:
    """List who reads and who pushes which repository. Only the hub's owner sees the grants of others."""
    with _opened() as connection:
        found = grants(connection, name)
    _print_grants(app, found)


@_command(
    "token",
    _NAME,
    click.option("--rotate", "is_rotated", is_flag=True, help="Replace the token's text by another one."),
    click.option("--drop", "is_dropped", is_flag=True, help="Remove the token, with all its permissions."),
)
def token_command(app: App, *, name: str, is_rotated: bool, is_dropped: bool) -> None:
    """Make a token and print it, this once. `grant` lets it read. For the hub's owner."""
    if is_rotated and is_dropped:
        raise click.UsageError("--rotate replaces the token and --drop removes it; give one of them")
    with _opened() as connection:
        if is_dropped:
            drop_token(connection, name)
            print_text(f"`{name}` is no longer valid")
            return
        text = make_token(connection, name, is_rotated=is_rotated)
    shown = f"{text}\n{name}: it is shown only once; its user sets it as MDMEM_HUB_TOKEN"
    app.print_result({"token": text, "name": name}, shown)
