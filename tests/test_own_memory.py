"""This project's own memory is clean, and what it says it applies to exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mdmem.cli.main import run

TOP = Path(__file__).parents[1]
ROOT = TOP / "example-wings"
OWN = ROOT / "mdmem"
# A module, a glob, or a folder in backticks; an address has none of their ends.
PATH = re.compile(r"[\w<>*-][\w./<>*-]*(?:\.py\b|/\*\*?)|(?<=`)[\w<>*-][\w./<>*-]*/(?=`)")


def test_example_wings_have_no_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_TODAY", "2026-11-23")
    code = run(["check", "--root", str(ROOT), "--format", "concise"])
    printed = capsys.readouterr().out
    assert (code, ": error " in printed) == (0, False), printed


def test_warnings_of_the_example_wings_are_the_deliberate_conflicts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_TODAY", "2026-11-23")
    run(["check", "--root", str(ROOT), "--format", "concise"])
    codes = [line.split(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert codes == ["conflict-unresolved"] * 3


def test_own_rules_apply_to_files_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "--root", str(ROOT), "--strict", "--select", "applies-to-nothing", f"{ROOT}/mdmem"])
    assert code == 0, capsys.readouterr().out


def texts() -> dict[str, str]:
    """Return the entries of our own wing that have not ended, by their path in it."""
    found = {str(path.relative_to(OWN)): path.read_text(encoding="utf-8") for path in sorted(OWN.rglob("*.md"))}
    return {name: text for name, text in found.items() if "\nstatus: deprecated\n" not in text}


def is_there(pattern: str) -> bool:
    """Say whether a path or glob meets a file; `<name>` stands for any name."""
    return next(TOP.glob(re.sub("<[a-z]+>", "*", pattern).rstrip("/")), None) is not None


def test_paths_that_own_entries_name_are_whole_and_exist() -> None:
    named = {(name, path) for name, text in texts().items() for path in PATH.findall(text)}
    assert named
    assert [pair for pair in sorted(named) if not pair[1].startswith(("mdmem/", "tests/", "example-wings/"))] == []
    assert [pair for pair in sorted(named) if not is_there(pair[1])] == []
