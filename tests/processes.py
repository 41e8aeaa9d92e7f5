"""Run Python in separate processes: programs, and functions that all start at the same moment."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# The process for a function is forked from one that has already imported the most needed modules.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["builders", "hypothesis", "mdmem.cli.main", "mdmem.cli.write", "mdmem.write.save"])


def run_text(*arguments: str, cwd: Path, env: Mapping[str, str], text_in: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python to its end, and return its exit code and output."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, input=text_in, capture_output=True, check=False, encoding="utf-8")


def run_at_once(work: Callable[..., Any], *arguments: Any, count: int = 4) -> list[Any]:
    """Return the results of processes that start their work at the same moment, or the exception of one that failed.

    The first argument of `work` is the number of the process. `work` must be a function at the top of a module.
    """
    gate = _CONTEXT.Barrier(count)
    begun = [_begin(gate, work, (number, *arguments)) for number in range(count)]
    results = [pipe.recv() for _, pipe in begun]
    for process, _ in begun:
        process.join()
    assert [process.exitcode for process, _ in begun] == [0] * count
    return results


def exit_code_of(work: Callable[..., Any], *arguments: Any) -> int | None:
    """Return the exit code of a process that runs `work`, a function at the top of a module."""
    # Keep a reference to the gate, since it would be removed before the process has opened it.
    gate = _CONTEXT.Barrier(1)
    process, _ = _begin(gate, work, arguments)
    process.join()
    return process.exitcode


def _begin(gate: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Connection]:
    """Start a process that waits at a gate for the other processes before its work."""
    ours, theirs = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_work, args=(gate, theirs, dict(os.environ), str(Path.cwd()), work, arguments))
    process.start()
    theirs.close()
    return process, ours


def _work(
    gate: Any, pipe: Connection, variables: dict[str, str], cwd: str, work: Callable[..., Any], arguments: Any
) -> None:
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    gate.wait(60)
    try:
        found = work(*arguments)
    except Exception as error:  # noqa: BLE001  # the test gets it
        found = error
    pipe.send(found)
