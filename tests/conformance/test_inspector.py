"""Run the protocol's official Inspector over standard input and output, as a user would."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import memory
from node import Node

# It comes from npm's registry, which takes longer than all that is asked of it.
pytestmark = pytest.mark.long
_PROGRAM = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_ERAS = ("legacy", "modern")


def inspect(
    node: Node, folder: Path, method: str, *asked: str, era: str = "legacy", profile: str = "core"
) -> subprocess.CompletedProcess[str]:
    """Start the server through the Inspector and ask it one thing."""
    memory(folder / "repo")
    stated = ["--cli", "--format", "json", "--quiet", "--protocol-era", era, "--method", method, *asked]
    server = ["--cwd", str(folder / "repo"), "--", sys.executable, "-m", "mdmem", "mcp", "--profile", profile]
    return node.run(_PROGRAM, *stated, *server, cwd=folder)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    """Return what the server answered."""
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["result"]


def test_no_client_has_trouble_with_the_schemas(node: Node, tmp_path: Path) -> None:
    memory(tmp_path / "repo")
    asked = ["--cli", "--strict", "--format", "json", "--method", "tools/list", "--cwd", str(tmp_path / "repo")]
    server = ["--", sys.executable, "-m", "mdmem", "mcp", "--profile", "all"]
    done = node.run(_PROGRAM, *asked, *server, cwd=tmp_path)
    assert len(answer(done)["tools"]) > 20
    assert [line for line in done.stderr.splitlines() if line.startswith(("Warning:", "Error:"))] == []


@pytest.mark.parametrize("era", _ERAS)
def test_a_tool_is_called(node: Node, tmp_path: Path, era: str) -> None:
    asked = ["--tool-name", "search", "--tool-arg", "query=threads", "types=decision,pattern", "format=json"]
    found = answer(inspect(node, tmp_path, "tools/call", *asked, era=era))
    hits = json.loads(found["content"][0]["text"])["hits"]
    assert [hit["address"] for hit in hits] == ["nav/architecture/threads"]


def test_a_refusal_is_told(node: Node, tmp_path: Path) -> None:
    done = inspect(node, tmp_path, "tools/call", "--tool-name", "search", "--tool-arg", "query=threads", "wiing=nav")
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (5, "tool_is_error")
    assert "the tool takes " in done.stdout
