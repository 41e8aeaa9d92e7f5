"""Sending a commit to the hub: what differs from what it has, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.hub.connection import in_turn
from mdmem.hub.contents import Contents, narrow_settings
from mdmem.hub.names import remote_place
from mdmem.hub.repositories import HubRepository, take_repository
from mdmem.hub.rows import FORMAT, plain_text
from mdmem.hub.succession import Succession, leave_others, succession
from mdmem.hub.transfer import TransferResult, transfer
from mdmem.store.git import resolve
from mdmem.store.git.ancestry import committed_at
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class PushRequest(Struct, frozen=True):
    """Which commit goes to the hub, under which name; None for the repository's own.

    `is_rewritten` lets a commit take the place of one that it does not follow from, `is_new` says that the hub has the
    history under another name and is to have it twice, `is_whole` that everything is sent anew.
    """

    repository: str | None = None
    commit: str = "HEAD"
    is_rewritten: bool = False
    is_new: bool = False
    is_whole: bool = False


class PushResult(Struct, frozen=True):
    """What became of a push: `commit` is the one that the hub has now, `before` the one that it had.

    `pushed` is the commit that was asked for, `brought` what was changed, `missing` the sentences about wings of other
    repositories that are not at hand.
    """

    repository: str
    pushed: str
    commit: str
    before: str | None
    succession: Succession
    brought: TransferResult
    missing: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Say whether the hub had all of it, or something newer, already."""
        is_same = self.succession is Succession.SAME and not self.brought
        return is_same or self.succession is Succession.OLDER


def push(workspace: Workspace, connection: HubConnection, request: PushRequest) -> PushResult:
    """Bring the hub to a commit of this memory, wholly or not at all; it never goes back to an older one.

    Raises UsageError, HubError, HubRaceError and what git raises.
    """
    commit = resolve(workspace.location.get_repository(), request.commit)
    contents = Contents(workspace, commit)
    return in_turn(connection, lambda cursor: _pushed(cursor, contents, request))


def _pushed(cursor: Any, contents: Contents, request: PushRequest) -> PushResult:
    location, commit = contents.workspace.location, contents.commit
    git = location.get_repository()
    held = take_repository(cursor, contents, given=request.repository, is_new=request.is_new)
    how = succession(cursor, git, held, commit, is_rewritten=request.is_rewritten)
    if how is Succession.OLDER:
        return PushResult(held.name, commit, held.commit or commit, held.commit, how, TransferResult())
    if how is Succession.REWRITTEN:
        leave_others(cursor, git, held, commit)
    brought = transfer(cursor, held.id, contents, is_whole=request.is_whole)
    result = PushResult(held.name, commit, commit, held.commit, how, brought, contents.missing_said)
    is_noted = (held.format, held.url) == (FORMAT, remote_place(contents.remote)) and not request.is_whole
    if not (result.is_unchanged and is_noted):
        _note(cursor, held, contents)
    return result


def _note(cursor: Any, held: HubRepository, contents: Contents) -> None:
    """Write which commit the hub has of a repository from now on."""
    location, commit = contents.workspace.location, contents.commit
    git = location.get_repository()
    stated = {
        "id": held.id,
        "root": location.under,
        "url": remote_place(contents.remote),
        # Where a history begins does not change.
        "roots": contents.roots if held.commit is None else None,
        "commit": commit,
        "committed": committed_at(git, commit),
        "format": FORMAT,
        "settings": contents.settings,
        "tracked": list(map(plain_text, contents.tracked)),
        "narrow": narrow_settings(contents.settings),
    }
    cursor.execute(_NOTE, stated)
    cursor.execute(_PUSH, stated)


_NOTE = (
    "UPDATE repository SET root = %(root)s, url = %(url)s, roots = coalesce(%(roots)s, roots), commit = %(commit)s,"
    " committed_at = %(committed)s, pushed_at = now(), serial = serial + 1, format = %(format)s,"
    " settings = %(settings)b, narrow_settings = %(narrow)b, tracked = %(tracked)s WHERE id = %(id)s"
)
_PUSH = "INSERT INTO push (repository_id, serial, commit) SELECT id, serial, commit FROM repository WHERE id = %(id)s"
