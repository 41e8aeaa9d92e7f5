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
from processes import python

from mdmem.guide import page

HERE = Path(__file__).parent


def neovim() -> str:
    """Return the program; a test is left out where it is not installed."""
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    return found or pytest.skip("no Neovim is installed")


def steps(script: str, folder: Path) -> dict[str, Any]:
    """Run a script in Neovim and return what its steps told."""
    told_in_guide = re.findall(r"```lua\n(.+?)```", page("editors"), re.DOTALL)
    lines = write(folder.parent, "init.lua", "\n".join(told_in_guide))
    said = environment(XDG_STATE_HOME=str(folder.parent))
    line = [neovim(), "--headless", "--clean", "-l", str(HERE / script), python(), str(folder), str(lines)]
    ran = subprocess.run(
        line,
        cwd=folder,
        env=said,
        capture_output=True,
        timeout=60,
        check=False,
    )
    told = dict(json.loads(one) for one in ran.stdout.decode().splitlines())
    assert ran.returncode == 0, (told, ran.stderr.decode())
    return told


def test_a_note_is_mended_put_in_the_place_of_another_renamed_and_committed_through_the_hook(tmp_path: Path) -> None:
    folder = memory(tmp_path.resolve() / "project")
    write_entry(folder / "memory", "nav/notes/list", type="note", title="A list 😀")
    write_entry(folder / "memory", "nav/notes/queue", type="note", title="A queue", see=["nav/notes/list"])
    commit_all(folder)
    assert run_mdmem("hooks", "install", cwd=folder).returncode == 0
    told = steps("journey.lua", folder)
    assert told["open"] == []
    assert told["typed"].startswith("unknown status `actve`")
    assert told["undone"] == told["saved"] == []
    assert told["fixed"] == "status: active"
    assert told["superseded"]
    assert told["taken back"] == [False, False]
    assert told["ended"] == "deprecated_reason: nobody waits"
    assert run_mdmem("check", cwd=folder).returncode == 0
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A queue is fair")
    shown = git(folder, "show", "--name-status", "--format=", "-M").splitlines()
    assert [line.split()[-1] for line in shown] == [f"memory/nav/notes/{name}.md" for name in ("first-list", "queue")]
    assert shown[0].startswith("R")
