"""Which root a command works on: option, environment, nearest, the only tracked one, several, none."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, commit_all, git, make_repository, make_root, memory, merge_conflict, write_entry


def shown(run: Run, *arguments: str, cwd: Path) -> tuple[str, str]:
    """Return the root and why it is the root, as `status` says."""
    ran = run("status", "--format", "json", *arguments, cwd=cwd)
    assert ran.code == 0, ran.err
    said = ran.json
    return said["root"], said["why"]


def two_roots(folder: Path) -> Path:
    make_repository(folder)
    for name in ("a", "b"):
        write_entry(make_root(folder / name), f"wing_{name}/room/entry", title=f"Entry of {name}")
    commit_all(folder)
    return folder


def test_option_then_variable_then_nearest_root(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_roots(tmp_path)
    nearest = (str(folder / "b"), "nearest mdmem.toml above the working folder")
    assert shown(run, cwd=folder / "b" / "wing_b" / "room") == nearest
    monkeypatch.setenv("MDMEM_ROOT", "../b")
    assert shown(run, cwd=folder / "a") == (str(folder / "b"), "MDMEM_ROOT")
    assert shown(run, "--root", "a", cwd=folder) == (str(folder / "a"), "--root")


def test_nearest_of_several_roots_is_the_one_beside_or_above(repo: Path, run: Run) -> None:
    for name in ("memory", "apps/a/memory", "apps/b/memory", "apps/b/other"):
        write_entry(make_root(repo / name), "wing/room/entry")
    (repo / "apps/a/src/deep").mkdir(parents=True)
    commit_all(repo)
    why = "nearest of the 4 memories of the repository"
    assert shown(run, cwd=repo / "apps/a/src/deep") == (str(repo / "apps/a/memory"), why)
    assert shown(run, cwd=repo / "apps")[0] == str(repo / "memory")
    assert run("check").out.count("1 entry checked") == 4
    # Two lie beside that folder: neither is nearer.
    assert run("list", cwd=repo / "apps/b").code == 2


def test_where_none_is_nearest_the_files_asked_about_say_which(repo: Path, run: Run) -> None:
    for name in ("apps/a", "apps/b"):
        write_entry(make_root(repo / name / "memory"), "wing/room/entry", title=f"Rule of {name}")
    commit_all(repo)
    asked = ("retrieve", "--path", "apps/b/src/new.py")
    assert "Rule of apps/b" in run(*asked, "rule").out
    assert run(*asked, "--path", "apps/a/x.py").code == 2
    codes = [run("brief", "apps/b/x.py", *more).code for more in ((), ("apps/a/x.py",))]
    assert codes == [0, 2]


def test_check_runs_each_of_several_roots(tmp_path: Path, run: Run) -> None:
    folder = two_roots(tmp_path)
    (folder / "b/wing_b/room/entry.md").write_text("no front matter\n")
    ran = run("check", "--format", "concise", "--select", "front-matter-missing", cwd=folder)
    assert (ran.code, ran.out.split(":")[0]) == (1, "b/wing_b/room/entry.md")
    assert ran.err.count("1 entry checked in the working tree") == 2


@pytest.mark.parametrize(
    ("root", "sentence"),
    [
        ("nowhere", "there is no folder nowhere; name the folder that contains mdmem.toml"),
        (".", ". is no memory: it has no mdmem.toml; `mdmem init .` makes one"),
    ],
)
def test_option_that_names_no_root_is_refused(root: str, sentence: str, folder: Path, run: Run) -> None:
    ran = run("retrieve", "--root", root, cwd=folder)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: {sentence}\n")


def test_top_of_the_repository_as_root_takes_only_folders_with_a_manifest(tmp_path: Path, run: Run) -> None:
    folder = make_root(make_repository(tmp_path))
    write_entry(folder, "nav/rules/one")
    write_entry(folder, "src/docs/two")
    (folder / "nav/README.md").write_text("---\nkind: project\n---\n")
    ran = run("list", cwd=folder)
    assert [line.split()[2] for line in ran.out.splitlines()] == ["nav/rules/one"]


def test_root_in_a_linked_worktree_is_its_own(tmp_path: Path, run: Run) -> None:
    folder = memory(tmp_path / "p")
    git(folder, "worktree", "add", "-q", str(tmp_path / "other"))
    assert shown(run, cwd=tmp_path / "other")[0] == str(tmp_path / "other" / "memory")


def test_root_that_git_does_not_track_yet_is_found_and_an_ignored_one_is_none(repo: Path, run: Run) -> None:
    ran = run("list")
    assert (ran.code, ran.err.partition("; ")[2]) == (2, "`mdmem init` creates one, --root chooses one\n")
    make_root(repo / "build")
    (repo / ".gitignore").write_text("build/\n")
    ran = run("list")
    assert "; git ignores the one in build: take it out of .gitignore, or choose it with --root\n" in ran.err
    make_root(repo / "memory")
    assert shown(run, cwd=repo) == (str(repo / "memory"), "the repository's only mdmem.toml")


def test_settings_in_conflict_do_not_make_one_root_several(folder: Path, run: Run) -> None:
    merge_conflict(folder, "memory/mdmem.toml", "budget = 1\n", "budget = 2\n")
    assert run("list").err.startswith("mdmem: mdmem.toml cannot be read: ")
    ran = run("retrieve", "--format", "json")
    assert [problem["path"] for problem in ran.json["problems"]] == ["mdmem.toml"]


def test_memory_of_a_submodule_is_named(tmp_path: Path, run: Run) -> None:
    memory(tmp_path / "inner")
    host = make_repository(tmp_path / "host")
    git(host, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "inner"), "mem")
    said = "the repository within this one, in mem/memory, has one: choose it with --root mem/memory\n"
    assert run("list", cwd=host).err.endswith(f"; {said}")


def test_memory_without_git_is_named_by_the_error(tmp_path: Path, run: Run) -> None:
    run("init")
    ran = run("check")
    assert ran.code == 2
    assert ran.err.endswith("; there is one in memory/: add `--root memory`, or type `git init`\n")
    assert run("check", "--root", "memory").code == 0
    git(tmp_path, "init", "-q")
    assert run("check").code == 0
