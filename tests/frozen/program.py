"""The mdmem program that is asked, and the environment it runs in: the same day, user and git on every machine."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Self

HERE = Path(__file__).parent
THIS_PROGRAM = Path(sys.executable).with_name("mdmem")
TODAY = "2026-11-21"


class Answer(NamedTuple):
    """The exit code of a command and what it printed."""

    code: int
    out: str
    err: str


class Program:
    """An installed mdmem; a context manager that ends its process."""

    def __init__(self, path: Path, home: Path) -> None:
        """Start the process that runs commands; `home` is an empty folder for settings, caches and state."""
        self.path = path.absolute()
        self.env = fixed_environment(home)
        self.env["PATH"] = f"{self.path.parent}:{os.environ['PATH']}"
        # Without `-P`, the driver's folder and its modules would be on the module path.
        command = [str(self.path.with_name("python")), "-P", str(HERE / "driver.py")]
        self._process = subprocess.Popen(
            command, env=self.env, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.communicate()

    def ask(self, folder: Path, *arguments: str) -> Answer:
        """Run one command in a folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([str(folder), arguments]), file=self._process.stdin, flush=True)
        return Answer(*json.loads(self._process.stdout.readline()))

    def run(self, folder: Path, *command: str, day: int = 1) -> Answer:
        """Run any command, such as git with mdmem's hooks, in a separate process."""
        env = self.env | dated(day)
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    def git(self, folder: Path, *arguments: str, day: int = 1) -> str:
        """Run git, which must succeed; a commit is of that day of November 2026."""
        done = self.run(folder, "git", *arguments, day=day)
        assert done.code == 0, (arguments, done)
        return done.out.strip()


def fixed_environment(home: Path) -> dict[str, str]:
    """Return variables that give the same answers for every user and day."""
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "CACHE", "DATA", "STATE")}
    git = {"GIT_CONFIG_GLOBAL": str(HERE.parent / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
    people = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in _ADA.items()}
    fixed = {"HOME": str(home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1", "MDMEM_TODAY": TODAY}
    return fixed | folders | git | people | dated(1)


def dated(day: int) -> dict[str, str]:
    """Return the variables that date a commit."""
    return {f"GIT_{role}_DATE": f"2026-11-{day:02}T12:00:00+00:00" for role in ("AUTHOR", "COMMITTER")}


_ADA = {"NAME": "Ada", "EMAIL": "ada@example.org"}
