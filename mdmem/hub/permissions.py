"""Who sees and who pushes what of the hub: granted and revoked by its owner, held to by the database itself."""

from __future__ import annotations

import difflib
import re
import secrets
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.connection import HubError, transaction
from mdmem.hub.names import checked_name

if TYPE_CHECKING:
    from psycopg import Connection

_BYTES = 32
_NAME = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
_LONGEST = 64


class Permission(Struct, frozen=True):
    """A repository, or one wing of it, by its name there, that somebody sees; a whole one they may push, too.

    None as the repository stands for every one, those to come as well.
    """

    repository: str | None
    wing: str | None = None
    may_push: bool = False

    @property
    def place(self) -> str:
        """Return what is granted, as it is typed."""
        if self.repository is None:
            return "every repository"
        return self.repository if self.wing is None else f"{self.repository}/{self.wing}"


class Grant(Struct, frozen=True):
    """What the holder of a token, or a database role with its members, sees; `name` is None for whoever asks."""

    name: str | None
    permissions: tuple[Permission, ...]
    is_role: bool = False


def require_owner(cursor: Any, does: str) -> None:
    """Raise UsageError for whoever is not the hub's owner: what no grant gives."""
    if not _is_owner(cursor):
        raise UsageError(f"only the hub's owner, or a member of that role, {does}; connect as one")


def require_known(connection: Connection[Any]) -> None:
    """Raise HubError for a token that the hub does not know, and for one that is shown in vain: by an owner."""
    asked = "SELECT is_known_token(), is_owner() AND coalesce(current_setting('mdmem.token', true), '') <> ''"
    is_known, is_vain = connection.execute(asked).fetchone() or (False, False)
    if is_vain:
        raise HubError(
            "this database role owns the hub and sees all of it, whatever token it shows:"
            " unset MDMEM_HUB_TOKEN, or use another role"
        )
    if not is_known:
        raise HubError("the hub does not know this token; its owner makes one with `mdmem hub token NAME`")


def grant(
    connection: Connection[Any], name: str, places: Sequence[str], *, may_push: bool = False, sees_all: bool = False
) -> Grant:
    """Let the holder of a token, or a role, see repositories or wings, or all, and return what they see now.

    A repository that may be pushed need not be there yet. Raises NotFoundError for whoever or whatever is not known,
    and UsageError for a wing that may be pushed: a push is about all of a repository.
    """
    with transaction(connection) as cursor:
        _require_owner(cursor)
        principal = _principal(cursor, name) or _new_role(cursor, name)
        if sees_all:
            cursor.execute("INSERT INTO permission (principal_id) VALUES (%s) ON CONFLICT DO NOTHING", (principal,))
        for place in places:
            repository, wing = _found(cursor, place, may_push=may_push)
            if wing is None:
                cursor.execute(_GRANT_WHOLE, (principal, repository, may_push))
                cursor.execute(f"{_REVOKE} AND wing IS NOT NULL", (principal, repository))
            else:
                cursor.execute(_GRANT_WING, (principal, repository, wing, principal, repository))
        return _granted(cursor, principal)


def revoke(connection: Connection[Any], name: str, places: Sequence[str], *, sees_all: bool = False) -> Grant:
    """Take permissions back, and return what is left; it holds at once.

    That to see every repository is taken back where `sees_all` is said, and everything where nothing is.

    Raises NotFoundError where there is nothing to take back.
    """
    with transaction(connection) as cursor:
        _require_owner(cursor)
        principal = _principal(cursor, name)
        if principal is None:
            raise NotFoundError(f"`{name}` sees nothing of this hub{_nearest(name, _names(cursor))}")
        if sees_all or not places:
            which = " AND repository_id IS NULL" if sees_all else ""
            cursor.execute(f"DELETE FROM permission WHERE principal_id = %s{which}", (principal,))
        for place in places:
            _take_back(cursor, principal, name, place)
        left = _granted(cursor, principal)
        cursor.execute(
            "DELETE FROM principal WHERE role IS NOT NULL AND NOT EXISTS"
            " (SELECT FROM permission WHERE principal_id = principal.id)"
        )
        return left


def add_token(connection: Connection[Any], name: str) -> str:
    """Return the text of a new token, which is kept nowhere; raises UsageError for a name that is odd or taken."""
    if len(name) > _LONGEST or not _NAME.match(name):
        raise UsageError(
            f"`{name}` cannot name a token; write lower-case letters, digits, `-`, `_` and `.`, at most {_LONGEST}"
        )
    with transaction(connection) as cursor:
        _require_owner(cursor)
        if _role(cursor, name) is not None:
            raise UsageError(f"`{name}` is a role of the database, which needs no token; give the token another name")
        text, digest = _new_text()
        made = "INSERT INTO principal (name, token_hash) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        if cursor.execute(made, (name, digest)).rowcount == 0:
            raise UsageError(f"there is a token `{name}` already; `--rotate` replaces its text, `--drop` ends it")
    return text


def rotate_token(connection: Connection[Any], name: str) -> str:
    """Return a new text for a token, and end the old one; what it sees stays. Raises NotFoundError."""
    text, digest = _new_text()
    _change_token(connection, name, "UPDATE principal SET token_hash = %s WHERE name = %s", (digest, name))
    return text


def drop_token(connection: Connection[Any], name: str) -> None:
    """End a token, with all that it sees, at once; raises NotFoundError."""
    _change_token(connection, name, "DELETE FROM principal WHERE name = %s", (name,))


def grants(connection: Connection[Any], name: str | None = None) -> tuple[Grant, ...]:
    """Return what everybody sees, or one of them; to whoever is not the owner, what they see themselves.

    Raises NotFoundError for a name that is not known, and UsageError where another's is asked for.
    """
    with transaction(connection, is_snapshot=True) as cursor:
        if not _is_owner(cursor):
            if name is not None:
                _require_owner(cursor)
            return (Grant(None, _permissions(cursor.execute(_OWN).fetchall())),)
        known = cursor.execute("SELECT id FROM principal ORDER BY coalesce(name, role::text)").fetchall()
        if name is None:
            return tuple(_granted(cursor, one) for (one,) in known)
        principal = _principal(cursor, name)
        if principal is None:
            raise NotFoundError(f"`{name}` sees nothing of this hub{_nearest(name, _names(cursor))}")
        return (_granted(cursor, principal),)


_GRANT_WHOLE = (
    "INSERT INTO permission (principal_id, repository_id, may_push) VALUES (%s, %s, %s)"
    " ON CONFLICT (principal_id, repository_id) WHERE wing IS NULL"
    " DO UPDATE SET may_push = permission.may_push OR excluded.may_push"
)
_GRANT_WING = (
    "INSERT INTO permission (principal_id, repository_id, wing) SELECT %s, %s, %s WHERE NOT EXISTS"
    " (SELECT FROM permission WHERE principal_id = %s AND repository_id = %s AND wing IS NULL) ON CONFLICT DO NOTHING"
)
_REVOKE = "DELETE FROM permission WHERE principal_id = %s AND repository_id = %s"
_OWN = (
    "SELECT repository.name, seen.wing, bool_or(seen.may_push) FROM visible_scope() AS seen"
    " JOIN repository ON repository.id = seen.repository_id GROUP BY 1, 2 ORDER BY 1, 2"
)
_WINGS = (
    "SELECT name FROM wing WHERE repository_id = %(id)s UNION SELECT name FROM pin WHERE repository_id = %(id)s"
    " ORDER BY 1"
)


def _is_owner(cursor: Any) -> bool:
    return bool(cursor.execute("SELECT is_owner()").fetchone()[0])


def _require_owner(cursor: Any) -> None:
    require_owner(cursor, "says who sees what")


def _role(cursor: Any, name: str) -> int | None:
    row = cursor.execute("SELECT oid FROM pg_roles WHERE rolname = %s", (name,)).fetchone()
    return None if row is None else int(row[0])


def _principal(cursor: Any, name: str) -> int | None:
    asked = "SELECT id FROM principal WHERE name = %s OR role = %s::oid"
    row = cursor.execute(asked, (name, _role(cursor, name))).fetchone()
    return None if row is None else int(row[0])


def _new_role(cursor: Any, name: str) -> int:
    role = _role(cursor, name)
    if role is None:
        hint = _nearest(name, _names(cursor))
        raise NotFoundError(f"there is no token and no database role `{name}`{hint or '; `mdmem hub token` makes one'}")
    return int(cursor.execute("INSERT INTO principal (role) VALUES (%s::oid) RETURNING id", (role,)).fetchone()[0])


def _found(cursor: Any, place: str, *, may_push: bool) -> tuple[int, str | None]:
    """Return the repository that a place names, and the wing; one that is to be pushed is made where there is none."""
    repository = _named(cursor, place)
    if repository is not None:
        return repository, None
    above, _, wing = place.rpartition("/")
    repository = _named(cursor, above) if above else None
    if repository is not None and may_push:
        raise UsageError(f"a push is about all of a repository: grant `{above} --push`, without `/{wing}`")
    if repository is not None:
        wings = [name for (name,) in cursor.execute(_WINGS, {"id": repository})]
        if wing not in wings:
            raise NotFoundError(f"the hub has no wing `{wing}` of {above}{_nearest(wing, wings)}")
        return repository, wing
    if may_push:
        made = cursor.execute("INSERT INTO repository (name) VALUES (%s) RETURNING id", (checked_name(place),))
        return int(made.fetchone()[0]), None
    known = [name for (name,) in cursor.execute("SELECT name FROM repository")]
    hint = _nearest(place, known) or "; with `--push` it need not be there"
    raise NotFoundError(f"the hub has no repository `{place}`{hint}")


def _named(cursor: Any, name: str) -> int | None:
    row = cursor.execute("SELECT repository_named(%s)", (name,)).fetchone()
    return None if row[0] is None else int(row[0])


def _take_back(cursor: Any, principal: int, name: str, place: str) -> None:
    repository = _named(cursor, place)
    if repository is not None:
        taken = cursor.execute(_REVOKE, (principal, repository)).rowcount
    else:
        above, _, wing = place.rpartition("/")
        repository = _named(cursor, above)
        taken = cursor.execute(f"{_REVOKE} AND wing = %s", (principal, repository, wing)).rowcount
    if taken == 0:
        places = [one.place for one in _granted(cursor, principal).permissions]
        raise NotFoundError(f"`{place}` was not granted to `{name}`{_nearest(place, places)}")


def _granted(cursor: Any, principal: int) -> Grant:
    who = cursor.execute(
        "SELECT coalesce(name, (SELECT rolname FROM pg_roles WHERE oid = role), role::text), role IS NOT NULL"
        " FROM principal WHERE id = %s",
        (principal,),
    ).fetchone()
    rows = cursor.execute(
        "SELECT repository.name, wing, may_push FROM permission LEFT JOIN repository ON repository.id = repository_id"
        " WHERE principal_id = %s ORDER BY 1 NULLS FIRST, 2",
        (principal,),
    ).fetchall()
    name, is_role = who
    return Grant(name, _permissions(rows), is_role)


def _permissions(rows: Iterable[tuple[str | None, str | None, bool]]) -> tuple[Permission, ...]:
    return tuple(Permission(*row) for row in rows)


def _names(cursor: Any) -> list[str]:
    return [name for (name,) in cursor.execute("SELECT coalesce(name, role::text) FROM principal")]


def _new_text() -> tuple[str, bytes]:
    text = secrets.token_urlsafe(_BYTES)
    return text, sha256(text.encode()).digest()


def _change_token(connection: Connection[Any], name: str, statement: str, arguments: tuple[object, ...]) -> None:
    with transaction(connection) as cursor:
        _require_owner(cursor)
        if cursor.execute(statement, arguments).rowcount == 0:
            known = [one for (one,) in cursor.execute("SELECT name FROM principal WHERE name IS NOT NULL")]
            raise NotFoundError(f"there is no token `{name}`{_nearest(name, known)}")


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f"; did you mean `{close[0]}`?" if close else ""
