"""How far a run of the checks is: shown on a terminal, taken away at the end, and told nowhere else."""

from __future__ import annotations

import sys

import pytest

from mdmem.cli.common import Progress

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("is_terminal", "files", "said"),
    [
        (True, 800, "\rchecking 800 files: 0 %\rchecking 800 files: 50 %\r" + " " * 24 + "\r"),
        (True, 499, ""),
        (False, 800, ""),
    ],
)
def test_progress(is_terminal: bool, files: int, said: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    progress = Progress("checking {} files")
    for done in (0, files // 2, files // 2 + 1):
        progress(done, files)
    progress.clear()
    assert capsys.readouterr() == ("", said)
