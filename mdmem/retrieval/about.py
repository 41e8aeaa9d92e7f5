"""What given entries say about some words: the best passages of each, below their headings."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.dataclass import dataclass
from mdmem.entry.headings import sections_of
from mdmem.entry.model import Entry
from mdmem.entry.text import content_of
from mdmem.entry.windows import Windows
from mdmem.index.analysis import ask
from mdmem.index.finder import finder
from mdmem.index.snippet import snippet
from mdmem.workspace.addresses import resolve_names
from mdmem.workspace.proposals import view_of
from mdmem.workspace.workspace import Workspace

# In bytes: what a reader of the file would have to scroll to, whole.
_WINDOWS = 1000


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """What one entry says about some words, empty where it holds none; `heads` is what is in force in its place."""

    entry: Entry
    said: str
    heads: tuple[str, ...]

    @property
    def is_current(self) -> bool:
        """Say whether the entry is in force itself."""
        return self.entry.address in self.heads


def tell_about(workspace: Workspace, names: Sequence[str], words: str) -> tuple[ToldEntry, ...]:
    """Return what the entries that names mean say about some words; raises NotFoundError and UsageError."""
    catalog = view_of(workspace).checkout.catalog
    terms = frozenset(ask(words).terms)
    bodies = {
        address: content_of(catalog.entries[address], catalog.body(address))
        for address in resolve_names(workspace, names)
    }
    return tuple(
        ToldEntry(catalog.entries[address], _said(body, terms), catalog.lineage.heads(address))
        for address, body in bodies.items()
    )


def _said(body: str, terms: frozenset[str]) -> str:
    find = finder(terms)
    windows = Windows(body, sections_of(body), find, {}, has_asides=True)
    # What only a comment or a field holds stands in no window, and is found all the same.
    return windows.headed(_WINDOWS) or (snippet(body, terms) if find(body) else "")
