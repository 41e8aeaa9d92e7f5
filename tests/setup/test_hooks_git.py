"""Test mdmem's hooks in all commands of git: they check what the commit or the push will contain."""

from pathlib import Path

import pytest
from builders import commit_all, git, made_once, make_repository, make_root, memory, write, write_entry
from hooked import CITED, CITES, DANGLES, ENTRY, add_remote, commit, guard, imported, passes, refused_for, run, said

THREADS = "nav/architecture/threads"


@made_once
def guarded(folder: Path) -> Path:
    return guard(memory(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return guarded(tmp_path / "p")


def stage(folder: Path, address: str = ENTRY, **fields: object) -> None:
    write_entry(folder / "memory", address, **fields)
    git(folder, "add", f"memory/{address}.md")


def replace_threads(folder: Path, successor: str) -> None:
    """Stage a successor of the decision on threads, its one end only, as a hurried person does."""
    fields = {"title": successor, "supersedes": THREADS, "reason": "it was measured"}
    stage(folder, f"nav/architecture/{successor}", **fields)
    text = (folder / CITED).read_text()
    ended = f"status: deprecated\nsuperseded_by: [nav/architecture/{successor}]\ndeprecated_at: 2026-11-20"
    write(folder, CITED, text.replace("status: active", ended))
    git(folder, "add", "-A")


def test_what_is_only_on_disk_or_intended_to_be_added_is_not_checked_and_no_target(folder: Path) -> None:
    write(folder, "memory/nav/rules/untracked.md", "no front matter\n")
    write(folder, "memory/nav/rules/intended.md", "no front matter\n")
    git(folder, "add", "--intent-to-add", "memory/nav/rules/intended.md")
    stage(folder, **CITES)
    write_entry(folder / "memory", ENTRY, **DANGLES)
    passes(commit(folder), quiet=True)
    stage(folder, title="Cites", see="nav/rules/intended")
    done = commit(folder)
    assert (done.returncode, "nav/rules/intended" in said(done)) == (1, True)


def test_first_partial_and_amended_commits_are_checked_by_what_they_will_contain(folder: Path) -> None:
    stage(folder, **CITES)
    stage(folder, "nav/rules/bad", **DANGLES)
    passes(commit(folder, "-o", f"memory/{ENTRY}.md"))
    assert refused_for(commit(folder, "--amend"), "dangling-link")
    git(folder, "update-ref", "-d", "HEAD")
    assert refused_for(commit(folder), "dangling-link")
    git(folder, "rm", "-q", "-f", "memory/nav/rules/bad.md")
    passes(commit(folder))


def test_deletion_by_every_kind_of_commit_is_refused(folder: Path) -> None:
    stage(folder, **CITES)
    git(folder, "commit", "-q", "--no-verify", "-m", "cites")
    for options in (["-a"], ["-o", CITED], ["-i", CITED]):
        (folder / CITED).unlink()
        assert refused_for(commit(folder, *options), "dangling-link")
        git(folder, "reset", "-q", "--hard")


def test_clean_merge_of_two_branches_that_break_each_other_is_refused(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "other")
    stage(folder, "nav/architecture/one", title="One", supersedes=THREADS, reason="it was measured", status="draft")
    stage(folder, "nav/rules/cites", **CITES)
    git(folder, "commit", "-q", "--no-verify", "-m", "cites")
    git(folder, "checkout", "-q", "main")
    git(folder, "rm", "-q", CITED)
    git(folder, "commit", "-q", "--no-verify", "-m", "deletes")
    merged = run(folder, "git", "merge", "--no-edit", "-q", "other")
    assert refused_for(merged, "dangling-link")
    assert run(folder, "git", "rev-parse", "--verify", "-q", "HEAD^2").returncode != 0


def test_merge_that_keeps_two_successors_is_refused(folder: Path) -> None:
    for branch in ("one", "two"):
        git(folder, "checkout", "-q", "-b", branch, "main")
        replace_threads(folder, branch)
        passes(commit(folder))
    assert run(folder, "git", "merge", "-q", "one").returncode == 1
    # If both lines of the conflict are kept, there are two successors without a reason.
    text = git(folder, "show", f"one:{CITED}").replace("architecture/one]", "architecture/one, nav/architecture/two]")
    write(folder, CITED, text + "\n")
    git(folder, "add", "-A")
    assert refused_for(run(folder, "git", "commit", "-q", "--no-edit"), "two-successors")


def test_rebase_is_caught_by_the_push(folder: Path, tmp_path: Path) -> None:
    add_remote(folder, tmp_path / "remote.git")
    git(folder, "checkout", "-q", "-b", "cites")
    stage(folder, **CITES)
    passes(commit(folder))
    git(folder, "checkout", "-q", "main")
    git(folder, "rm", "-q", CITED)
    passes(run(folder, "git", "commit", "-q", "--no-verify", "-m", "deletes"))
    git(folder, "checkout", "-q", "cites")
    # git runs no hook for what a rebase picks.
    passes(run(folder, "git", "rebase", "-q", "main"))
    pushed = run(folder, "git", "push", "-q", "origin", "cites")
    assert refused_for(pushed, "dangling-link")
    assert "pre-push: the memory of refs/heads/cites does not pass, so nothing is pushed" in pushed.stderr
    assert git(tmp_path / "remote.git", "for-each-ref") == ""


def test_every_pushed_commit_is_checked_and_none_that_is_only_on_disk(folder: Path, tmp_path: Path) -> None:
    remote = add_remote(folder, tmp_path / "remote.git")
    git(folder, "branch", "good")
    git(folder, "checkout", "-q", "-b", "bad")
    stage(folder, **DANGLES)
    git(folder, "commit", "-q", "--no-verify", "-m", "broken")
    git(folder, "tag", "-a", "-m", "broken", "v1")
    passes(run(folder, "git", "push", "-q", "origin", "good", "main"), quiet=True)
    for wanted in (["main", "bad"], ["v1"], ["--all"]):
        assert refused_for(run(folder, "git", "push", "-q", "origin", *wanted), "dangling-link"), wanted
    assert git(remote, "for-each-ref", "--format=%(refname)") == "refs/heads/good\nrefs/heads/main"


def test_push_that_only_deletes_or_names_no_commit_passes(folder: Path, tmp_path: Path) -> None:
    remote = add_remote(folder, tmp_path / "remote.git")
    passes(run(folder, "git", "push", "-q", "origin", "main", "main:old"))
    git(folder, "tag", "blob", f"HEAD:{CITED}")
    stage(folder, **DANGLES)
    passes(run(folder, "git", "push", "-q", "origin", ":old", "blob"), quiet=True)
    assert git(remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main\nrefs/tags/blob"


def test_linked_worktree_is_checked_by_its_own_index(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "-q", str(tmp_path / "other"))
    stage(folder, **DANGLES)
    stage(tmp_path / "other", **CITES)
    passes(commit(tmp_path / "other"))
    assert refused_for(commit(folder), "dangling-link")


def test_worktree_of_a_bare_repository_is_guarded(tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(memory(tmp_path / "p")), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "work"), "main")
    work = guard(tmp_path / "work")
    git(work, "config", "user.name", "Ada")
    git(work, "config", "user.email", "ada@example.org")
    stage(work, **DANGLES)
    assert refused_for(commit(work), "dangling-link")
    stage(work, **CITES)
    passes(commit(work))
    # A push from the bare repository itself has no work tree to look into, and no memory.
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    passes(run(tmp_path / "bare.git", "git", "push", "-q", str(tmp_path / "remote.git"), "main"))


def test_memory_in_a_submodule_is_guarded_there_and_passed_over_above(tmp_path: Path) -> None:
    source = memory(tmp_path / "source")
    top = make_repository(tmp_path / "top")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "knowledge")
    commit_all(top)
    inner = guard(top / "knowledge")
    guard(top)
    git(inner, "config", "user.name", "Ada")
    git(inner, "config", "user.email", "ada@example.org")
    stage(inner, **DANGLES)
    assert refused_for(commit(inner), "dangling-link")
    git(inner, "commit", "-q", "--no-verify", "-m", "broken")
    git(top, "add", "knowledge")
    passes(commit(top), quiet=True)


def test_git_directory_is_found_wherever_it_is(folder: Path, tmp_path: Path) -> None:
    stage(folder, **DANGLES)
    named = ["--git-dir", str(folder / ".git"), "--work-tree", str(folder)]
    assert refused_for(run(tmp_path, "git", *named, "commit", "-q", "-m", "x"), "dangling-link")
    given = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}
    assert refused_for(run(tmp_path, "git", "commit", "-q", "-m", "x", **given), "dangling-link")
    stage(folder, **CITES)
    passes(run(tmp_path, "git", "commit", "-q", "-m", "x", **given))
    git(folder, "init", "-q", f"--separate-git-dir={tmp_path / 'kept'}")
    stage(folder, **DANGLES)
    assert refused_for(commit(folder), "dangling-link")


def test_each_of_several_roots_is_guarded(tmp_path: Path) -> None:
    folder = guard(make_repository(tmp_path))
    for name in ("a", "b"):
        root = make_root(folder / name)
        write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
        write_entry(root, ENTRY, title="Good", owner="Ada")
    git(folder, "add", "-A")
    passes(commit(folder), quiet=True)
    write_entry(folder / "b", ENTRY, **DANGLES)
    git(folder, "add", "-A")
    refused = commit(folder)
    assert (refused_for(refused, "dangling-link"), f"b/{ENTRY}" in said(refused)) == (True, True)


def test_branch_without_a_memory_commits_merges_and_pushes(folder: Path, tmp_path: Path) -> None:
    add_remote(folder, tmp_path / "remote.git")
    git(folder, "checkout", "-q", "--orphan", "pages")
    git(folder, "rm", "-rfq", ".")
    write(folder, "index.html", "<p>\n")
    git(folder, "add", "-A")
    for done in (commit(folder), run(folder, "git", "push", "-q", "origin", "pages")):
        assert (done.returncode, said(done)) == (0, "")


def test_removal_of_the_whole_memory_is_passed_and_commit_of_code_alone_starts_no_check(folder: Path) -> None:
    write_entry(folder / "memory", "nav/rules/broken", **DANGLES)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "-m", "broken before")
    write(folder, "code.py", "pass\n")
    git(folder, "add", "-A")
    passes(commit(folder), quiet=True)
    git(folder, "rm", "-rq", "memory")
    passes(commit(folder, "--allow-empty"))


HEAVY = {"pydantic", "git", "yaml", "whoosh", "mdmem.store.workspace.workspace", "mdmem.store.catalog", "mdmem.checks"}


def test_commit_of_code_alone_imports_nothing_heavy(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    write(folder, "code.py", "pass\n")
    git(folder, "add", "-A")
    assert imported(folder, "check", "--staged") & HEAVY == set()


def test_push_passes_beside_errors_that_the_remote_has(folder: Path, tmp_path: Path) -> None:
    add_remote(folder, tmp_path / "remote.git")
    stage(folder, **DANGLES)
    git(folder, "commit", "-q", "--no-verify", "-m", "broken")
    git(folder, "push", "-q", "--no-verify", "origin", "main")
    stage(folder, "nav/rules/good", title="Good", owner="Ada")
    git(folder, "commit", "-q", "--no-verify", "-m", "good")
    passes(run(folder, "git", "push", "-q", "origin", "main"))
    stage(folder, "nav/rules/bad", **{**DANGLES, "title": "Bad"})
    git(folder, "commit", "-q", "--no-verify", "-m", "broken, too")
    assert refused_for(run(folder, "git", "push", "-q", "origin", "main"), "dangling-link")
