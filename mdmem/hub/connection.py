"""Connect to the hub's database server, explain its errors, and create or migrate its tables."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, LostRaceError, UsageError
from mdmem.setup.installation import this_installation

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

HubConnection: TypeAlias = "Connection[Any]"
SCHEMA = "mdmem_hub"
LOCK_SECONDS = 50
"""How long to wait for another push of the same repository. This is less than the timeout of a statement."""

REBUILD = "`mdmem hub rebuild` sends the repository again"
FORBIDDEN = "the hub does not allow this for this role or token; `mdmem hub grant` gives rights"

T = TypeVar("T")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}\Z")
_RETRIES = 3
_MIGRATIONS = {int(one.name[:4]): one for one in sorted((Path(__file__).parent / "migrations").glob("*.sql"))}
EXPECTED = max(_MIGRATIONS)
"""The version of the tables that this program reads and writes."""
# The number of an advisory lock. Two simultaneous `init` runs use it to run one after the other.
_INIT_LOCK = 0x6D646D656D


class HubError(EnvironmentFaultError):
    """The hub did not answer, or it refused. The hub has all of the change or none of it."""


class Limits(Struct, frozen=True):
    """Timeouts in seconds: for the connection, for one statement, and for all statements of the connection together."""

    connect: int = 5
    statement: int = 60
    total: float | None = None


_DEFAULT_LIMITS = Limits()


@contextmanager
def connected(dsn: str, *, token: str | None = None, limits: Limits = _DEFAULT_LIMITS) -> Iterator[HubConnection]:
    """Open a connection to the hub's tables.

    The token is a start-up parameter. So it is in no log of statements, and a connection pool does not pass it on.
    Nothing is committed outside `transaction`. Raises HubError for any error of the server or the network.
    """
    psycopg = _psycopg()
    if token is not None and not _TOKEN.match(token):
        raise HubError("the token for the hub has the wrong form; `mdmem hub token NAME` prints a valid one")
    options = (
        f"-c search_path={SCHEMA},pg_catalog -c statement_timeout={limits.statement}s -c lock_timeout={LOCK_SECONDS}s"
        " -c default_transaction_isolation=read\\ committed"
    )
    with _explained(psycopg):
        opened = psycopg.connect(
            dsn,
            autocommit=True,
            connect_timeout=limits.connect,
            application_name="mdmem",
            client_encoding="UTF8",
            options=options if token is None else f"{options} -c mdmem.token={token}",
            # Timeouts in seconds and milliseconds, so that a broken network is noticed.
            keepalives_idle=20,
            tcp_user_timeout=30_000,
        )
        limit = Timer(limits.total or 0, _hang_up, [opened])
        limit.daemon = True
        try:
            if limits.total is not None:
                limit.start()
            yield opened
        finally:
            limit.cancel()
            opened.close()


@contextmanager
def open_hub(
    dsn: str | None, token: str | None, *, may_be_missing: bool = False, limits: Limits = _DEFAULT_LIMITS
) -> Iterator[HubConnection]:
    """Open the hub. Raises HubError if the tables have another version, or the token is unknown or has no effect.

    With `may_be_missing`, also open a database without a hub. The address never comes from a file of the repository,
    because a clone must not decide where data is sent.
    """
    if not dsn:
        raise UsageError("no hub is set: give --dsn, or set MDMEM_HUB_DSN, as `postgresql://HOST/DATABASE`")
    with connected(dsn, token=token or None, limits=limits) as connection:
        if not may_be_missing:
            (found,) = one_row(connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.migration",)))
            if found is None:
                raise HubError("there is no hub in this database; `mdmem hub init --dsn …` makes one")
            if (version := _version(connection)) != EXPECTED:
                raise _other_version(version)
            if token:
                _require_token(connection)
        yield connection


def _require_token(connection: HubConnection) -> None:
    is_known, is_owner = one_row(connection.execute("SELECT is_known_token(), is_owner()"))
    if is_owner:
        raise HubError(
            "this database role owns the hub and sees everything, so the token has no effect:"
            " unset MDMEM_HUB_TOKEN, or use another role"
        )
    if not is_known:
        raise HubError("the hub does not know this token; the hub's owner makes a new one with `mdmem hub token NAME`")


def _hang_up(connection: HubConnection) -> None:
    """Close a connection from another thread. A server that is suspended never ends a statement itself."""
    with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


@contextmanager
def transaction(connection: HubConnection, *, is_snapshot: bool = False) -> Iterator[Cursor[Any]]:
    """Run the `with` block as one transaction. With `is_snapshot`, all statements read one state and cannot write."""
    with connection.transaction(), connection.cursor() as cursor:
        if is_snapshot:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield cursor


def run_with_retry(connection: HubConnection, do: Callable[[Cursor[Any]], T]) -> T:
    """Run a function in a transaction and return its result; repeat it up to three times after a conflict."""
    errors = _psycopg().errors
    for _ in range(_RETRIES):
        with suppress(errors.SerializationFailure, errors.DeadlockDetected), transaction(connection) as cursor:
            return do(cursor)
    with transaction(connection) as cursor:
        return do(cursor)


def one_row(cursor: Any) -> tuple[Any, ...]:
    """Return the single row of a statement. Raises HubError (permission is missing) if the statement has no row."""
    row: tuple[Any, ...] | None = cursor.fetchone()
    if row is None:
        raise HubError(FORBIDDEN)
    return row


def dict_rows(cursor: Any) -> list[dict[str, Any]]:
    """Return the rows of a statement as dictionaries by column name."""
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def init(connection: HubConnection) -> tuple[int, int]:
    """Create or migrate the tables in one transaction. Return their version before (0 for none) and after.

    Raises HubError if another role owns the schema. Its functions would run with the caller's rights.
    """
    with transaction(connection) as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_INIT_LOCK,))
        (encoding,) = one_row(cursor.execute("SHOW server_encoding"))
        if encoding != "UTF8":
            raise HubError(f"this database stores texts as {encoding}; make another database with `ENCODING 'UTF8'`")
        sql = (
            "SELECT (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s), current_user,"
            " has_database_privilege(current_database(), 'CREATE'), current_database()"
        )
        owner, caller, may_create, database = one_row(cursor.execute(sql, (SCHEMA,)))
        if owner is None and not may_create:
            line = f'GRANT CREATE ON DATABASE "{database}" TO "{caller}"'
            raise HubError(
                f"this role may not create a schema in this database; the database's owner allows it with `{line}`"
            )
        if owner not in (None, caller):
            raise HubError(f"the schema {SCHEMA} belongs to the role `{owner}`; connect as that role")
        cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS migration"
            " (number integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        before = _version(cursor)
        if before > EXPECTED:
            raise _other_version(before)
        # No timeout, because a migration may rewrite a large table.
        cursor.execute("SET LOCAL statement_timeout = 0")
        for number, file in _MIGRATIONS.items():
            if number > before:
                cursor.execute(file.read_text(encoding="utf-8"))
                cursor.execute("INSERT INTO migration (number) VALUES (%s)", (number,))
    return before, EXPECTED


def _other_version(version: int) -> HubError:
    advice = "install a newer mdmem" if version > EXPECTED else "`mdmem hub init` migrates them"
    return HubError(f"the hub has version {version} of its tables, this mdmem needs {EXPECTED}; {advice}")


def _version(cursor: Any) -> int:
    (version,) = one_row(cursor.execute("SELECT coalesce(max(number), 0) FROM migration"))
    return int(version)


@contextmanager
def _explained(psycopg: Any) -> Iterator[None]:
    """Turn the server's errors into one sentence, without the password that the server's message may repeat."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UsageError("the question contains an invalid character (half of a surrogate pair); remove it") from error
    except psycopg.Error as error:
        if isinstance(error, psycopg.DataError) and error.sqlstate is None:
            # The library refuses the value before it asks the server.
            raise UsageError(f"the hub cannot store the question: {error}") from error
        state: str | None = error.sqlstate
        # A conflict of two transactions, or a row that another transaction has locked for too long.
        if state in ("40001", "40P01", "55P03"):
            again = "another process writes the same rows of the hub; nothing was changed, try again"
            raise LostRaceError(again) from error
        words = "; ".join(filter(None, map(str.strip, str(error).splitlines()))) or type(error).__name__
        message = f"the hub refuses: {words}"
        if state is None and isinstance(error, psycopg.ProgrammingError):
            # The library's message may repeat the whole DSN with the password, so it is not shown.
            message = (
                "the DSN, of --dsn or MDMEM_HUB_DSN, cannot be read; write it as `postgresql://USER@HOST/DATABASE`"
            )
        elif state in _SENTENCES:
            message = _SENTENCES[state]
        # The library says this if it lost the server's last message, for example while it was sending more.
        elif state is None and "server closed the connection" in words and not words.startswith("connection failed"):
            message = _SENTENCES["57P01"]
        elif isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P"))):
            message = f"the hub does not answer: {words}"
        raise HubError(message) from error


_AGAIN = "it has the whole change or none of it, so it is safe to try again"
_SENTENCES: dict[str | None, str] = {
    "53100": f"the hub's server has no space left on its disk; {_AGAIN} when it has",
    "53200": f"the hub's server has no memory left; {_AGAIN} later",
    "57014": f"the hub's server took longer than its time limit, perhaps because it is busy; {_AGAIN}",
    "57P01": f"the hub's server ended the connection, or did not answer in time; {_AGAIN}",
    "25006": "the hub's server only answers questions, as a replica does; write to its primary",
    "42501": FORBIDDEN,
    "23514": f"a row of the hub would not be valid; {REBUILD}",
}


def _psycopg() -> Any:
    """Import the library late, because only commands about a hub need it."""
    try:
        import psycopg
    except ImportError as error:
        raise HubError(f"a hub needs the extra `hub`; type `{this_installation().line_for('hub')}`") from error
    # psycopg would print the server's messages without escaping control characters.
    psycopg.logger.setLevel("CRITICAL")
    return psycopg
