"""`mdmem lsp`: what it says where it cannot serve."""

import json
from pathlib import Path

import pytest
from builders import Run, run_mdmem


def framed(message: dict[str, object]) -> str:
    body = json.dumps({"jsonrpc": "2.0", **message})
    return f"Content-Length: {len(body)}\r\n\r\n{body}"


def test_extra_that_is_missing_is_said(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.cli.common.find_spec", lambda name: None)
    ran = run("lsp")
    assert ran.code == 2
    assert "this needs the extra `lsp`; type `" in ran.err


def test_editor_that_says_nothing_ends_it(tmp_path: Path) -> None:
    ran = run_mdmem("lsp", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_editor_that_takes_its_leave_ends_it(tmp_path: Path) -> None:
    said = ({"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"id": 2, "method": "shutdown"})
    ran = run_mdmem("lsp", cwd=tmp_path, text_in="".join(map(framed, (*said, {"method": "exit"}))))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("Content-Length") == 2


HEADERS = {"5000 digits": "9" * 5000, "30 digits": "9" * 30, "a million million": str(10**12)}


@pytest.mark.parametrize("stated", HEADERS.values(), ids=HEADERS)
def test_header_that_nobody_can_mean_ends_it_in_a_line(tmp_path: Path, stated: str) -> None:
    ran = run_mdmem("lsp", cwd=tmp_path, text_in=f"Content-Length: {stated}\r\n\r\nx")
    assert ran.returncode == 2
    assert ran.stderr == "mdmem: the editor sent a message that is too long to be read\n"
