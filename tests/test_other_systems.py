"""Test systems that lack features of Linux: the same commands give the same files and answers."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from builders import Run, environment, make_repository, memory, run_here, snapshot
from processes import run_text

# Libraries choose their own way by the system when they are imported, so they come first.
_WITHOUT_UNIX = """
import asyncio, contextlib, errno, fcntl, io, json, multiprocessing, os, subprocess, sys, tempfile, types
import click, frontmatter, git, pydantic, whoosh.index, yaml

def locking(handle, mode, count):
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

def refuse(*arguments, **options):
    raise OSError(errno.EOPNOTSUPP, "Operation not supported")

for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_DIRECTORY", "killpg", "getuid", "fork", "mkfifo"):
    delattr(os, name)
os.link = os.symlink = refuse
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=locking)
sys.modules["fcntl"] = None
platform, sys.platform = sys.platform, "win32"
import mdmem.disk
sys.platform = platform
from mdmem.cli.main import run
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run(line)
    print(json.dumps([code, out.getvalue()]))
"""

_WORK = (
    "init --wing shop",
    "new decision shop/architecture/queue --status active --body 'Jobs wait in a queue. Rationale: it is simple.'",
    "new invariant shop/contracts/cents --body 'Amounts must be integers. Rationale: a float loses cents.'",
    "approve shop/contracts/cents",
    "supersede shop/architecture/queue --title Table --status active --body 'Jobs wait in a table.' --reason Simpler",
    "mv shop/contracts/cents shop/contracts/minor-units",
    "deprecate shop/contracts/minor-units --reason 'The ledger has it.'",
    "check",
    "retrieve where do jobs wait",
    r"show 'shop\architecture\table.md'",
)


def test_a_memory_lives_on_a_system_without_what_unix_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [shlex.split(line) for line in _WORK]
    here, there = (make_repository(tmp_path / name / "shop") for name in ("here", "there"))
    ours = [run_here(capsys, *line, cwd=here) for line in lines]
    theirs = run_text("-c", _WITHOUT_UNIX, json.dumps(lines), cwd=there, env=environment())
    assert [one.code for one in ours] == [0] * len(lines)
    assert [json.loads(one) for one in theirs.stdout.splitlines()] == [[one.code, one.out] for one in ours]
    shutil.rmtree(here / ".git")
    shutil.rmtree(there / ".git")
    assert snapshot(there) == snapshot(here)


@pytest.mark.parametrize(
    "line",
    [
        "show {}",
        "show {}.md --about callbacks",
        "why {}",
        "log {}",
        "mv {} nav/rules/moved --dry-run",
        "verify {} --dry-run",
        "doubt {} --reason Unsure --dry-run",
        "deprecate {} --reason Gone --dry-run",
        "supersede {} --title New --body Text. --reason Better --dry-run",
        "new note {}-2 --body Text. --dry-run",
        "retrieve --path memory/{}.md",
        "brief memory/{}.md",
    ],
)
def test_backslashes_in_a_name_are_read_as_slashes(line: str, tmp_path: Path, run: Run) -> None:
    folder = memory(tmp_path / "repository")
    plain = shlex.split(line.format("nav/rules/callbacks"))
    windows = [word.replace("/", "\\") for word in plain]
    first, second = run(*plain, cwd=folder), run(*windows, cwd=folder)
    assert first.code == 0, first.err
    assert (second.code, second.out) == (first.code, first.out)
