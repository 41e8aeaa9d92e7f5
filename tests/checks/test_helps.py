"""Helps: a command has the address at hand, and a dangling link the addresses that may be meant, likeliest first."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, make_root, run_here, write, write_entry
from trees import HeldTree, case_of, tree_of

from mdmem.checks.engine import run_checks
from mdmem.store.tree import Tree, WorkingTree

Capture = pytest.CaptureFixture[str]


def helps_in(tree: Tree, code: str) -> list[str]:
    return [finding.help for finding in run_checks(case_of(tree), [code])]


@pytest.mark.parametrize(
    ("path", "code", "old", "new"),
    [
        ("nav/rules/Use UTC.md", "bad-name", "'nav/rules/Use UTC'", "nav/rules/use-utc"),
        ("nav/My Rules/a.md", "bad-name", "'nav/My Rules/'", "nav/my-rules/"),
        ("Nav/rules/a.md", "bad-name", "Nav/", "nav/"),
        ("nav/rules/aux.md", "path-illegal-on-windows", "nav/rules/aux", "nav/rules/NEW-NAME"),
    ],
)
def test_help_names_the_move(path: str, code: str, old: str, new: str) -> None:
    assert helps_in(tree_of(path), code) == [f"run `mdmem mv {old} {new}`, which rewrites the links, too"]


@pytest.mark.parametrize("path", ["nav/rules/plans/aux.png", "aux.md"])
def test_help_names_git_for_what_is_no_entry(path: str) -> None:
    assert helps_in(tree_of("nav/rules/a.md", path), "path-illegal-on-windows") == ["rename it with `git mv`"]


@pytest.mark.parametrize(
    ("fields", "code", "command"),
    [
        ({"expires_at": "2026-06-30"}, "expired", "mdmem deprecate nav/rules/a --reason TEXT"),
        ({"created_at": "2020-01-01", "verified_at": "2020-01-02"}, "review-overdue", "mdmem verify nav/rules/a"),
        ({"conflicts_with": "nav/rules/b"}, "conflict-unresolved", "mdmem deprecate nav/rules/b --reason TEXT"),
        ({"superseded_by": "nav/rules/draft"}, "superseded-by-draft", "mdmem approve nav/rules/draft"),
    ],
)
def test_command_in_a_help_ends_the_finding(
    fields: dict[str, str], code: str, command: str, tmp_path: Path, capsys: Capture
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/b")
    write_entry(root, "nav/rules/draft", status="draft", supersedes="nav/rules/a", reason="better")
    write_entry(root, "nav/rules/a", **fields)
    (help_,) = helps_in(WorkingTree(root), code)
    (named,) = re.findall(r"`(mdmem [^`]+)`", help_)
    assert named == command
    _, *arguments = shlex.split(named)
    by = ["--by", "Ada <ada@example.org>"] if arguments[0] == "approve" else []
    assert run_here(capsys, *arguments, *by, cwd=root).code == 0
    assert helps_in(WorkingTree(root), code) == []


HEAD = b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\n"
ADDRESSES = (
    "react/anti-patterns/index-as-key",
    "react/forms/uncontrolled-forms-by-default",
    "react/rules/a",
    "ros2/anti-patterns/index-as-key",
    "ros2/rules/adr-12",
    "shop/forms/checkout",
)


@pytest.mark.parametrize(
    ("source", "written", "meant"),
    [
        ("shop/forms/checkout", "react/anti-patterns/indx-as-key", ["react/anti-patterns/index-as-key"]),
        (
            "shop/forms/checkout",
            "ros2/conventions/index-as-key.md",
            ["ros2/anti-patterns/index-as-key", "react/anti-patterns/index-as-key"],
        ),
        ("react/rules/a", "uncontroled-forms-by-default", ["react/forms/uncontrolled-forms-by-default"]),
        ("ros2/rules/adr-12", "ros2/rules/adr-13", []),
        ("shop/forms/checkout", "shop/forms/checkot", []),
    ],
    ids=["a typo", "the entry-id elsewhere", "a short link of its wing", "another number", "the entry itself"],
)
def test_help_of_a_dangling_link_names_the_nearest_addresses(source: str, written: str, meant: list[str]) -> None:
    files = {f"{address}.md": HEAD + b"---\n\nText.\n" for address in ADDRESSES}
    files[f"{source}.md"] = HEAD + f"see: [{written}]\n---\n\nText.\n".encode()
    (found,) = run_checks(case_of(HeldTree(files)), ["dangling-link"])
    assert re.findall(r"`([^` ]+/[^` ]+)`", found.help) == meant


def test_number_of_a_record_is_corrected_to_its_address(tmp_path: Path, capsys: Capture) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/0004-rest-api")
    write_entry(root, "nav/other/0004-else")
    write_entry(root, "nav/rules/paging", amends="4")
    write_entry(root, "nav/how/streams", amends="ADR-0004")
    ran = run_here(capsys, "check", "--root", str(root), "--select", "dangling-link", cwd=tmp_path)
    assert "`amends` contains `4`, which is a number, not an address" in ran.out
    assert "help: write `nav/rules/0004-rest-api`, or remove the link" in ran.out
    assert "`amends` contains `ADR-0004`, which does not exist" in ran.out, "two rooms have that number"
    run_here(capsys, "check", "--root", str(root), "--fix", cwd=tmp_path)
    assert "amends: nav/rules/0004-rest-api\n" in (root / "nav/rules/paging.md").read_text()


def test_unreadable_file_with_a_bad_name_has_no_help_that_fails() -> None:
    tree = HeldTree(content={"nav/rules/Use_UTC.md": b"---\ntype: decision\n---\n\n\xff\n"})
    assert helps_in(tree, "bad-name") == [""]


def test_command_that_adds_an_ignored_file_works_at_the_top_of_the_repository(tmp_path: Path, capsys: Capture) -> None:
    root = make_root(make_repository(tmp_path) / "my memory")
    write(tmp_path, ".gitignore", "utc*.md\n")
    for name in ("utc times", "zones"):
        write_entry(root, f"nav/rules/{name}")
    commit_all(tmp_path)
    arguments = ("check", "--select", "ignored-by-git", "--format", "json")
    (found,) = json.loads(run_here(capsys, *arguments, cwd=root).out)["findings"]
    assert found["help"] == "run `git add -f -- 'my memory/nav/rules/utc times.md'` at the repository's top"
    git(tmp_path, *shlex.split(found["help"].split("`")[1])[1:])
    assert json.loads(run_here(capsys, *arguments, cwd=root).out)["findings"] == []


def test_name_that_a_shell_would_run_is_quoted_in_a_command(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/$(touch x)", expires_at="2020-01-01")
    (help_,) = helps_in(WorkingTree(root), "expired")
    assert help_.startswith("run `mdmem deprecate 'nav/rules/$(touch x)' --reason TEXT`")
