"""Run a command with a hard time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress


def limited(command: Sequence[str], *, seconds: float) -> str:
    """Return the output of a command that reads our standard input; its processes are killed after the limit.

    A command that fails, or cannot be started, raises nothing.
    """
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    except OSError:
        return ""
    with process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            printed = late.stdout or b""
            if sys.platform == "win32":
                process.kill()
            else:
                with suppress(ProcessLookupError):
                    # The group includes the git that it started.
                    os.killpg(process.pid, signal.SIGKILL)
    return printed.decode("utf-8", "replace")
