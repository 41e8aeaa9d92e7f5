"""Pushes of a memory, and what they leave in the hub."""

from collections.abc import Callable
from pathlib import Path

import psycopg
from builders import Ran, open_root

from mdmem.hub.connection import LOCK_SECONDS, connected
from mdmem.hub.push import PushResult, push

Typed = Callable[..., Ran]


def rows(dsn: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub") as connection:
        return connection.execute(query).fetchall()


def pushed(dsn: str, root: Path, *, lock_seconds: float = LOCK_SECONDS, **asked: object) -> PushResult:
    with connected(dsn) as connection:
        connection.execute(f"SET lock_timeout = '{lock_seconds}s'")
        return push(open_root(root), connection, **asked)


# What every push of the same commit must leave, however it came there; ids and times differ.
_STATE = {
    "repository": "SELECT name, root, url, commit, format, settings FROM repository ORDER BY 1",
    "wing": "SELECT name, source, source_path, commit, is_shared, owners, documents FROM wing ORDER BY 1, 2",
    "pin": "SELECT repository.name, pin.name, source FROM pin JOIN repository ON repository.id = repository_id"
    " JOIN wing ON wing.id = wing_id ORDER BY 1, 2",
    "file": "SELECT name, path, kind, blob, content, type, status, title, room, label, owner, focus, tags,"
    " has_short_links, replace(words::text, ' w' || wing.id, ' w') FROM file"
    " JOIN wing ON wing.id = wing_id ORDER BY 1, 2",
    "link": "SELECT path, field, target, link.wing_id = file.wing_id FROM link JOIN file ON file.id = file_id"
    " ORDER BY 1, 2, 3",
}


def state(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    return {name: rows(dsn, query) for name, query in _STATE.items()}
