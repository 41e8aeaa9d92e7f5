"""Test that a caller who sees one wing gets the same answers without the other wings."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import open_root, write, write_entry
from clients import server_over, with_client
from mcp import Client
from served import two_wings

from mdmem.mcp.tools import TOOLS
from mdmem.model.access import Access

APP = Access.to_wings(["app"])
_VALUES: dict[str, list[Any]] = {
    "project_id": ["app", "vault", "nowhere"],
    "project": ["app", "vault", "nowhere"],
    "wing": ["app", "vault", "nowhere"],
    "goal": ["granite onyx"],
    "query": ["granite onyx"],
    "address": ["app/rules/granite", "vault/rules/onyx", "onyx"],
    "base": ["HEAD"],
}


def _calls() -> list[tuple[str, dict[str, Any]]]:
    """Return calls of every reading tool: with the required arguments, and with one more at a time."""
    calls = []
    for name, tool in TOOLS.items():
        if tool.writes:
            continue
        schema = tool.input_schema
        needed = {one: _VALUES[one][0] for one in schema.get("required", ())}
        calls.append((name, needed))
        for one in schema["properties"]:
            calls += [(name, {**needed, one: value}) for value in _VALUES.get(one, ())]
    return calls


def _answers(root: Path) -> dict[str, str]:
    async def work(client: Client) -> dict[str, str]:
        found = {}
        for name, arguments in _calls():
            answer = await client.call_tool(name, arguments)
            found[f"{name} {arguments}"] = answer.model_dump_json()
        return found

    return dict(with_client(server_over(open_root(root), access=APP), work))


def test_hidden_wing_changes_no_answer(tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    write(root, "mdmem.toml", 'default_wing = "vault"\n')
    write_entry(root, "app/rules/slate", status="deprecated", superseded_by=["vault/rules/onyx"], title="Slate")
    write_entry(root, "app/rules/marble", supersedes=["vault/rules/onyx"], conflicts_with=["vault/rules/onyx"])
    entity = {"type": "note", "label": "entity", "relations": "[{type: READS, to: vault/rules/onyx}]"}
    write_entry(root, "app/entities/chalk", "Chalk.\n", **entity)
    with_it = _answers(root)
    assert [call for call, said in with_it.items() if "vault" in said and "vault" not in call] == []
    assert "app/rules/granite" in with_it["retrieve {'wing': 'app'}"]
    assert "there is no wing `vault`" in with_it["retrieve {'wing': 'vault'}"]
    shutil.rmtree(root / "vault")
    # This folder has the time of the last hygiene, which answers mention.
    shutil.rmtree(tmp_path / ".git/mdmem")
    without_it = _answers(root)
    assert {call: said for call, said in with_it.items() if without_it[call] != said} == {}


@pytest.mark.parametrize("path", ["memory/vault/rules", "memory/vault/rules/"])
def test_path_does_not_show_whether_a_hidden_folder_exists(path: str, tmp_path: Path) -> None:
    root = two_wings(tmp_path)
    write_entry(root, "app/rules/basalt", "As in memory/vault/rules.\n\nRationale: it lasts.\n", title="Basalt")

    async def work(client: Client) -> str:
        answer = await client.call_tool("retrieve", {"paths": [path], "format": "json"})
        return answer.model_dump_json()

    answers = []
    for _ in range(2):
        answers.append(with_client(server_over(open_root(root), access=APP), work))
        shutil.rmtree(root / "vault", ignore_errors=True)
    assert f"mentions {path}" in answers[0]
    assert answers[0] == answers[1]
