"""What commit 61caf593 set up works with this version: settings, hooks, merge driver, and clients."""

import json
import shutil
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, run_here, run_mdmem, write

SETUP = Path(__file__).parent / "data" / "setup_of_61caf593"
Capture = pytest.CaptureFixture[str]
HOOKS = ("pre-commit", "pre-merge-commit", "pre-push")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository that the old version set up."""
    folder = make_repository(tmp_path / "p")
    shutil.copytree(SETUP / "project", folder, dirs_exist_ok=True)
    commit_all(folder)
    shutil.copytree(SETUP / "hooks", folder / ".git/hooks", dirs_exist_ok=True)
    for name in HOOKS:
        (folder / ".git/hooks" / name).chmod(0o755)
    write(folder, ".git/info/attributes", (SETUP / "attributes").read_bytes())
    return folder


def test_settings_of_every_key_are_read(project: Path, capsys: Capture) -> None:
    checked = run_here(capsys, "check", cwd=project)
    assert checked.out.startswith("1 entry checked in the working tree: no findings")
    assert checked.err == "mdmem.toml:14: the check `anchor-or-alias` is called `front-matter-shape` now\n"
    assert "of 2000 tokens" in run_here(capsys, "retrieve", "amounts", cwd=project).out


def test_old_hook_refuses_a_bad_commit_and_is_brought_up_to_date(project: Path, capsys: Capture) -> None:
    write(project, "memory/shop/contracts/bad.md", "No front matter.\n")
    git(project, "add", "-A")
    git(project, "commit", "-m", "bad", ends=1)
    git(project, "rm", "-qf", "memory/shop/contracts/bad.md")
    assert run_here(capsys, "hooks", "status", cwd=project).out.count("out of date") == len(HOOKS) + 1
    run_here(capsys, "hooks", "install", cwd=project)
    assert "out of date" not in run_here(capsys, "hooks", "status", cwd=project).out
    git(project, "commit", "-q", "--allow-empty", "-m", "good")


def test_clients_files_still_call_the_program(project: Path, capsys: Capture) -> None:
    hooks = json.loads((project / ".claude/settings.json").read_text())["hooks"]
    assert hooks["SessionStart"][0]["hooks"][0]["command"] == "mdmem hook-event claude-code || true"
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "one", "cwd": str(project)}
    told = json.loads(run_mdmem("hook-event", "claude-code", cwd=project, text_in=json.dumps(event)).stdout)
    assert "Amounts are integers" in told["hookSpecificOutput"]["additionalContext"]
    again = run_here(capsys, "init", "--client", "claude-code", "--client", "codex", "--hooks", cwd=project)
    assert (again.code, git(project, "status", "--short")) == (0, "")
