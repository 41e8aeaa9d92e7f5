"""What a push sends: the memory at a commit, whole the first time."""

from pathlib import Path

import psycopg
from builders import commit_all, memory, open_root, write_entry

from mdmem.hub.connection import connected
from mdmem.hub.push import PushRequest, push


def test_a_first_push_sends_all(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    write_entry(root, "nav/rules/see", "See [see: nav/rules/callbacks].\n", see="[callbacks]", tags="[a, b]")
    commit_all(tmp_path / "shop")
    with connected(dsn) as connection:
        result = push(open_root(root), connection, PushRequest())
    assert (result.put, rows(dsn, "SELECT documents, passages, owners FROM wing")) == (4, [(3, 3, ["Ada"])])
    assert rows(dsn, "SELECT field, target FROM link ORDER BY 1") == [
        ("body", "nav/rules/callbacks"),
        ("see", "nav/rules/callbacks"),
    ]


def rows(dsn: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub") as connection:
        return connection.execute(query).fetchall()
