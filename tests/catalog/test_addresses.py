"""Where entries stand among the files of a tree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.catalog.addresses import by_place, is_entry_place
from mdmem.store.tree import TreeFile

NAMES = st.sampled_from(("a", "r", "r-x", "a.md", "x.md", "README.md", "n\n.md", "q.md\nz", "README.md\nx.md", ".md"))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(st.lists(PATHS, unique=True, max_size=14), st.booleans())
def test_files_are_placed_together_as_each_by_itself(paths: list[str], is_in_order: bool) -> None:
    files = tuple(map(TreeFile, sorted(paths) if is_in_order else paths))
    entries = tuple(file for file in files if is_entry_place(file.path))
    assert by_place(files) == (entries, tuple(file for file in files if file not in entries))
