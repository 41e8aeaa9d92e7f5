"""Test that a cloned repository is only data: nothing in it is run, and none of its folders counts as git's."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import (
    Capture,
    commit_all,
    environment,
    git,
    make_repository,
    make_root,
    memory,
    repository_of,
    run_here,
    snapshot,
    write,
    write_entry,
)

from mdmem.ask.fallback import search_outside
from mdmem.disk import make_folder, read_regular
from mdmem.errors import GitError
from mdmem.store.catalog.load import NAME as SNAPSHOT
from mdmem.store.git.commit import commit_paths
from mdmem.store.git.history import history
from mdmem.store.git.process import Repository, environment_for, find_repository
from mdmem.store.git.remote import fetch_tip, make_bare
from mdmem.store.index.fulltext import FOLDER
from mdmem.store.state.files import state_folders, write_lock
from mdmem.store.workspace.location import located

NOBODY = "1234567890123456789012345678901234567890"


def like_git(folder: Path, *, runs: Path | None = None) -> Path:
    """Give a folder the files of a git directory, as any commit can, with settings that run a program."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        write(folder, f"{name}/.keep")
    write(folder, "HEAD", "ref: refs/heads/main\n")
    write(folder, "refs/heads/main", f"{NOBODY}\n")
    program = f"touch {runs}; false"
    settings = ["[core]", "repositoryformatversion = 1", "bare = false", "worktree = .", f'sshCommand = "{program}"']
    settings += ["[extensions]", "partialClone = origin", '[remote "origin"]', "url = ssh://127.0.0.1/x"]
    settings += ["promisor = true", "[log]", "showSignature = true", "[gpg]", f'program = "{program}"']
    settings += ["[diff]", f'external = "{program}"', "[alias]", f'rev-parse = "!{program}"']
    write(folder, "config", "\n".join(settings) + "\n")
    return folder


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose `memory/` looks like a git directory, with a second memory next to it."""
    folder = tmp_path_factory.mktemp("evil")
    top = memory(folder / "repo")
    like_git(top / "memory", runs=folder / "RAN")
    make_root(top / "second")
    git(top, "add", "-A", "-f")
    commit_all(top, "all of it")
    git(folder, "clone", "-q", str(top), "clone")
    return folder / "clone"


@pytest.mark.parametrize(
    "line",
    [
        "--root memory list",
        "--root memory list --at HEAD",
        "--root memory log nav/rules/callbacks",
        "--root memory diff HEAD",
        "--root memory search callbacks",
        "check --staged",
        "check --base HEAD",
        "check --merge HEAD",
    ],
)
def test_a_folder_that_looks_like_a_git_directory_runs_nothing(line: str, evil: Path, capsys: Capture) -> None:
    ran = run_here(capsys, *line.split(), cwd=evil)
    # The repository that was cloned answers, so that it is no failure that kept the program from running.
    assert (ran.code, ran.err, (evil.parent / "RAN").exists()) == (0, "", False)


def test_repository_of_such_a_folder_is_the_one_that_was_cloned_with_its_places(evil: Path) -> None:
    for under in ("memory", "memory/objects", "memory/nav", "second", ""):
        assert find_repository(evil / under) == Repository(evil, evil / ".git", evil / ".git")
    root = evil / "memory"
    found = state_folders(root, located(root, "a test").repository, environment())
    assert {path.relative_to(evil).parts[:2] for path in (found.index, found.shared, found.state)} == {
        (".git", "mdmem")
    }


def test_folder_that_looks_like_a_git_directory_is_none_outside_of_git(tmp_path: Path, capsys: Capture) -> None:
    root = like_git(make_root(tmp_path / "memory"), runs=tmp_path / "RAN")
    assert find_repository(root) is None
    assert run_here(capsys, "--root", str(root), "log", "a/b/c", cwd=tmp_path).code == 3
    assert not (tmp_path / "RAN").exists()


def test_top_that_looks_like_a_git_directory_is_asked_by_its_own_one(tmp_path: Path) -> None:
    top = like_git(make_repository(tmp_path / "top"), runs=tmp_path / "RAN")
    write(top, "a.md", "one")
    made = commit_all(top)
    repository = repository_of(top)
    assert [made.startswith(commit.digest) for commit in history(repository, ["a.md"])] == [True]
    assert not (tmp_path / "RAN").exists()


def test_every_git_process_refuses_bare_repositories_that_nobody_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    started: list[list[str]] = []
    original = subprocess.Popen.__init__

    def record(self: Any, args: list[str], *rest: Any, **options: Any) -> None:
        started.append(list(args))
        original(self, args, *rest, **options)

    top = memory(tmp_path / "top")
    shutil.copytree(top, tmp_path / "other")
    monkeypatch.setattr(subprocess.Popen, "__init__", record)
    repository = repository_of(top)
    history(repository, ["memory"])
    write(top, "memory/nav/rules/new.md", "x")
    commit_paths(repository, ["memory/nav/rules/new.md"], "new")
    fetch_tip(make_bare(tmp_path / "kept"), str(tmp_path / "other"), None)
    run_here(capsys, "list", "--at", "HEAD", cwd=top / "memory")
    run_here(capsys, "check", "--merge", "HEAD", cwd=top / "memory")
    # GitPython asks for the version when it is imported; no setting has a say in that.
    commands = [args for args in started if Path(args[0]).name == "git" and args[1:] != ["version"]]
    assert len(commands) > 10
    assert [args for args in commands if "safe.bareRepository=explicit" not in args] == []


def test_wing_that_names_a_folder_of_the_clone_runs_nothing(tmp_path: Path, capsys: Capture) -> None:
    top = memory(tmp_path / "top")
    like_git(top / "fake", runs=tmp_path / "RAN")
    write(top, "memory/mdmem.toml", f'[wings.far]\ngit = "../fake"\nref = "main"\ncommit = "{NOBODY}"\n')
    commit_all(top)
    ran = run_here(capsys, "sync", "--wings", cwd=top / "memory")
    assert (ran.code, (tmp_path / "RAN").exists()) == (3, False)


# What a file or a link called `.git` may lead to.


def points_to(entry: Path, folder: str, *, link: bool) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    if link:
        entry.symlink_to(folder)
    else:
        entry.write_text(f"gitdir: {folder}\n")


@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_git_that_leads_into_the_work_tree_is_refused(link: bool, tmp_path: Path) -> None:
    top = make_root(tmp_path / "top")
    git(tmp_path, "init", "-q", "--separate-git-dir=top/kept", "elsewhere")
    points_to(top / ".git", "kept", link=link)
    with pytest.raises(GitError, match="top/kept, a folder inside the work tree"):
        find_repository(top)
    assert "mdmem trusts no repository there" in str(located(top, "a test").git_fault)


def test_git_that_leads_to_what_another_repository_tracks_is_refused(tmp_path: Path) -> None:
    outer = make_repository(tmp_path / "outer")
    git(outer, "init", "-q", "--separate-git-dir=kept", "elsewhere")
    points_to(outer / "memory/.git", "../kept", link=False)
    assert find_repository(outer / "memory") is not None
    write(outer, "kept/refs/heads/.keep")
    git(outer, "add", "-f", "kept/refs/heads/.keep")
    with pytest.raises(GitError):
        find_repository(outer / "memory")


def test_worktrees_beside_a_hidden_bare_repository_are_found(tmp_path: Path) -> None:
    top = memory(tmp_path / "first")
    folder = tmp_path / "project"
    git(tmp_path, "clone", "-q", "--bare", str(top), "project/.bare")
    points_to(folder / ".git", "./.bare", link=False)
    git(folder, "worktree", "add", "-q", "main")
    own = folder / ".bare/worktrees/main"
    assert find_repository(folder / "main/memory") == Repository(folder / "main", own, folder / ".bare")
    assert find_repository(folder) is None


def test_repository_is_looked_for_where_git_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "top")
    for under in (".git", ".git/hooks", ".git/mdmem/state"):
        (top / under).mkdir(parents=True, exist_ok=True)
        assert find_repository(top / under) is None
    # An empty folder of that name is passed over.
    (top / "memory/.git").mkdir(parents=True)
    assert repository_of(top / "memory").top == top
    # Settings that name another work tree.
    other = make_repository(tmp_path / "other")
    git(other, "config", "core.worktree", str(tmp_path))
    assert find_repository(other) is None
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"{os.pathsep}{top}")
    assert find_repository(top / "memory") is None
    # git looks into the folder that it starts in all the same.
    assert find_repository(top) is not None


# The environment.


def test_variables_that_name_a_repository_a_program_or_a_file_are_dropped_and_those_of_user_and_push_kept() -> None:
    names = "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_CONFIG GIT_INDEX_FILE GIT_EXTERNAL_DIFF GIT_PAGER GIT_TRACE"
    kept = "GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_SSH_COMMAND GIT_AUTHOR_NAME GIT_QUARANTINE_PATH"
    found = environment_for(dict.fromkeys(f"{names} {kept}".split(), "x"))
    assert (found.keys() & set(names.split()), found.keys() & set(kept.split())) == (set(), set(kept.split()))


def test_objects_of_a_hook_are_not_those_of_a_store_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, quarantine = memory(tmp_path / "top"), tmp_path / "quarantine"
    quarantine.mkdir()
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(quarantine))
    store = make_bare(tmp_path / "kept")
    fetch_tip(store, str(top), None)
    assert list(quarantine.iterdir()) == []


def test_history_is_that_of_the_repository_where_a_hook_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, other = memory(tmp_path / "top"), make_repository(tmp_path / "other")
    repository = repository_of(top)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert [commit.subject for commit in history(repository, ["memory"])] == ["the memory"]


# Our own folders.


def test_user_folder_that_a_clone_brought_along_is_not_used(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "clone")
    said = {"XDG_CACHE_HOME": str(top / ".cache"), "XDG_DATA_HOME": str(top / ".data"), "HOME": str(tmp_path)}
    before = state_folders(Path("/w"), None, said)
    # In a repository of the home folder that does not track it, the cache folder is still the user's own.
    assert before.shared.is_relative_to(top / ".cache")
    write(before.shared, "index/index.json", "{}")
    write(before.state, "times.json", "{}")
    git(top, "add", "-f", ".")
    found = state_folders(Path("/w"), None, said)
    assert [path.is_relative_to(os.devnull) for path in (found.index, found.shared, found.state)] == [True] * 3


@pytest.mark.parametrize("gone", [".git", "."], ids=["git", "all"])
def test_git_directory_that_is_gone_is_not_made_anew(gone: str, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "top")
    found = state_folders(top, find_repository(top), environment())
    shutil.rmtree(top / gone)
    for folder in (found.index, found.shared, found.state, top / ".git/mdmem/sync/tree"):
        with pytest.raises(FileNotFoundError):
            make_folder(folder)
    with pytest.raises(FileNotFoundError), write_lock(found.state):
        pass
    assert not (top / ".git").exists()


def test_folder_of_the_user_is_made_with_those_above_it(tmp_path: Path) -> None:
    make_folder(tmp_path / ".cache/mdmem/1234/index", mode=0o700)
    assert (tmp_path / ".cache/mdmem/1234/index").stat().st_mode & 0o777 == 0o700


def test_history_of_a_repository_that_is_gone_is_empty(tmp_path: Path) -> None:
    top = memory(tmp_path / "top")
    repository = repository_of(top)
    shutil.rmtree(top / ".git")
    assert history(repository, ["memory"]) == []
    shutil.rmtree(top)
    assert history(repository, ["memory"]) == []


# Pipes in the place of files.


@pytest.fixture
def hurried() -> Iterator[None]:
    """End what waits for ever."""

    def end(*_: object) -> None:
        pytest.fail("it waits")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("hurried")
def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link", os.devnull):
        with pytest.raises(OSError, match="it is not a regular file"):
            read_regular(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)
    write(tmp_path, "file", "x" * 3)
    (tmp_path / "to-file").symlink_to("file")
    assert read_regular(tmp_path / "to-file") == b"xxx"
    with pytest.raises(OSError, match="link"):
        read_regular(tmp_path / "to-file", follow=False)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("memory/mdmem.toml", "list"),
        ("memory/nav/README.md", "list"),
        ("memory/nav/rules/callbacks.md", "check"),
        (".git/mdmem/cache/checks.mdmem", "check"),
        (f".git/mdmem/cache/memory/{SNAPSHOT}", "list"),
        (f".git/mdmem/cache/memory/{FOLDER}/_MAIN_1.toc", "search callbacks"),
        (".git/mdmem/state/memory/times.json", "status"),
        (".git/hooks/pre-commit", "hooks status"),
        (".git/info/attributes", "hooks install"),
        (".git/MERGE_HEAD", "status"),
        (".git/sequencer/todo", "sync"),
        (".git/shallow", "hygiene"),
        ("AGENTS.md", "init"),
        ("CLAUDE.md", "init --client claude-code"),
        (".pre-commit-config.yaml", "init"),
        ("known.json", "check --update-baseline --baseline ../known.json"),
        ("README.md", "retrieve unheard --fallback"),
        ("docs/architecture.md", "retrieve unheard --fallback"),
    ],
)
def test_pipe_in_the_place_of_a_file_makes_nobody_wait(path: str, line: str, tmp_path: Path, capsys: Capture) -> None:
    top = memory(tmp_path / "top")
    (top / path).parent.mkdir(parents=True, exist_ok=True)
    (top / path).unlink(missing_ok=True)
    os.mkfifo(top / path)
    cwd = top if line.startswith("init") else top / "memory"
    ran = run_here(capsys, *line.split(), cwd=cwd)
    assert "fault of mdmem itself" not in ran.err + ran.out


@pytest.mark.usefixtures("hurried")
def test_tracked_settings_that_became_a_pipe_are_a_sentence(tmp_path: Path, capsys: Capture) -> None:
    top = memory(tmp_path / "top")
    write_entry(top / "memory", "nav/rules/x", title="X")
    (top / "memory/mdmem.toml").unlink()
    os.mkfifo(top / "memory/mdmem.toml")
    ran = run_here(capsys, "list", cwd=top)
    assert (ran.code, "mdmem.toml" in ran.err) == (2, True)


Laid = Callable[[Path, Path], object]


def laid_hooks(top: Path, outside: Path) -> None:
    git(top, "config", "core.hooksPath", "hooks")
    (top / "hooks").symlink_to(outside)


def linked(path: str, target: str = "", *, settings: str | None = None) -> Laid:
    """Return what puts a link to a name outside at a path, where nothing else stands any more."""

    def lay(top: Path, outside: Path) -> None:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).symlink_to(outside / target)
        if settings is not None:
            write(top, "memory/mdmem.toml", settings)

    return lay


BASELINE = linked("memory/sub", settings='[check]\nbaseline = "sub/known.json"\n')


NEW = ("new", "note", "nav/away", "--title", "New", "--body", "x")
CASES: dict[str, tuple[Laid, tuple[str, ...]]] = {
    "baseline": (BASELINE, ("check", "--update-baseline")),
    "hooks": (laid_hooks, ("hooks", "install")),
    "room": (linked("memory/nav/away"), NEW),
    "entry": (
        linked("memory/nav/rules/new.md", "new.md"),
        ("new", "note", "nav/rules", "--title", "New", "--body", "x"),
    ),
    "move": (linked("memory/nav/away"), ("mv", "nav/rules/callbacks", "nav/away/callbacks")),
    "memory": (linked("second"), ("init", "second")),
    "memory in a folder": (linked("sub"), ("init", "sub/memory")),
    "manifest": (linked("memory/away", settings='default_wing = "away"\n'), ("init",)),
    "AGENTS.md": (linked("AGENTS.md", "AGENTS.md"), ("init",)),
    "AGENTS.md of a client": (linked("AGENTS.md", "AGENTS.md"), ("init", "--client", "generic")),
    "claude-code": (linked(".mcp.json", "mcp.json"), ("init", "--client", "claude-code")),
    "cursor": (linked(".cursor"), ("init", "--client", "cursor")),
    "vscode": (linked(".vscode"), ("init", "--client", "vscode")),
    "codex": (linked(".codex"), ("init", "--client", "codex")),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_written_out_of_the_repository(case: str, tmp_path: Path, capsys: Capture) -> None:
    lay, command = CASES[case]
    top, outside = memory(tmp_path / "top"), tmp_path / "outside"
    write(outside, "kept", "x")
    lay(top, outside)
    ran = run_here(capsys, *command, cwd=top)
    assert snapshot(outside) == {"kept": snapshot(outside)["kept"]}
    assert "link" in ran.out + ran.err or "outside" in ran.out + ran.err


def test_baseline_is_not_read_through_a_link(tmp_path: Path, capsys: Capture) -> None:
    top, outside = memory(tmp_path / "top"), tmp_path / "outside"
    write(outside, "known.json", "[]\n")
    BASELINE(top, outside)
    ran = run_here(capsys, "check", cwd=top)
    said = "mdmem.toml: the path of the baseline sub/known.json contains a symbolic link; choose another path"
    assert (ran.code, said in ran.err) == (2, True)
    # A file that is named on the command line may be outside.
    ran = run_here(capsys, "check", "--update-baseline", "--baseline", str(outside / "new.json"), cwd=top)
    assert (ran.code, (outside / "new.json").is_file()) == (0, True)


def test_folder_linked_within_the_project_may_hold_the_memory(tmp_path: Path, capsys: Capture) -> None:
    top = make_repository(tmp_path / "top")
    (top / "docs/memory").mkdir(parents=True)
    (top / "memory").symlink_to("docs/memory")
    assert (run_here(capsys, "init", cwd=top).code, (top / "docs/memory/mdmem.toml").is_file()) == (0, True)


def test_document_behind_a_linked_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "outside/architecture.md", "The secret.\n")
    (tmp_path / "top").mkdir()
    (tmp_path / "top/docs").symlink_to("../outside")
    assert search_outside(tmp_path / "top", None, "secret") == ("workspace", ())
