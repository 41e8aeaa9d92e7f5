"""A real Neovim, which pip brings, with the real server."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, environment, git, memory, run_mdmem, write, write_entry

from mdmem.guide import page

HERE = Path(__file__).parent


def neovim() -> str:
    """Return the program; a test is left out where it is not installed."""
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    return found or pytest.skip("no Neovim is installed")


def steps(script: str, folder: Path) -> dict[str, Any]:
    """Run a script in Neovim and return what its steps told."""
    # Older ones have lines of their own below.
    told_in_guide = re.findall(r"```lua\n(.+?)```", page("editors").partition("From 0.7 to 0.10")[0], re.DOTALL)
    lines = write(folder.parent, "init.lua", "\n".join(told_in_guide))
    said = environment(XDG_STATE_HOME=str(folder.parent))
    line = [neovim(), "--headless", "--clean", "-l", str(HERE / script), sys.executable, str(folder), str(lines)]
    ran = subprocess.run(
        line,
        cwd=folder,
        env=said,
        capture_output=True,
        timeout=120,
        check=False,
    )
    told = dict(json.loads(one) for one in ran.stdout.decode().splitlines())
    assert ran.returncode == 0, (told, ran.stderr.decode())
    return told


def test_entries_are_mended_superseded_renamed_saved_and_committed_through_the_hook(tmp_path: Path) -> None:
    folder = memory(tmp_path.resolve() / "project")
    write_entry(folder / "memory", "nav/notes/queue", type="note", title="A queue")
    write_entry(folder / "memory", "nav/architecture/pool", title="Use a pool", see=["nav/architecture/threads"])
    commit_all(folder)
    assert run_mdmem("hooks", "install", cwd=folder).returncode == 0
    told = steps("journey.lua", folder)
    assert told["open"] == []
    assert told["servers"] == 1
    assert told["typed"].startswith("unknown status `actve`")
    assert told["mended"] == "status: active"
    assert told["undone"] is True, "one undo a file takes a supersession back"
    assert told["ends"] == [[], []]
    assert run_mdmem("check", cwd=folder).returncode == 0
    assert told["ended"] == "nobody waits"
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A pool in place of threads, which have another name")
    names = git(folder, "show", "--name-only", "--no-renames", "--format=").splitlines()
    assert [name.removeprefix("memory/nav/") for name in names] == [
        "architecture/pool.md",
        "architecture/threads.md",
        "architecture/two-threads.md",
        "notes/queue.md",
    ]
