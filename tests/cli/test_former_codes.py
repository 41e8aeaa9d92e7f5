"""Codes that a check had before still work, and one line says the present one."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, make_root, write, write_entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory with one short link, which `short-address` reported before."""
    root = make_root(tmp_path)
    write(root, "app/README.md", "---\nkind: project\nowners: [team]\n---\n")
    write_entry(root, "app/rules/a", see=["b"], title="First")
    write_entry(root, "app/rules/b", title="Second")
    return root


def codes(run: Run, root: Path, *arguments: str) -> tuple[list[str], str]:
    ran = run("check", "--format", "json", *arguments, cwd=root)
    return [one["code"] for one in ran.json["findings"]], ran.err


def test_former_code_selects_and_ignores(root: Path, run: Run) -> None:
    said = "the check `short-address` is called `link-form` now\n"
    assert codes(run, root) == (["link-form"], "")
    assert codes(run, root, "--select", "short-address") == (["link-form"], said)
    assert codes(run, root, "--ignore", "short-address") == ([], said)


@pytest.mark.parametrize(
    ("former", "now"), [("name-collision", "unportable-name"), ("unsupported-yaml", "front-matter-shape")]
)
def test_code_that_was_folded_twice_is_known(former: str, now: str, root: Path, run: Run) -> None:
    write(root, "mdmem.toml", f'[check.severity]\n{former} = "warning"\n')
    said = f"mdmem.toml:2: the check `{former}` is called `{now}` now\n"
    assert codes(run, root, "--select", "link-form") == (["link-form"], said)


def test_former_code_works_in_settings(root: Path, run: Run) -> None:
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n')
    assert codes(run, root) == ([], "mdmem.toml:2: the check `short-address` is called `link-form` now\n")


def test_former_code_means_the_findings_alone_that_had_it(root: Path, run: Run) -> None:
    write_entry(root, "app/rules/b", title="Second", see=["../rules/a.md"])
    write(root, "mdmem.toml", '[check]\nignore = ["short-address"]\n[check.severity]\nlink-by-path = "error"\n')
    (found,) = run("check", "--format", "json", cwd=root).json["findings"]
    assert (found["code"], found["severity"], found["path"]) == ("link-form", "error", "app/rules/b.md")
    assert codes(run, root, "--ignore", "link-by-path")[0] == []


def test_former_code_works_in_a_file_and_the_new_one_is_an_info(root: Path, run: Run) -> None:
    write_entry(root, "app/rules/a", see=["b"], title="First", ignore="{short-address: as written}")
    assert codes(run, root)[0] == []
    (info,) = run("check", "--format", "json", "-v", cwd=root).json["findings"]
    assert (info["severity"], info["message"]) == ("info", "the check `short-address` is called `link-form` now")


def test_former_code_works_in_a_baseline_and_is_written_anew(root: Path, run: Run) -> None:
    record = '{"code": "short-address", "address": "app/rules/a", "count": 1}'
    write(root, "mdmem.toml", '[check]\nbaseline = ".known.json"\n')
    write(root, ".known.json", f'{{"schema": 1, "findings": [\n{record}\n]}}\n')
    assert codes(run, root)[0] == []
    run("check", "--update-baseline", cwd=root)
    assert '"link-form"' in (root / ".known.json").read_text()


def test_explain_says_the_new_code(root: Path, run: Run) -> None:
    printed = run("check", "--explain", "short-address", cwd=root).out
    assert printed.startswith("`short-address` is called `link-form` now.\n\nlink-form (warning)\n\nA link is ")
