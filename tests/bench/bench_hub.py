"""A hub of many repositories: what a push costs, a search within one repository, and one over all of them.

    python tests/bench/bench_hub.py [--repositories 100] [--entries 200] [--pushed 5] [--questions 60]

A real server (that of the tests, with settings of real ones but fsync off) runs in a folder of its own and is removed
at the end. `pushed` repositories come by the real push; the others are their rows again under new ids, so that words
are as rare as they would be. Everything is asked with a token that sees all repositories. Each figure stands beside its
limit; times are in ms.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import psycopg

sys.path[:0] = [str(Path(__file__).parents[1] / "hub"), str(Path(__file__).parents[1])]
import conftest  # noqa: E402
from hub_corpus import Memory, Vocabulary, address  # noqa: E402
from index_corpus import commit  # noqa: E402

from mdmem.ask.answer import Question  # noqa: E402
from mdmem.ask.retrieve import retrieve  # noqa: E402
from mdmem.hub.connection import connected, init, open_hub, transaction  # noqa: E402
from mdmem.hub.copy import open_copy  # noqa: E402
from mdmem.hub.push import push  # noqa: E402
from mdmem.hub.repositories import grant, make_token  # noqa: E402
from mdmem.hub.search import search_hub  # noqa: E402
from mdmem.model.entry import EntryType  # noqa: E402
from mdmem.store.workspace.location import locate  # noqa: E402
from mdmem.store.workspace.scope import Filters  # noqa: E402
from mdmem.store.workspace.workspace import Workspace  # noqa: E402

_REAL = (
    *("fsync=off", "listen_addresses=", "shared_buffers=512MB", "work_mem=32MB", "effective_cache_size=4GB"),
    *("random_page_cost=1.1", "maintenance_work_mem=1GB", "max_wal_size=2GB", "autovacuum=off"),
)
# The columns of each table that are ids, and whose ids they are.
_IDS = {
    "repository": {"id": "repository"},
    "push": {"repository_id": "repository"},
    "wing": {"id": "wing", "repository_id": "repository"},
    "file": {"id": "file", "wing_id": "wing"},
    "link": {"file_id": "file", "wing_id": "wing"},
}
_TODAY = date(2026, 11, 22)


def row(what: str, measured: float, limit: float | None = None) -> None:
    """Print a figure, its limit, and the ratio."""
    ratio = f"{measured / limit:5.2f} of {limit:g}" if limit else ""
    print(f"{what:<58} {measured:9.1f}  {ratio}", flush=True)


def spread(what: str, taken: list[float], p50: float | None, p95: float | None) -> None:
    """Print the middle and the tail of some times."""
    taken = sorted(taken)
    row(f"{what}, p50", statistics.median(taken), p50)
    row(f"{what}, p95", taken[int(0.95 * (len(taken) - 1) + 0.5)], p95)


@contextmanager
def server() -> Iterator[conftest.Server]:
    """Give a server with real settings, and remove it."""
    conftest._QUICK = _REAL
    with conftest.running_server() as running:
        yield running


def timed(work: Callable[[], Any]) -> float:
    """Return the ms of some work."""
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def pushed(dsn: str, folder: Path) -> float:
    """Push a memory as the command does, and return the ms."""
    workspace = Workspace(locate(str(folder), {}, folder), dict(os.environ), folder, _TODAY)

    def send() -> None:
        with connected(dsn) as connection:
            push(workspace, connection, repository=f"org/{folder.name}")

    return timed(send)


def copy_rows(dsn: str, wanted: int) -> None:
    """Copy the rows of the repositories that were pushed under new ids until there are as many as wanted."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub,pg_catalog") as connection:
        # Texts of random letters do not shrink, and to try takes longer than anything else here.
        for name in ("content", "words"):
            connection.execute(f"ALTER TABLE file ALTER {name} SET STORAGE EXTERNAL")
        indexes = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mdmem_hub' AND indexdef LIKE '%USING gin%'"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        most = {
            table: connection.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
            for table in ("repository", "wing", "file")
        }
        for turn in range(1, -(-wanted // most["repository"])):
            with connection.transaction():
                for table in _IDS:
                    _copy(connection, table, turn, most, wanted)
            print(f"  {turn * most['repository']} repositories copied", file=sys.stderr, flush=True)
        for table in most:
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        for _, definition in indexes:
            connection.execute(definition)
        connection.execute("VACUUM ANALYZE")


def _copy(connection: Any, table: str, turn: int, most: dict[str, int], wanted: int) -> None:
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum",
        (table,),
    )
    columns, ids = [name for (name,) in found], _IDS[table]
    values = {name: f"{name} + {turn * most[ids[name]]}" if name in ids else name for name in columns}
    if table == "repository":
        values["name"] = f"name || '-{turn}'"
    if table == "file":
        other = f"' w' || (wing_id + {turn * most['wing']})"
        values["words"] = f"ts_delete(words, ' w' || wing_id) || array_to_tsvector(ARRAY[{other}])"
    left = min(most["repository"], wanted - turn * most["repository"])
    own = next(iter(ids))
    which = {
        "repository": f"<= {left}",
        "wing": f"IN (SELECT id FROM wing WHERE repository_id <= {left})",
        "file": f"IN (SELECT file.id FROM file JOIN wing ON wing.id = wing_id WHERE repository_id <= {left})",
    }[ids[own]]
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
        f" SELECT {', '.join(values[name] for name in columns)} FROM {table} WHERE {own} {which}"
    )


def sizes(dsn: str) -> None:
    """Print what each table and index takes."""
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub,pg_catalog") as connection:
        entries = connection.execute("SELECT count(*) FROM file WHERE type IS NOT NULL").fetchone()[0]
        found = connection.execute(
            "SELECT c.relname, pg_relation_size(c.oid), coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)"
            " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
            " WHERE nspname = 'mdmem_hub' AND relkind IN ('r', 'i') ORDER BY 2 DESC"
        ).fetchall()
    print(f"{entries} entries, {sum(one + other for _, one, other in found) / 1e9:.2f} GB")
    for name, size, toast in found:
        if size + toast > 20 * entries:
            print(f"  {name:<28} {size / entries:7.0f} bytes an entry, and {toast / entries:7.0f} beside it")


def ask(dsn: str, token: str, vocabulary: Vocabulary, number: int) -> None:
    """Search over all repositories, with usual words, with common ones alone, and within one repository."""
    drawn = random.Random(5)
    usual = [vocabulary.question(drawn, drawn.choice((2, 3, 3, 4))) for _ in range(number)]
    common = [" ".join(drawn.sample(vocabulary.words[:30], drawn.randint(3, 5))) for _ in range(number)]
    narrow = [Filters(), Filters(), Filters(types=(EntryType.INVARIANT,))]
    with open_hub(dsn, token) as connection:

        def taken(asked: list[str], *repositories: str) -> list[float]:
            def one(words: str, filters: Filters) -> None:
                with transaction(connection, is_snapshot=True) as cursor:
                    search_hub(cursor, Question(words=words, filters=filters), repositories=repositories)

            each = [(words, narrow[at % len(narrow)]) for at, words in enumerate(asked)]
            for words, filters in each[:4]:
                one(words, filters)
            return [timed(lambda words=words, filters=filters: one(words, filters)) for words, filters in each]

        spread("search over all", taken(usual), 300, 1000)
        spread("search over all, the commonest words alone", taken(common), 300, 1000)
        spread("search within one repository", taken(usual, "org/repo-0"), 60, None)
        spread("search within one repository, common words", taken(common, "org/repo-0"), 60, None)


def ask_copy(dsn: str, token: str, vocabulary: Vocabulary) -> None:
    """Ask the copy of one repository, whose index and entries are in no cache the first time."""
    with tempfile.TemporaryDirectory() as caches:

        def one() -> None:
            with open_hub(dsn, token) as connection:
                copy = open_copy(connection, "org/repo-0", environment={"XDG_CACHE_HOME": caches}, today=_TODAY)
            retrieve(copy, Question(words=vocabulary.question(random.Random(7))))

        row("retrieve --repository, the first time", timed(one))
        row("retrieve --repository, again", statistics.median(timed(one) for _ in range(3)))


def push_changes(folder: Path, dsn: str, times: int) -> None:
    """Change an entry, commit and push, again and again."""
    taken = []
    for turn in range(times):
        path = folder / f"{address(turn + 2)}.md"
        path.write_text(f"{path.read_text()}\nTurn {time.time_ns()}.\n")
        commit(folder, f"change {turn}")
        taken.append(pushed(dsn, folder))
    row("push of one changed entry, with git", statistics.median(taken), 300)


def main() -> None:
    """Fill a hub and ask it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repositories", type=int, default=100)
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--pushed", type=int, default=5)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    vocabulary = Vocabulary()
    with server() as running, tempfile.TemporaryDirectory() as folder:
        dsn = running.dsn("postgres")
        with connected(dsn) as connection:
            init(connection)
            connection.execute("CREATE ROLE asker LOGIN")
            token = make_token(connection, "bench")
            grant(connection, "bench", [], sees_all=True)
        folders = [Path(folder) / f"repo-{number}" for number in range(given.pushed)]
        taken = []
        for number, one in enumerate(folders):
            Memory(vocabulary, number).write(one, given.entries)
            taken.append(pushed(dsn, one))
        row(f"first push of {given.entries} entries", statistics.median(taken))
        row("  memory of the pushing process, MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        copy_rows(dsn, given.repositories)
        sizes(dsn)
        asker = running.dsn("postgres", user="asker")
        ask(asker, token, vocabulary, given.questions)
        ask_copy(asker, token, vocabulary)
        push_changes(folders[1], dsn, 7)


if __name__ == "__main__":
    main()
