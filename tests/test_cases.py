"""Test the golden cases: tests/cases/<check>/<case>/ has a memory in `root/` and its findings in `expected.txt`.

An optional `facts.json` replaces git's facts: `tracked`, `ignored`, `not_added`, `deleted` (path to commit and new
path) and `ended` (path to day).
`base/` is the tree to compare with. With `ours/`, `theirs/` and `ancestor/`, `root/` is the result of their merge, and
`conflicts.json` lists what git cannot merge (path to kind). `case.json` sets `in_ci`, `is_top` (the root is the top of
the repository), and `faults` by code.
`fetched/<wing>/` is a fetched wing of another repository, from the settings; without this folder, it is not fetched.
"""

import json
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import golden
import pytest
from trees import facts_with

from mdmem import SETTINGS_NAME
from mdmem.checks.case import Base, Case, GitFacts, Merge
from mdmem.checks.check import get_check, get_checks
from mdmem.checks.engine import run_checks
from mdmem.model.finding import FORMER_CODES, Place, fault
from mdmem.store.catalog.load import UnavailableWing, load, with_remote_wings
from mdmem.store.git.history import PathConflict
from mdmem.store.settings import Settings, WingSettings, parse_settings
from mdmem.store.tree import Tree, WorkingTree

CASES = Path(__file__).parent / "cases"
TODAY = date(2026, 11, 21)
EXPECTED = "expected.txt"
# These need git, a file system that git cannot carry, or the run of other checks; their tests are in tests/checks/.
ELSEWHERE: frozenset[str] = frozenset(
    {"check-crashed", "secret-like-text", "symlink-or-submodule", "unportable-name", "unreadable", "unused-suppression"}
)


def facts_of(folder: Path) -> GitFacts | None:
    if not (folder / "facts.json").exists():
        return None
    said = said_in(folder / "facts.json")
    said["deleted"] = {path: tuple(fate) for path, fate in said.get("deleted", {}).items()}
    for name in ("tracked", "tracked_in_repository", "ignored", "not_added"):
        said[name] = frozenset(said.get(name, ()))
    said["tracked_in_repository"] |= said["tracked"]
    return facts_with(**said)


def settings_of(root: Path) -> Settings:
    file = root / SETTINGS_NAME
    return parse_settings(file.read_bytes() if file.exists() else b"")


def tree_of(folder: Path, name: str) -> Tree:
    def find(wing: str, _: WingSettings) -> Tree | UnavailableWing:
        there = folder / "fetched" / wing
        return WorkingTree(there) if there.is_dir() else UnavailableWing("is not fetched")

    is_top = said_in(folder / "case.json").get("is_top", False)
    return with_remote_wings(WorkingTree(folder / name, is_top), find)


def base_of(folder: Path, name: str) -> Base | None:
    root = folder / name
    return Base(name, load(tree_of(folder, name)), settings_of(root)) if root.is_dir() else None


def merge_of(folder: Path) -> Merge | None:
    ours, theirs, ancestor = (base_of(folder, name) for name in ("ours", "theirs", "ancestor"))
    if ours is None or theirs is None or ancestor is None:
        return None
    conflicts = said_in(folder / "conflicts.json")
    return Merge(ours, theirs, ancestor, tuple(PathConflict(path, kind) for path, kind in conflicts.items()))


def said_in(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def case_of(folder: Path) -> Case:
    said = said_in(folder / "case.json")
    faults = tuple(fault(code, message, Place(SETTINGS_NAME)) for code, message in said.get("faults", {}).items())
    return Case(
        load(tree_of(folder, "root")),
        settings_of(folder / "root"),
        TODAY,
        facts_of(folder),
        base=base_of(folder, "base"),
        merge=merge_of(folder),
        faults=faults,
        in_ci=said.get("in_ci", False),
    )


def found_in(folder: Path, code: str) -> list[str]:
    found = run_checks(case_of(folder), [get_check(code).code])
    # A folder may have the former name of its check: other findings of the check are in other folders.
    own = [f for f in found if code in (f.code, f.former)]
    return [f"{f.place.path}:{f.place.line}:{f.place.column}: {f.severity} {f.message}" for f in own]


def cases() -> list[Path]:
    return sorted(path for check in CASES.iterdir() for path in check.iterdir())


@pytest.mark.parametrize("folder", cases(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_case_gives_the_expected_findings(folder: Path) -> None:
    expected = (folder / EXPECTED).read_text(encoding="utf-8").splitlines()
    assert bool(expected) != folder.name.startswith("clean"), "a failing case expects findings, a clean one none"
    assert found_in(folder, folder.parent.name) == expected


def test_place_of_each_field_and_item_is_that_in_the_document() -> None:
    for case in map(case_of, cases()):
        for (address, document), item in product(case.documents, (None, 0, 1, 9)):
            for name in (*(document.fields or {}), "missing"):
                assert case.place(address, name, item) == document.place(name, item)


@pytest.mark.parametrize("code", [code for code in get_checks() if code not in ELSEWHERE])
def test_check_has_a_failing_and_a_clean_case(code: str) -> None:
    folders = [CASES / name for name in (code, *FORMER_CODES.get(code, ()))]
    names = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir()}
    assert any(name.startswith("clean") for name in names), f"{code} has no clean case"
    assert any(not name.startswith("clean") for name in names), f"{code} has no failing case"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("===\n|a\n", r"file\.txt:1: the case expects nothing"),
        ("===\n-a\n+a\n", r"file\.txt:1: the case expects nothing"),
        ("===\n|a\n! \n", r"file\.txt:3: a line ends with a blank"),
        ("===\n|a\n? b\n", r"file\.txt:3: a line of a case starts with"),
        ("===\n|a \n! b\n", r"file\.txt:2: a line ends with a blank"),
        ("=== a\n|a\n! b\n=== a\n|b\n! b\n", r"file\.txt:1, file\.txt:4: two cases have one name"),
        ("|a\n! b\n", "does not start with `===`"),
        ("# nothing\n", "does not start with `===`"),
    ],
)
def test_case_is_refused_when_it_claims_nothing_or_cannot_be_read(tmp_path: Path, text: str, refusal: str) -> None:
    (tmp_path / "file.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=refusal):
        golden.read_cases(tmp_path / "file.txt")


@pytest.mark.parametrize("row", ["a =>", "=>", "a"])
def test_row_is_refused_when_it_expects_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    monkeypatch.setattr(golden, "DATA", tmp_path)
    (tmp_path / "file.txt").write_text(f"a  => b<LF>\n => c\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"file\.txt:3: `input => expected` was expected"):
        golden.read_rows("file.txt")
