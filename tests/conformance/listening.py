"""A server that listens, as a process of its own."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from builders import environment, memory


@contextmanager
def serving(program: list[str], folder: Path) -> Iterator[str]:
    """Give the address of a server that listens, and end it."""
    command = [sys.executable, *program, "--http", "127.0.0.1:0"]
    said = folder / "said.txt"
    with (
        said.open("wb") as log,
        subprocess.Popen(
            command, cwd=memory(folder / "repo"), env=environment(), stdin=subprocess.DEVNULL, stderr=log
        ) as process,
    ):
        try:
            yield _address(process, said)
        finally:
            process.send_signal(signal.SIGTERM)


def _address(process: subprocess.Popen[bytes], said: Path) -> str:
    while (found := re.search(r"http://\S+/mcp\n", said.read_text())) is None:
        assert process.poll() is None, said.read_text()
        time.sleep(0.1)
    return found.group().strip()
