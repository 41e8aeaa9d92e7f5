"""Test real editors with the real server and the settings in the guide."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, environment, git, memory, run_mdmem, write, write_entry

from mdmem.guide import page

HERE = Path(__file__).parent
NOTE = "memory/nav/notes/queue.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a note, and a folder with the program `mdmem`."""
    found = memory(tmp_path.resolve() / "project")
    write_entry(found / "memory", "nav/notes/list", type="note", title="A list")
    write_entry(found / "memory", "nav/notes/queue", type="note", title="A queue", see=["nav/notes/list"])
    commit_all(found)
    write(tmp_path, "bin/mdmem", f'#!/bin/sh\nexec {sys.executable} -m mdmem "$@"\n').chmod(0o755)
    return found


def program(name: str, path: str | None = None) -> str:
    return shutil.which(name, path=path) or pytest.skip(f"{name} is not installed")


def lines_for(language: str, folder: Path, *, below: str = "") -> str:
    """Write the first code block of a language below some words of the guide to a file, and return its path."""
    found = re.search(rf"{below}.*?```{language}\n(.+?)```", page("editors"), re.DOTALL)
    assert found is not None
    return str(write(folder.parent, f"lines.{language}", found[1]))


def variables(folder: Path) -> dict[str, str]:
    path = f"{folder.parent / 'bin'}:{environment()['PATH']}"
    return environment(PATH=path, HOME=str(folder.parent), TERM="xterm")


def run(line: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    said = variables(folder) | more
    return subprocess.run(line, cwd=folder, env=said, capture_output=True, timeout=120, check=False)


def assert_saved(folder: Path, other_end: str = "") -> None:
    """Check that the note has its reason and the other end its link, and that there are no findings."""
    assert "it was measured" in (folder / NOTE).read_text(encoding="utf-8")
    assert other_end in (folder / "memory/nav/notes/list.md").read_text(encoding="utf-8")
    assert run_mdmem("check", cwd=folder).returncode == 0


@pytest.mark.long
def test_emacs_with_eglot(folder: Path) -> None:
    emacs = [program("emacs"), "--batch", "-q"]
    if run([*emacs, "--eval", "(require 'eglot)"], folder).returncode:
        pytest.skip("Emacs has no eglot")
    ran = run([*emacs, "-l", str(HERE / "journey.el"), str(folder), lines_for("elisp", folder)], folder)
    told = dict(json.loads(one) for one in ran.stdout.decode().splitlines() if one.startswith('["'))
    assert ran.returncode == 0, f"{told}\n{ran.stderr.decode()[-3000:]}"
    assert "unknown status `actve`" in told["typed"]
    assert told["saved"] == ""
    assert_saved(folder, "superseded_by: [nav/notes/queue]")


@pytest.mark.long
def test_vim_with_ale(folder: Path) -> None:
    import pty

    vim = program("vim")
    if run([vim, "-es", "-N", "-u", "NONE", "-c", "packadd ale", "-c", "qa!"], folder).returncode:
        pytest.skip("Vim has no ALE")
    told = folder.parent / "told"
    named = {"FOLDER": str(folder), "LINES_OF_GUIDE": lines_for("vim", folder), "TOLD": str(told)}
    ours, theirs = pty.openpty()
    line = [vim, "-N", "-u", str(HERE / "journey.vim")]
    process = subprocess.Popen(line, cwd=folder, env=variables(folder) | named, stdin=theirs, stdout=theirs)
    os.close(theirs)
    with suppress(OSError):
        while os.read(ours, 65536):
            pass
    os.close(ours)
    assert process.wait(timeout=60) == 0, told.read_text() if told.exists() else "nothing was told"
    steps = dict(json.loads(one) for one in told.read_text(encoding="utf-8").splitlines())
    assert steps["typed"][0].startswith("unknown status `actve`")
    assert steps["saved"] == []
    assert_saved(folder)


@pytest.mark.long
def test_neovim_before_0_11(folder: Path) -> None:
    # Debian's, not the newer one that pip brings.
    nvim = program("nvim", "/usr/bin")
    write_entry(folder / "memory", "nav/rules/spin", type="invariant", title="Spin once", applies_to=["src/*.py"])
    write(folder, "src/loop.py", "spin()  # nav/architecture/threads\n")
    commit_all(folder)
    told = folder.parent / "told"
    lines = lines_for("lua", folder, below="0.7 to 0.10")
    line = [nvim, "--headless", "--clean", "-c", f"luafile {lines}", "-c", f"luafile {HERE / 'journey_old.lua'}"]
    ran = run(line, folder, TOLD=str(told))
    steps = dict(json.loads(one) for one in told.read_text(encoding="utf-8").splitlines())
    assert ran.returncode == 0, (steps, ran.stderr.decode())
    assert steps["lens"] == "1 invariant applies to this file, +1 that applies everywhere"
    assert "Use two threads" in steps["hover"]
    assert steps["definition"].endswith("memory/nav/architecture/threads.md")
    assert steps["typed"] == ["unknown status `actve`"]
    assert steps["saved"] == []
    assert_saved(folder, "superseded_by: [nav/notes/queue]")


def test_entries_are_mended_superseded_renamed_saved_and_committed_through_the_hook(folder: Path) -> None:
    write_entry(folder / "memory", "nav/notes/queue", type="note", title="A queue")
    write_entry(folder / "memory", "nav/architecture/pool", title="Use a pool", see=["nav/architecture/threads"])
    commit_all(folder)
    assert run_mdmem("hooks", "install", cwd=folder).returncode == 0
    # Older ones have lines of their own below.
    said = re.findall(r"```lua\n(.+?)```", page("editors").partition("0.7 to 0.10")[0], re.DOTALL)
    lines = write(folder.parent, "init.lua", "\n".join(said))
    # The program that pip brings, else the machine's.
    beside = Path(sys.executable).with_name("nvim")
    neovim = str(beside) if beside.exists() else program("nvim")
    line = [neovim, "--headless", "--clean", "-l", str(HERE / "journey.lua"), sys.executable, str(folder), str(lines)]
    ran = run(line, folder, XDG_STATE_HOME=str(folder.parent))
    told: dict[str, Any] = dict(json.loads(one) for one in ran.stdout.decode().splitlines())
    assert ran.returncode == 0, (told, ran.stderr.decode())
    assert told["open"] == []
    assert told["servers"] == 1
    assert told["typed"].startswith("unknown status `actve`")
    assert told["mended"] == "status: active"
    assert told["undone"] is True, "one undo a file takes a supersession back"
    assert told["ends"] == [[], []]
    assert run_mdmem("check", cwd=folder).returncode == 0
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A pool in place of threads, which have another name")
    names = git(folder, "show", "--name-only", "--no-renames", "--format=").splitlines()
    assert [name.removeprefix("memory/nav/") for name in names] == [
        "architecture/pool.md",
        "architecture/threads.md",
        "architecture/two-threads.md",
        "notes/queue.md",
    ]
