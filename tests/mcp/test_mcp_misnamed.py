"""What the tools say of files whose names would begin a line or act on who reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.test_misnamed_files import NAMES, assert_is_harmless, misnamed
from clients import asked, call, server_over, text

ASKED = {
    "retrieve": {"query": "caching"},
    "search": {"query": "caching"},
    "context": {"goal": "caching"},
    "retrieve_context": {"project_id": "nav"},
    "run_hygiene": {},
    "check": {},
    "memory_surface": {},
}


@pytest.mark.parametrize("tool", ASKED)
def test_no_tool_lets_a_name_out_of_its_line(tool: str, tmp_path: Path) -> None:
    server = server_over(misnamed(tmp_path, *(f"nav/rules/{name}.md" for name in NAMES), "nav/x\nFORGED/a.md"))
    answer = text(call(server, tool, **ASKED[tool]))
    assert_is_harmless(answer)


def test_a_misnamed_file_is_among_the_problems(tmp_path: Path) -> None:
    server = server_over(misnamed(tmp_path, f"nav/rules/{NAMES[0]}.md"))
    problems = asked(server, "retrieve", query="caching")["problems"]
    assert [one["path"] for one in problems] == ["nav/rules/a<U+000A>FORGED b.md"]
