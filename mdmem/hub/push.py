"""Sending a commit to the hub: what differs from what it has, in one transaction."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mdmem.catalog.addresses import MANIFEST
from mdmem.dataclass import dataclass
from mdmem.entry.model import Wing
from mdmem.git import resolve
from mdmem.git.ancestry import committed_at, root_commits
from mdmem.git.merge import is_shallow
from mdmem.hub.connection import one_row, transaction
from mdmem.hub.contents import Contents, HubWing
from mdmem.hub.names import checked_name, default_name, remote_place
from mdmem.hub.rows import FORMAT
from mdmem.hub.wings import WingRows
from mdmem.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class PushOutcome(StrEnum):
    """What became of a push: it made a repository, brought one forward, or found nothing to do."""

    FIRST = "first"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"


@dataclass(frozen=True, slots=True)
class PushRequest:
    """Which commit goes to the hub, under which name; None for the repository's own."""

    repository: str | None = None
    commit: str = "HEAD"


@dataclass(frozen=True, slots=True)
class PushResult:
    """What became of a push: the commit that the hub has now, and how many files were put in and taken out."""

    repository: str
    commit: str
    outcome: PushOutcome
    put: int = 0
    taken: int = 0
    missing: tuple[str, ...] = ()


def push(workspace: Workspace, connection: HubConnection, request: PushRequest) -> PushResult:
    """Bring the hub to a commit of this memory, wholly or not at all."""
    git = workspace.location.get_repository()
    commit = resolve(git, request.commit)
    contents = Contents(workspace, commit)
    name = checked_name(request.repository) if request.repository else default_name(workspace.location)
    with transaction(connection) as cursor:
        cursor.execute("INSERT INTO repository (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
        (id_,) = one_row(cursor.execute("SELECT id FROM repository WHERE name = %s FOR UPDATE", (name,)))
        put, taken = _brought(cursor, id_, contents)
        roots = () if is_shallow(git) else root_commits(git, commit)
        cursor.execute(
            "UPDATE repository SET root = %s, url = %s, roots = %s, commit = %s, committed_at = %s, pushed_at = now(),"
            " serial = serial + 1, format = %s, settings = %b WHERE id = %s",
            (
                workspace.location.under,
                remote_place(git),
                list(roots),
                commit,
                committed_at(git, commit),
                FORMAT,
                contents.settings,
                id_,
            ),
        )
        cursor.execute(
            "INSERT INTO push (repository_id, serial, commit) SELECT id, serial, commit FROM repository WHERE id = %s",
            (id_,),
        )
    return PushResult(name, commit, PushOutcome.FIRST, put, taken)


def _brought(cursor: Any, repository: int, contents: Contents) -> tuple[int, int]:
    """Make the rows of a repository those of a commit; return how many files were put in and taken out."""
    put = taken = 0
    for wing in contents.wings.values():
        if wing.source is not None:
            put += _pinned(cursor, repository, contents, wing)
            continue
        cursor.execute(
            "INSERT INTO wing (repository_id, name, format) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            (repository, wing.name, FORMAT),
        )
        found = cursor.execute("SELECT id FROM wing WHERE repository_id = %s AND name = %s", (repository, wing.name))
        put += _filled(WingRows(cursor, one_row(found)[0]), contents, wing)
    return put, taken


def _pinned(cursor: Any, repository: int, contents: Contents, wing: HubWing) -> int:
    source = wing.source
    assert source is not None
    asked = (repository, wing.name, source.place, source.path, source.commit)
    (id_,) = one_row(cursor.execute("SELECT pinned_wing(%s, %s, %s, %s, %s)", asked))
    (had,) = one_row(cursor.execute("SELECT format FROM wing WHERE id = %s", (id_,)))
    return 0 if had == FORMAT else _filled(WingRows(cursor, id_), contents, wing)


def _filled(rows: WingRows, contents: Contents, wing: HubWing) -> int:
    """Make the rows of a wing anew."""
    rows.clear()
    stated: dict[str, Wing] = {}

    def seen() -> Any:
        for file in contents.files(wing, wing.files):
            if file.path == MANIFEST and file.wing is not None:
                stated[wing.name] = file.wing
            yield file

    number = rows.add(seen())
    rows.state(stated.get(wing.name, Wing(name=wing.name)))
    rows.finish()
    return number
