"""When hygiene is due: the later of manifest and state decides."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from builders import make_root, open_root, write, write_entry
from msgspec.structs import replace

from mdmem.store.state.local_records import Times, read_times, record_hygiene
from mdmem.store.workspace.remarks import is_hygiene_due

TODAY = date(2026, 11, 21)
LATELY, LONG_AGO = date(2026, 10, 23), date(2026, 10, 22)


@pytest.mark.parametrize(
    ("manifest", "runs", "is_due"),
    [
        (None, [], True),
        (LATELY, [], False),
        (LONG_AGO, [], True),
        (f"{LATELY}T09:00:00Z", [], False),
        (None, [(None, LATELY)], False),
        (LATELY, [(None, LONG_AGO)], False),
        (LONG_AGO, [(None, LONG_AGO), (["app"], LATELY)], False),
        (LONG_AGO, [(None, LONG_AGO), (["web"], LATELY)], True),
    ],
)
def test_hygiene_is_due_after_30_days(
    tmp_path: Path, manifest: date | str | None, runs: list[tuple[list[str] | None, date]], *, is_due: bool
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "app/rules/retry", created_at="2020-01-01")
    write(root, "app/README.md", f"---\nkind: project\nlast_hygiene_at: {manifest}\n---\n" if manifest else "")
    workspace = replace(open_root(root), today=TODAY)
    for wings, day in runs:
        record_hygiene(workspace.state_folder, wings, day)
    assert is_hygiene_due(workspace, "app") is is_due


@pytest.mark.parametrize(("created", "is_due"), [((LATELY, TODAY), False), ((TODAY, LONG_AGO), True), ((None,), True)])
def test_days_without_hygiene_count_from_the_oldest_entry(
    tmp_path: Path, created: Sequence[date | None], *, is_due: bool
) -> None:
    root = make_root(tmp_path)
    for number, day in enumerate(created):
        write_entry(root, f"app/rules/r{number}", created_at=day)
    write_entry(root, "web/rules/old", created_at="2020-01-01")
    assert is_hygiene_due(replace(open_root(root), today=TODAY), "app") is is_due


def test_imported_entries_are_older_than_the_memory_and_do_not_count(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    origin = {"x-imported-from": "docs/adr/0001-files.md@e8f040fdc18f"}
    write_entry(root, "app/rules/files", created_at="2020-01-01", **origin)
    assert not is_hygiene_due(replace(open_root(root), today=TODAY), "app")
    write_entry(root, "app/rules/own", created_at=LONG_AGO)
    assert is_hygiene_due(replace(open_root(root), today=TODAY), "app")


def test_runs_of_many_processes_are_all_kept(tmp_path: Path) -> None:
    names = [f"wing{number}" for number in range(12)]
    with ThreadPoolExecutor(max_workers=6) as runs:
        list(runs.map(lambda name: record_hygiene(tmp_path, [name], TODAY), names))
    assert read_times(tmp_path) == Times(None, dict.fromkeys(sorted(names), TODAY))


def test_folder_that_refuses_a_lock_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File exists"):
        record_hygiene(write(tmp_path, "file"), None, TODAY)
