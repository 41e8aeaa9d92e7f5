"""What to type so that this very installation has an extra, or can be found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import make_repository, run_here

from mdmem.setup import init as module
from mdmem.setup import installation
from mdmem.setup.installation import Installation

FOLDER = {"url": "file:///home/ada/my%20code/mdmem", "dir_info": {}}
GIT = {"url": "https://example.org/mdmem.store.git", "vcs_info": {"vcs": "git"}}


@pytest.mark.parametrize(
    ("marker", "origin", "line"),
    [
        ("pipx_metadata.json", FOLDER, "pipx install --force '/home/ada/my code/mdmem[mcp]'"),
        ("uv-receipt.toml", {}, "uv tool install --force 'mdmem[mcp]'"),
        ("", {}, "{prefix}/bin/pip install 'mdmem[mcp]'"),
        ("", GIT, "{prefix}/bin/pip install 'mdmem[mcp] @ git+https://example.org/mdmem.store.git'"),
        ("", FOLDER | {"dir_info": {"editable": True}}, "{prefix}/bin/pip install -e '/home/ada/my code/mdmem[mcp]'"),
    ],
)
def test_line_fits_the_way_it_was_installed(marker: str, origin: Mapping[str, Any], line: str, tmp_path: Path) -> None:
    if marker:
        (tmp_path / marker).touch()
    assert Installation(tmp_path, origin).line_for("mcp") == line.format(prefix=tmp_path)


def test_python_of_the_system_is_named_by_its_module(tmp_path: Path) -> None:
    assert Installation(tmp_path, {}, is_virtual=False).line_for("mcp") == "python3 -m pip install 'mdmem[mcp]'"


def test_command_that_no_client_finds_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    ran = run_here(capsys, "init", "--client", "codex", "--command", "mdmem-of-ours", cwd=make_repository(tmp_path))
    assert "`mdmem-of-ours` is not on the PATH" in ran.out
    assert 'command = "mdmem-of-ours"' in (tmp_path / ".codex/config.toml").read_text()


def test_extra_that_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_server", lambda: False)
    ran = run_here(capsys, "init", "--client", "codex", "--command", "git", cwd=make_repository(tmp_path))
    assert "the server needs the extra `mcp`: type `" in ran.out


def test_commit_that_is_unknown_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installation, "this_installation", lambda: Installation(tmp_path, FOLDER))
    assert [*installation.describe_installation()] == ["mdmem", "extras", "python", "system"]
