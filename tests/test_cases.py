"""The golden cases: tests/cases/<check>/<case>/ holds a memory in `root/` and its findings in `expected.txt`.

`facts.json`, where there is one, stands for git: `tracked`, `ignored`, `deleted` (path to commit and new path).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from mdmem.catalog import load
from mdmem.checks.case import Case
from mdmem.checks.engine import run
from mdmem.checks.registry import CODES
from mdmem.settings import parse_settings
from mdmem.tree import WorkingTree

CASES = Path(__file__).parent / "cases"
TODAY = date(2026, 11, 21)
EXPECTED = "expected.txt"
# These need git or a file system that git cannot carry; their tests are in tests/checks/.
ELSEWHERE: frozenset[str] = frozenset(
    {
        "case-collision",
        "path-escapes-root",
        "path-illegal-on-windows",
        "secret-like-text",
        "submodule",
        "symlink",
        "unicode-collision",
        "unreadable",
    }
)


@dataclass(frozen=True)
class FakeFacts:
    """What git would say."""

    tracked: frozenset[str]
    tracked_in_repository: frozenset[str]
    ignored: frozenset[str]
    deleted: dict[str, tuple[str, str | None]]


def facts_of(folder: Path) -> FakeFacts | None:
    path = folder / "facts.json"
    if not path.exists():
        return None
    said = json.loads(path.read_text(encoding="utf-8"))
    tracked = frozenset(said.get("tracked", ()))
    deleted = {path: (commit, moved) for path, (commit, moved) in said.get("deleted", {}).items()}
    elsewhere = frozenset(said.get("tracked_in_repository", ()))
    return FakeFacts(tracked, tracked | elsewhere, frozenset(said.get("ignored", ())), deleted)


def found_in(folder: Path, code: str) -> list[str]:
    settings_file = folder / "root" / "mdmem.toml"
    settings = parse_settings(settings_file.read_bytes() if settings_file.exists() else b"")
    case = Case(load(WorkingTree(folder / "root")), settings, TODAY, facts_of(folder))
    found = run(case, [code])
    return [f"{f.place.path}:{f.place.line}:{f.place.column}: {f.severity} {f.message}" for f in found]


def cases() -> list[Path]:
    return sorted(path for check in CASES.iterdir() for path in check.iterdir())


@pytest.mark.parametrize("folder", cases(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_case_gives_the_expected_findings(folder: Path) -> None:
    expected = (folder / EXPECTED).read_text(encoding="utf-8").splitlines()
    assert bool(expected) != folder.name.startswith("clean"), "a failing case expects findings, a clean one none"
    assert found_in(folder, folder.parent.name) == expected


@pytest.mark.parametrize("code", [code for code in CODES if code not in ELSEWHERE])
def test_check_has_a_failing_and_a_clean_case(code: str) -> None:
    names = {path.name for path in (CASES / code).iterdir()} if (CASES / code).is_dir() else set()
    assert any(name.startswith("clean") for name in names), f"{code} has no clean case"
    assert any(not name.startswith("clean") for name in names), f"{code} has no failing case"
