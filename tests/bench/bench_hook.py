"""The hook where a commit touches no memory, against a bare interpreter and `git status`, in one run.

    python tests/bench/bench_hook.py [--entries 100] [--repeats 20]

Prints ratios, a bare interpreter being 1, from medians of whole processes run in turns; and what the hook imports
and how often it starts git.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_cli import build, git, imported, in_turns, show

HOOK = ("check", "--staged")


def git_processes(folder: Path, scratch: Path) -> int:
    """Return how many git processes the hook starts, counted by a program that stands before git."""
    log, program = scratch / "started", scratch / "git"
    program.write_text(f'#!/bin/sh\necho >> "{log}"\nexec "{shutil.which("git")}" "$@"\n')
    program.chmod(0o755)
    path = f"{scratch}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([sys.executable, "-m", "mdmem", *HOOK], cwd=folder, env=os.environ | {"PATH": path}, check=True)
    return len(log.read_text().splitlines())


def main() -> None:
    """Measure the hook in one repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    python = sys.executable
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "repository"
        folder.mkdir()
        build(folder / "memory", options.entries, paragraphs=False)
        (folder / "memory" / ".git").rename(folder / ".git")
        git(folder, "add", "-A")
        git(folder, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "moved")
        (folder / "code.py").write_text("pass\n")
        git(folder, "add", "code.py")
        commands = {
            "bare interpreter": [python, "-c", "pass"],
            "git status": ["git", "status"],
            "an interpreter that imports click": [python, "-c", "import click"],
            "mdmem check --staged, code alone": [python, "-m", "mdmem", *HOOK],
        }
        taken = in_turns(commands, folder, options.repeats)
        show(f"{options.entries} entries, a commit of code alone", taken, taken["bare interpreter"])
        print(f"  imports {', '.join(imported(folder, *HOOK)) or 'no heavy library'}")
        print(f"  starts git {git_processes(folder, Path(scratch))} times")
        (folder / "memory" / "mdmem.toml").write_text('default_wing = "app"\nbudget = 3000\n')
        git(folder, "add", "-A")
        touched = in_turns({"mdmem check --staged, memory": [python, "-m", "mdmem", *HOOK]}, folder, options.repeats)
        show(f"{options.entries} entries, a commit that touches the memory", touched, taken["bare interpreter"])


if __name__ == "__main__":
    main()
