"""Real changes of headers, replayed as commits: what a hook with `mdmem check --staged` would have stopped.

    python tests/bench/replay_history.py CORPUS.jsonl.gz HISTORY.jsonl CONVERTER.py [--limit 400]

Every commit of the history that says something in mdmem's words becomes one commit of a memory, on its own day. What
was faulty before counts as known, as with a baseline: a commit is stopped by the errors that it brings. Stopped or
not, it is made, because it was made. Bodies are one sentence: the history is one of headers. The last `--limit`
commits are checked, those before them are written at once; 0 checks all.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from mdmem.cli.main import run

FIELDS = {"replaces": "supersedes", "superseded_by": "superseded_by"}
# Words of the early years, which the converter, made for the last state, does not know; and what was put off without
# having been accepted: under_review would be in force.
WORDS = {
    "incomplete": "draft",
    "finished": "active",
    "approved": "active",
    "postponed": "draft",
    "deferred": "draft",
}

Change = dict[str, str]


@dataclass(frozen=True)
class Step:
    """One commit of the history: its day, its name and the headers that it changed."""

    day: str
    commit: str
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        told = (f"{one['id']} {one['field']}: {one['old'] or '-'} -> {one['new'] or '-'}" for one in self.changes)
        return f"{self.day} {self.commit}  {'; '.join(told)}"


@dataclass
class Memory:
    """The headers as they stand, and the files that say the same."""

    root: Path
    converter: ModuleType
    records: dict[str, dict[str, Any]]
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    born: dict[str, str] = field(default_factory=dict)

    def apply(self, step: Step) -> bool:
        """Write what one step changes, and say whether any file differs."""
        for one in step.changes:
            self.headers.setdefault(one["id"], {})[one["field"]] = one["new"]
        written = [self._write(name, step.day) for name in sorted({one["id"] for one in step.changes})]
        return any(written)

    def _write(self, name: str, day: str) -> bool:
        path = self.root / f"{self.address(name)}.md"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        text = self._text(name, day)
        if text == before:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return True

    def _text(self, name: str, day: str) -> str:
        """Return the file of a record; nothing before its headers give it a status for the first time."""
        record, header = self.records[name], self.headers[name]
        said = header.get("status", "")
        if not said and name not in self.born:
            return ""
        status = self._status(said)
        lines = [f"type: {self.converter.TYPE.get(str(record.get('type') or '').lower(), 'decision')}"]
        lines += [f"status: {status}"] if said else []
        lines += [f"created_at: {self.born.setdefault(name, day)}"]
        lines += [f"title: {json.dumps(record['title'], ensure_ascii=False)}"]
        if status != "deprecated":
            self.ended.pop(name, None)
        else:
            lines.append(f"deprecated_at: {self.ended.setdefault(name, day)}")
            lines.append(f"deprecated_reason: the source says {said}")
        for source, target in FIELDS.items():
            if links := [self.address(f"pep-{int(number)}") for number in re.findall(r"\d+", header.get(source, ""))]:
                lines.append(f"{target}: {json.dumps(links)}")
        return "\n".join(["---", *lines, "---", "", "This is what was proposed, because it was needed.", ""])

    def _status(self, said: str) -> str:
        known: dict[str, str] = {**self.converter.STATUS, **WORDS}
        return known.get(said.lower().strip(), json.dumps(said))

    def address(self, name: str) -> str:
        """Return the address of a record; one that the corpus lacks is named all the same."""
        record = self.records.get(name)
        return f"peps/{self.converter.room_of(record)}/{name}" if record else f"peps/general/{name}"


@dataclass
class Tally:
    """What became of the steps that were checked."""

    stopped: list[tuple[Step, list[dict[str, Any]]]] = field(default_factory=list)
    warned: Counter[str] = field(default_factory=Counter)
    checked: int = 0
    seconds: float = 0.0


def steps(history: Path, known: Iterable[str]) -> Iterator[Step]:
    """Yield the commits of the history, each with its changes of records that the corpus has."""
    ids = set(known)
    changes = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    for (commit, when), group in groupby(changes, key=lambda one: (one["commit"], one["date"])):
        if kept := tuple(one for one in group if one["id"] in ids):
            yield Step(when[:10], commit, kept)


def replay(memory: Memory, wanted: list[Step], *, limit: int) -> Tally:
    """Make one commit of each step, the last `limit` of them after a check."""
    tally = Tally()
    first = max(0, len(wanted) - limit) if limit else 0
    for step in wanted[:first]:
        memory.apply(step)
    commit(memory.root, "before")
    known = {key_of(one) for one in findings(memory.root, wanted[first].day)}
    for step in wanted[first:]:
        if not memory.apply(step):
            continue
        git(memory.root, "add", "-A")
        start = perf_counter()
        found = findings(memory.root, step.day, "--staged")
        tally.seconds += perf_counter() - start
        tally.checked += 1
        new = [one for one in found if key_of(one) not in known]
        if errors := [one for one in new if one["severity"] == "error"]:
            tally.stopped.append((step, errors))
        tally.warned.update({one["code"] for one in new if one["severity"] == "warning"})
        commit(memory.root, step.commit)
        known = {key_of(one) for one in found}
    return tally


def key_of(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return what a finding is known by."""
    return found["code"], found["path"], found["message"]


def findings(root: Path, day: str, *options: str) -> list[dict[str, Any]]:
    """Return what `mdmem check` finds on a day, run in this process."""
    os.environ["MDMEM_TODAY"] = day
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.chdir(root):
        run(["check", "--format", "json", *options])
    return list(json.loads(out.getvalue())["findings"]) if out.getvalue() else []


def commit(root: Path, message: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "--no-verify", "-m", message)


def git(root: Path, *arguments: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def report(tally: Tally, *, unsaid: int) -> None:
    """Print what was stopped, by code and one by one."""
    print(f"commits checked: {tally.checked}; not checked, as they change nothing in mdmem's words: {unsaid}")
    print(f"stopped: {len(tally.stopped)}; a check took {1000 * tally.seconds / max(tally.checked, 1):.0f} ms")
    codes = Counter(code for _, errors in tally.stopped for code in {one["code"] for one in errors})
    print("\ncommits stopped by code (a commit may have several)")
    for code, count in codes.most_common():
        print(f"  {code:<32} {count:4}")
    print("\ncommits with new warnings, by code")
    for code, count in tally.warned.most_common():
        print(f"  {code:<32} {count:4}")
    print()
    for step, errors in tally.stopped:
        print(step)
        for one in errors:
            print(f"    {one['code']}: {Path(one['path']).stem}: {one['message']}")


def load(path: Path) -> ModuleType:
    """Import the converter from its path."""
    spec = importlib.util.spec_from_file_location("converter", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepare(root: Path) -> None:
    """Make the repository and its empty memory."""
    (root / "peps").mkdir(parents=True)
    (root / "mdmem.toml").write_text('default_wing = "peps"\n')
    (root / "peps" / "README.md").write_text("---\nkind: project\nowners: [editors]\n---\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "bench")
    git(root, "config", "user.email", "bench@example.com")


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("corpus", "history", "converter"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--limit", type=int, default=400)
    options = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("GIT_", "PRE_COMMIT_"))]:
        del os.environ[name]
    converter = load(options.converter)
    records = {record["id"]: record for record in converter.records(options.corpus)}
    with tempfile.TemporaryDirectory() as scratch:
        memory = Memory(Path(scratch) / "memory", converter, records)
        prepare(memory.root)
        wanted = list(steps(options.history, records))
        tally = replay(memory, wanted, limit=options.limit)
    report(tally, unsaid=min(options.limit or len(wanted), len(wanted)) - tally.checked)


if __name__ == "__main__":
    main()
