"""A limit of time that applies whatever the work does: another process does it, and is ended when time is up."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress


def limited(command: Sequence[str], *, seconds: float) -> str:
    """Return what a command prints that reads our standard input; its processes are ended when time is up.

    Nothing is raised: a command that fails, or cannot be started, has printed what it has printed.
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
            with suppress(ProcessLookupError):
                # With it ends the git that it asked.
                os.killpg(process.pid, signal.SIGKILL)
    return printed.decode("utf-8", "replace")
