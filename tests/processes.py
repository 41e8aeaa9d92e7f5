"""Run Python in processes of its own: programs, and functions that all start at the same moment."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

# A process says when it has imported its work, and begins when its input ends.
_WORK = """\
import pickle, sys
sys.path[:] = {path!r}
work, arguments = pickle.load(sys.stdin.buffer)
sys.stdout.write(".")
sys.stdout.flush()
sys.stdin.buffer.read()
try:
    found = work(*arguments)
except Exception as error:
    found = error
with open({result!r}, "wb") as file:
    pickle.dump(found, file)
"""


def run(*arguments: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run Python to its end, and return how it ended and what it printed."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True, check=False)


def run_text(*arguments: str, cwd: Path, env: Mapping[str, str], text_in: str = "") -> subprocess.CompletedProcess[str]:
    """Do the same with text."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, input=text_in, capture_output=True, check=False, encoding="utf-8")


def run_at_once(work: Callable[..., Any], *arguments: Any, count: int = 4) -> list[Any]:
    """Return the results of many processes that start their work at the same moment; an exception where one failed.

    `work` gets its number first, and has to be a function of a module.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        results = [folder / str(number) for number in range(count)]
        begun = [_begin(stack, result, work, (number, *arguments)) for number, result in enumerate(results)]
        for process in begun:
            _gate(process).close()
        assert [process.wait() for process in begun] == [0] * count
        return [pickle.loads(result.read_bytes()) for result in results]


def exit_code_of(work: Callable[..., Any], *arguments: Any) -> int:
    """Return the exit code of a process that did some work, a function of a module."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        process = _begin(stack, folder / "result", work, arguments)
        _gate(process).close()
        return process.wait()


def _begin(
    stack: ExitStack, result: Path, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> subprocess.Popen[bytes]:
    """Start a process that waits with its work until its input is closed."""
    program = _WORK.format(path=sys.path, result=str(result))
    process = stack.enter_context(
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )
    _gate(process).write(pickle.dumps((work, arguments)))
    _gate(process).flush()
    assert process.stdout is not None
    assert process.stdout.read(1) == b"."
    return process


def _gate(process: subprocess.Popen[bytes]) -> BinaryIO:
    assert process.stdin is not None
    return process.stdin  # type: ignore[return-value]
