"""The connection to a hub's server, the sentences for its errors, and the tables' version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, LostRaceError, UsageError

if TYPE_CHECKING:
    from psycopg import Connection


if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    HubConnection = Connection[Any]

SCHEMA = "mdmem_hub"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}\Z")
CONNECT_SECONDS = 5
"""So long is waited for a server that does not answer."""


# So much longer than a statement may take, the server may say nothing: one that has stopped ends no statement.
_GRACE = 0.5
LOCK_SECONDS = 50
"""So long is waited for another push of the same repository: less than any statement may take."""

REBUILD = "`mdmem hub rebuild` makes the repository anew"
FORBIDDEN = "the hub lets this role, or this token, do nothing of the kind; `mdmem hub grant` gives rights"

_Made = TypeVar("_Made")
# Two transactions were in each other's way, and one was taken back.
_CLASHES = ("40001", "40P01")
_TRIES = 4


class HubError(EnvironmentFaultError):
    """The hub cannot be asked, or did not do what it was asked; nothing of it was done by half."""


class HubRaceError(LostRaceError):
    """Another process was in the way; nothing was done, and a later try may pass."""


@contextmanager
def connected(
    dsn: str, *, token: str | None = None, statement_seconds: int = 60, connect_seconds: int = CONNECT_SECONDS
) -> Iterator[HubConnection]:
    """Open a connection whose statements see the hub's tables; a token says who asks, where the role does not.

    The token goes with the first packet, so that no statement, and no log of statements, has it, and no pool of
    connections hands it on to somebody else. Nothing is committed but by `transaction`. Raises HubError for
    whatever the server or the way to it refuses.
    """
    psycopg = _psycopg()
    if token is not None and not _TOKEN.match(token):
        raise HubError("what is given as the hub's token is none; `mdmem hub token NAME` prints one")
    options = (
        f"-c search_path={SCHEMA},pg_catalog -c statement_timeout={statement_seconds}s -c lock_timeout={LOCK_SECONDS}s"
        " -c default_transaction_isolation=read\\ committed"
    )
    with _told(psycopg):
        opened = _patient(psycopg, statement_seconds + _GRACE).connect(
            dsn,
            autocommit=True,
            connect_timeout=connect_seconds,
            application_name="mdmem",
            client_encoding="UTF8",
            options=options if token is None else f"{options} -c mdmem.token={token}",
            # In seconds, and milliseconds: a way that was cut is noticed, instead of waited on for hours.
            keepalives_idle=20,
            tcp_user_timeout=30_000,
        )
        try:
            yield opened
        finally:
            opened.close()


def _patient(psycopg: Any, seconds: float) -> Any:
    """Return connections that wait for so long for a server that says nothing."""

    class Patient(psycopg.Connection):  # type: ignore[misc]  # imported where a hub is asked, and nowhere else
        def wait(self, waiting: Any, *rest: Any, **more: Any) -> Any:
            try:
                return super().wait(_heard(waiting, seconds), *rest, **more)
            except TimeoutError as error:
                self.pgconn.finish()
                raise psycopg.OperationalError(f"it has said nothing for {seconds:g} s") from error

    return Patient


def _heard(waiting: Any, seconds: float) -> Any:
    """Pass on what a wait asks and is told; raise TimeoutError where it is told of nothing for so long."""
    since = monotonic()
    try:
        asked = next(waiting)
        while True:
            ready = yield asked
            if ready:
                since = monotonic()
            elif monotonic() - since > seconds:
                raise TimeoutError
            asked = waiting.send(ready)
    except StopIteration as done:
        return done.value


def is_open(connection: HubConnection, asked: str = "SELECT true", *values: object) -> bool:
    """Say whether the server still answers on a connection, and yes: it may have been started again since."""
    try:
        row = connection.execute(asked, values).fetchone()
    except _psycopg().Error:
        return False
    return row is not None and bool(row[0])


@contextmanager
def transaction(connection: HubConnection, *, is_snapshot: bool = False) -> Iterator[Cursor[Any]]:
    """Do what is within wholly or not at all; a snapshot reads one state of all tables, and writes none."""
    with connection.transaction(), connection.cursor() as cursor:
        if is_snapshot:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield cursor


def in_turn(connection: HubConnection, do: Callable[[Cursor[Any]], _Made]) -> _Made:
    """Do something in a transaction, and again where another transaction was in its way."""
    psycopg = _psycopg()
    for left in reversed(range(_TRIES)):
        try:
            with transaction(connection) as cursor:
                return do(cursor)
        except psycopg.OperationalError as error:
            if not left or error.sqlstate not in _CLASHES:
                raise
    raise AssertionError


def one_row(cursor: Any) -> tuple[Any, ...]:
    """Return the row of a statement that has one; raises HubError where it is not to be seen."""
    row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        raise HubError(FORBIDDEN)
    return row


@contextmanager
def _told(psycopg: Any) -> Iterator[None]:
    """Say in a sentence what the server refuses, without the password that its own words may repeat."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UsageError("what is asked has half a character, which no text of a hub holds") from error
    except psycopg.Error as error:
        if isinstance(error, psycopg.DataError) and error.sqlstate is None:
            # The library refuses it, before the server is asked.
            raise UsageError(f"no hub holds what is asked: {error}") from error
        raise _fault(psycopg, error) from error


def _fault(psycopg: Any, error: Any) -> HubError | HubRaceError:
    state: str | None = error.sqlstate
    if state in (*_CLASHES, "55P03"):
        return HubRaceError("another process writes the same of the hub; nothing was changed, try again")
    if state is None and isinstance(error, psycopg.ProgrammingError):
        # It may repeat all that was given, the password, too.
        return HubError(
            "the DSN, of --dsn or MDMEM_HUB_DSN, cannot be read; write it as `postgresql://USER@HOST/DATABASE`"
        )
    said = _SENTENCES.get(state or "")
    if said is not None:
        return HubError(said)
    words = "; ".join(filter(None, map(str.strip, str(error).splitlines()))) or type(error).__name__
    if state is None and _CLOSED in words and not words.startswith("connection failed"):
        return HubError(_SENTENCES["57P01"])
    if isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P"))):
        return HubError(f"the hub does not answer: {words}")
    return HubError(f"the hub refuses: {words}")


# What the library says where the server's own last word is lost, as while more is being sent.
_CLOSED = "server closed the connection"
_GONE = "nothing is there by half, and what was done once is not done again: try again"
_SENTENCES = {
    "53100": f"the hub's server has no room left on its disk; {_GONE} when it has",
    "53200": f"the hub's server has no memory left; {_GONE} later",
    "57014": f"the hub's server took longer than it may; {_GONE}, or look at what else it does",
    "57P01": f"the hub's server ended the connection; {_GONE}",
    "25006": "the hub's server only answers questions, as a replica does; write to the one that it follows",
    "42501": FORBIDDEN,
    "23514": f"what the hub counted of a wing is wrong; {REBUILD}",
}


def _psycopg() -> Any:
    """Import the library where a hub is asked, and nowhere else."""
    try:
        import psycopg
    except ImportError as error:
        raise HubError("a hub needs the extra `hub`: `pip install '.[hub]'` in a clone of mdmem") from error
    # It prints the server's words as they are, of what came after the error that it raises.
    psycopg.logger.setLevel("CRITICAL")
    return psycopg


_FOLDER = Path(__file__).parent / "migrations"
# Any number that nothing else of the database takes: two inits at once go one after the other.
_LOCK = 0x6D646D656D


class SchemaResult(Struct, frozen=True):
    """The version that the hub had, 0 where there was none, and the one it has now."""

    before: int
    after: int


@cache
def expected() -> int:
    """Return the version that this program reads and writes."""
    return max(number for number, _ in _migrations())


def init(connection: Connection[Any]) -> SchemaResult:
    """Make the tables, or bring them up to this program's version, wholly or not at all.

    Raises HubError where they are newer, or somebody else's: what owns the schema could run in the caller's name.
    """
    with transaction(connection) as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        _refuse_encoding(cursor)
        _require_own(cursor)
        cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS migration"
            " (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        before = _version(cursor)
        if before > expected():
            raise HubError(_differs(before))
        for number, statements in _migrations():
            if number > before:
                cursor.execute(statements)
                cursor.execute("INSERT INTO migration (number) VALUES (%s)", (number,))
    return SchemaResult(before, expected())


def require(connection: Connection[Any]) -> None:
    """Raise HubError where there are no tables, or those of another version."""
    found = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.migration",)).fetchone()
    if found is None or found[0] is None:
        raise HubError("there is no hub in this database; `mdmem hub init --dsn …` makes one")
    version = _version(connection)
    if version != expected():
        raise HubError(_differs(version))


def is_current(connection: Connection[Any]) -> bool:
    """Say whether a connection that was good is so still: the server, its tables, and the token that it was shown."""
    asked = "SELECT max(number) = %s AND is_known_token() FROM migration"
    return is_open(connection, asked, expected())


_MAY_MAKE = "has_database_privilege(current_database(), 'CREATE'), current_database()"


def _require_own(cursor: Any) -> None:
    asked = "SELECT (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s), current_user, " + _MAY_MAKE
    owner, caller, may_make, database = one_row(cursor.execute(asked, (SCHEMA,)))
    if owner is None and not may_make:
        line = f'GRANT CREATE ON DATABASE "{database}" TO "{caller}"'
        raise HubError(f"this role may make no schema in this database; its owner types `{line}`")
    if owner not in (None, caller):
        raise HubError(f"the schema {SCHEMA} belongs to `{owner}`, and only that role makes its tables")


def _refuse_encoding(cursor: Any) -> None:
    (found,) = one_row(cursor.execute("SHOW server_encoding"))
    if found != "UTF8":
        raise HubError(f"this database keeps texts as {found}; make one for the hub with `ENCODING 'UTF8'`")


def _differs(version: int) -> str:
    if version > expected():
        return f"the hub has version {version} of its tables, this mdmem knows {expected()}; install a newer mdmem"
    return (
        f"the hub has version {version} of its tables, this mdmem needs {expected()}; `mdmem hub init` brings it there"
    )


def _version(cursor: Any) -> int:
    row = cursor.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()
    return int(row[0])


def _migrations() -> Iterator[tuple[int, str]]:
    for path in sorted(_FOLDER.glob("*.sql")):
        yield int(path.name.partition("_")[0]), path.read_text(encoding="utf-8")
