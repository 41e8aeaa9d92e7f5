"""Test the wheel and the sdist, and that set-ups of older commits work with this version."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from builders import Capture, commit_all, git, make_repository, run_here, run_mdmem, write

from mdmem import __version__

TOP = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a wheel that was built from an sdist, and of that sdist."""
    folder = tmp_path_factory.mktemp("release")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(TOP)]
    subprocess.run(build, check=True, capture_output=True, timeout=100)
    return folder


def test_wheel_has_the_package_alone(released: Path) -> None:
    (wheel,) = released.glob("*.whl")
    assert wheel.name == f"mdmem-{__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    packaged = [name for name in names if ".dist-info/" not in name]
    files = git(TOP, "ls-files", "mdmem").splitlines()
    assert sorted(packaged) == [name for name in files if not name.endswith(".png")]
    info = f"mdmem-{__version__}.dist-info"
    assert {f"{info}/METADATA", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"} <= set(names)


def test_sdist_has_what_a_build_needs_and_no_tests(released: Path) -> None:
    (sdist,) = released.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops == {
        ".gitignore",
        ".pre-commit-hooks.yaml",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "mdmem",
        "pyproject.toml",
    }


def test_wheel_answers_without_the_checkout(released: Path, tmp_path: Path) -> None:
    (wheel,) = released.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")

    def run(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(
            [sys.executable, "-m", "mdmem", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"mdmem {__version__}\n"
    verbose = dict(line.split(": ", 1) for line in run("--version", "--verbose").splitlines())
    # Without a checkout, the commit is not known.
    assert list(verbose) == ["mdmem", "extras", "python", "system"]
    assert verbose["extras"] == "mcp, lsp, site, hub"
    assert run("guide", "asking").startswith("# ")
    assert "blocking" in run("retrieve", "--root", str(TOP / "example-wings"), "blocking callbacks")


SETUP = Path(__file__).parent / "data" / "setup_of_61caf593"
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
