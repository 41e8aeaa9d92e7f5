"""This project's own memory is clean, and what it says it applies to exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem.cli.main import run

ROOT = Path(__file__).parents[1] / "example-wings"


def test_example_wings_have_no_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_TODAY", "2026-11-21")
    code = run(["check", "--root", str(ROOT), "--format", "concise"])
    printed = capsys.readouterr().out
    assert (code, ": error " in printed) == (0, False), printed


def test_warnings_of_the_example_wings_are_the_deliberate_conflicts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MDMEM_TODAY", "2026-11-21")
    run(["check", "--root", str(ROOT), "--format", "concise"])
    codes = [line.split(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert codes == ["conflict-unresolved"] * 3


def test_own_rules_apply_to_files_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["check", "--root", str(ROOT), "--strict", "--select", "applies-to-nothing", f"{ROOT}/mdmem"])
    assert code == 0, capsys.readouterr().out
