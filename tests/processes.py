"""Run Python in processes of its own: programs, and functions that all start at the same moment."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# Each process of a function is forked from one that has imported what most of them need.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["builders", "hypothesis", "mdmem.cli.main", "mdmem.cli.write", "mdmem.write.save"])


def run_text(*arguments: str, cwd: Path, env: Mapping[str, str], text_in: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python to its end, and return how it ended and what it printed."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, input=text_in, capture_output=True, check=False, encoding="utf-8")


def run_at_once(work: Callable[..., Any], *arguments: Any, count: int = 4) -> list[Any]:
    """Return the results of many processes that start their work at the same moment; an exception where one failed.

    `work` gets its number first, and has to be a function of a module.
    """
    gate = _CONTEXT.Barrier(count)
    begun = [_begin(gate, work, (number, *arguments)) for number in range(count)]
    results = [pipe.recv() for _, pipe in begun]
    for process, _ in begun:
        process.join()
    assert [process.exitcode for process, _ in begun] == [0] * count
    return results


def exit_code_of(work: Callable[..., Any], *arguments: Any) -> int | None:
    """Return the exit code of a process that did some work, a function of a module."""
    # A gate that nobody refers to is removed before the process has opened it.
    gate = _CONTEXT.Barrier(1)
    process, _ = _begin(gate, work, arguments)
    process.join()
    return process.exitcode


def _begin(gate: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Connection]:
    """Start a process that waits with its work for the others of its gate."""
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
