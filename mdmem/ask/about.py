"""What given entries say about some words: the best passages of each, below their headings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from mdmem.ask.beneath import fewer
from mdmem.ask.given import WHOLE, given_of, marks_of, noted
from mdmem.ask.mentions import Mentions
from mdmem.ask.pack import NOTHING_GIVEN, Given, Mention, links_of
from mdmem.ask.rest import windows_beyond
from mdmem.errors import UsageError
from mdmem.markdown.text import content_of, is_title_alone
from mdmem.model.entry import Entry
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.index.finder import finder
from mdmem.store.index.snippet import snippet
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.workspace import Workspace

# In bytes: what a reader of the file would have to scroll to, whole.
_WINDOWS = 1000
# Of newer entries that say what they change.
_CHANGES = 2


class ToldEntry(Struct, frozen=True):
    """What one entry says about some words, empty where it holds none; `heads` is what is in force in its place.

    `beneath` is what it replaced, and what newer entries say that they change of it. `before` are the marks of what the
    session was given of it; `marks` are those of what it is given now.
    """

    entry: Entry
    said: str
    heads: tuple[str, ...]
    beneath: tuple[Mention, ...] = ()
    digest: str = ""
    before: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    is_title_alone: bool = False

    @property
    def is_current(self) -> bool:
        """Say whether the entry is in force itself."""
        return self.entry.address in self.heads

    @property
    def was_whole(self) -> bool:
        """Say whether the session was given all of it."""
        return self.before >= WHOLE

    @property
    def known_by(self) -> str:
        """Return what to know it by when it is asked for again."""
        return noted(self.digest, self.before | self.marks)


def gave(told: Iterable[ToldEntry]) -> dict[str, str]:
    """Return what to know each entry by that was told, by address."""
    return {one.entry.address: one.known_by for one in told}


def tell_about(
    workspace: Workspace, names: Sequence[str], words: Sequence[str], *, given: Given = NOTHING_GIVEN
) -> tuple[ToldEntry, ...]:
    """Return what the entries that names mean say: about the only words, or those of the n-th name about the n-th.

    What was `given` before, by address, is not told again, and of one that is named twice nothing twice.
    Raises NotFoundError, and UsageError where there are other words than that.
    """
    require_words_for(names, words)
    checkout = view_of(workspace).checkout
    catalog = checkout.catalog
    # Who reads an entry that he named does not wait for an index.
    is_indexed = not checkout.index.is_behind(live=catalog.digests)
    mentions = Mentions(checkout, catalog.entries.keys if is_indexed else None)
    groups = [[name] for name in names] if len(words) > 1 else [list(names)]
    found: list[ToldEntry] = []
    known = dict(given)
    for group, said in zip(groups, words, strict=True):
        for address in resolve_names(workspace, group):
            one = _told_of(catalog, address, frozenset(ask(said).terms), mentions, known.get(address, ""))
            known[address] = one.known_by
            found.append(one)
    return tuple(found)


def require_words_for(names: Sequence[str], words: Sequence[str]) -> None:
    """Raise UsageError where there are other words than one for all names, or one for each, or none in one."""
    if words and not all(one.strip() for one in words):
        raise UsageError("`about` is empty; say what the passages are to be about, or leave it out for the whole")
    if words and len(words) not in (1, len(names)):
        raise UsageError(
            f"`about` came {len(words)} times, the addresses are {len(names)}; one for all, or each its own"
        )


def _told_of(catalog: Catalog, address: str, terms: frozenset[str], mentions: Mentions, known: str) -> ToldEntry:
    entry, digest, heads = catalog.entries[address], catalog.digests[address], catalog.lineage.heads(address)
    before = given_of(known, digest)
    body = content_of(entry, catalog.body(address))
    bearing = {"claimed_by": catalog.lineage.claimed_by(address), "amended_by": catalog.amendments.of(address)}
    beneath = fewer(mentions.of(entry, bearing, is_asked=True), most=_CHANGES, is_best=False, is_brief=True)
    beneath = tuple(one for one in beneath if one.is_news(before))
    said, texts = ("", []) if before >= WHOLE else _said(body, terms, before)
    marks = marks_of((*texts, *links_of(beneath)))
    return ToldEntry(entry, said, heads, beneath, digest, before, marks, is_title_alone(body))


def _said(body: str, terms: frozenset[str], before: frozenset[str]) -> tuple[str, list[str]]:
    """Return the best windows that were not given before, and the texts that they are made of."""
    find = finder(terms)
    windows = windows_beyond(body, find, before, {})
    if said := windows.headed(_WINDOWS):
        return said, windows.told(_WINDOWS)
    # What only a comment or a field holds stands in no window, and is found all the same.
    line = snippet(body, terms) if find(body) and not before else ""
    return line, [line]
