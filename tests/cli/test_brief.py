"""`mdmem brief`: what is said of a file, once a session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from builders import Run, commit_all, make_repository, make_root, write, write_entry


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository whose memory has a rule on its code."""
    top = make_repository(tmp_path / "shop")
    root = make_root(top / "memory")
    write_entry(root, "shop/contracts/amounts", "Never.\n", type="invariant", title="No floats", applies_to=["src/**"])
    write(top, "src/pay.py", "")
    commit_all(top)
    return top


def test_a_rule_is_said_once_a_session_and_again_when_that_is_fresh(top: Path, run: Run) -> None:
    def said(*more: str, cwd: Path = top) -> str:
        ran = run("brief", "pay.py", *more, cwd=cwd)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    assert said() == ""
    assert said("--path", "src/more.py") == said("src/more.py") != ""
    src = top / "src"
    assert "shop/contracts/amounts: No floats. Never." in said("--session", "s", cwd=src)
    assert said("--session", "s", cwd=src) == ""
    assert said("--session", "t", cwd=src) == said(cwd=src) == said("--session", "s", "--fresh", cwd=src) != ""
    assert said("--session", "s", cwd=src) == ""


def test_a_person_is_told_that_nothing_applies(top: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    ran = run("brief", "docs/pay.md", cwd=top)
    assert (ran.out, ran.err.count("`mdmem retrieve --path docs/pay.md` searches further")) == ("", 1)


def test_what_always_binds_is_counted_with_the_question_that_tells_it(top: Path, run: Run) -> None:
    write(top, "docs/pay.md", "")
    write_entry(top / "memory", "shop/contracts/utc", "Only UTC.\n", type="invariant", title="Times are UTC")

    def remarked(*arguments: str) -> str:
        return run("brief", *arguments, cwd=top / "src").err

    there = "1 invariant always applies: `mdmem retrieve --path docs/pay.md` shows it\n"
    assert remarked("../docs/pay.md") == f"no current rule has an `applies_to` that matches; {there}"
    assert remarked("pay.py") == there.replace("docs/pay.md", "src/pay.py")
    assert remarked("pay.py", "--session", "s") == remarked("/elsewhere/x.py") == ""


def test_a_file_that_cannot_be_read_is_one_line_and_no_memory_an_error(top: Path, run: Run) -> None:
    write(top, "memory/shop/contracts/amounts.md", b"\xff\xfe\x00")
    ran = run("brief", "docs/x.md", cwd=top)
    assert (ran.code, len(ran.out.splitlines())) == (0, 1)
    assert "cannot be read" in ran.out
    nowhere = make_repository(top.parent / "empty")
    ran = run("brief", "src/pay.py", cwd=nowhere)
    assert (ran.code, ran.out) == (2, "")
    assert "no memory here" in ran.err
