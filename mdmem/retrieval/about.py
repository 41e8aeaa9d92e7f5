"""What given entries say about some words: the best passages of each, below their headings."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.catalog.model import Catalog
from mdmem.dataclass import dataclass
from mdmem.entry.headings import sections_of
from mdmem.entry.model import Entry
from mdmem.entry.text import content_of
from mdmem.entry.windows import Windows
from mdmem.errors import UsageError
from mdmem.index.analysis import ask
from mdmem.index.finder import finder
from mdmem.index.snippet import snippet
from mdmem.retrieval.beneath import fewer
from mdmem.retrieval.mentions import Mentions
from mdmem.retrieval.pack import Mention
from mdmem.workspace.addresses import resolve_names
from mdmem.workspace.proposals import view_of
from mdmem.workspace.workspace import Workspace

# In bytes: what a reader of the file would have to scroll to, whole.
_WINDOWS = 1000
# Of newer entries that say what they change.
_CHANGES = 2
# Characters: to weigh the windows of more takes seconds.
_READ = 131_072


@dataclass(frozen=True, slots=True)
class ToldEntry:
    """What one entry says about some words, empty where it holds none; `heads` is what is in force in its place.

    `beneath` is what it replaced, and what newer entries say that they change of it.
    """

    entry: Entry
    said: str
    heads: tuple[str, ...]
    beneath: tuple[Mention, ...] = ()

    @property
    def is_current(self) -> bool:
        """Say whether the entry is in force itself."""
        return self.entry.address in self.heads


def tell_about(workspace: Workspace, names: Sequence[str], words: Sequence[str]) -> tuple[ToldEntry, ...]:
    """Return what the entries that names mean say: about the only words, or those of the n-th name about the n-th.

    Raises NotFoundError, and UsageError where there are other words than that.
    """
    require_words_for(names, words)
    checkout = view_of(workspace).checkout
    catalog = checkout.catalog
    # Who reads an entry that he named does not wait for an index.
    is_indexed = not checkout.index.is_behind(live=catalog.digests)
    mentions = Mentions(checkout, catalog.entries.keys if is_indexed else None)
    groups = [[name] for name in names] if len(words) > 1 else [list(names)]
    return tuple(
        _told_of(catalog, address, frozenset(ask(said).terms), mentions)
        for group, said in zip(groups, words, strict=True)
        for address in resolve_names(workspace, group)
    )


def require_words_for(names: Sequence[str], words: Sequence[str]) -> None:
    """Raise UsageError where there are other words than one for all names, or one for each."""
    if words and len(words) not in (1, len(names)):
        raise UsageError(
            f"`about` came {len(words)} times, the addresses are {len(names)}; one for all, or each its own"
        )


def _told_of(catalog: Catalog, address: str, terms: frozenset[str], mentions: Mentions) -> ToldEntry:
    entry = catalog.entries[address]
    body = content_of(entry, catalog.body(address))
    bearing = {"claimed_by": catalog.lineage.claimed_by(address), "amended_by": catalog.amendments.of(address)}
    beneath = fewer(mentions.of(entry, bearing, is_asked=True), most=_CHANGES, is_best=False, is_brief=True)
    return ToldEntry(entry, _said(body, terms), catalog.lineage.heads(address), beneath)


def _said(body: str, terms: frozenset[str]) -> str:
    find = finder(terms)
    windows = Windows(body[:_READ], sections_of(body[:_READ]), find, {}, has_asides=True)
    # What only a comment or a field holds stands in no window, and is found all the same.
    return windows.headed(_WINDOWS) or (snippet(body, terms) if find(body) else "")
