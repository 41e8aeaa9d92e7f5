"""What a workspace shares with those that are made from it, and what each reads itself."""

from pathlib import Path

import pytest
from builders import memory, open_root, write_entry

from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.workspace import Workspace

NEW = "nav/rules/new"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_root(memory(tmp_path) / "memory")


def test_the_index_keeps_no_entry_with_the_body_that_was_written_after_it_was_loaded(
    tmp_path: Path, workspace: Workspace
) -> None:
    index = FullTextIndex(tmp_path / "index")
    write_entry(workspace.location.root, NEW, title="Zebras")
    before = workspace.reread()
    assert NEW in before.catalog.digests
    write_entry(workspace.location.root, NEW, title="Quaggas")
    index.refresh(live=before.catalog.digests, read=before.texts)
    after = workspace.reread()
    found = index.search("quaggas", live=after.catalog.digests, read=after.texts)
    assert [match.key for match in found.matches] == [NEW]
