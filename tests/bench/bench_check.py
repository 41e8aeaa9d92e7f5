"""`mdmem check` beside its peers over the same entries, in one run.

    python tests/bench/bench_check.py [--sizes 1000,10000] [--repeats 3] [--check-jsonschema PATH] [--doorstop PATH]

Prints seconds of whole processes, the best of all repeats, as ratios to `mdmem check` and to a bare interpreter. The
peers get less to do: check-jsonschema the front matter alone, one YAML file an entry, against a schema of its types,
enumerations and dates; doorstop one item an entry, with the same links, its texts and its checks of references off.
A peer without a path is left out, and so is an option that this mdmem does not have.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_cli import build, git

MDMEM = (sys.executable, "-m", "mdmem")
LINK = {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9-]+/[a-z0-9-]+$"}
LINKS = {"type": "array", "items": LINK, "uniqueItems": True}
DAY = {"type": "string", "format": "date"}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["type", "status", "created_at"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["invariant", "decision", "pattern", "note"]},
        "status": {"enum": ["draft", "active", "under_review", "deprecated"]},
        "title": {"type": "string", "maxLength": 100},
        "owner": {"type": "string"},
        "reason": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        **dict.fromkeys(("created_at", "deprecated_at"), DAY),
        **dict.fromkeys(("supersedes", "superseded_by", "see"), LINKS),
    },
}
DOORSTOP_SETTINGS = "settings:\n  digits: 5\n  itemformat: yaml\n  prefix: REQ\n  sep: ''\n"
DOORSTOP_ITEM = """\
active: true
derived: false
header: ''
level: '1.{level}'
links: [{links}]
normative: true
ref: ''
reviewed: null
text: |
  {text}
"""


@dataclass(frozen=True)
class Command:
    """One process to time: what people call it, its arguments, where it runs."""

    name: str
    arguments: tuple[str, ...]
    folder: Path


def front_matters(memory: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the front matter and the body of each entry, by path."""
    for path in sorted(memory.glob("*/*/*.md")):
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        yield path, head, body


def of_jsonschema(path: str, memory: Path, folder: Path) -> Command:
    """Write the front matter of each entry as a YAML file, and return the check of them all."""
    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    names = []
    for file, head, _ in front_matters(memory):
        # YAML would take a bare date for a date, and JSON Schema knows text alone.
        lines = (f"{key}: '{value}'" if key.endswith("_at") else f"{key}: {value}" for key, value in pairs(head))
        names.append(f"{file.parent.name}-{file.stem}.yaml")
        (folder / names[-1]).write_text("\n".join([*lines, ""]))
    return Command("check-jsonschema", (path, "--schemafile", "schema.json", *names), folder)


def pairs(head: str) -> Iterator[tuple[str, str]]:
    """Yield key and value of each line of a front matter."""
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        yield key, value


def of_doorstop(path: str, memory: Path, folder: Path) -> Command:
    """Write each entry as an item with the same links, and return the check of the tree."""
    items = folder / "reqs"
    items.mkdir(parents=True)
    (items / ".doorstop.yml").write_text(DOORSTOP_SETTINGS)
    entries = list(front_matters(memory))
    number = {str(file.relative_to(memory))[:-3]: count for count, (file, _, _) in enumerate(entries, start=1)}
    for (_, head, body), count in zip(entries, number.values(), strict=True):
        said = dict(pairs(head))
        named = said.get("supersedes", said.get("see", "[]")).strip("[]")
        linked = number.get(named, count)
        links = f"REQ{linked:05}: null" if linked != count else ""
        text = DOORSTOP_ITEM.format(level=count, links=links, text=body.strip().replace("\n", "\n  "))
        (items / f"REQ{count:05}.yml").write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    flags = ("--no-child-check", "--no-suspect-check", "--no-review-check", "--no-ref-check")
    return Command("doorstop", (path, *flags, "--no-reformat"), folder)


def of_mdmem(memory: Path) -> Iterator[Command]:
    """Yield the checks of a memory that this version of mdmem offers."""
    yield Command("mdmem check", (*MDMEM, "check"), memory)
    options = {"--staged": (), "--rev": ("HEAD",), "--at": ("HEAD",), "--base": ("main",), "--merge": ("main",)}
    offered = subprocess.run([*MDMEM, "check", "--help"], capture_output=True, text=True, check=True).stdout
    for option, values in options.items():
        is_alias = option == "--at" and "--rev" in offered
        if option in offered and not is_alias:
            name = " ".join(("mdmem check", option, *values))
            yield Command(name, (*MDMEM, "check", option, *values), memory)


def change_one(memory: Path) -> None:
    """Leave `main` one commit behind, and stage a change of one more entry."""
    git(memory, "branch", "-M", "work")
    git(memory, "branch", "-f", "main")
    for number in (3, 4):
        path = memory / "app" / f"room-{number}" / f"entry-{number}.md"
        path.write_text(path.read_text().replace("owner: team", "owner: crew"))
        git(memory, "add", "-A")
        if number == 3:
            git(memory, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "one")


def timed(command: Command) -> tuple[float, int]:
    """Return the seconds and the exit code of one process."""
    start = time.perf_counter()
    done = subprocess.run(
        command.arguments, cwd=command.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - start, done.returncode


def best_of(commands: list[Command], repeats: int) -> dict[str, tuple[float, int]]:
    """Return the best time of each command, all run in turns so that a loud machine hits all alike."""
    taken: dict[str, list[tuple[float, int]]] = {}
    for _ in range(repeats):
        for command in commands:
            taken.setdefault(command.name, []).append(timed(command))
    return {name: min(runs) for name, runs in taken.items()}


def show(count: int, taken: dict[str, tuple[float, int]]) -> None:
    """Print one table."""
    ours, bare = taken["mdmem check"][0], taken["bare interpreter"][0]
    print(f"\n{count} entries{'':<25} seconds   x mdmem check    x bare   exit code")
    for name, (seconds, code) in taken.items():
        print(f"  {name:<32} {seconds:8.2f} {seconds / ours:15.2f} {seconds / bare:9.1f} {code:11}")


def measure(scratch: Path, count: int, options: argparse.Namespace) -> None:
    """Measure one size."""
    memory = scratch / "memory"
    build(memory, count, paragraphs=False)
    change_one(memory)
    commands = [Command("bare interpreter", (sys.executable, "-c", "pass"), scratch), *of_mdmem(memory)]
    peers = {"check-jsonschema": of_jsonschema, "doorstop": of_doorstop}
    for name, write in peers.items():
        if path := getattr(options, name.replace("-", "_")):
            commands.append(write(path, memory, scratch / name))
    show(count, best_of(commands, options.repeats))


def program(name: str) -> str | None:
    """Return where a program is, from anywhere; None where it is not."""
    found = shutil.which(name)
    return found and str(Path(found).absolute())


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--check-jsonschema", type=program, metavar="PATH")
    parser.add_argument("--doorstop", type=program, metavar="PATH")
    options = parser.parse_args()
    # Users have compiled modules; a session that does not write them would time the compiler.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    left_out = [name for name in ("check_jsonschema", "doorstop") if getattr(options, name) is None]
    print(f"left out: {', '.join(left_out) or 'nothing'}")
    for count in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            measure(Path(scratch), count, options)


if __name__ == "__main__":
    main()
