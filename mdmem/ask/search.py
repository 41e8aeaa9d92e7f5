"""Search entries by words, list them by filters, and show them in full or as excerpts about some words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import AnswerBasis, Form, Item, Question, SearchResult
from mdmem.ask.excerpt import excerpt
from mdmem.ask.fit import ALL, NOTHING_SHOWN, Shown, marks_of, note_of, paragraphs_of, parts_shown, unseen_paragraphs
from mdmem.ask.limits import ABOUT, WHOLE
from mdmem.ask.rank import claimants_first, find_text, fit_key
from mdmem.ask.relate import Mentions, claimants_in_scope, ended_match, merge_mentions, relations_of
from mdmem.ask.retrieve import problems_in
from mdmem.errors import GoneError, UsageError
from mdmem.markdown.body import content_of, size_of
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding
from mdmem.model.lineage import BranchState
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import ask, snippet
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.scope import Filters, Scope, reading_scope
from mdmem.store.workspace.workspace import Workspace


def search(workspace: Workspace, question: Question) -> SearchResult:
    """Return the results for a question, best first, including proposed versions of entries."""
    view = view_of(workspace)
    result = _search_active(view.effective, question)
    if not view.alternatives:
        return result
    other = _search_active(view.checkout, question)
    proposed = [hit for hit in other.hits if hit.address in view.alternatives]
    if proposed and result.hits and proposed[0].score == other.hits[0].score and proposed[0].terms == other.terms:
        # A proposed version with exactly this title must not come before the binding version.
        proposed[0] = replace(proposed[0], score=result.hits[0].score)
    unmatched = tuple(word for word in result.basis.unmatched_terms if word in other.basis.unmatched_terms)
    claimed_by = view.effective.catalog.lineage.claimed_by
    hits = claimants_first(
        sorted([*result.hits, *proposed], key=_order), lambda hit: hit.entry, lambda entry: claimed_by(entry.address)
    )
    return replace(result, hits=tuple(hits), basis=replace(result.basis, unmatched_terms=unmatched))


def _search_active(workspace: Workspace, question: Question) -> SearchResult:
    scope = reading_scope(workspace.catalog, workspace.settings, question.filters)
    return search_in(workspace, scope, question)


def search_in(workspace: Workspace, scope: Scope, question: Question) -> SearchResult:
    """Return the results in a scope, best first; among equal scores, current entries come first."""
    catalog, today, filters = workspace.catalog, workspace.today, question.filters
    answer = find_text(workspace, question, scope.read(catalog, unasked=False))
    found: dict[str, Item] = {}
    for match in answer.matches:
        matched, heads = catalog.entries[match.key], catalog.lineage.heads(match.key)
        shown = [match.key] if is_shown(catalog, matched, filters) and passes(matched, filters, today) else []
        # Its current successors are results only if the match itself passes the filters.
        if match.key not in heads and passes(matched, replace(filters, statuses=()), today):
            shown += heads
        for address in shown:
            entry, heads, is_itself = catalog.entries[address], catalog.lineage.heads(address), address == match.key
            item = found.get(address) or Item(
                entry=entry,
                status=entry.status_on(today),
                heads=heads,
                current=address in heads,
                branch_state=catalog.branch_state(address),
            )
            found[address] = replace(
                item,
                score=max(item.score, match.score),
                terms=item.terms | match.terms if is_itself else item.terms,
                via=item.via if is_itself else tuple(sorted({*item.via, match.key})),
            )
    contained = frozenset[str]().union(*{match.terms for match in answer.matches})
    related = (replace(one, relations=relations_of(catalog, one.entry, scope)) for one in found.values())
    hits = sorted(related, key=_order)
    hits = claimants_first(hits, lambda hit: hit.entry, lambda entry: claimants_in_scope(catalog, entry, scope))
    is_hidden = not (filters.include_drafts or filters.statuses)
    keys = (match.key for match in answer.matches if is_hidden)
    drafts = [key for key in keys if catalog.entries[key].status is Status.DRAFT]
    return SearchResult(
        query=question.words,
        hits=tuple(hits),
        terms=frozenset(answer.terms),
        drafts=sum(passes(catalog.entries[one], filters, today) for one in drafts),
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            unmatched_terms=tuple(dict.fromkeys(answer.words[one] for one in answer.terms if one not in contained)),
            degraded=answer.degraded,
            why_degraded=answer.why,
            source=answer.source,
            ended=ended_match(catalog, answer.matches, filters),
        ),
    )


def _order(hit: Item) -> tuple[object, ...]:
    return (-hit.score, not hit.current, hit.is_proposal, *fit_key(hit))


def passes(entry: Entry, filters: Filters, today: date) -> bool:
    """Return whether an entry passes all filters except wing and room; an expired entry counts as under review."""
    return (
        filters.matches_entry(entry)
        and (not filters.focuses or entry.focus in filters.focuses)
        and (not filters.statuses or not {entry.status, entry.status_on(today)}.isdisjoint(filters.statuses))
    )


def is_shown(catalog: Catalog, entry: Entry, filters: Filters) -> bool:
    """Return whether an entry may be a result, instead of its current successor.

    It may if it is current, or if the filters ask for its status. If entries supersede one another in a circle, so that
    none is current, each of them may be a result, too.
    """
    if entry.status is Status.DRAFT:
        return filters.include_drafts or Status.DRAFT in filters.statuses
    lineage = catalog.lineage
    return filters.includes_ended or lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)


def snippets(workspace: Workspace, result: SearchResult, limit: int) -> list[tuple[Item, str]]:
    """Return the best results, at most `limit`, each with the passage that contains the most words of the question.

    The passage is empty if the file was deleted meanwhile.
    """
    found = list[tuple[Item, str]]()
    for hit in result.hits[:limit]:
        passage = ""
        with suppress(GoneError):
            passage = snippet(_catalog_of(workspace, hit.entry).body(hit.address), hit.terms or result.terms)
        found.append((hit, passage))
    return found


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


def show_about(
    workspace: Workspace,
    names: Sequence[str],
    words: Sequence[str],
    *,
    wings: Sequence[str] = (),
    shown: Shown = NOTHING_SHOWN,
) -> tuple[Item, ...]:
    """Return excerpts of entries with the passages that match some words, without what the session has already seen.

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
    found, notes, catalog = list[Item](), dict(shown), checkout.catalog
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
            is_shown_whole = seen >= ALL
            item = Item(
                entry=entry,
                status=entry.status_on(checkout.today),
                heads=catalog.lineage.heads(address),
                # The reader looks for words of the entry itself, so entries that only mention it are listed by id.
                mentions=() if is_shown_whole else merge_mentions(mentions.of(entry, relations)),
                form=Form.ALREADY_SHOWN if is_shown_whole else Form.SUMMARY,
                content=unseen_paragraphs(text, seen),
                is_continued=bool(seen) and not is_shown_whole,
                note=notes[address],
            )
            found.append(item)
    return tuple(found)
