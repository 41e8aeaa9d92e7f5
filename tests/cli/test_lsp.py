"""`mdmem lsp`: what it says where it cannot serve."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from builders import run_here, run_mdmem

from mdmem.cli.server import lsp_command
from mdmem.errors import UsageError
from mdmem.lsp.handshake import framed


def test_extra_that_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdmem.cli.server.find_spec", lambda name: None)
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


HEADERS = {"5000 digits": "9" * 5000, "30 digits": "9" * 30, "a million million": str(10**12)}


@pytest.mark.parametrize("stated", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("is_begun", [False, True], ids=["at first", "later"])
def test_header_that_nobody_can_mean_ends_it_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stated: str, *, is_begun: bool
) -> None:
    first = framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    sent = BytesIO((first if is_begun else b"") + f"content-length: {stated}\n\nx".encode())
    monkeypatch.setattr("sys.stdin", TextIOWrapper(sent))
    monkeypatch.setattr("sys.stdout", TextIOWrapper(BytesIO()))
    with pytest.raises(UsageError, match="header that no message has"):
        lsp_command.main(["--root", str(tmp_path)], standalone_mode=False)
