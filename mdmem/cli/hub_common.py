"""What the commands of a hub share: where it is, who asks, which repositories are meant, and the connection."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Decorated, Globals
from mdmem.cli.completion import complete_revision
from mdmem.hub.connection import connected, require, transaction
from mdmem.hub.permissions import require_known
from mdmem.hub.reader import Reader
from mdmem.render.hub_answers import reach_remarks

if TYPE_CHECKING:
    from mdmem.hub.across import AcrossAnswer
    from mdmem.hub.connection import HubConnection
    from mdmem.hub.reader import Reader

INCOMPLETE = 3
"""The exit code where a pinned wing is not at hand, as that of `mdmem check`; it goes before that for findings."""


def dsn_option(command: Decorated) -> Decorated:
    """Add `--dsn`."""
    return click.option("--dsn", metavar="DSN", help="Where the hub is.  [default: MDMEM_HUB_DSN]")(command)


def repository_option(command: Decorated) -> Decorated:
    """Add `--repository`, the name of this memory in the hub."""
    named = "Its name in the hub.  [default: owner/name of the remote]"
    return click.option("--repository", metavar="NAME", help=named)(command)


def commit_options(command: Decorated) -> Decorated:
    """Add what says which commit is sent, under which name, and whether it may take another's place."""
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
        repository_option,
    ):
        command = add(command)
    return command


@contextmanager
def open_hub(dsn: str | None, *, may_lack: bool = False) -> Iterator[HubConnection]:
    """Open the hub that is named, or that the environment names; one without tables only where it `may_lack` them.

    Neither a file of the repository nor its settings have a say: a clone must not decide where to send what.
    """
    place = dsn or os.environ.get("MDMEM_HUB_DSN")
    if not place:
        raise click.UsageError("no hub is named: give --dsn, or set MDMEM_HUB_DSN, as `postgresql://HOST/DATABASE`")
    token = os.environ.get("MDMEM_HUB_TOKEN") or None
    with connected(place, token=token) as connection:
        if not may_lack:
            require(connection)
            if token is not None:
                require_known(connection)
        yield connection


def repositories_option(command: Decorated) -> Decorated:
    """Add `--repository`, any number of times."""
    about = "Only this one, as its clone would answer; or only these. Repeatable."
    return click.option("--repository", "repositories", multiple=True, metavar="NAME", help=about)(command)


@contextmanager
def reading(dsn: str | None) -> Iterator[Reader]:
    """Open the hub for one question, which sees one state of it, and writes nothing."""
    with open_hub(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        yield Reader(cursor)


def now() -> datetime:
    """Return the moment to which the age of a copy is counted."""
    return datetime.now(UTC)


def remark_reach(given: Globals, *answers: AcrossAnswer[Any]) -> None:
    """Say how far answers reach, where that is not all."""
    for said in dict.fromkeys(said for answer in answers for said in reach_remarks(answer)):
        given.remark(said)
