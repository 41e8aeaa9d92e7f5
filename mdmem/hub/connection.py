"""The one door to PostgreSQL: a connection to the hub's schema, and a sentence for whatever the server refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mdmem.errors import EnvironmentFaultError

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

SCHEMA = "mdmem_hub"
CONNECT_SECONDS = 5
"""So long is waited for a server that does not answer."""


class HubError(EnvironmentFaultError):
    """The hub cannot be asked, or did not do what it was asked; nothing of it was done by half."""


@contextmanager
def connected(dsn: str, *, token: str | None = None, statement_seconds: int = 60) -> Iterator[Connection[Any]]:
    """Open a connection whose statements see the hub's tables; a token says who asks, where the role does not.

    Nothing is committed but by `transaction`. Raises HubError for whatever the server or the way to it refuses.
    """
    psycopg = _psycopg()
    with _told(psycopg):
        opened = psycopg.connect(
            dsn,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="mdmem",
            options=f"-c search_path={SCHEMA},pg_catalog -c statement_timeout={statement_seconds}s",
        )
        try:
            if token is not None:
                opened.execute("SELECT set_config('mdmem.token', %s, false)", (token,))
            yield opened
        finally:
            opened.close()


@contextmanager
def transaction(connection: Connection[Any], *, is_snapshot: bool = False) -> Iterator[Cursor[Any]]:
    """Do what is within wholly or not at all; a snapshot reads one state of all tables, and writes none."""
    with connection.transaction(), connection.cursor() as cursor:
        if is_snapshot:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield cursor


@contextmanager
def _told(psycopg: Any) -> Iterator[None]:
    """Say in a sentence what the server refuses, without the password that its own words may repeat."""
    try:
        yield
    except psycopg.Error as error:
        raise HubError(_sentence(psycopg, error)) from error


def _sentence(psycopg: Any, error: Exception) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, psycopg.OperationalError) and getattr(error, "sqlstate", None) is None:
        return f"the hub does not answer: {said}"
    return f"the hub refuses: {said}"


def _psycopg() -> Any:
    """Import the library where a hub is asked, and nowhere else."""
    try:
        import psycopg
    except ImportError as error:
        raise HubError("a hub needs the extra `hub`: `pip install '.[hub]'` in a clone of mdmem") from error
    return psycopg
