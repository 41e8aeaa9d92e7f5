"""Test `mdmem hooks`: written and removed files, a hook without its mdmem, and prek and pre-commit."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from builders import Capture, commit_all, git, make_repository, memory, run_here, snapshot, write, write_entry
from hooked import CITED, CITES, DANGLES, ENTRY, add_remote, commit, guard, passes, refused_for, run, said

from mdmem.setup.hooks import LOCAL_ENTRY, STAGES, Program, hook_text

FOREIGN = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_repository(tmp_path)


def hooks_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / ".git/hooks").iterdir()}


def standing(folder: Path, capsys: Capture) -> list[tuple[str, str | None]]:
    shown = json.loads(run_here(capsys, "hooks", "status", "--format", "json", cwd=folder).out)
    return [(hook["state"], hook["framework"]) for hook in shown["hooks"]]


def test_install_writes_three_hooks_once_and_uninstall_leaves_nothing(folder: Path, capsys: Capture) -> None:
    empty = snapshot(folder)
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "wrote .git/hooks/pre-commit\nwrote .git/hooks/pre-merge-commit\nwrote .git/hooks/pre-push\n"
    assert all(os.access(folder / ".git/hooks" / stage, os.X_OK) for stage in STAGES)
    assert sys.executable.encode() in hooks_of(folder)["pre-commit"]
    before = snapshot(folder)
    again = run_here(capsys, "hooks", "install", cwd=folder)
    assert (again.code, again.out.count("stays as it is: installed"), snapshot(folder)) == (0, 3, before)
    (folder / ".git/hooks/pre-merge-commit").unlink()
    assert run_here(capsys, "hooks", "status", cwd=folder).out.splitlines() == [
        "pre-commit        installed  (.git/hooks/pre-commit)",
        "pre-merge-commit  absent  (.git/hooks/pre-merge-commit)",
        "pre-push          installed  (.git/hooks/pre-push)",
    ]
    removed = run_here(capsys, "hooks", "uninstall", cwd=folder)
    assert (removed.code, removed.out.count("removed"), snapshot(folder)) == (0, 2, empty)


@pytest.mark.parametrize("foreign", [FOREIGN, "", "#!/bin/sh\n# mdmem check --staged\n"])
def test_foreign_hook_is_an_error_and_nothing_is_written(foreign: str, folder: Path, capsys: Capture) -> None:
    write(folder, ".git/hooks/pre-merge-commit", foreign)
    before = snapshot(folder)
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, ran.out, snapshot(folder)) == (2, "", before)
    assert ran.err == (
        "mdmem: .git/hooks/pre-merge-commit is somebody else's and stays as it is:"
        " add `mdmem check --staged || exit 1` to it; nothing was written; then run this command again\n"
    )


def test_foreign_hook_that_calls_mdmem_is_no_obstacle(folder: Path, capsys: Capture) -> None:
    write(folder, ".git/hooks/pre-commit", "#!/bin/sh\nmdmem check --staged || exit 1\n")
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, ran.out.splitlines()[0]) == (0, ".git/hooks/pre-commit stays as it is: calls mdmem")
    run_here(capsys, "hooks", "uninstall", cwd=folder)
    assert hooks_of(folder) == {"pre-commit": b"#!/bin/sh\nmdmem check --staged || exit 1\n"}


def test_line_to_add_to_a_foreign_push_hook_refuses_the_push(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path / "p")
    write(folder, ".git/hooks/pre-push", FOREIGN).chmod(0o755)
    line = run_here(capsys, "hooks", "install", cwd=folder).err.split("add `")[1].split("` to it")[0]
    program = f'mdmem() {{ "{sys.executable}" -m mdmem "$@"; }}'
    write(folder, ".git/hooks/pre-push", f"#!/bin/sh\n{program}\n{line}\n")
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    push = ["git", "push", "-q", str(tmp_path / "remote.git"), "main"]
    passes(run(folder, *push))
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "broken")
    assert refused_for(run(folder, *push), "dangling-link")


def test_hook_of_another_version_is_replaced(folder: Path, capsys: Capture) -> None:
    write(folder, ".git/hooks/pre-commit", hook_text("pre-commit", Program("/gone/python", "/gone/mdmem")))
    write(folder, ".git/hooks/pre-merge-commit", hook_text("pre-merge-commit", Program("/gone/python", "/gone")))
    assert standing(folder, capsys)[:2] == [("out of date", None), ("out of date", None)]
    left = ".git/hooks/pre-commit exists and stays as it is; `mdmem hooks install` brings it up to date"
    assert left in run_here(capsys, "init", cwd=folder).out
    (folder / ".git/hooks/pre-push").unlink()
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    replaced = "replaced .git/hooks/pre-commit\nreplaced .git/hooks/pre-merge-commit\nwrote .git/hooks/pre-push\n"
    assert ran.out.startswith(replaced)
    assert standing(folder, capsys) == [("installed", None)] * 3


def test_hook_of_ours_that_was_changed_or_linked_is_theirs(folder: Path, capsys: Capture) -> None:
    run_here(capsys, "hooks", "install", cwd=folder)
    hook, linked = folder / ".git/hooks/pre-commit", folder / ".git/hooks/pre-push"
    hook.write_bytes(changed := hook.read_bytes().replace(b"exit 1", b"exit 0"))
    linked.rename(folder / "kept.sh")
    linked.symlink_to(folder / "kept.sh")
    run_here(capsys, "hooks", "install", cwd=folder)
    run_here(capsys, "hooks", "uninstall", cwd=folder)
    assert (hook.read_bytes(), linked.is_symlink()) == (changed, True)


FRAMEWORKS = [
    ("pre-commit", "# File generated by pre-commit: https://pre-commit.com\n", ".pre-commit-config.yaml"),
    ("prek", "# File generated by prek: https://github.com/j178/prek\n", "prek.toml"),
    ("lefthook", 'call_lefthook run "pre-commit" "$@"\n', "lefthook.yml"),
]


@pytest.mark.parametrize(("name", "text", "config"), FRAMEWORKS, ids=[one[0] for one in FRAMEWORKS])
def test_hook_of_a_framework_is_named_with_its_configuration(
    name: str, text: str, config: str, folder: Path, capsys: Capture
) -> None:
    write(folder, ".git/hooks/pre-commit", f"#!/bin/sh\n{text}")
    write(folder, config, "repos: []\n")
    before = snapshot(folder)
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, snapshot(folder)) == (2, before)
    assert f"{name} runs the hooks of this repository: add" in ran.err
    assert f" to {config} " in ran.err.replace(";", " ")
    assert standing(folder, capsys)[0] == ("somebody else's", name)
    write(folder, config, "run: mdmem check --staged\n")
    assert standing(folder, capsys)[0] == ("calls mdmem", name)


def test_hooks_in_the_work_tree_name_nothing_of_this_machine(folder: Path, capsys: Capture) -> None:
    git(folder, "config", "core.hooksPath", ".githooks")
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "wrote .githooks/pre-commit")
    assert ran.err == "they are in the work tree: commit them to share them; they use the `mdmem` on the PATH\n"
    assert sys.executable.encode() not in (folder / ".githooks/pre-commit").read_bytes()


HUSKY = "husky runs the hooks of this repository: add `mdmem check --staged` to .husky/pre-commit; "
OFF = f"git runs no hooks here: core.hooksPath is {os.devnull}, which is not a folder; correct that git setting\n"
OUTSIDE = "pre-commit is outside this repository, set by core.hooksPath: add `mdmem check"


@pytest.mark.parametrize(
    ("path", "code", "why"), [(".husky/_", 2, HUSKY), ("../all", 2, OUTSIDE), (os.devnull, 3, OFF)]
)
def test_hooks_that_are_not_ours_to_write_are_left_alone(
    path: str, code: int, why: str, tmp_path: Path, capsys: Capture
) -> None:
    folder = make_repository(tmp_path / "p")
    git(folder, "config", "core.hooksPath", str(tmp_path / path[3:]) if path.startswith("..") else path)
    before = snapshot(tmp_path)
    ran = run_here(capsys, "hooks", "install", cwd=folder)
    assert (ran.code, why in ran.err, snapshot(tmp_path)) == (code, True, before)
    assert code == 3 or ran.err.endswith("; nothing was written; then run this command again\n")


def test_outside_git_there_is_no_hook(tmp_path: Path, capsys: Capture) -> None:
    for verb in ("install", "uninstall", "status"):
        ran = run_here(capsys, "hooks", verb, cwd=tmp_path)
        assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)


def test_hooks_of_a_linked_worktree_are_those_of_its_repository(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path / "p")
    git(folder, "worktree", "add", "-q", str(tmp_path / "other"))
    ran = run_here(capsys, "hooks", "install", cwd=tmp_path / "other")
    assert (ran.code, set(hooks_of(folder)) >= set(STAGES)) == (0, True)
    assert standing(folder, capsys) == [("installed", None)] * 3


def test_hook_falls_back_to_the_mdmem_in_path_and_says_when_there_is_none(tmp_path: Path) -> None:
    folder = memory(tmp_path / "p")
    write(folder, ".git/hooks/pre-commit", hook_text("pre-commit", Program("/gone/python", "/gone"))).chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(str(shutil.which("git")))
    done = run(folder, "git", "commit", "-q", "--allow-empty", "-m", "x", PATH=str(tmp_path / "bin"))
    missing = "pre-commit: the memory cannot be checked: mdmem is not at /gone or in PATH;"
    remedy = "install it and type `mdmem hooks install`, or skip the check once with --no-verify"
    assert (done.returncode, said(done)) == (1, f"{missing} {remedy}\n")
    write(tmp_path, "bin/mdmem", f'#!/bin/sh\nexec "{sys.executable}" -m mdmem "$@"\n').chmod(0o755)
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    with_program = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert refused_for(run(folder, "git", "commit", "-q", "-m", "x", PATH=with_program), "dangling-link")


def test_module_of_the_repository_does_not_stand_in_for_ours(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path / "p")
    run_here(capsys, "hooks", "install", cwd=folder)
    for name in ("mdmem/__init__.py", "mdmem/__main__.py", "click.py", "yaml.py"):
        write(folder, name, "raise SystemExit('run from the repository')\n")
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    done = commit(folder)
    assert (refused_for(done, "dangling-link"), "run from the repository" in said(done)) == (True, False)


TOP = Path(__file__).parents[2]
PREK = shutil.which("prek", path=str(Path(sys.executable).parent)) or shutil.which("prek")
MDMEM = f"{shlex.quote(sys.executable)} -m mdmem"
INSTALLED = f"default_install_hook_types: [{', '.join(STAGES)}]\nrepos:\n"
COMMANDS = {"prek": [str(PREK)], "pre-commit": [sys.executable, "-m", "pre_commit"]}
needs_prek = pytest.mark.skipif(PREK is None, reason="prek is not installed")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that offers the hooks that ours offers."""
    folder = make_repository(tmp_path_factory.mktemp("manifest"))
    shutil.copy(TOP / ".pre-commit-hooks.yaml", folder)
    commit_all(folder)
    return folder


# prek reads the same file and runs the same commands, so it has its turn in the long tests.
@pytest.fixture(params=[pytest.param("prek", marks=[needs_prek, pytest.mark.long]), "pre-commit"])
def framework(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the command of a framework, with its store in the test's folder."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("PREK_HOME", str(tmp_path / "store"))
    return COMMANDS[request.param]


def test_hooks_file_says_what_is_run_and_that_a_deletion_alone_runs_it() -> None:
    hooks = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_bytes())
    assert {hook["id"]: hook["entry"] for hook in hooks} == {
        "mdmem-check": "mdmem check --staged",
        "mdmem-fix": "mdmem check --fix",
    }
    kept = [(hook["always_run"], hook["pass_filenames"], hook["require_serial"]) for hook in hooks]
    assert kept == [(True, False, True)] * 2
    assert hooks[0]["stages"] == ["pre-commit", "pre-merge-commit", "pre-push", "manual"]
    assert hooks[0]["verbose"], "of a hook that passes nothing else is shown"


def hooked(folder: Path, manifest: Path, framework: list[str], hook: str = "mdmem-check") -> Path:
    memory(folder)
    entry = f"{MDMEM} check {'--fix' if hook == 'mdmem-fix' else '--staged'}"
    config = f"""\
{INSTALLED}  - repo: {manifest}
    rev: {git(manifest, "rev-parse", "HEAD")}
    hooks:
      - id: {hook}
        language: system
        entry: {json.dumps(entry)}
"""
    write(folder, ".pre-commit-config.yaml", config)
    commit_all(folder)
    installed = run(folder, *framework, "install")
    assert installed.returncode == 0, said(installed)
    return folder


def test_framework_guards_commits_merges_and_pushes(framework: list[str], manifest: Path, tmp_path: Path) -> None:
    folder = hooked(tmp_path / "p", manifest, framework)
    add_remote(folder, tmp_path / "remote.git")
    git(folder, "checkout", "-q", "-b", "cites")
    write(folder, "memory/nav/rules/untracked.md", "no front matter\n")
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", f"memory/{ENTRY}.md")
    assert refused_for(run(folder, *framework, "run", "--all-files", "mdmem-check"), "dangling-link")
    write_entry(folder / "memory", ENTRY, **CITES)
    assert refused_for(commit(folder), "dangling-link"), "staged, though the file on disk is good"
    write_entry(folder / "memory", ENTRY, **CITES)
    git(folder, "add", f"memory/{ENTRY}.md")
    good = commit(folder)
    assert good.returncode == 0, said(good)
    git(folder, "rm", "-q", CITED)
    assert refused_for(commit(folder), "dangling-link"), "a commit that only deletes"
    git(folder, "checkout", "-q", "-f", "main")
    git(folder, "rm", "-q", CITED)
    git(folder, "commit", "-q", "--no-verify", "-m", "deletes")
    assert refused_for(run(folder, "git", "merge", "-q", "--no-edit", "cites"), "dangling-link"), "a clean merge"
    git(folder, "merge", "--abort")
    assert run(folder, "git", "rebase", "-q", "main", "cites").returncode == 0
    assert refused_for(run(folder, "git", "push", "-q", "origin", "cites"), "dangling-link"), "a rebased push"


def test_fix_hook_mends_the_file_and_refuses_the_commit(framework: list[str], manifest: Path, tmp_path: Path) -> None:
    folder = hooked(tmp_path / "p", manifest, framework, "mdmem-fix")
    entry = write_entry(folder / "memory", ENTRY, title="Plain")
    entry.write_bytes(entry.read_bytes().rstrip(b"\n"))
    git(folder, "add", "-A")
    done = commit(folder)
    assert (done.returncode, entry.read_bytes()[-1:]) == (1, b"\n"), said(done)
    git(folder, "add", "-A")
    mended = commit(folder)
    assert mended.returncode == 0, said(mended)


@pytest.mark.long
def test_hook_of_ours_that_a_framework_moved_aside_is_shown_and_removed(framework: list[str], tmp_path: Path) -> None:
    folder = guard(memory(tmp_path / "p"))
    entry = LOCAL_ENTRY.replace("mdmem check --staged", json.dumps(f"{MDMEM} check --staged"))
    write(folder, ".pre-commit-config.yaml", INSTALLED + entry)
    commit_all(folder)
    assert run(folder, *framework, "install").returncode == 0
    name = "pre-commit" if "pre_commit" in framework else "prek"
    runs = f"run by {name}, whose configuration mentions mdmem"
    status = said(run(folder, sys.executable, "-m", "mdmem", "hooks", "status"))
    assert f"pre-push          {runs}; it moved the hook of mdmem to pre-push.legacy  (" in status
    write_entry(folder / "memory", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    assert refused_for(commit(folder), "dangling-link")
    ran = run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall")
    assert ran.stdout.splitlines() == [
        "removed .git/hooks/pre-commit.legacy",
        f".git/hooks/pre-commit stays as it is: {runs}",
        "removed .git/hooks/pre-merge-commit.legacy",
        f".git/hooks/pre-merge-commit stays as it is: {runs}",
        "removed .git/hooks/pre-push.legacy",
        f".git/hooks/pre-push stays as it is: {runs}",
        "the merge driver stays as it is: `mdmem hooks uninstall --driver-only` removes it",
    ]
    assert refused_for(commit(folder), "dangling-link")
    removed = run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall", "--driver-only")
    assert removed.stdout == "removed the merge driver for /memory/**/*.md\n"
