"""A server whose repository was moved or removed under it answers in sentences and makes nothing anew."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from builders import TODAY, environment, memory
from clients import call, server_over, text

from mdmem.mcp.workspaces import Provider

CALLS: dict[str, dict[str, object]] = {
    "retrieve": {"query": "callbacks"},
    "list": {},
    "status": {},
    "why": {"id": "nav/rules/callbacks"},
    "propose": {"type": "decision", "room": "nav/rules", "title": "New", "body": "Text.\n\nRationale: so."},
}


@pytest.mark.parametrize("gone", ["repo", "repo/.git"])
def test_server_makes_no_git_directory_at_the_old_place(gone: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "repo") / "memory"
    said = environment(XDG_DATA_HOME=str(tmp_path / "data"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    server = server_over(Provider(str(root), environment=said, cwd=root, today=lambda: date.fromisoformat(TODAY)))
    call(server, "list")
    shutil.move(tmp_path / gone, tmp_path / "moved")
    answers = [text(call(server, tool, **arguments)) for tool, arguments in CALLS.items()]
    assert [answer for answer in answers if "fault of mdmem itself" in answer] == []
    assert not (tmp_path / gone).exists()


@pytest.mark.parametrize("tool", ["retrieve", "search", "retrieve_context", "memory_surface", "context"])
def test_a_question_to_a_memory_that_is_gone_has_failed(tool: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "repo") / "memory"
    server = server_over(root)
    named = {"goal": "threads"} if tool == "context" else {"query": "threads"}
    arguments = {"project_id": "nav", "topic": "threads"} if tool == "retrieve_context" else named
    assert "Use two threads" in text(call(server, tool, **arguments))
    shutil.move(root, tmp_path / "moved")
    said = text(call(server, tool, **arguments))
    assert "gone since the server was started" in said
    assert "failed" in said or "Degraded" in said or tool == "context"
    assert "save_session" not in said
