"""The repositories of a hub: their names, state and upkeep, and who may read and push which of them.

The owner of the hub changes grants, and the database enforces them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from shlex import quote
from typing import Any

from msgspec import Struct

from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.connection import EXPECTED, SCHEMA, HubConnection, dict_rows, one_row, transaction
from mdmem.store.git.process import setting
from mdmem.store.index.analysis import VERSION
from mdmem.store.settings import is_path
from mdmem.store.workspace.location import Location

_NAME = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*(?::[\w.@+~-]+(?:/[\w.@+~-]+)*)?\Z")
_PORT = re.compile(r":\d*\Z")
_QUERY = re.compile(r"[?#].*\Z")
# In URLs such as `ext::...` the rest is a command line.
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_FILE = re.compile(r"(?i:file)://")
_MAX_LENGTH = 200


class HubRepository(Struct, frozen=True):
    """A repository in the hub; `root` is the folder of its memory, from the top of the repository.

    `commit` is None if nothing was pushed yet. `serial` counts the pushes. `url` is `host/owner/name`, or None.
    """

    id: int
    name: str
    root: str
    commit: str | None
    serial: int
    format: str
    url: str | None


FORMAT = f"words {VERSION}"
"""The version of the analysis that makes the search words. The next push renews the words of another version."""

_COLUMNS = ", ".join(HubRepository.__struct_fields__)


def checked_name(name: str) -> str:
    """Return a name if it is valid for a repository; raises UsageError otherwise."""
    if len(name) > _MAX_LENGTH or not _NAME.match(name):
        raise UsageError(f"`{name}` is not a valid name for a repository; give one without blanks, as `owner/name`")
    return name


def place_name(url: str) -> str:
    """Return `host/owner/name` for a URL, the same for every protocol and user. A path is returned unchanged."""
    if is_path(url):
        return url
    if "://" in url:
        scheme, _, rest = url.partition("://")
        # The query of a URL may contain a password, so it is removed.
        authority, _, path = _QUERY.sub("", rest).partition("/")
        host = authority.rpartition("@")[2]
        # An ssh port does not identify the repository, so it is removed.
        host = _PORT.sub("", host) if scheme.lower() == "ssh" else host
    else:
        host, _, path = url.partition(":")
        host = host.rpartition("@")[2]
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def remote_place(remote: str | None) -> str | None:
    """Return `host/owner/name` of a remote; None for a folder, a command such as `ext::`, or no remote."""
    if remote is None or is_path(remote) or _FILE.match(remote) or _HELPER.match(remote):
        return None
    return place_name(remote)


def default_names(location: Location, remote: str | None) -> tuple[str, str]:
    """Return two default names for a memory; the second is used if another memory has the first.

    The first is `owner/name` of the remote, or the name of the main worktree's folder. The second also has the
    folder of the memory.
    """
    if remote is not None:
        parts = [part for part in place_name(remote).removesuffix(".git").split("/") if part]
        name = "/".join(parts[-1:] if is_path(remote) else parts[1:][-2:] or parts[-1:])
    else:
        repository = location.get_repository()
        top, shared = repository.top, repository.common_dir
        if repository.git_dir.resolve() != shared:
            # A linked worktree. The shared git directory is `.git` in the main one, or is a bare repository.
            top = shared.parent if shared.name.startswith(".") else shared
        name = top.name.removesuffix(".git")
    return checked_name(name), f"{name}:{location.under or '.'}"


def require_owner(cursor: Any, action: str) -> None:
    """Raise UsageError unless the caller has the rights of the hub's owner; `action` completes the message."""
    if not one_row(cursor.execute("SELECT is_owner()"))[0]:
        raise UsageError(f"only the hub's owner role, or a member of it, {action}; connect with such a role")


def find_repository(cursor: Any, name: str, *, is_locked: bool = False) -> HubRepository | None:
    """Return the repository that has this name, or had it earlier; None if there is none that the caller may see.

    With `is_locked`, its row stays locked until the transaction ends; raises UsageError if the caller may not push it.
    """
    sql = (
        f"SELECT {_COLUMNS} FROM repository WHERE name = %(name)s OR id = (SELECT repository_id FROM former_name"
        " WHERE name = %(name)s) ORDER BY name <> %(name)s LIMIT 1"
    )
    row = cursor.execute(sql, {"name": name}).fetchone()
    if row is None or not is_locked:
        return HubRepository(*row) if row is not None else None
    # Another process may have pushed, renamed or deleted the repository while this one waited for the lock.
    locked = cursor.execute(f"SELECT {_COLUMNS} FROM repository WHERE id = %s FOR UPDATE", (row[0],)).fetchone()
    if locked is not None:
        return HubRepository(*locked)
    if not cursor.execute("SELECT FROM pushable_repository() AS id WHERE id = %s", (row[0],)).rowcount:
        raise push_refusal(name)
    return find_repository(cursor, name, is_locked=True)


def get_repository(cursor: Any, name: str, *, is_locked: bool = False) -> HubRepository:
    """Return a repository by its name; raises NotFoundError if there is none, or if nothing was pushed to it yet.

    With `is_locked`, its row stays locked until the transaction ends. It is then returned even without a push.
    """
    found = find_repository(cursor, name, is_locked=is_locked)
    if found is None or (found.commit is None and not is_locked):
        raise NotFoundError(f"the hub has no repository `{name}`; `mdmem hub status` lists those that you may read")
    return found


def push_refusal(name: str) -> UsageError:
    """Return an error with the same message for a repository that may not be pushed and for a missing repository."""
    line = f"mdmem hub grant NAME {name} --push"
    return UsageError(f"there is no repository `{name}` in the hub that you may push; the hub's owner types `{line}`")


def own_repository(cursor: Any, location: Location, *, option: str | None) -> HubRepository:
    """Return a memory's repository, by the typed or a default name; raises NotFoundError if it was never pushed."""
    remote = setting(location.get_repository(), "remote.origin.url")
    names = [option] if option is not None else default_names(location, remote)
    found = [one for name in names if (one := find_repository(cursor, name)) is not None and one.commit is not None]
    if not found:
        raise NotFoundError(f"the hub has no copy of `{names[0]}`; `mdmem hub push` sends one")
    return min(found, key=lambda one: one.root != location.under)


def rename(connection: HubConnection, old: str, new: str) -> str:
    """Rename a repository and return its old name, which continues to work; raises UsageError if `new` is taken."""
    checked_name(new)
    with transaction(connection) as cursor:
        require_owner(cursor, "renames a repository")
        stored = get_repository(cursor, old, is_locked=True)
        taken = find_repository(cursor, new)
        if taken is not None and taken.id != stored.id:
            whose = f"is a former name of `{taken.name}`" if taken.name != new else "is another repository"
            raise UsageError(f"`{new}` {whose} in the hub; nothing was renamed")
        if stored.name != new:
            cursor.execute("DELETE FROM former_name WHERE name = %s", (new,))
            cursor.execute("INSERT INTO former_name (name, repository_id) VALUES (%s, %s)", (stored.name, stored.id))
            cursor.execute("UPDATE repository SET name = %s WHERE id = %s", (new, stored.id))
    return stored.name


def forget(connection: HubConnection, name: str) -> HubRepository:
    """Delete a repository from the hub, and return its last state; raises NotFoundError if the hub does not have it."""
    with transaction(connection) as cursor:
        require_owner(cursor, "drops a repository")
        stored = get_repository(cursor, name, is_locked=True)
        cursor.execute("DELETE FROM repository WHERE id = %s", (stored.id,))
    return stored


class RepositoryState(Struct, frozen=True):
    """One repository in the hub. The age is measured by the server's clock.

    `is_ours` says that the search words were made by the same version of the analysis as in this program.
    """

    name: str
    root: str
    url: str | None
    commit: str | None
    committed_at: datetime | None
    pushed_at: datetime | None
    age_seconds: int | None
    pushes: int
    wings: int
    entries: int
    pins: list[str]
    former_names: list[str]
    is_ours: bool


class HubReport(Struct, frozen=True):
    """The visible repositories, sorted by name; `bytes` is the size of all tables, for the hub's owner only."""

    version: int
    repositories: tuple[RepositoryState, ...]
    bytes: int | None


def status(connection: HubConnection) -> HubReport:
    """Return the state of the hub, with the repositories that the caller may see."""
    with transaction(connection, is_snapshot=True) as cursor:
        rows = dict_rows(cursor.execute(_REPOSITORIES, (FORMAT,), binary=True))
        # Only the owner may see the size, because it tells how much other repositories have.
        sql = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = %s::regnamespace"
        (size,) = one_row(cursor.execute(f"{sql} AND relkind = 'r' AND is_owner()", (SCHEMA,)))
    return HubReport(EXPECTED, tuple(RepositoryState(**row) for row in rows), None if size is None else int(size))


_REPOSITORIES = """
SELECT repository.name, root, url, commit, committed_at, pushed_at,
    -- A clock may be set back, but nothing was pushed in the future.
    CASE WHEN pushed_at IS NOT NULL THEN greatest(0, floor(extract(epoch FROM now() - pushed_at)))::bigint END
        AS age_seconds,
    serial AS pushes, coalesce(wings, 0) AS wings, coalesce(entries, 0)::bigint AS entries,
    coalesce(pins, '{}') AS pins, coalesce(former, '{}') AS former_names,
    format = %s AS is_ours
FROM repository
LEFT JOIN (SELECT repository_id, count(*), sum(documents) FROM wing GROUP BY 1) AS one (id, wings, entries) USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM visible_pin() GROUP BY 1) AS two (id, pins)
    USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM former_name GROUP BY 1) AS three (id, former)
    USING (id)
ORDER BY repository.name"""


_TOKEN_BYTES = 32
_TOKEN_NAME = re.compile(r"(?!.{65})[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
_GRANTING = "says who sees what"


class Permission(Struct, frozen=True):
    """A permission for a repository, for one of its wings, or for every repository (`repository` is None)."""

    repository: str | None
    wing: str | None = None
    may_push: bool = False

    @property
    def place(self) -> str:
        """Return the repository or wing as it is typed on the command line."""
        if self.repository is None:
            return "every repository"
        return self.repository if self.wing is None else f"{self.repository}/{self.wing}"


class Grant(Struct, frozen=True):
    """All permissions of a token, or of a role and its members; the caller's own permissions have no name."""

    name: str | None
    permissions: tuple[Permission, ...]
    is_role: bool = False


def grant(
    connection: HubConnection, name: str, places: Sequence[str], *, may_push: bool = False, sees_all: bool = False
) -> Grant:
    """Let a token or a role see repositories, wings or everything. Return everything that it may see now.

    A repository that may be pushed need not exist yet. A single wing cannot be pushed.
    """
    with transaction(connection) as cursor:
        require_owner(cursor, _GRANTING)
        principal = _find_principal(cursor, name)
        if principal is None:
            role = _role_id(cursor, name)
            if role is None:
                raise NotFoundError(f"there is no token and no database role `{name}`; `mdmem hub token` makes one")
            sql = "INSERT INTO principal (role) VALUES (%s::oid) RETURNING id"
            (principal,) = one_row(cursor.execute(sql, (role,)))
        if sees_all:
            cursor.execute("INSERT INTO permission (principal_id) VALUES (%s) ON CONFLICT DO NOTHING", (principal,))
        for place in places:
            repository, wing = _find_place(cursor, place)
            if repository is None and may_push:
                sql = "INSERT INTO repository (name) VALUES (%s) RETURNING id"
                (repository,), wing = one_row(cursor.execute(sql, (checked_name(place),))), None
            elif repository is None:
                raise NotFoundError(
                    f"the hub has no repository `{place}`; push it first, or add `--push` to allow its first push"
                )
            if wing is None:
                cursor.execute(_GRANT_REPOSITORY, (principal, repository, may_push))
                cursor.execute(f"{_REVOKE} AND wing IS NOT NULL", (principal, repository))
                continue
            whole = place.removesuffix(f"/{wing}")
            if may_push:
                advice = f"grant `{whole} --push`, without `/{wing}`"
                raise UsageError(f"a permission to push is for a whole repository: {advice}")
            wings = sorted(name for (name,) in cursor.execute(_WINGS, {"id": repository}))
            if wing not in wings:
                has = f"it has {', '.join(wings)}" if wings else "nothing of it was pushed yet"
                raise NotFoundError(f"the hub has no wing `{wing}` of {whole}; {has}")
            cursor.execute(_GRANT_WING, (principal, repository, wing, principal, repository))
        return _granted(cursor, principal)


def revoke(connection: HubConnection, name: str, places: Sequence[str], *, sees_all: bool = False) -> Grant:
    """Revoke permissions immediately, and return the remaining permissions.

    `sees_all` revokes the permission that `grant --all` gave. With neither, all permissions are revoked.
    """
    with transaction(connection) as cursor:
        require_owner(cursor, _GRANTING)
        principal = _get_principal(cursor, name)
        if sees_all or not places:
            which = " AND repository_id IS NULL" if sees_all else ""
            cursor.execute(f"DELETE FROM permission WHERE principal_id = %s{which}", (principal,))
        for place in places:
            repository, wing = _find_place(cursor, place)
            which = "" if wing is None else " AND wing = %s"
            arguments = (principal, repository, *([] if wing is None else [wing]))
            if cursor.execute(_REVOKE + which, arguments).rowcount == 0:
                raise NotFoundError(
                    f"`{name}` has no permission for `{place}`; `mdmem hub grants {quote(name)}` lists its permissions"
                )
        left = _granted(cursor, principal)
        cursor.execute(
            "DELETE FROM principal WHERE role IS NOT NULL AND NOT EXISTS"
            " (SELECT FROM permission WHERE principal_id = principal.id)"
        )
        return left


def make_token(connection: HubConnection, name: str, *, is_rotated: bool = False) -> str:
    """Create a token, or with `is_rotated` give it a new secret. Return the secret, of which only a hash is stored."""
    if not is_rotated and not _TOKEN_NAME.match(name):
        raise UsageError(f"`{name}` is not a token name; use lower-case letters, digits, `-`, `_` and `.`, at most 64")
    text = secrets.token_urlsafe(_TOKEN_BYTES)
    digest = sha256(text.encode()).digest()
    with transaction(connection) as cursor:
        require_owner(cursor, _GRANTING)
        if is_rotated:
            _change_token(cursor, name, "UPDATE principal SET token_hash = %s WHERE name = %s", (digest, name))
            return text
        if _role_id(cursor, name) is not None:
            raise UsageError(f"`{name}` is a role of the database, which needs no token; give the token another name")
        sql = "INSERT INTO principal (name, token_hash) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        if cursor.execute(sql, (name, digest)).rowcount == 0:
            raise UsageError(f"there is a token `{name}` already; `--rotate` replaces it, `--drop` removes it")
    return text


def drop_token(connection: HubConnection, name: str) -> None:
    """Delete a token and its permissions immediately; raises NotFoundError if there is no such token."""
    with transaction(connection) as cursor:
        require_owner(cursor, _GRANTING)
        _change_token(cursor, name, "DELETE FROM principal WHERE name = %s", (name,))


def _change_token(cursor: Any, name: str, statement: str, arguments: tuple[object, ...]) -> None:
    if cursor.execute(statement, arguments).rowcount == 0:
        raise NotFoundError(f"there is no token `{name}`; `mdmem hub grants` lists the tokens")


def grants(connection: HubConnection, name: str | None = None) -> tuple[Grant, ...]:
    """Return the grants of one name or of everybody; a caller who is not the owner gets only their own grants."""
    with transaction(connection, is_snapshot=True) as cursor:
        if name is not None:
            require_owner(cursor, _GRANTING)
            return (_granted(cursor, _get_principal(cursor, name)),)
        if not one_row(cursor.execute("SELECT is_owner()"))[0]:
            return (Grant(None, tuple(Permission(*row) for row in cursor.execute(_OWN))),)
        known = cursor.execute("SELECT id FROM principal ORDER BY coalesce(name, role::text)").fetchall()
        return tuple(_granted(cursor, one) for (one,) in known)


_GRANT_REPOSITORY = (
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
_WINGS = "SELECT name FROM wing WHERE repository_id = %(id)s UNION SELECT name FROM pin WHERE repository_id = %(id)s"


def _role_id(cursor: Any, name: str) -> int | None:
    row = cursor.execute("SELECT oid FROM pg_roles WHERE rolname = %s", (name,)).fetchone()
    return None if row is None else int(row[0])


def _find_principal(cursor: Any, name: str) -> int | None:
    sql = "SELECT id FROM principal WHERE name = %s OR role = %s::oid"
    row = cursor.execute(sql, (name, _role_id(cursor, name))).fetchone()
    return None if row is None else int(row[0])


def _get_principal(cursor: Any, name: str) -> int:
    if (principal := _find_principal(cursor, name)) is None:
        raise NotFoundError(f"`{name}` has no permission in this hub; `mdmem hub grants` lists all permissions")
    return principal


def _find_place(cursor: Any, place: str) -> tuple[int | None, str | None]:
    """Return the id of a repository, and the wing in `REPOSITORY/WING`; None for a repository that is not there."""
    above, _, wing = place.rpartition("/")
    whole, part = one_row(cursor.execute("SELECT repository_named(%s), repository_named(%s)", (place, above)))
    return (whole, None) if whole is not None else (part, wing)


def _granted(cursor: Any, principal: int) -> Grant:
    name, is_role = one_row(
        cursor.execute(
            "SELECT coalesce(name, (SELECT rolname FROM pg_roles WHERE oid = role), role::text), role IS NOT NULL"
            " FROM principal WHERE id = %s",
            (principal,),
        )
    )
    rows = cursor.execute(
        "SELECT repository.name, wing, may_push FROM permission LEFT JOIN repository ON repository.id = repository_id"
        " WHERE principal_id = %s ORDER BY 1 NULLS FIRST, 2",
        (principal,),
    )
    return Grant(name, tuple(Permission(*row) for row in rows), is_role)
