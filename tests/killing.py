"""Kill runs of the command line before each of their steps on the disk, one step later in each run."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builders import environment

_STEPS = {f"os.{name}" for name in ("rename", "link", "symlink", "remove", "rmdir", "mkdir", "truncate", "chmod")}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def killed_at_each_step(before: Path, scratch: Path, under: str, *arguments: str) -> tuple[Path, list[Path]]:
    """Run a command to its end in one copy of a folder, and kill it in further copies, each time one step later.

    The command runs in the folder `under` of a copy. Returns the copy in which it ended, and those in which it was
    killed.
    """
    temporary = scratch / "tmp"
    temporary.mkdir(parents=True)
    command = [sys.executable, __file__, str(before), str(scratch), under, *arguments]
    ours = environment(PYTHONPATH=str(Path(__file__).parents[1]), TMPDIR=str(temporary))
    done = subprocess.run(
        command, env=ours, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return scratch / "whole", sorted(scratch.glob("step-*"))


def _steps(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "open":
        path, _, flags = arguments
        return bool(flags & _WRITES) and isinstance(path, (str, bytes)) and os.fsdecode(path) != os.devnull
    return event in _STEPS or event == "subprocess.Popen"


def _run(arguments: list[str]) -> int:
    from mdmem.cli.main import run

    return run(arguments)


def _die_before(step: int) -> None:
    """Let this process kill itself before a step; the number of the first step is 0."""
    left = iter(range(step, -1, -1))

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if _steps(event, given) and next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def fsync(handle: int) -> None:
        hook("os.truncate", ())
        durable(handle)

    durable, os.fsync = os.fsync, fsync
    sys.addaudithook(hook)


def _copies(before: Path, scratch: Path) -> Iterator[tuple[int, Path]]:
    for step in range(1000):
        copy = scratch / f"step-{step:03}"
        shutil.copytree(before, copy, symlinks=True)
        yield step, copy


def main(before: Path, scratch: Path, under: str, arguments: list[str]) -> None:
    """Run a command to its end once, then kill it at one step after the other until no step is left."""
    whole = scratch / "whole"
    shutil.copytree(before, whole, symlinks=True)
    os.chdir(whole / under)
    # Run it in this process, so that each forked process already has the imported modules.
    code = _run(arguments)
    assert code == 0, code
    for step, copy in _copies(before, scratch):
        child = os.fork()
        if child == 0:
            os.chdir(copy / under)
            _die_before(step)
            os._exit(_run(arguments))
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            shutil.rmtree(copy)
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
