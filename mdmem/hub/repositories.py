"""The repositories of a hub: their names, finding the repository of a memory, renaming and deleting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.connection import one_row, transaction
from mdmem.store.git.process import Repository, setting
from mdmem.store.settings import is_path
from mdmem.store.workspace.location import Location

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection

_NAME = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*(?::[\w.@+~-]+(?:/[\w.@+~-]+)*)?\Z")
_PORT = re.compile(r":\d*\Z")
_QUERY = re.compile(r"[?#].*\Z")
# In URLs such as `ext::...` the rest is a command line.
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_FILE = re.compile(r"(?i:file)://")
_LONGEST = 200


class HubRepository(Struct, frozen=True):
    """A repository in the hub. `commit` is None if nothing was pushed yet."""

    id: int
    name: str
    root: str
    commit: str | None
    serial: int
    format: str
    url: str | None


_COLUMNS = ", ".join(HubRepository.__struct_fields__)


def checked_name(name: str) -> str:
    """Return the name if it is valid for a repository. Raises UsageError otherwise."""
    if len(name) > _LONGEST or not _NAME.match(name):
        raise UsageError(f"`{name}` is not a valid name for a repository; give one without blanks, as `owner/name`")
    return name


def place_name(url: str) -> str:
    """Return `host/owner/name` for a URL. The result is the same for every protocol and user."""
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


def remote_url(repository: Repository) -> str | None:
    """Return the URL of the remote `origin` from git's configuration, or None."""
    return setting(repository, "remote.origin.url")


def remote_place(remote: str | None) -> str | None:
    """Return `host/owner/name` of a remote.

    Return None if there is no remote, or if it is not an address for everybody: a folder or the command of a helper.
    """
    if remote is None or is_path(remote) or _FILE.match(remote) or _HELPER.match(remote):
        return None
    return place_name(remote)


def own_names(location: Location, remote: str | None) -> tuple[str, str]:
    """Return two default names for a memory: `owner/name` of its remote, or else the name of its folder.

    The second name also has the folder of the memory. It is used if another memory of the repository has the first
    name.
    """
    if remote is not None:
        parts = [part for part in place_name(remote).removesuffix(".git").split("/") if part]
        name = "/".join(parts[-1:] if is_path(remote) else parts[1:][-2:] or parts[-1:])
    else:
        name = location.get_repository().top.name.removesuffix(".git")
    return checked_name(name), f"{name}:{location.under or '.'}"


def require_owner(cursor: Any, does: str) -> None:
    """Raise UsageError unless the caller is the hub's owner, or a member of that role.

    mdmem cannot grant these rights to anybody else.
    """
    if not one_row(cursor.execute("SELECT is_owner()"))[0]:
        raise UsageError(f"only the hub's owner, or a member of that role, {does}; connect with such a role")


def find_repository(cursor: Any, name: str, *, is_locked: bool = False) -> HubRepository | None:
    """Return the repository with this name or former name, if the caller may see it.

    A current name takes precedence.
    """
    asked = (
        f"SELECT {_COLUMNS} FROM repository WHERE name = %(name)s OR id = (SELECT repository_id FROM former_name"
        " WHERE name = %(name)s) ORDER BY name <> %(name)s LIMIT 1"
    )
    row = cursor.execute(asked, {"name": name}).fetchone()
    if row is None or not is_locked:
        return HubRepository(*row) if row is not None else None
    # Another process may have pushed, renamed or deleted the repository while this one waited for the lock.
    locked = cursor.execute(f"SELECT {_COLUMNS} FROM repository WHERE id = %s FOR UPDATE", (row[0],)).fetchone()
    if locked is not None:
        return HubRepository(*locked)
    if not cursor.execute("SELECT FROM pushable_repository() AS id WHERE id = %s", (row[0],)).rowcount:
        raise not_to_push(name)
    return find_repository(cursor, name, is_locked=True)


def get_pushed(cursor: Any, name: str) -> HubRepository:
    """Return a repository by its name. Raises NotFoundError if nothing was pushed, or if the caller may not see it."""
    found = find_repository(cursor, name)
    if found is None or found.commit is None:
        raise NotFoundError(f"the hub has no repository `{name}`; `mdmem hub status` lists those that you may read")
    return found


def not_to_push(name: str) -> UsageError:
    """Return an error with the same message for a repository that may not be pushed and for a missing repository."""
    line = f"mdmem hub grant NAME {name} --push"
    return UsageError(f"there is no repository `{name}` in the hub that you may push; the hub's owner types `{line}`")


def own_repository(cursor: Any, location: Location, *, given: str | None = None) -> HubRepository:
    """Return the repository of a memory, by the given name or the default names. Raises NotFoundError."""
    names = [given] if given is not None else own_names(location, remote_url(location.get_repository()))
    found = [one for name in names if (one := find_repository(cursor, name)) is not None and one.commit is not None]
    if not found:
        raise NotFoundError(f"the hub has nothing of `{names[0]}`; `mdmem hub push` sends it")
    return min(found, key=lambda one: one.root != location.under)


def rename(connection: HubConnection, old: str, new: str) -> str:
    """Rename a repository and return its old name. The old name continues to work.

    Raises NotFoundError for an unknown name, and UsageError if another repository has or had the new name.
    """
    checked_name(new)
    with transaction(connection) as cursor:
        require_owner(cursor, "renames a repository")
        stored = _get_locked(cursor, old)
        taken = find_repository(cursor, new)
        if taken is not None and taken.id != stored.id:
            whose = f"is `{taken.name}` now" if taken.name != new else "is another repository"
            raise UsageError(f"`{new}` {whose} in the hub; nothing was renamed")
        if stored.name != new:
            cursor.execute("DELETE FROM former_name WHERE name = %s", (new,))
            cursor.execute("INSERT INTO former_name (name, repository_id) VALUES (%s, %s)", (stored.name, stored.id))
            cursor.execute("UPDATE repository SET name = %s WHERE id = %s", (new, stored.id))
    return stored.name


def forget(connection: HubConnection, name: str) -> HubRepository:
    """Delete a repository from the hub, and return its last state. Raises NotFoundError. git is not changed."""
    with transaction(connection) as cursor:
        require_owner(cursor, "drops a repository")
        stored = _get_locked(cursor, name)
        cursor.execute("DELETE FROM repository WHERE id = %s", (stored.id,))
    return stored


def _get_locked(cursor: Any, name: str) -> HubRepository:
    stored = find_repository(cursor, name, is_locked=True)
    if stored is None:
        raise NotFoundError(f"the hub has no repository `{name}`; `mdmem hub status` lists them")
    return stored
