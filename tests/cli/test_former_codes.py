"""Codes that a check had before still work, and one line says the present one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import make_root, run_here, write, write_entry

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory with one short link, which `short-address` reported before."""
    root = make_root(tmp_path)
    write(root, "app/README.md", "---\nkind: project\nowners: [team]\n---\n")
    write_entry(root, "app/rules/a", see=["b"], title="First")
    write_entry(root, "app/rules/b", title="Second")
    return root


def codes(capsys: Capture, root: Path, *arguments: str) -> tuple[list[str], str]:
    ran = run_here(capsys, "check", "--format", "json", *arguments, cwd=root)
    return [one["code"] for one in json.loads(ran.out)["findings"]], ran.err


def test_former_code_selects_and_ignores(root: Path, capsys: Capture) -> None:
    said = "the check `short-address` is called `link-form` now\n"
    assert codes(capsys, root) == (["link-form"], "")
    assert codes(capsys, root, "--select", "short-address") == (["link-form"], said)
    assert codes(capsys, root, "--ignore", "short-address") == ([], said)


@pytest.mark.parametrize(
    ("former", "now"), [("name-collision", "unportable-name"), ("unsupported-yaml", "front-matter-shape")]
)
def test_code_that_was_folded_twice_is_known(former: str, now: str, root: Path, capsys: Capture) -> None:
    write(root, "mdmem.toml", f'[check.severity]\n{former} = "warning"\n')
    said = f"mdmem.toml:2: the check `{former}` is called `{now}` now\n"
    assert codes(capsys, root, "--select", "link-form") == (["link-form"], said)


def test_former_code_works_in_settings(root: Path, capsys: Capture) -> None:
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n')
    assert codes(capsys, root) == ([], "mdmem.toml:2: the check `short-address` is called `link-form` now\n")


def test_former_code_means_the_findings_alone_that_had_it(root: Path, capsys: Capture) -> None:
    write_entry(root, "app/rules/b", title="Second", see=["../rules/a.md"])
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n[check.severity]\nlink-by-path = "error"\n')
    (found,) = json.loads(run_here(capsys, "check", "--format", "json", cwd=root).out)["findings"]
    assert (found["code"], found["severity"], found["path"]) == ("link-form", "error", "app/rules/b.md")
    assert codes(capsys, root, "--ignore", "link-by-path")[0] == []


def test_former_code_works_in_a_file_and_the_new_one_is_an_info(root: Path, capsys: Capture) -> None:
    write_entry(root, "app/rules/a", see=["b"], title="First", ignore="{short-address: as written}")
    assert codes(capsys, root)[0] == []
    (info,) = json.loads(run_here(capsys, "check", "--format", "json", "-v", cwd=root).out)["findings"]
    assert (info["severity"], info["message"]) == ("info", "the check `short-address` is called `link-form` now")


def test_former_code_works_in_a_baseline_and_is_written_anew(root: Path, capsys: Capture) -> None:
    record = '{"code": "short-address", "address": "app/rules/a", "count": 1}'
    write(root, "mdmem.toml", '[check]\nbaseline = ".known.json"\n')
    write(root, ".known.json", f'{{"schema": 1, "findings": [\n{record}\n]}}\n')
    assert codes(capsys, root)[0] == []
    run_here(capsys, "check", "--update-baseline", cwd=root)
    assert '"link-form"' in (root / ".known.json").read_text()


def test_explain_says_the_new_code(root: Path, capsys: Capture) -> None:
    printed = run_here(capsys, "check", "--explain", "short-address", cwd=root).out
    assert printed.startswith("`short-address` is called `link-form` now.\n\nlink-form (warning)\n\nA link is ")
