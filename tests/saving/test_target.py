"""Where a record may go: the table of the scope gate, and the wing that a session makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from saving.agents import Agent, agent, context, entries, save

KINDS = ("decision", "pattern", "context", "session", "entity")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("focus", [None, "auth-refactor"])
def test_write_to_a_project_that_is_there_passes_with_any_focus(root: Path, kind: str, focus: str | None) -> None:
    result = save(agent(root), kind, "nav", focus)
    assert result.status == "saved"
    text = (root / f"{result.artifact_id}.md").read_text()
    assert ("focus: auth-refactor\n" in text) is (focus is not None)


@pytest.mark.parametrize("project_id", ["0012", "yes", "a: b", "“Web”", "12:30", "#1", "Überwachung"])
def test_project_is_found_again_by_its_id(root: Path, project_id: str) -> None:
    made = save(agent(root), "session", project_id)
    again = save(agent(root), "decision", project_id)
    assert (made.status, again.status) == ("saved", "saved")
    assert (again.artifact_id or "").split("/")[0] == (made.artifact_id or "").split("/")[0]


def test_session_takes_folders_without_a_file(root: Path) -> None:
    (root / "web/sessions").mkdir(parents=True)
    assert save(agent(root), "session", "web").status == "saved"


def test_session_does_not_write_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "web").symlink_to(tmp_path / "elsewhere")
    assert save(agent(root), "session", "web").status == "failed"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_focus_is_known_after_a_write_with_it(saves: Agent, root: Path) -> None:
    assert saves.save_context(context(scope="focus"), "nav", "auth").status == "saved"
    assert "focus: auth\n" in (root / f"{entries(root)[0]}.md").read_text()
