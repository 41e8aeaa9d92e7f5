"""Run one mdmem program many times: Python and its modules start once, and each command runs in a fork of its own.

Runs under the Python of that program. A line of stdin is `[folder, arguments]`, a line of stdout `[code, out, err]`.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import runpy
import signal
import sys
import tempfile
import traceback
from typing import BinaryIO

import mdmem

HEAVY = ("mdmem.mcp", "mdmem.lsp", "mdmem.hub", "mdmem.site", "mdmem.__main__")
LIMIT = 120


def preload() -> None:
    """Import the modules that most commands need."""
    for module in pkgutil.walk_packages(mdmem.__path__, "mdmem."):
        if not module.name.startswith(HEAVY):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def run(arguments: list[str]) -> int:
    """Run mdmem in this process and return its exit code."""
    sys.argv = ["mdmem", *arguments]
    try:
        runpy.run_module("mdmem", run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except Exception:  # noqa: BLE001  # the traceback is the answer
        traceback.print_exc()
        return 70
    return 0


def run_in_fork(folder: str, arguments: list[str], out: BinaryIO, err: BinaryIO) -> int:
    """Run mdmem in a fork that writes to two files, and return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(LIMIT)
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, stream in enumerate((nothing, out.fileno(), err.fileno())):
        os.dup2(stream, number)
    code = run(arguments)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def read(file: BinaryIO) -> str:
    """Return the text of a file from its start."""
    file.seek(0)
    return file.read().decode("utf-8", "backslashreplace")


def main() -> None:
    """Answer one line after another until stdin ends."""
    preload()
    with os.fdopen(os.dup(1), "w", encoding="ascii") as replies:
        for line in sys.stdin:
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                code = run_in_fork(*json.loads(line), out, err)
                print(json.dumps([code, read(out), read(err)]), file=replies, flush=True)


main()
