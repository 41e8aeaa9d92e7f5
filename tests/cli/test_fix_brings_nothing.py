"""`check --fix` and `--unsafe-fixes` bring no finding that was not there in the golden cases."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from builders import Run, commit_all, git, make_repository, make_root, write, write_entry
from test_cases import CASES

FIX, UNSAFE = ("--fix",), ("--fix", "--unsafe-fixes")
# What keeps a file, or a value of it, from being read: once it is mended, the rest of what is wrong can be told.
UNREAD = {*("yaml-syntax", "front-matter-fence", "unknown-field", "missing-field", "invalid-value", "date-form")}


def findings(root: Path, run: Run) -> Counter[tuple[str, str]]:
    """Return code and path of everything that `check` finds, infos too."""
    ran = run("check", "--verbose", "--format", "json", cwd=root)
    return Counter((one["code"], one["path"]) for one in ran.json["findings"])


def assert_none_is_new(before: Counter[tuple[str, str]], after: Counter[tuple[str, str]]) -> None:
    if {path for _, path in before} != {path for _, path in after | before}:
        # Files were renamed: what was found of them is found under their new names.
        before, after = (Counter({(code, ""): n for (code, _), n in one.items()}) for one in (before, after))
    revealed = {path for code, path in before if code in UNREAD}
    assert [one for one in after - before if one[1] not in revealed] == []


def mend(root: Path, flags: tuple[str, ...], run: Run) -> Counter[str]:
    """Mend what can be mended, and return the codes of what it was."""
    before = findings(root, run)
    ran = run("check", *flags, "--format", "json", cwd=root)
    if (root.parent / ".git").exists():
        # A renamed file is not in git until it is added, whatever was mended.
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
    assert git(tmp_path, "status", "--porcelain") == ""


def test_link_in_frozen_text_is_left_and_the_one_in_a_field_is_mended(tmp_path: Path, run: Run) -> None:
    root = committed(tmp_path, old=ENDED, new={"supersedes": ["app/rules/old"], "reason": "faster"})
    write_entry(root, "app/rules/frozen", LINKING, title="Frozen", approved_by="Ada")
    write_entry(root, "app/rules/linked", title="Linked", see=["app/rules/old"], approved_by="Ada")
    commit_all(tmp_path)
    ran = run("check", "--unsafe-fixes", cwd=root)
    assert "frozen.md: left out «Write `new.md`», which would cause `frozen-text-changed`" in ran.err
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
