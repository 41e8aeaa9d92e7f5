"""What the hub has: its repositories, at which commits, how old, and how much of it there is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mdmem.hub.connection import SCHEMA, one_row, transaction
from mdmem.hub.rows import FORMAT, path_of
from mdmem.hub.schema import expected

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


class RepositoryState(Struct, frozen=True):
    """One repository: where its memory is, the commit that the hub has, when it was pushed, and what there is of it.

    `age_seconds` is by the server's clock; without a commit nothing was pushed yet. `is_ours` says that this mdmem
    reads what was packed without parsing it anew.
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
    pins: tuple[str, ...]
    former_names: tuple[str, ...]
    is_ours: bool


class HubReport(Struct, frozen=True):
    """The repositories that are seen, by name, the version of the tables, and for their owner the bytes on disk."""

    version: int
    repositories: tuple[RepositoryState, ...]
    bytes: int | None


def status(connection: HubConnection) -> HubReport:
    """Return how the hub stands, as whoever asks may see it."""
    with transaction(connection, is_snapshot=True) as cursor:
        rows = cursor.execute(_REPOSITORIES, binary=True).fetchall()
        (size,) = one_row(cursor.execute(_SIZE, (SCHEMA,)))
    return HubReport(expected(), tuple(map(_state, rows)), int(size) if size is not None else None)


def _state(row: tuple[Any, ...]) -> RepositoryState:
    name, root, url, commit, committed_at, pushed_at, age, serial, wings, entries, pins, former, format_ = row
    # Clocks may be set back; what was pushed is never from the future.
    seconds = max(0, int(age)) if age is not None else None
    counts = serial, wings, int(entries), tuple(map(path_of, pins)), tuple(former)
    return RepositoryState(
        name, path_of(root), url, commit, committed_at, pushed_at, seconds, *counts, is_ours=format_ == FORMAT
    )


_REPOSITORIES = """
SELECT repository.name, root, url, commit, committed_at, pushed_at, extract(epoch FROM now() - pushed_at), serial,
    coalesce(wings, 0), coalesce(entries, 0), coalesce(pins, '{}'), coalesce(former, '{}'), format
FROM repository
LEFT JOIN (SELECT repository_id, count(*), sum(documents) FROM wing GROUP BY 1) AS one (id, wings, entries) USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM visible_pin() GROUP BY 1) AS two (id, pins)
    USING (id)
LEFT JOIN (SELECT repository_id, array_agg(name ORDER BY name) FROM former_name GROUP BY 1) AS three (id, former)
    USING (id)
ORDER BY repository.name"""
# How much others have is nobody's but the owner's to know.
_SIZE = """
SELECT CASE WHEN pg_has_role(nspowner, 'MEMBER') THEN (
    SELECT sum(pg_total_relation_size(held.oid)) FROM pg_class AS held
    WHERE relnamespace = pg_namespace.oid AND relkind = 'r'
) END FROM pg_namespace WHERE nspname = %s"""
