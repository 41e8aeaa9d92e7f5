"""What was binding on a day, against an answer that knows nothing of git and of mdmem.

    python tests/bench/history_at_dates.py CORPUS.jsonl.gz HISTORY.jsonl CONVERTER.py [DATE ...]

The history of headers becomes a repository, one commit for each of its own with its own date, and `list --at DATE`
tells the heads of every record at each date. Beside it the same lines are read up to the last one by then, and the
chains of every record are followed by hand. Exit code 1 where an answer differs, 0 without the corpora.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

from replay_history import WORDS, Memory, Step, git, load, prepare

from mdmem.cli.main import run

DATES = ("2001-12-31", "2006-06-30", "2012-12-31", "2018-06-30", "2024-12-31")
IN_FORCE = ("active", "under_review")

Row = dict[str, str]


def rows_of(history: Path, known: dict[str, Any]) -> list[Row]:
    """Return the changes of records that the corpus has, in the order of git."""
    read = (json.loads(line) for line in history.read_text(encoding="utf-8").splitlines())
    return [row for row in read if row["id"] in known]


def import_history(memory: Memory, rows: list[Row]) -> None:
    """Make one commit of each commit of the history, with its date, by one process."""
    start = {path.relative_to(memory.root).as_posix(): path.read_bytes() for path in _files(memory.root)}
    stream = [b"feature done\n", _commit("start", 0, start)]
    for commit, group in groupby(rows, key=lambda row: row["commit"]):
        changes = tuple(group)
        seconds = int(datetime.fromisoformat(changes[0]["date"]).timestamp())
        memory.apply(Step(changes[0]["date"][:10], commit, changes))
        names = sorted({f"{memory.address(row['id'])}.md" for row in changes})
        files = {name: (memory.root / name).read_bytes() for name in names if (memory.root / name).exists()}
        stream.append(_commit(commit, seconds, files))
    stream.append(b"done\n")
    command = ["git", "fast-import", "--quiet"]
    subprocess.run(command, cwd=memory.root, input=b"".join(stream), check=True, capture_output=True)
    git(memory.root, "reset", "-q", "--hard", "main")


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts)


def _commit(message: str, seconds: int, files: dict[str, bytes]) -> bytes:
    said = message.encode()
    parts = [b"commit refs/heads/main\n", b"committer bench <bench@example.com> %d +0000\n" % seconds]
    parts.append(b"data %d\n%s\n" % (len(said), said))
    for name, content in files.items():
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content))
    return b"".join(parts)


def told(memory: Memory, date: str) -> tuple[dict[str, list[str]], float]:
    """Return what mdmem says: the heads of each record that was there, by number, and the seconds it took."""
    out, start = io.StringIO(), perf_counter()
    options = ("--include-drafts", "--include-deprecated", "--all-wings", "--format", "json", "-q")
    with contextlib.redirect_stdout(out), contextlib.chdir(memory.root):
        run(["list", *options, "--at", date])
    took = perf_counter() - start
    entries = json.loads(out.getvalue())["entries"] if out.getvalue() else []
    return {_id(one["address"]): sorted(map(_id, one["heads"])) for one in entries}, took


def _id(address: str) -> str:
    return address.rsplit("/", 1)[-1]


def expected(rows: list[Row], date: str, words: dict[str, str]) -> dict[str, list[str]]:
    """Return the heads of each record at a date, from the lines alone."""
    end = datetime.fromisoformat(f"{date}T23:59:59+00:00")
    by_then = [number for number, row in enumerate(rows) if datetime.fromisoformat(row["date"]).astimezone(UTC) <= end]
    headers: dict[str, dict[str, str]] = {}
    # What came with the last commit by then was there, whatever the lines before it are dated.
    last = rows[by_then[-1]]["commit"] if by_then else None
    for number, row in enumerate(rows):
        if by_then and (number <= by_then[-1] or row["commit"] == last):
            headers.setdefault(row["id"], {})[row["field"]] = row["new"]
    stated = {name: words.get(header.get("status", "").lower().strip(), "") for name, header in headers.items()}
    # An entry whose status nobody knows, as `April Fool!`, cannot be read: it is a problem and not listed.
    status = {name: one for name, one in stated.items() if one}
    edges: dict[str, set[str]] = {}
    for name in status:
        pairs = [(old, name) for old in _links(headers[name], "replaces")]
        pairs += [(name, new) for new in _links(headers[name], "superseded_by")]
        for old, new in pairs:
            if old != new and old in status and status.get(new, "draft") != "draft":
                edges.setdefault(old, set()).add(new)
    return {name: sorted(_ends(name, edges, status, ())) for name in status}


def _links(header: dict[str, str], name: str) -> list[str]:
    return [f"pep-{int(number)}" for number in re.findall(r"\d+", header.get(name, ""))]


def _ends(name: str, edges: dict[str, set[str]], status: dict[str, str], passed: tuple[str, ...]) -> set[str]:
    following = [new for new in edges.get(name, ()) if new not in passed]
    beyond = {end for new in following for end in _ends(new, edges, status, (*passed, name))}
    return beyond or ({name} if status[name] in IN_FORCE else set())


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("corpus", "history", "converter"):
        parser.add_argument(name, type=Path)
    parser.add_argument("dates", nargs="*", default=list(DATES))
    options = parser.parse_args()
    if not options.history.exists():
        print("no history here: nothing is compared")
        return
    for name in [name for name in os.environ if name.startswith(("GIT_", "PRE_COMMIT_"))]:
        del os.environ[name]
    converter = load(options.converter)
    records = {record["id"]: record for record in converter.records(options.corpus)}
    rows = rows_of(options.history, records)
    superseded = {row["id"] for row in rows if row["field"] == "superseded_by" and row["new"]}
    superseded |= {old for row in rows if row["field"] == "replaces" for old in _links(row, "new")}
    with tempfile.TemporaryDirectory() as scratch:
        memory = Memory(Path(scratch) / "memory", converter, records)
        prepare(memory.root)
        import_history(memory, rows)
        commits = len({row["commit"] for row in rows})
        print(f"{commits} commits, {len(records)} records, {len(superseded)} of them superseded at some time")
        words = {**converter.STATUS, **WORDS}
        wrong = sum(compare(memory, date, expected(rows, date, words), superseded) for date in options.dates)
    sys.exit(1 if wrong else 0)


def compare(memory: Memory, date: str, right: dict[str, list[str]], superseded: set[str]) -> int:
    """Print how the answers compare at a date, and return how many differ."""
    said, took = told(memory, date)
    differing = sorted(name for name in right.keys() | said.keys() if said.get(name) != right.get(name))
    there = superseded & right.keys()
    moved = sum(right[name] != [name] for name in there)
    print(
        f"{date}: {len(said)} there, {len(there)} of the superseded, {moved} of these replaced or ended; "
        f"wrong {len(superseded.intersection(differing))}, among the others {len(set(differing) - superseded)}; "
        f"{1000 * took:.0f} ms"
    )
    for name in differing:
        print(f"    {name}: mdmem {said.get(name)}, expected {right.get(name)}")
    return len(differing)


if __name__ == "__main__":
    main()
