"""Test a memory with old errors: its baseline, and that they do not stop later commits."""

import os
import re
from pathlib import Path

import pytest
from builders import Run, commit_all, git, made_once, make_repository, make_root, write, write_entry

WAYS = "`mdmem check` shows them, `mdmem check --update-baseline` accepts them"


@made_once
def lived_in(folder: Path, *, committed: bool = True) -> Path:
    """Return a memory in which 30 of 60 entries cite what is nowhere and 30 say no reason."""
    make_repository(folder)
    make_root(folder / "memory")
    write(folder, "memory/app/README.md", "---\nowners: [ada]\n---\n")
    for number in range(30):
        write_entry(folder / "memory", f"app/rules/bad-{number}", title=f"Bad {number}", see="app/rules/nowhere")
        write_entry(folder / "memory", f"app/rules/plain-{number}", "We do so.\n", title=f"Plain {number}")
    if committed:
        commit_all(folder)
    return folder


def staged(folder: Path, run: Run, *options: str) -> tuple[int, list[str], str]:
    """Return how the hook ends for what is in the working tree: code, the findings' heads, and what it remarks."""
    git(folder, "add", "-A")
    ran = run("check", "--staged", *options, cwd=folder)
    return ran.code, re.findall(r"^\w+\[.*", ran.out, re.MULTILINE), ran.err


def test_memory_with_errors_is_committed_with_a_baseline(tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path, committed=False)
    git(folder, "add", "-A")
    first = run("check", "--staged", cwd=folder)
    assert (first.code, first.out.splitlines()[0]) == (1, "error    dangling-link         30  memory/app 30")
    assert first.out.endswith("`mdmem check --update-baseline` accepts them\n")
    made = run("check", "--update-baseline", cwd=folder)
    assert made.err.splitlines() == [
        "memory/.baseline.json records 60 findings",
        "memory/mdmem.toml has its path now; both are staged",
    ]
    assert (folder / "memory/.baseline.json").stat().st_mode & 0o777 == 0o666 & ~os.umask(0o022)
    assert staged(folder, run) == (0, [], "")
    said = "no findings; 60 in the baseline (--no-baseline shows them)\n"
    assert run("check", cwd=folder).out == f"60 entries checked in the working tree: {said}"
    one = run("check", "app/rules/bad-1", "--format", "jsonl", cwd=folder).json
    assert (one["kind"], one["known"]) == ("summary", 1)
    assert "findings none; 60 in the baseline\n" in run("status", cwd=folder).out
    for option, left in ((["--no-baseline"], 60), (["--baseline", ".baseline.json"], 0)):
        assert len(run("check", *option, "--format", "json", cwd=folder).json["findings"]) == left
    assert run("check", "--no-baseline", "--baseline", "x", cwd=folder).code == 2
    commit_all(folder)
    write_entry(folder / "memory", "app/rules/fresh", title="Fresh", owner="ada", see="app/rules/neither")
    assert staged(folder, run) == (1, ["error[dangling-link] memory/app/rules/fresh.md:7:6 (new)"], "")
    write_entry(folder / "memory", "app/rules/fresh", title="Fresh", owner="ada", see="app/rules/plain-1")
    assert staged(folder, run) == (0, [], "")


@pytest.mark.parametrize("how", [["--staged"], ["--base", "main"], ["--merge", "main"]])
def test_every_comparison_fails_for_the_new_alone(how: list[str], tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    git(folder, "checkout", "-q", "-b", "work")
    write(folder, "memory/notes.txt", "no entry\n")
    if how == ["--staged"]:
        git(folder, "add", "-A")
    else:
        commit_all(folder)
    ran = run("check", *how, cwd=folder)
    heads = re.findall(r"^\w+\[.*", ran.out, re.MULTILINE)
    assert (ran.code, heads) == (0, ["warning[misplaced-file] memory/notes.txt:1:1 (new)"])
    assert ran.out.endswith(f"30 errors, 30 warnings were there before; {WAYS}\n")
    assert run("check", *how, "--strict", cwd=folder).code == 1


def test_setting_lets_what_was_there_before_fail(tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    write(folder, "memory/mdmem.toml", '[check]\nold = "fail"\n')
    code, heads, _ = staged(folder, run, "--select", "dangling-link")
    assert (code, len(heads), "(new)" in "".join(heads)) == (1, 30, False)


def test_what_the_default_branch_has_is_old_on_another_branch(tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    git(folder, "checkout", "-q", "-b", "work")
    git(folder, "checkout", "-q", "main")
    write_entry(folder / "memory", "app/rules/late", title="Late", owner="ada", see="app/rules/neither")
    commit_all(folder)
    git(folder, "checkout", "-q", "work")
    git(folder, "merge", "-q", "--squash", "main")
    assert staged(folder, run)[:2] == (0, [])


@pytest.mark.parametrize(("agreed", "code"), [(False, 1), (True, 0)], ids=["branch of one's own", "default branch"])
def test_parent_of_a_merge_is_old_in_the_default_branch(agreed: bool, code: int, tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    git(folder, "checkout", "-q", "-b", "bad")
    write_entry(folder / "memory", "app/rules/late", title="Late", owner="ada", see="app/rules/neither")
    commit_all(folder)
    if agreed:
        # A colleague pushed it; here the branch is behind.
        git(folder, "config", "remote.origin.url", "elsewhere")
        git(folder, "update-ref", "refs/remotes/origin/main", "bad")
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-commit", "--no-ff", "bad")
    assert staged(folder, run)[0] == code
    # So it is before git has written down what is merged, as its hook for clean merges sees it.
    (folder / ".git/MERGE_HEAD").unlink()
    assert staged(folder, run)[0] == code


def test_file_that_cannot_be_parsed_is_old_only_while_its_bytes_are(tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    write(folder, "memory/app/rules/bad-1.md", "---\ntype: [\n---\nThis.\n")
    commit_all(folder)
    write(folder, "memory/app/rules/bad-1.md", "---\ntype: [\n---\nThat.\n")
    code, heads, _ = staged(folder, run)
    assert (code, heads) == (1, ["error[yaml-syntax] memory/app/rules/bad-1.md:3:1 (new)"])


def test_text_of_a_commit_is_amended_with_old_errors(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lived_in(tmp_path)
    assert staged(folder, run)[0] == 1, "nothing staged is a question about everything"
    # git names its index to a hook.
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert staged(folder, run)[0] == 0
    write_entry(folder / "memory", "app/rules/fresh", see="app/rules/nowhere")
    refused = "`git commit` was refused: fix this and `git add` it"
    assert staged(folder, run)[2].splitlines()[-1] == refused


def test_files_on_disk_are_told_what_the_hook_will_refuse(repo: Path, run: Run) -> None:
    root = make_root(repo / "memory")
    for name in ("mine", "theirs"):
        write_entry(root, f"app/rules/{name}", "It must hold. Why: so.\n", type="invariant", title=name.title())
    commit_all(repo)
    git(repo, "switch", "-q", "-c", "side")
    write_entry(root, "app/rules/theirs", "It must not. Why: so.\n", type="invariant", title="Theirs", version=2)
    commit_all(repo)

    def told(*options: str) -> list[str]:
        ran = run("check", *options, "--format", "concise")
        return re.findall(r"^(\S+?):.* (frozen-text-changed|deleted-in-force) ", ran.out, re.MULTILINE)

    git(repo, "switch", "-q", "main")
    (root / "app/rules/theirs.md").unlink()
    git(repo, "update-index", "--skip-worktree", "memory/app/rules/theirs.md")
    assert told() == [], "git does not see it as gone"
    git(repo, "update-index", "--no-skip-worktree", "memory/app/rules/theirs.md")
    assert told() == [("memory/app/rules/theirs.md", "deleted-in-force")]
    git(repo, "checkout", "-q", "--", "memory")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    write_entry(root, "app/rules/mine", "It must hold here. Why: so.\n", type="invariant", title="Mine")
    mine = [("memory/app/rules/mine.md", "frozen-text-changed")]
    assert told() == told("--fix") == mine, "what a merge brings is the other side's"
    git(repo, "add", "memory")
    assert told("--staged") == mine
    git(repo, "commit", "-q", "-m", "all the same")
    assert told() == []
    git(repo, "switch", "-q", "side")
    write_entry(root, "app/rules/mine", "It must not. Why: so.\n", type="invariant", title="Mine", version=2)
    commit_all(repo)
    git(repo, "merge", "main", ends=1)
    assert "<<<<<<<" in (root / "app/rules/mine.md").read_text()
    assert told() == [], "what else is wrong with a file in conflict is its conflict's doing"


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"PRE_COMMIT_FROM_REF": "HEAD~1"}, 0),
        ({"PRE_COMMIT_FROM_REF": "HEAD~2"}, 1),
        ({"PRE_COMMIT_FROM_REF": "0" * 40}, 0),
        ({"PRE_COMMIT_FROM_REF": "0" * 40, "PRE_COMMIT_REMOTE_NAME": "elsewhere"}, 1),
    ],
    ids=["there already", "brought by the push", "a new branch", "a remote that has nothing yet"],
)
def test_push_is_measured_by_what_the_remote_has(
    variables: dict[str, str], code: int, repo: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_root(repo / "memory")
    write_entry(repo / "memory", "app/rules/good", title="Good")
    commit_all(repo)
    write_entry(repo / "memory", "app/rules/bad", title="Bad", see="app/rules/nowhere")
    commit_all(repo)
    git(repo, "update-ref", "refs/remotes/origin/main", "HEAD")
    write_entry(repo / "memory", "app/rules/fresh", title="Fresh", owner="ada")
    commit_all(repo)
    for name, value in {"PRE_COMMIT_TO_REF": "HEAD", **variables}.items():
        monkeypatch.setenv(name, value)
    assert run("check", "--staged").code == code


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[check]\nbaseline = ".baseline.json"\n'),
        ("[check]\r\nended = 'same'\r\n", "[check]\r\nended = 'same'\r\nbaseline = \".baseline.json\"\r\n"),
        ('budget = 9  # "x"', 'budget = 9  # "x"\n\n[check]\nbaseline = ".baseline.json"\n'),
        ("[wings.app.check]\n", '[wings.app.check]\n\n[check]\nbaseline = ".baseline.json"\n'),
        ('check.ended = "same"\n', 'check.ended = "same"\ncheck.baseline = ".baseline.json"\n'),
    ],
)
def test_settings_name_the_baseline_and_keep_all_other_bytes(before: str, after: str, repo: Path, run: Run) -> None:
    make_root(repo / "memory")
    write_entry(repo / "memory", "app/rules/good", title="Good")
    path = repo / "memory/mdmem.toml"
    path.write_bytes(before.encode())
    assert run("check", "--update-baseline").code == 0
    assert path.read_bytes().decode() == after


def test_secret_in_the_place_of_another_is_new_and_one_that_moved_is_not(tmp_path: Path, run: Run) -> None:
    folder = lived_in(tmp_path)
    for text, is_new in (("Key: {}7ZqK", True), ("Moved down.\n\nKey: {}7ZqK", False), ("Key: {}x4Wd", True)):
        body = text.format("ghp_" + "R8s0Xk2mQp4Vn6Tb1Yc3Wd5Ze7Uf9HgJ") + "\n"
        write_entry(folder / "memory", "app/rules/key", body, title="Key", owner="ada")
        code, told, _ = staged(folder, run, "--select", "secret-like-text")
        assert (code, len(told)) == (int(is_new), int(is_new))
        commit_all(folder)
