"""`mdmem lsp`: what it says where it cannot serve."""

import importlib.util
from pathlib import Path

import pytest
from builders import run_here, run_mdmem

from mdmem.lsp.handshake import framed


def test_extra_that_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ran = run_here(capsys, "lsp", cwd=tmp_path)
    assert ran.code == 2
    assert "the server for editors needs the extra `lsp`; type `" in ran.err


def test_editor_that_says_nothing_ends_it(tmp_path: Path) -> None:
    ran = run_mdmem("lsp", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_editor_that_takes_its_leave_ends_it(tmp_path: Path) -> None:
    said = ({"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"id": 2, "method": "shutdown"})
    sent = b"".join(framed({"jsonrpc": "2.0", **one}) for one in (*said, {"method": "exit"}))
    ran = run_mdmem("lsp", cwd=tmp_path, text_in=sent.decode())
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("Content-Length") == 2
