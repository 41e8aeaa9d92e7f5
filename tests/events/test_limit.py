"""The limit of time: whatever a command does, whoever waits goes on, and nothing is raised."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from mdmem.cli.programs import limited


def test_what_a_command_prints_comes_back_and_its_errors_do_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert limited(["sh", "-c", "echo quiet; echo loud >&2; exit 3"], seconds=60) == "quiet\n"
    assert capfd.readouterr() == ("", "")


def test_what_was_printed_in_time_counts_and_every_process_of_the_command_is_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert limited(["sh", "-c", f"sleep 60 > '{pipe}' & echo said; wait"], seconds=0.5) == "said\n"
    # A pipe ends when all have gone who could write into it.
    assert select.select([reading], [], [], 30)[0] == [reading]
    assert os.read(reading, 1) == b""
    os.close(reading)
