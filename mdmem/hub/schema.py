"""The tables of a hub: numbered migrations, each applied once, and the version that this program expects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.hub.connection import SCHEMA, HubError, is_open, one_row, transaction

if TYPE_CHECKING:
    from psycopg import Connection

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
