"""What a run of the checks reports, and what an entry keeps out of the report."""

from datetime import date
from pathlib import Path

from builders import write_entry

from mdmem.catalog import load
from mdmem.checks.case import Case
from mdmem.checks.engine import run
from mdmem.settings import Settings
from mdmem.tree import WorkingTree

EMPTY = "body-empty"
DANGLING = "dangling-link"
OTHER = "app/rules/b"


def reported(root: Path) -> list[tuple[str, str | None]]:
    case = Case(load(WorkingTree(root)), Settings(), date(2026, 11, 21))
    return [(finding.code, finding.address) for finding in run(case, [EMPTY, DANGLING])]


def write_faulty(root: Path, address: str, ignore: str | None = None) -> None:
    """Write an entry with no body and a link that leads nowhere."""
    write_entry(root, address, "", see=["app/rules/gone"], ignore=ignore)


def test_entry_keeps_out_the_code_it_ignores_and_no_other(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app/rules/a", f"{{{EMPTY}: the title says it}}")
    assert reported(tmp_path) == [(DANGLING, "app/rules/a")]


def test_entry_keeps_out_each_of_several_codes(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app/rules/a", f"{{{EMPTY}: the title says it, {DANGLING}: it is coming}}")
    assert reported(tmp_path) == []


def test_entry_keeps_out_nothing_of_another_file(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app/rules/a", f"{{{EMPTY}: the title says it, {DANGLING}: it is coming}}")
    write_faulty(tmp_path, OTHER)
    assert reported(tmp_path) == [(EMPTY, OTHER), (DANGLING, OTHER)]


def test_code_that_does_not_exist_changes_nothing(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app/rules/a", "{body-emty: a slip}")
    write_faulty(tmp_path, OTHER)
    assert {code for code, address in reported(tmp_path) if address == "app/rules/a"} == {EMPTY, DANGLING}
    assert len(reported(tmp_path)) == 4


def test_ignore_without_a_reason_keeps_out_nothing(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app/rules/a", f"[{EMPTY}]")
    assert {code for code, _ in reported(tmp_path)} == {EMPTY, DANGLING}


def test_entry_keeps_out_what_another_end_would_say_only_at_its_own(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/new", supersedes=["app/rules/old"])
    write_entry(tmp_path, "app/rules/old", ignore="{supersession-one-sided: not here}")
    case = Case(load(WorkingTree(tmp_path)), Settings(), date(2026, 11, 21))
    assert [finding.address for finding in run(case, ["supersession-one-sided"])] == ["app/rules/new"]
