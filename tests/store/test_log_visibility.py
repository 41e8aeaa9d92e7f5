"""What the history of an entry tells a caller who sees some wings alone."""

from pathlib import Path

from builders import commit_all, memory, open_root, write_entry
from msgspec.structs import replace

from mdmem.change.history import LogReport, log
from mdmem.model.access import Access

TEXT = "Onyx shines.\n\nRationale: it was weighed.\n"


def told(top: Path, address: str) -> LogReport:
    return log(replace(open_root(top / "memory"), access=Access.to_wings(["nav"])), address)


def test_history_of_an_entry_begins_where_it_came_from_a_hidden_wing(tmp_path: Path) -> None:
    top = memory(tmp_path)
    root = top / "memory"
    write_entry(root, "vault/rules/onyx", TEXT)
    commit_all(top, "begin")
    (root / "vault/rules/onyx.md").rename(root / "nav/rules/onyx.md")
    commit_all(top, "Move vault/rules/onyx to nav/rules/onyx")
    write_entry(root, "nav/rules/onyx", TEXT.replace("shines", "glows"))
    commit_all(top, "Polish it")
    found = told(top, "nav/rules/onyx")
    assert [step.change.subject for step in found.steps] == ["", ""]
    assert "vault" not in repr(found)


def test_entry_that_went_to_a_hidden_wing_is_deleted_in_its_history(tmp_path: Path) -> None:
    top = memory(tmp_path)
    root = top / "memory"
    write_entry(root, "nav/rules/granite", TEXT)
    commit_all(top, "begin")
    (root / "vault/rules").mkdir(parents=True)
    (root / "nav/rules/granite.md").rename(root / "vault/rules/granite.md")
    commit_all(top, "Move nav/rules/granite to vault/rules/granite")
    found = told(top, "nav/rules/granite")
    assert (found.steps[0].change.subject, tuple(found.steps[0].lines)) == ("", ("deleted",))
    assert "vault" not in repr(found)
