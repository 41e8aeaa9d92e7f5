"""The repositories of a hub: which one is meant, and its row, locked until the end of a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.connection import FORBIDDEN, HubError, one_row, transaction
from mdmem.hub.names import checked_name, own_names, remote_url
from mdmem.hub.permissions import require_owner
from mdmem.store.git import Repository, list_revision
from mdmem.store.git.merge import is_ancestor
from mdmem.store.workspace.location import Location

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection
    from mdmem.hub.contents import Contents


class HubRepository(Struct, frozen=True):
    """A repository as the hub has it; without a commit nothing was pushed yet."""

    id: int
    name: str
    root: str
    commit: str | None
    serial: int
    format: str
    url: str | None


_COLUMNS = "id, name, root, commit, serial, format, url"


def find_repository(cursor: Any, name: str, *, is_locked: bool = False) -> HubRepository | None:
    """Return the repository that has a name, or had it before; None where there is none that is seen."""
    # A name that a repository has goes before one that another had.
    asked = (
        f"SELECT {_COLUMNS} FROM repository WHERE name = %(name)s OR id = (SELECT repository_id FROM former_name"
        " WHERE name = %(name)s) ORDER BY name <> %(name)s LIMIT 1"
    )
    row = cursor.execute(asked, {"name": name}).fetchone()
    if row is None or not is_locked:
        return HubRepository(*row) if row is not None else None
    # Whoever held it may have pushed, renamed or dropped it meanwhile.
    cursor.execute(f"SELECT {_COLUMNS} FROM repository WHERE id = %s FOR UPDATE", (row[0],))
    locked = cursor.fetchone()
    if locked is not None:
        return HubRepository(*locked)
    cursor.execute("SELECT FROM pushable_repository() AS id WHERE id = %s", (row[0],))
    if not cursor.rowcount:
        raise _not_to_push(name)
    return find_repository(cursor, name, is_locked=True)


def _not_to_push(name: str) -> UsageError:
    """Return what is said of a repository that is seen and one that is not there alike."""
    line = f"mdmem hub grant NAME {name} --push"
    return UsageError(f"there is no repository `{name}` in the hub that you may push; the hub's owner types `{line}`")


def own_repository(cursor: Any, location: Location, *, given: str | None = None) -> HubRepository:
    """Return what the hub has of a memory, under the name that is given or its own; raises NotFoundError."""
    names = [given] if given is not None else own_names(location, remote_url(location.get_repository()))
    found = [one for name in names if (one := find_repository(cursor, name)) is not None and one.commit is not None]
    if not found:
        raise NotFoundError(f"the hub has nothing of `{names[0]}`; `mdmem hub push` sends it")
    return min(found, key=lambda one: one.root != location.under)


def take_repository(cursor: Any, contents: Contents, *, given: str | None, is_new: bool) -> HubRepository:
    """Return the repository that a commit of a memory is pushed to, locked, made where it is new.

    `given` is the name that somebody asks for, `is_new` says that it is no other name of one that is there. Raises
    UsageError where the name is another memory's, or the history has another name.
    """
    location, commit = contents.workspace.location, contents.commit
    name = checked_name(given) if given is not None else own_names(location, contents.remote)[0]
    found = find_repository(cursor, name, is_locked=True)
    if found is not None and _is_beside(location, commit, found):
        if given is not None:
            where = found.root or "its top"
            raise UsageError(f"`{name}` is the memory at {where} of this repository; name this one with --repository")
        name = checked_name(own_names(location, contents.remote)[1])
        found = find_repository(cursor, name, is_locked=True)
    if found is not None:
        return found
    if not is_new:
        _refuse_known(cursor, contents, name)
    if not one_row(cursor.execute("SELECT is_owner()"))[0]:
        raise _not_to_push(name)
    cursor.execute("INSERT INTO repository (name, root) VALUES (%s, %s) ON CONFLICT DO NOTHING", (name, location.under))
    is_made = cursor.rowcount == 1
    made = find_repository(cursor, name, is_locked=True)
    if made is None:
        raise HubError(FORBIDDEN)
    # Else somebody made one of that name at this moment, and it may be another memory.
    return made if is_made else take_repository(cursor, contents, given=given, is_new=is_new)


def _is_beside(location: Location, commit: str, found: HubRepository) -> bool:
    """Say whether what the hub has is another memory of the same repository, and not this one before it moved."""
    if found.commit is None or found.root == location.under:
        return False
    settings = f"{found.root}/{SETTINGS_NAME}" if found.root else SETTINGS_NAME
    return bool(list_revision(location.get_repository(), commit, settings))


def _refuse_known(cursor: Any, contents: Contents, name: str) -> None:
    """Raise UsageError where the hub has the history of a commit under another name."""
    location, commit = contents.workspace.location, contents.commit
    git = location.get_repository()
    asked = f"SELECT {_COLUMNS} FROM repository WHERE roots && %s AND root = %s AND name <> %s ORDER BY name"
    cursor.execute(asked, (contents.roots or [], location.under, name))
    for row in cursor.fetchall():
        other = HubRepository(*row)
        if other.commit is not None and _is_one_line(git, other.commit, commit):
            rename = f"`mdmem hub rename {other.name} {name}` if it is called so now"
            raise UsageError(f"the hub has this history as `{other.name}`: {rename}, `--new` if it is another, a fork")


def _is_one_line(git: Repository, one: str, other: str) -> bool:
    return is_ancestor(git, one, other) or is_ancestor(git, other, one)


class RenameResult(Struct, frozen=True):
    """The names that a repository had and has; a push under either goes to it."""

    before: str
    name: str


def rename(connection: HubConnection, old: str, new: str) -> RenameResult:
    """Give a repository another name; the old one goes on working.

    Raises NotFoundError where none has the old name, and UsageError where another has the new one, or had it before.
    """
    checked_name(new)
    with transaction(connection) as cursor:
        require_owner(cursor, "renames a repository")
        held = _get(cursor, old)
        taken = find_repository(cursor, new)
        if taken is not None and taken.id != held.id:
            whose = f"is `{taken.name}` now" if taken.name != new else "is another repository"
            raise UsageError(f"`{new}` {whose} in the hub; nothing was renamed")
        if held.name != new:
            cursor.execute("DELETE FROM former_name WHERE name = %s", (new,))
            cursor.execute("INSERT INTO former_name (name, repository_id) VALUES (%s, %s)", (held.name, held.id))
            cursor.execute("UPDATE repository SET name = %s WHERE id = %s", (new, held.id))
    return RenameResult(held.name, new)


def forget(connection: HubConnection, name: str) -> HubRepository:
    """Drop what the hub has of a repository, and return what that was; git has it still. Raises NotFoundError."""
    with transaction(connection) as cursor:
        require_owner(cursor, "drops a repository")
        held = _get(cursor, name)
        cursor.execute("DELETE FROM repository WHERE id = %s", (held.id,))
    return held


def _get(cursor: Any, name: str) -> HubRepository:
    held = find_repository(cursor, name, is_locked=True)
    if held is None:
        raise NotFoundError(f"the hub has no repository `{name}`; `mdmem hub status` lists them")
    return held
