"""Test `mdmem check`: trees, paths, choices, formats, exit codes, fixes, CI, and former codes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from builders import Run, commit_all, git, make_repository, make_root, memory, write, write_entry
from test_cases import CASES

from mdmem.checks.check import get_checks

RULE = "nav/rules/callbacks"


def branched(tmp_path: Path) -> Path:
    """Return a memory on branch `work`, where an entry with a bad link was added since `main`."""
    folder = memory(tmp_path)
    git(folder, "checkout", "-q", "-b", "work")
    write_entry(folder / "memory", "nav/rules/bad", title="Bad", see="nav/rules/nowhere", owner="Ada")
    commit_all(folder)
    return folder


@pytest.mark.parametrize("option", ["--base", "--merge"])
def test_base_that_is_not_there_is_a_wrong_argument(option: str, folder: Path, run: Run) -> None:
    ran = run("check", option, "nope", cwd=folder)
    said = "mdmem: `nope` is not a commit here; write a branch, a tag or a commit\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_base_that_a_shallow_clone_lacks_is_a_finding_and_the_rest_still_runs(tmp_path: Path, run: Run) -> None:
    folder = branched(tmp_path / "whole")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{folder}", "cut")
    ran = run("check", "--base", "origin/main", "--format", "concise", cwd=tmp_path / "cut")
    assert ran.code == 3
    assert "error git-unavailable `origin/main` is not a commit here" in ran.out
    assert "error dangling-link" in ran.out


def test_merge_with_two_successors_is_one_finding(folder: Path, run: Run) -> None:
    old = "nav/rules/old"
    write_entry(folder / "memory", old, title="Old", owner="Ada")
    commit_all(folder)
    for branch in ("one", "two"):
        git(folder, "checkout", "-q", "-b", branch, "main")
        new = f"nav/rules/{branch}"
        write_entry(folder / "memory", new, title=branch.title(), supersedes=[old], reason="Better.", owner="Ada")
        ended = {"status": "deprecated", "deprecated_at": "2026-11-20", "superseded_by": [new]}
        write_entry(folder / "memory", old, title="Old", owner="Ada", **ended)
        commit_all(folder)
        assert run("check", "--base", "main").code == 0
    ran = run("check", "--merge", "one", "--format", "json")
    errors = [one for one in ran.json["findings"] if one["severity"] == "error"]
    assert [one["code"] for one in errors] == ["merge-conflict"]
    one, two = (git(folder, "rev-parse", branch)[:10] for branch in ("one", "two"))
    assert errors[0]["help"] == f"merge one ({one}) into HEAD ({two}), then `mdmem resolve` shows the choices"


def test_change_of_an_entry_that_the_merged_branch_superseded_is_reported(folder: Path, run: Run) -> None:
    new = "nav/rules/new"
    git(folder, "checkout", "-q", "-b", "side", "main")
    path = folder / "memory" / f"{RULE}.md"
    text = path.read_text()
    write_entry(folder / "memory", new, title="New", supersedes=[RULE], reason="Better.", owner="Ada")
    path.write_text(text.replace("status: active", f"status: deprecated\nsuperseded_by: [{new}]"))
    commit_all(folder)
    git(folder, "checkout", "-q", "main")
    path.write_text(f"{text}\nMore.\n")
    commit_all(folder)
    told = "the entry is no longer current, and the merge alters the text"
    assert told in run("check", "--merge", "side").out
    assert told in run("diff", "main...side").out
    git(folder, "merge", "-q", "side")
    assert told in run("check", "--base", "HEAD^1").out
    path.write_text(path.read_text().replace("\nMore.\n", ""))
    assert told not in run("check", "--base", "HEAD^1").out


def test_conflict_on_the_default_branch_names_it_as_the_target(folder: Path, run: Run) -> None:
    path = folder / "memory" / f"{RULE}.md"
    text = path.read_text()
    for branch in ("side", "main"):
        git(folder, "checkout", "-q", "-B", branch)
        path.write_text(f"{text}\n{branch}\n")
        commit_all(folder)
        git(folder, "checkout", "-q", "--detach", "HEAD^") if branch == "side" else None
    ran = run("check", "--merge", "side")
    side, main = (git(folder, "rev-parse", branch)[:10] for branch in ("side", "main"))
    assert f"cannot be merged into HEAD ({main}): both sides change the same lines" in ran.out
    assert f"help: merge HEAD ({main}) into side ({side}), resolve" in ran.out


def test_merge_named_on_the_default_branch_is_one_into_it(folder: Path, run: Run) -> None:
    git(folder, "checkout", "-q", "-b", "bad", "main")
    git(folder, "rm", "-q", f"memory/{RULE}.md")
    commit_all(folder)
    assert "error[deleted-in-force]" in run("check", "--merge", "main").out
    git(folder, "checkout", "-q", "main")
    ran = run("check", "--merge", "bad")
    assert (ran.code, "error[deleted-in-force]" in ran.out) == (1, True)


def test_links_may_follow_an_entry_that_moved_and_cannot_be_merged(folder: Path, run: Run) -> None:
    root, old, new = folder / "memory", "nav/rules/old", "nav/rules/new"
    text = "New, because it is the best of the ways that we have found so far.\n\n" + "More is said below. " * 9 + "\n"
    ended = {"status": "deprecated", "deprecated_at": "2026-11-20", "superseded_by": [new]}
    write_entry(root, old, f"Old. [see: {new}]\n", title="Old", owner="Ada", **ended)
    write_entry(root, new, text, title="New", supersedes=[old], owner="Ada")
    commit_all(folder)
    git(folder, "checkout", "-q", "-b", "moved")
    run("mv", new, "nav/conventions/new")
    path = root / "nav/conventions/new.md"
    path.write_text(path.read_text().replace("far.", "far, there."))
    commit_all(folder)
    git(folder, "checkout", "-q", "main")
    write_entry(root, new, text.replace("far.", "far, here."), title="New", supersedes=[old], owner="Ada")
    commit_all(folder)
    found = run("check", "--merge", "moved", "--format", "json").json["findings"]
    assert [one["code"] for one in found if one["new"]] == ["merge-conflict"]


def test_similar_name_of_a_field_is_an_unsafe_fix(folder: Path, run: Run) -> None:
    path = folder / "memory" / f"{RULE}.md"
    path.write_text(path.read_text().replace("title:", "tagz: [threads]\ntitle:"))
    run("check", "--fix")
    assert "\ntagz: [threads]\n" in path.read_text()
    run("check", "--unsafe-fixes")
    assert "\ntags: [threads]\n" in path.read_text()


def test_diff_shows_the_fix_as_a_patch_and_fix_mends_the_file(folder: Path, run: Run) -> None:
    path = folder / "memory" / f"{RULE}.md"
    good = path.read_bytes()
    bad = good.replace(b"status:", b"Status:")
    path.write_bytes(bad)
    shown = run("check", "--diff", unchanged=folder)
    clean = "2 entries checked in the working tree: no findings"
    assert (shown.code, shown.err) == (1, f"{clean}; would fix 1\n")
    git(folder, "apply", "-", text_in=shown.out.encode())
    assert path.read_bytes() == good
    path.write_bytes(bad)
    fixed = f"fixed memory/{RULE}.md: `Status` is not a field; the field is `status`\n"
    for said, remark in ((f"{clean}; fixed 1\n", fixed), (f"{clean}\n", "")):
        ran = run("check", "--fix")
        assert (ran.code, ran.out, ran.err, path.read_bytes()) == (0, said, remark, good)
    write_entry(folder / "memory", "nav/rules/newer", type="invariant", supersedes=[RULE])
    assert run("check", "--unsafe-fixes").err.endswith(f"does not list this entry (changed memory/{RULE}.md)\n")


def test_misspelt_link_with_one_likely_target_is_mended_only_by_an_unsafe_fix(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/rules/new", title="New", see=["nav/rules/use-mysq"])
    write_entry(folder / "memory", "nav/rules/use-mysql", title="Use MySQL")
    path = folder / "memory/nav/rules/new.md"
    bad = path.read_bytes()
    ran = run("check", "--fix")
    assert (ran.code, path.read_bytes()) == (1, bad)
    assert "fix: Write `nav/rules/use-mysql`" in ran.out
    assert run("check", "--fix", "--unsafe-fixes").code == 0
    assert path.read_bytes() == bad.replace(b"use-mysq", b"use-mysql")


@pytest.mark.parametrize("other", [["--staged"], ["--rev", "HEAD"], ["--merge", "main"]])
def test_fix_of_what_is_not_on_disk_exits_2(other: list[str], tmp_path: Path, run: Run) -> None:
    ran = run("check", "--fix", *other, cwd=branched(tmp_path))
    assert (ran.code, "only files on disk can be fixed" in ran.err) == (2, True)


def test_github_actions_get_annotations_and_summary(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = memory(tmp_path / "repository")
    write_entry(folder / "memory", "nav/rules/bad", title="Bad", see="nav/rules/nowhere")
    summary = write(tmp_path, "summary.md", "before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", os.fspath(summary))
    ran = run("check", cwd=folder / "memory/nav")
    assert ran.out.startswith("::error file=memory/nav/rules/bad.md,line=6,col=6,")
    told = summary.read_text(encoding="utf-8")
    assert told.startswith("before\n")
    assert "dangling-link" in told


def test_nothing_to_check_fails_in_ci_only(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(folder / "memory/nav")
    commit_all(folder)
    assert run("check").code == 0
    monkeypatch.setenv("CI", "true")
    assert run("check").code == 1


def test_git_that_is_too_old_to_merge_is_a_finding(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = branched(tmp_path / "repository")
    old = write(
        tmp_path,
        "bin/git",
        "#!/bin/sh\n"
        'case "$*" in *merge-tree*) echo "usage: git merge-tree <base-tree> <branch1> <branch2>" >&2; exit 129;; esac\n'
        'case "$*" in *version*) echo "git version 2.34.1"; exit 0;; esac\n'
        f'exec {shutil.which("git")} "$@"\n',
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}{os.pathsep}{os.environ['PATH']}")
    ran = run("check", "--merge", "main", cwd=folder)
    assert ran.code == 3
    assert "error[git-unavailable]" in ran.out
    assert "error[dangling-link]" in ran.out


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory with one short link, which `short-address` reported before."""
    root = make_root(tmp_path)
    write(root, "app/README.md", "---\nkind: project\nowners: [team]\n---\n")
    write_entry(root, "app/rules/a", see=["b"], title="First")
    write_entry(root, "app/rules/b", title="Second")
    return root


def codes(run: Run, root: Path, *arguments: str) -> list[str]:
    return [one["code"] for one in run("check", "--format", "json", *arguments, cwd=root).json["findings"]]


def test_former_code_selects_ignores_and_is_explained(root: Path, run: Run) -> None:
    assert codes(run, root) == codes(run, root, "--select", "short-address") == ["link-form"]
    assert codes(run, root, "--ignore", "short-address") == []
    printed = run("check", "--explain", "short-address", cwd=root).out
    assert printed.startswith("`short-address` is called `link-form` now.\n\nlink-form (warning)\n\nA link is ")


def test_former_code_works_in_settings_and_means_the_findings_alone_that_had_it(root: Path, run: Run) -> None:
    write(root, "mdmem.toml", '[check.severity]\nunsupported-yaml = "warning"\n')
    assert codes(run, root, "--select", "link-form") == ["link-form"]
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n')
    assert codes(run, root) == []
    write_entry(root, "app/rules/b", title="Second", see=["../rules/a.md"])
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n[check.severity]\nlink-by-path = "error"\n')
    (found,) = run("check", "--format", "json", cwd=root).json["findings"]
    assert (found["code"], found["severity"], found["path"]) == ("link-form", "error", "app/rules/b.md")


def test_former_code_works_in_a_file_and_in_a_baseline_and_is_written_anew(root: Path, run: Run) -> None:
    record = '{"code": "short-address", "address": "app/rules/a", "count": 1}'
    write(root, "mdmem.toml", '[check]\nbaseline = ".known.json"\n')
    write(root, ".known.json", f'{{"schema": 1, "findings": [\n{record}\n]}}\n')
    assert codes(run, root) == []
    run("check", "--update-baseline", cwd=root)
    assert '"link-form"' in (root / ".known.json").read_text()
    write(root, "mdmem.toml", "")
    write_entry(root, "app/rules/a", see=["b"], title="First", ignore="{short-address: as written}")
    assert codes(run, root) == []
    (info,) = run("check", "--format", "json", "-v", cwd=root).json["findings"]
    assert (info["severity"], info["message"]) == ("info", "the check `short-address` is called `link-form` now")


FIX, UNSAFE = ("--fix",), ("--fix", "--unsafe-fixes")
# Faults that make a file or a value unreadable. Fixing one may reveal other faults of the file.
UNREAD = {"yaml-syntax", "front-matter-fence", "unknown-field", "missing-field", "invalid-value", "date-form"}


def findings(root: Path, run: Run) -> Counter[tuple[str, str]]:
    """Return code and path of everything that `check` finds, infos too."""
    ran = run("check", "--verbose", "--format", "json", cwd=root)
    return Counter((one["code"], one["path"]) for one in ran.json["findings"])


def assert_none_is_new(before: Counter[tuple[str, str]], after: Counter[tuple[str, str]]) -> None:
    if {path for _, path in before} != {path for _, path in after | before}:
        # Files were renamed, so their findings now have the new names.
        before, after = (Counter({(code, ""): n for (code, _), n in one.items()}) for one in (before, after))
    revealed = {path for code, path in before if code in UNREAD}
    assert [one for one in after - before if one[1] not in revealed] == []


def mend(root: Path, flags: tuple[str, ...], run: Run) -> Counter[str]:
    """Mend what can be mended, and return the codes of what it was."""
    before = findings(root, run)
    ran = run("check", *flags, "--format", "json", cwd=root)
    if (root.parent / ".git").exists():
        # A renamed file is not in git until it is added.
        git(root.parent, "add", "-A")
    assert_none_is_new(before, findings(root, run))
    return Counter(one["code"] for one in ran.json["fixed"])


@pytest.mark.parametrize("flags", [FIX, UNSAFE], ids=["safe", "unsafe"])
def test_mending_a_golden_case_brings_no_finding(flags: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    cases = sorted(path.parent for path in CASES.glob("*/*/fixed.diff"))
    roots = [tmp_path / case.parent.name / case.name for case in cases]
    for case, root in zip(cases, roots, strict=True):
        shutil.copytree(case / "root", root)
        (root / "mdmem.toml").touch()
    fixed = sum((mend(root, flags, run) for root in roots), Counter())
    assert len(fixed) > 15


@pytest.mark.long
@pytest.mark.parametrize("flags", [FIX, UNSAFE], ids=["safe", "unsafe"])
def test_mending_a_committed_golden_case_brings_no_finding(flags: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    for case in sorted(path.parent for path in CASES.glob("*/*/root")):
        folder = make_repository(tmp_path / case.parent.name / case.name)
        for name in ("base", "root"):
            if (case / name).is_dir():
                shutil.rmtree(folder / "memory", ignore_errors=True)
                shutil.copytree(case / name, folder / "memory", symlinks=True)
                (folder / "memory/mdmem.toml").touch()
                commit_all(folder)
        mend(folder / "memory", flags, run)


ENDED = {"status": "deprecated", "deprecated_at": "2026-05-01", "superseded_by": ["app/rules/new"]}
LINKING = "We do.\n\nRationale: [the old rule](old.md).\n"


def committed(folder: Path, **entries: dict[str, object]) -> Path:
    """Return the root of a committed memory with some decisions of one room."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    for name, fields in entries.items():
        write_entry(root, f"app/rules/{name}", title=f"Rule {name}", approved_by="Ada", **fields)
    commit_all(folder)
    return root


def test_what_ended_in_favour_of_a_draft_is_not_revived(tmp_path: Path, run: Run) -> None:
    root = committed(tmp_path, old=ENDED, new={"status": "draft", "supersedes": ["app/rules/old"], "reason": "faster"})
    ran = run("check", "--unsafe-fixes", cwd=root)
    assert "left out «Keep the old entry active», which would cause `illegal-transition`" in ran.err
    assert ("1 error" in ran.out, "with a fix" in ran.out, "fix: " in ran.out) == (True, False, False)
    assert git(tmp_path, "status", "--porcelain") == ""


def test_link_in_frozen_text_is_left_and_the_one_in_a_field_is_mended(tmp_path: Path, run: Run) -> None:
    root = committed(tmp_path, old=ENDED, new={"supersedes": ["app/rules/old"], "reason": "faster"})
    write_entry(root, "app/rules/frozen", LINKING, title="Frozen", approved_by="Ada")
    write_entry(root, "app/rules/linked", title="Linked", see=["app/rules/old"], approved_by="Ada")
    commit_all(tmp_path)
    ran = run("check", "--unsafe-fixes", cwd=root)
    assert "; left out «Write `new.md`», which would cause `frozen-text-changed`" in ran.err
    assert git(tmp_path, "status", "--porcelain").split() == ["M", "memory/app/rules/linked.md"]


@pytest.mark.parametrize("field", [{"supersedes": ["app/rules/old"]}, {}])
def test_imported_rule_is_ended_by_no_safe_fix(field: dict[str, object], tmp_path: Path, run: Run) -> None:
    root = committed(tmp_path)
    origin = {"x-imported-from": "adr/1.md@0123456789ab"}
    write_entry(root, "app/rules/old", title="Old", **origin, **({} if field else {"superseded_by": ["app/rules/new"]}))
    write_entry(root, "app/rules/new", title="New", reason="faster", supersedes=["app/rules/old"], **origin)
    run("check", "--fix", cwd=root)
    assert "status: active" in (root / "app/rules/old.md").read_text()
    run("check", "--unsafe-fixes", cwd=root)
    assert "status: deprecated" in (root / "app/rules/old.md").read_text()


@pytest.mark.parametrize(
    ("reason", "body"),
    [
        ("it replaces the old rule in part", "We do.\n\nRationale: faster.\n"),
        ("partly, for payments", "We do.\n\nRationale: faster.\n"),
        ("faster", "Supersedes the old rule (encoding only).\n\nRationale: faster.\n"),
    ],
)
def test_rule_that_is_superseded_in_part_is_ended_by_no_fix(reason: str, body: str, tmp_path: Path, run: Run) -> None:
    root = committed(tmp_path, old={})
    write_entry(root, "app/rules/new", body, title="New", reason=reason, supersedes=["app/rules/old"])
    ran = run("check", "--unsafe-fixes", cwd=root)
    assert "write `amends: [app/rules/old]` in place of `supersedes` if a part of it still applies" in ran.out
    assert "status: active" in (root / "app/rules/old.md").read_text()


def dangling(folder: Path) -> Path:
    memory(folder)
    write_entry(folder / "memory", "nav/rules/bad", title="Bad", see="nav/rules/nowhere")
    commit_all(folder)
    return folder


def test_printed_commands_have_the_root_that_was_typed(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/rules/new", "Type `mdmem new`.\n", supersedes="nav/architecture/threads")
    for name in ("memory/nav/rules/bad.md", "memory/nav/rules/worse.md", ".husky/pre-commit"):
        write(folder, name, "Bad.\n")
    for words in (
        "check",
        "check --base HEAD",
        "status",
        "retrieve threads",
        "show nav/x/y",
        "brief x.py",
        "new note A --body B",
    ):
        ran = run("--root", "memory", *words.split())
        assert f"{ran.out}{ran.err}".count("`mdmem --root memory ") == f"{ran.out}{ran.err}".count("`mdmem ") > 0
    assert "type `mdmem supersede nav/arch" in run("check").out
    write(folder, "my other/mdmem.toml", "")
    git(folder, "add", "-A")
    # Of two memories, each command names the one that it is for, also if only one of them is checked.
    for words in (["check"], ["check", "memory"], ["check", "--staged"]):
        assert "type `mdmem --root memory supersede nav/arch" in run(*words).out
    assert "Type `mdmem new`." in run("--root", "memory", "show", "nav/rules/new").out
    git(folder, "config", "core.hooksPath", ".husky")
    assert "add `mdmem check --staged` to" in run("--root", "memory", "hooks", "install").err


@pytest.mark.parametrize("name", ["my {} memory", "$HOME's", "two\nlines", "\x1b[31m", "-r"])
def test_printed_commands_find_a_root_of_any_name(name: str, folder: Path, run: Run) -> None:
    (folder / "memory").rename(folder / name)
    write_entry(folder / name, "nav/rules/new", supersedes="nav/architecture/threads")
    for words in ("show nothing", "show src/pay.py", "check --select supersession-one-sided"):
        ran = run("--root", name, *words.split())
        command = f"{ran.out}{ran.err}".split("`mdmem ")[1].partition("`")[0].replace("TEXT", "x")
        typed = f"{shlex.quote(sys.executable)} -m mdmem {command}"
        assert subprocess.run(["bash", "-c", typed], cwd=folder, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("end", ["\\n", "\\r", "\\r\\n", "\\u2028", "\\u0085"])
def test_line_end_in_a_value_begins_no_line_of_a_report(end: str, folder: Path, run: Run) -> None:
    value = f'["src/x{end}FORGED"]'
    write_entry(folder / "memory", "nav/rules/odd", title="Odd", applies_to=value, see=value, tags=value, topc=value)
    for form in ("concise", "github"):
        ran = run("check", "--format", form)
        assert "FORGED" in ran.out
        assert [line for line in ran.out.splitlines() if line.startswith("FORGED")] == []


def test_every_output_has_one_total(folder: Path, run: Run) -> None:
    for number in range(12):
        write_entry(folder / "memory", f"nav/rules/r{number}", "We do.\n", title=f"Rule {number}")
    for number in range(5):
        write_entry(folder / "memory", f"nav/rules/bad-{number}", title=f"Bad {number}", see="nav/rules/nowhere")
    text, said = run("check").out, run("check", "--format", "json").json
    found = Counter(one["severity"] for one in said["findings"])
    total = f"19 entries checked in the working tree: 5 errors, {found['warning']} warning"
    assert text.splitlines()[-1].startswith(total)
    assert said["totals"] == {"error": 5, "warning": found["warning"], "info": 0}
    summary = json.loads(run("check", "--format", "jsonl").out.splitlines()[-1])
    assert (summary["findings"], summary["totals"]) == (len(said["findings"]), said["totals"])
    status = run("status", "--format", "json").json["findings"]
    assert (status["error"], status["warning"]) == (5, found["warning"])


@pytest.mark.parametrize(
    ("cwd", "shown"),
    [(".", "memory/nav/rules/bad.md"), ("memory/nav/rules", "bad.md"), ("src", "../memory/nav/rules/bad.md")],
)
def test_path_opens_from_the_working_folder(cwd: str, shown: str, tmp_path: Path, run: Run) -> None:
    folder = dangling(tmp_path)
    (folder / "src").mkdir()
    ran = run("check", "--format", "concise", cwd=folder / cwd)
    assert ran.out.split(":6:6:")[0] == shown


@pytest.mark.parametrize("arguments", [["nowhere.md"], ["/etc"], [".."], ["--staged", "--at", "HEAD"]], ids=" ".join)
def test_path_outside_the_memory_and_two_trees_exit_2(arguments: list[str], tmp_path: Path, run: Run) -> None:
    ran = run("check", *arguments, cwd=dangling(tmp_path))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


BAD_ALONE = ("memory/nav/rules/bad.md", "nav/rules/bad", "nav/rules/", "memory/nav/rules", "memory")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *(([path], 1) for path in BAD_ALONE),
        *(([path], 0) for path in ("nav/architecture/", "memory/nav/rules/callbacks.md")),
        (["--select", "dangling-link"], 1),
        (["--select", "symlink,dangling-link"], 1),
        (["--select", "symlink-or-submodule"], 0),
        (["--ignore", "dangling-link"], 0),
    ],
    ids=str,
)
def test_paths_and_codes_narrow_what_is_reported(arguments: list[str], code: int, tmp_path: Path, run: Run) -> None:
    assert run("check", *arguments, cwd=dangling(tmp_path)).code == code


@pytest.mark.parametrize("option", ["--select", "--ignore", "--explain"])
def test_check_that_does_not_exist_names_the_nearest(option: str, tmp_path: Path, run: Run) -> None:
    ran = run("check", option, "dangling-lnk", cwd=dangling(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mdmem: there is no check `dangling-lnk`; did you mean `dangling-link`")


@pytest.mark.parametrize(("settings", "code"), [("", 0), ('[check]\nfail_on = "warning"\n', 1)])
def test_fail_on_says_from_which_severity_on_it_fails(settings: str, code: int, folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", settings)
    write_entry(folder / "memory", "nav/rules/plain")
    ran = run("check", "--select", "unclear-title")
    assert (ran.code, "1 warning" in ran.out) == (code, True)


def test_explain_says_what_why_and_how_to_mend_and_all_lists_every_check(tmp_path: Path, run: Run) -> None:
    ran = run("check", "--explain", "symlink-or-submodule")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "symlink-or-submodule (error)")
    assert "Fix: " in ran.out
    listed = run("check", "--explain", "all").out.splitlines()
    severities = [tuple(line.split()[:2]) for line in listed if line.startswith("  ")]
    assert severities == [(code, check.severity.value) for code, check in get_checks().items()]


def test_progress_is_shown_only_on_a_terminal(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.cli.common.Progress._MIN_TOTAL", 1)
    assert run("check", cwd=folder).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    said = run("check").err
    assert ("checking 4 files" in said, said.rpartition("\r")[2].partition("\x1b[?25h")[0][-6:]) == (True, "  100%")


@pytest.mark.parametrize("form", ["text", "concise", "json", "github"])
def test_check_changes_no_byte_and_tells_infos_where_it_is_verbose(form: str, tmp_path: Path, run: Run) -> None:
    folder = dangling(tmp_path)
    write_entry(folder / "memory", "nav/rules/timed", title="Timed", verified_at="2026-04-10T10:00:00")
    told = ["date-form" in run("check", "--format", form, *v, cwd=folder, unchanged=folder).out for v in ((), ("-v",))]
    assert told == [False, True]


@pytest.mark.parametrize("staged_is_bad", [True, False])
def test_staged_reads_the_index_and_not_the_working_tree(staged_is_bad: bool, folder: Path, run: Run) -> None:
    good, bad = {"title": "Good"}, {"title": "Bad", "see": "nav/rules/nowhere"}
    write_entry(folder / "memory", "nav/rules/new", **(bad if staged_is_bad else good))
    git(folder, "add", "-A")
    write_entry(folder / "memory", "nav/rules/new", **(good if staged_is_bad else bad))
    ran = run("check", "--staged")
    assert (ran.code, "see: nav/rules/nowhere" in ran.out) == (int(staged_is_bad), staged_is_bad)


def test_staged_reads_the_settings_of_the_index(folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", "nonsense = 1\n")
    assert run("check", "--staged").code == 0
    git(folder, "add", "-A")
    assert run("check", "--staged").code == 2


def test_chosen_checks_do_not_hide_that_a_run_is_incomplete(folder: Path, run: Run) -> None:
    os.mkfifo(folder / "memory/nav/rules/pipe.md")
    assert run("check", "--select", "dangling-link").code == 3
