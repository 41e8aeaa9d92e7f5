"""Test the time limit of an answer: reading stops at the limit, and nothing is lost."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from ask.builders import make_wings, put
from builders import memory, open_root, write_entry

from mdmem.ask.bundle import BundleRequest, retrieve_context
from mdmem.change.status import refresh_index
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.tree import DeadlineError
from mdmem.store.workspace.workspace import Workspace


def ticking(every: int) -> Callable[[], float]:
    """Return a clock that jumps by an hour at every Nth reading and stands still in between."""
    readings = count()
    return lambda: 3600.0 * (next(readings) // every)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_reader_is_stopped_wherever_the_time_ends(tmp_path: Path, every: int) -> None:
    root = make_wings(tmp_path)
    put(root, "app/r/one", "One")
    timed = open_root(root).within(5, clock=ticking(every))

    with pytest.raises(DeadlineError):
        timed.whole_catalog  # noqa: B018  # it is the reading that is stopped


def indexed(root: Path, folder: Path) -> Workspace:
    """Return the workspace of a root whose index is kept in a folder."""
    return open_root(root).with_index(FullTextIndex(folder))


def test_an_index_outlives_a_question_that_was_stopped_while_it_read(tmp_path: Path) -> None:
    root = make_wings(tmp_path)
    for number in range(4):
        put(root, f"app/r/e{number}", f"Tokens {number}")
    refresh_index(indexed(root, tmp_path / "index"))
    put(root, "app/r/late", "Tokens too")

    asked, seen = BundleRequest(project_id="app", topic="tokens"), set()
    for every in range(1, 30):
        workspace = indexed(root, tmp_path / "index")
        try:
            seen.add(retrieve_context(workspace.within(5, clock=ticking(every)), asked)["retrieval_status"])
        except DeadlineError:
            seen.add("timed_out")
    fresh = workspace.reread().with_index(FullTextIndex(tmp_path / "index"))

    assert seen == {"timed_out", "succeeded"}
    assert fresh.index.state(live=fresh.catalog.digests).usable
    assert retrieve_context(fresh, asked)["source"] == "index"


NEW = "nav/rules/new"


def test_the_index_keeps_no_entry_with_the_body_that_was_written_after_it_was_loaded(tmp_path: Path) -> None:
    workspace = open_root(memory(tmp_path) / "memory")
    index = FullTextIndex(tmp_path / "index")
    write_entry(workspace.location.root, NEW, title="Zebras")
    before = workspace.reread()
    assert NEW in before.catalog.digests
    write_entry(workspace.location.root, NEW, title="Quaggas")
    index.refresh(before.corpus)
    after = workspace.reread()
    found = index.search("quaggas", after.corpus)
    assert [match.key for match in found.matches] == [NEW]
