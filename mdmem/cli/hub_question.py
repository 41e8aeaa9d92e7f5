"""What the questions to a hub share: one reader of one state of it, and which repositories are meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.common import Decorated, Globals
from mdmem.cli.hub_common import open_hub

if TYPE_CHECKING:
    from mdmem.hub.across import AcrossAnswer
    from mdmem.hub.reader import Reader


def repositories_option(command: Decorated) -> Decorated:
    """Add `--repository`, any number of times."""
    about = "Only this one, as its clone would answer; or only these. Repeatable."
    return click.option("--repository", "repositories", multiple=True, metavar="NAME", help=about)(command)


@contextmanager
def reading(dsn: str | None) -> Iterator[Reader]:
    """Open the hub for one question, which sees one state of it, and writes nothing."""
    from mdmem.hub.connection import transaction
    from mdmem.hub.reader import Reader

    with open_hub(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        yield Reader(cursor)


def now() -> datetime:
    """Return the moment to which the age of a copy is counted."""
    return datetime.now(UTC)


def remark_reach(given: Globals, answer: AcrossAnswer[Any]) -> None:
    """Say how far an answer reaches, where that is not all."""
    from mdmem.render.hub_answers import reach_remarks

    for said in reach_remarks(answer):
        given.remark(said)
