"""Where a record may go: the table of the scope gate, and the wing that a session makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_repository, make_root, snapshot, write

from saving.agents import Agent, agent, context, entries, project, save

KINDS = ("decision", "pattern", "context", "session", "entity")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("project_id", [None, "", "  "])
def test_write_without_project_is_blocked(root: Path, tmp_path: Path, kind: str, project_id: str | None) -> None:
    before = snapshot(tmp_path)
    result = save(agent(root), kind, project_id)
    assert (result.status, result.artifact_id, result.dedup_outcome) == ("blocked_scope", None, None)
    assert result.message == "no `project_id` is given, so no scope is known"
    assert result.next_step == "give a `project_id`"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "session"])
def test_write_to_a_project_that_is_not_there_is_blocked(root: Path, tmp_path: Path, kind: str) -> None:
    before = snapshot(tmp_path)
    result = save(agent(root), kind, "my-new-project")
    assert (result.status, result.artifact_id, result.dedup_outcome) == ("blocked_scope", None, None)
    assert result.message == "there is no wing for the project `my-new-project` yet; `save_session` creates it"
    assert result.next_step == (
        "call `save_session` with this `project_id`: it creates the project; then repeat this call"
    )
    assert snapshot(tmp_path) == before


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


@pytest.mark.parametrize(
    ("project_id", "message"),
    [
        ("!!", "the project `!!` has no letter or digit for the name of a wing; choose another name"),
        ("漢" * 60, f"the project `{'漢' * 60}` is too long for the name of a wing; choose another name"),
        ("aux", "`aux` is the name of a device, which Windows does not allow for a wing; name it otherwise"),
        ("shared", "`shared` is the name of the shared wing; the project `shared` needs another id"),
        ("Other", "the wing `other` belongs to the project `Acme`; `Other` needs another id"),
    ],
)
def test_session_for_a_project_that_can_have_no_wing_fails(tmp_path: Path, project_id: str, message: str) -> None:
    root = project(tmp_path)
    write(root, "other/README.md", "---\nkind: project\nproject_id: Acme\n---\n")
    before = snapshot(tmp_path)
    result = save(agent(root), "session", project_id)
    assert (result.status, result.message) == ("failed", message)
    assert snapshot(tmp_path) == before


def test_session_takes_no_folder_of_code_for_its_wing(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path))
    write(root, "src/deep/main.py", "print()\n")
    before = snapshot(tmp_path)
    result = save(agent(root), "session", "src")
    assert result.status == "failed"
    assert result.message == (
        "the folder `src` is there and is not a wing; write `kind: project` between two lines of `---` at the top of "
        "src/README.md, or choose another name"
    )
    assert snapshot(tmp_path) == before


def test_session_takes_folders_without_a_file(root: Path) -> None:
    (root / "web/sessions").mkdir(parents=True)
    assert save(agent(root), "session", "web").status == "saved"


def test_session_does_not_write_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "web").symlink_to(tmp_path / "elsewhere")
    assert save(agent(root), "session", "web").status == "failed"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "session"])
def test_scope_focus_without_a_focus_fails(root: Path, kind: str) -> None:
    result = save(agent(root), kind, "nav", scope="focus")
    assert (result.status, result.message) == (
        "failed",
        f"the scope of this {kind} is `focus` and no `focus` is given; name one",
    )


def test_focus_is_known_after_a_write_with_it(saves: Agent, root: Path) -> None:
    assert saves.save_context(context(scope="focus"), "nav", "auth").status == "saved"
    assert "focus: auth\n" in (root / f"{entries(root)[0]}.md").read_text()
