"""Show entries: as a list, in full, or as excerpts about some words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Mention
from mdmem.ask.excerpt import excerpt
from mdmem.ask.fit import ALL, NOTHING_SHOWN, Shown, marks_of, note_of, paragraphs_of, parts_shown, unseen_paragraphs
from mdmem.ask.limits import ABOUT, WHOLE
from mdmem.ask.mentions import Mentions, merge_mentions
from mdmem.ask.problems import problems_in
from mdmem.ask.search import is_shown, passes
from mdmem.errors import UsageError
from mdmem.markdown.body import content_of, is_title_alone, size_of
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.model.lineage import BranchState
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.scope import Filters, reading_scope
from mdmem.store.workspace.workspace import Workspace


class ShownEntry(Struct, frozen=True, kw_only=True):
    """One entry as its file states it, with the current entries that replace it (`heads`) and other relations."""

    entry: Entry
    front_matter: Mapping[str, Any]
    body: str
    digest: str
    current: bool
    heads: tuple[str, ...]
    branch_state: BranchState | None = None
    claimed_by: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()


def in_full(workspace: Workspace, entries: Sequence[Entry]) -> tuple[ShownEntry, ...]:
    """Return entries in full, in the order of the arguments.

    Each entry is from the files of the checkout or from the default branch, as `list_entries` returned it.
    """
    found = dict[str, ShownEntry]()
    for catalog in (view_of(workspace).checkout.catalog, view_of(workspace).effective.catalog):
        addresses = [one.address for one in entries if _catalog_of(workspace, one) is catalog]
        for address, document in catalog.documents([one for one in addresses if one not in found]):
            found[address] = ShownEntry(
                entry=catalog.entries[address],
                front_matter=catalog.shown_fields(document),
                body=catalog.shown_body(document),
                digest=catalog.digests[address],
                current=catalog.lineage.is_current(address),
                heads=catalog.lineage.heads(address),
                branch_state=catalog.branch_state(address),
                claimed_by=catalog.lineage.claimed_by(address),
                amended_by=catalog.derived.amended_by(address),
            )
    return tuple(found[entry.address] for entry in entries)


def _catalog_of(workspace: Workspace, entry: Entry) -> Catalog:
    """Return the catalog that an entry was listed from: that of the checkout or that of the default branch."""
    files, answers = view_of(workspace).checkout.catalog, view_of(workspace).effective.catalog
    return files if files.entries.get(entry.address) is entry else answers


def list_entries(workspace: Workspace, filters: Filters) -> tuple[Entry, ...]:
    """Return the entries that pass the filters, sorted by address.

    Each entry is listed once, usually as its file states it. If the file only proposes a change, and answers do not
    show the proposal (`View.alternatives`), the entry is listed as on the default branch.
    """
    view = view_of(workspace)
    shown = {entry.address: entry for entry in _listed(view.effective, filters)}
    if view.checkout is not view.effective:
        hidden = (view.checkout.catalog.entries.keys() - view.effective.catalog.entries.keys()) | view.overridden
        read = {entry.address: entry for entry in _listed(view.checkout, filters)}
        shown |= {
            address: one for address, one in read.items() if address in view.alternatives or address not in hidden
        }
    return tuple(shown[address] for address in sorted(shown))


def _listed(workspace: Workspace, filters: Filters) -> Iterator[Entry]:
    catalog = workspace.catalog
    scope = reading_scope(catalog, workspace.settings, filters)
    for entry in catalog.entries.values():
        if (
            scope.contains(entry.address)
            and passes(entry, filters, workspace.today)
            and (is_shown(catalog, entry, filters) or catalog.is_merged(entry.address))
        ):
            yield entry


def list_problems(workspace: Workspace, filters: Filters) -> tuple[Finding, ...]:
    """Return one finding for each file in the wings and rooms of the filters that cannot be read in full."""
    return problems_in(workspace.catalog, reading_scope(workspace.catalog, workspace.settings, filters))


def count_hidden(workspace: Workspace, filters: Filters, listed: Sequence[Entry]) -> Mapping[str, int]:
    """Count the entries that pass the filters but are not listed: drafts as `draft`, entries not current as `ended`.

    Another version of a listed entry, such as a proposed one, is counted, too.
    """
    shown = {entry.address: entry for entry in listed}
    everything = list_entries(workspace, replace(filters, include_drafts=True, include_deprecated=True))
    hidden = [entry for entry in everything if shown.get(entry.address) is not entry]
    drafts = sum(entry.status is Status.DRAFT for entry in hidden)
    return {"draft": drafts, "ended": len(hidden) - drafts}


def show(workspace: Workspace, names: Sequence[str], wings: Sequence[str] = ()) -> tuple[ShownEntry, ...]:
    """Return the entries with the given names, as their files state them.

    A name is an address or a short form of one; `wings` limits which entries a short name can refer to. Raises
    NotFoundError, and UsageError for a name of several entries.
    """
    entries = view_of(workspace).checkout.catalog.entries
    return in_full(workspace, [entries[address] for address in resolve_names(workspace, names, wings)])


def branch_state_notes(workspace: Workspace, listed: Iterable[Entry]) -> dict[str, str]:
    """Return a short remark on each listed entry that is only proposed or not approved, by address."""
    branch_states = ((entry.address, _catalog_of(workspace, entry).branch_state(entry.address)) for entry in listed)
    return {address: one.mark or one.note for address, one in branch_states if one is not None}


class EntryExcerpt(Struct, frozen=True):
    """The excerpt of one entry for some words; `heads` are the entry itself or its current successors.

    `content` omits paragraphs that the session has already seen. `was_shown` is "all", "in part", or empty if the
    session has seen nothing of the entry. `note` is for the session to store.
    """

    entry: Entry
    content: str
    heads: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()
    was_shown: str = ""
    note: str = ""
    is_title_alone: bool = False


def show_about(
    workspace: Workspace,
    names: Sequence[str],
    words: Sequence[str],
    *,
    wings: Sequence[str] = (),
    shown: Shown = NOTHING_SHOWN,
) -> tuple[EntryExcerpt, ...]:
    """Return excerpts of entries with the passages that match some words.

    `words` has one text for all names, or one text for each name in the same order. Raises NotFoundError, and
    UsageError for a blank text, another number of texts, or a name of several entries.
    """
    if not all(one.strip() for one in words):
        raise UsageError("`about` is empty; write some words, or leave it out to get the whole text")
    if len(words) not in (1, len(names)):
        raise UsageError(
            f"`about` has {len(words)} values, and `address` has {len(names)}; give one for all, or one for each"
        )
    checkout = view_of(workspace).checkout
    # Do not update the index only to find mentions.
    mentions = Mentions(checkout, searches=not checkout.index.is_behind(live=checkout.catalog.digests))
    groups = [[name] for name in names] if len(words) > 1 else [list(names)]
    found, notes, catalog = list[EntryExcerpt](), dict(shown), checkout.catalog
    for group, about in zip(groups, words, strict=True):
        weights = dict.fromkeys(ask(about).terms, 1.0)
        for address in resolve_names(workspace, group, wings):
            entry, digest, body = catalog.entries[address], catalog.digests[address], catalog.body(address)
            seen = parts_shown(notes.get(address, ""), digest)
            content = content_of(entry, body)
            text = content if size_of(content) <= WHOLE else excerpt(entry, body, ABOUT, weights)
            marks = seen | marks_of(paragraphs_of(text)) if text != content else ALL
            notes[address] = note_of(digest, marks)
            relations = {
                "claimed_by": catalog.lineage.claimed_by(address),
                "amended_by": catalog.derived.amended_by(address),
            }
            one = EntryExcerpt(
                entry=entry,
                content=unseen_paragraphs(text, seen),
                heads=catalog.lineage.heads(address),
                # The reader looks for words of the entry itself, so entries that only mention it are listed by id.
                mentions=() if seen >= ALL else merge_mentions(mentions.of(entry, relations)),
                was_shown="all" if seen >= ALL else "in part" if seen else "",
                note=notes[address],
                is_title_alone=is_title_alone(content),
            )
            found.append(one)
    return tuple(found)
