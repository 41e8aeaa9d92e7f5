"""A hub of a thousand repositories: what a push, a question within one and a question over all of them cost.

    python tests/bench/bench_hub.py [--repositories 1000] [--entries 1000] [--pushed 20] [--questions 60] [--only …]

A real server (that of the tests, with settings of real ones but fsync off) is begun in a folder of its own and removed
at the end. `pushed` repositories come by the real push; the others are their rows again, copied on the server under new
ids, so that words are as rare as they would be. Each figure stands beside what was asked for; times are in ms.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import psycopg
from mcp import Client
from mcp.client.stdio import StdioServerParameters

sys.path[:0] = [str(Path(__file__).parents[1] / "hub")]
import conftest  # noqa: E402
from hub_corpus import Memory, Vocabulary, address, commit  # noqa: E402

_REAL = (
    *("fsync=off", "listen_addresses=", "shared_buffers=512MB", "work_mem=32MB", "effective_cache_size=4GB"),
    *("random_page_cost=1.1", "maintenance_work_mem=1GB", "max_wal_size=2GB", "autovacuum=off"),
)
_COPIED = ("repository", "push", "wing", "pin", "file", "link")
_IDS = {
    "repository": {"id": "repository"},
    "push": {"repository_id": "repository"},
    "wing": {"id": "wing", "repository_id": "repository"},
    "pin": {"repository_id": "repository"},
    "file": {"id": "file", "wing_id": "wing"},
    "link": {"file_id": "file", "wing_id": "wing"},
}


def row(what: str, measured: float, asked: float | None = None, note: str = "") -> None:
    """Print a figure, what was asked for, and the ratio."""
    ratio = f"{measured / asked:5.2f} of {asked:g}" if asked else " " * 12
    print(f"{what:<58} {measured:9.1f}  {ratio}  {note}", flush=True)


@contextmanager
def server() -> Iterator[conftest.Server]:
    """Give a server with real settings, and remove it."""
    conftest._QUICK = _REAL
    running = conftest.started(conftest.binaries())
    try:
        yield running
    finally:
        running.end()


def opened(folder: Path) -> Any:
    """Return the workspace of a root."""
    from mdmem.store.workspace.location import locate
    from mdmem.store.workspace.workspace import Workspace

    return Workspace(locate(str(folder), {}, folder), dict(os.environ), folder, date(2026, 11, 22))


def pushed(dsn: str, folder: Path) -> tuple[float, float]:
    """Push a memory as the command does; return the ms of it, and those of git within."""
    from mdmem.hub.connection import connected
    from mdmem.hub.push import PushRequest, push
    from mdmem.store.git import process

    began, before = time.perf_counter(), _Git.ms
    with connected(dsn) as connection:
        push(opened(folder), connection, PushRequest(repository=f"org/{folder.name}"))
    assert process
    return 1000 * (time.perf_counter() - began), _Git.ms - before


class _Git:
    """Counts the time in which this process waits for git."""

    ms = 0.0

    @classmethod
    def count(cls) -> None:
        waited = subprocess.Popen.communicate

        def communicate(self: Any, *given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return waited(self, *given, **named)
            finally:
                cls.ms += 1000 * (time.perf_counter() - began)

        subprocess.Popen.communicate = communicate  # type: ignore[method-assign]


def copy_rows(dsn: str, wanted: int) -> None:
    """Copy the rows of the repositories that were pushed under new ids until there are as many as wanted."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub,pg_catalog") as connection:
        # Texts of random letters do not shrink, and to try takes longer than anything else here.
        for name in ("content", "record", "terms", "words"):
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
                for table in _COPIED:
                    _copied(connection, table, turn, most, wanted)
            print(f"  {turn * most['repository']} repositories copied", file=sys.stderr, flush=True)
        for table in most:
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        for _, definition in indexes:
            connection.execute(definition)
        connection.execute("VACUUM ANALYZE")


def _copied(connection: Any, table: str, turn: int, most: dict[str, int], wanted: int) -> None:
    found = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
        " AND attgenerated = '' ORDER BY attnum",
        (table,),
    )
    columns = [name for (name,) in found]
    if not columns:
        return
    ids = _IDS[table]
    values = {name: f"{name} + {turn * most[ids[name]]}" if name in ids else name for name in columns}
    if table == "repository":
        values["name"] = f"name || '-{turn}'"
    if table == "file":
        mark, other = "' w' || wing_id", f"' w' || (wing_id + {turn * most['wing']})"
        values["words"] = f"ts_delete(words, {mark}) || array_to_tsvector(ARRAY[{other}])"
    left = min(most["repository"], wanted - turn * most["repository"])
    own, first = next(iter(ids)), ids[next(iter(ids))]
    of = {
        "repository": f"<= {left}",
        "wing": f"IN (SELECT id FROM wing WHERE repository_id <= {left})",
        "file": f"IN (SELECT file.id FROM file JOIN wing ON wing.id = wing_id WHERE repository_id <= {left})",
    }[first]
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
        f" SELECT {', '.join(values[name] for name in columns)} FROM {table} WHERE {own} {of}"
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
        if size + toast > 5 * entries:
            print(f"  {name:<28} {size / entries:7.0f} bytes an entry, and {toast / entries:7.0f} beside it")


def spread(what: str, taken: list[float], p50: float | None, p95: float | None) -> None:
    """Print the middle and the tail of some times."""
    taken = sorted(taken)
    row(f"{what}, p50", statistics.median(taken), p50)
    row(f"{what}, p95", taken[int(0.95 * (len(taken) - 1) + 0.5)], p95)


async def _asked(folder: Path, dsn: str | None, questions: list[tuple[str, dict[str, Any]]]) -> tuple[list[float], int]:
    """Return the ms of each call of a server over pipes, the first ones left out, and the server's memory in MB."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mdmem", "mcp", *(["--hub"] if dsn else [])],
        cwd=str(folder),
        env={**os.environ, "MDMEM_HUB_DSN": dsn or ""},
    )
    taken = []
    async with Client(command) as client:
        await client.list_tools()
        for tool, arguments in (*questions[:8], *questions):
            began = time.perf_counter()
            answer = await client.call_tool(tool, arguments)
            taken.append(1000 * (time.perf_counter() - began))
            assert not answer.is_error, answer.content[0].text
            assert "from the clone alone" not in answer.content[0].text, answer.content[0].text[:500]
        used = max(_memory(process, "VmHWM") for process in _children())
    return taken[8:], used


def _children() -> list[str]:
    found = subprocess.run(["pgrep", "-P", str(os.getpid()), "-f", "mdmem mcp"], capture_output=True, text=True)
    return found.stdout.split()


def _memory(process: str, name: str) -> int:
    said = Path(f"/proc/{process}/status").read_text()
    return int(next(line.split()[1] for line in said.splitlines() if line.startswith(f"{name}:"))) // 1024


def ask(folder: Path, dsn: str, vocabulary: Vocabulary, number: int) -> None:
    """Ask a server of the clone, and one of the hub within the repository and over all."""
    subprocess.run([sys.executable, "-m", "mdmem", "index"], cwd=folder, check=True, capture_output=True)
    drawn = random.Random(5)
    words = [vocabulary.question(drawn, drawn.choice((2, 3, 3, 4))) for _ in range(number)]
    narrow = [{}, {}, {}, {"types": ["invariant"]}]

    def questions(tool: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
        return [(tool, {"query": one, **more, **narrow[at % 4]}) for at, one in enumerate(words)]

    for tool in ("search", "retrieve"):
        own, _ = anyio.run(_asked, folder, None, questions(tool))
        spread(f"{tool} of the clone over MCP", own, None, None)
        scoped, used = anyio.run(_asked, folder, dsn, questions(tool))
        spread(f"{tool} within one repository", scoped, 2 * statistics.median(own), None)
        row("  memory of the server over MCP, MB", used)
    for tool, p50, p95 in (("search", 150, 1000), ("retrieve", None, None)):
        taken, used = anyio.run(_asked, folder, dsn, questions(tool, repository="*"))
        spread(f"{tool} over all repositories", taken, p50, p95)
        row("  memory of the server over MCP, MB", used)


def push_changes(folder: Path, dsn: str, times: int) -> None:
    """Change an entry, commit and push, again and again."""
    taken = []
    for turn in range(times):
        path = folder / f"{address(turn + 2)}.md"
        path.write_text(f"{path.read_text()}\nTurn {time.time_ns()}.\n")
        commit(folder, f"change {turn}")
        taken.append(pushed(dsn, folder))
    row("push of one changed entry, beside git", statistics.median(all_ - git_ for all_, git_ in taken), 300)
    row("  git within it", statistics.median(git_ for _, git_ in taken))


def main() -> None:
    """Fill a hub and ask it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repositories", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--pushed", type=int, default=20)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--wait", action="store_true", help="Keep the server until Enter is typed.")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    _Git.count()
    vocabulary = Vocabulary()
    with server() as running, tempfile.TemporaryDirectory() as kept:
        from mdmem.hub.connection import connected, init

        dsn = running.dsn("postgres")
        with connected(dsn) as connection:
            init(connection)
        folders = [Path(kept) / f"repo-{number}" for number in range(given.pushed)]
        taken = []
        for number, folder in enumerate(folders):
            Memory(vocabulary, number).write(folder, given.entries)
            taken.append(pushed(dsn, folder)[0])
        row(f"first push of {given.entries} entries", statistics.median(taken))
        row("  memory of the pushing process, MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        copy_rows(dsn, given.repositories)
        sizes(dsn)
        ask(folders[0], dsn, vocabulary, given.questions)
        push_changes(folders[1], dsn, 7)
        if given.wait:
            input(dsn)


if __name__ == "__main__":
    main()
