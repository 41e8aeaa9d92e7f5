"""Find the entries of a catalog that need maintenance."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import ceil

from msgspec import Struct, field

from mdmem.markdown.similarity import NearPair, jaccard, near_groups, near_pairs, words_of
from mdmem.model.entry import Entry, EntryType, NodeLabel, Status, label_of
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import all_matches, fixed_part
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.pending_writes import Blocked, PendingWrite
from mdmem.store.workspace.remarks import Freshness, age_of, freshness_on, last_review
from mdmem.write.similar import REVIEW_FROM, subject_of

# The MCP contract fixes these numbers. A decision is stale only after 180 full days.
DUPLICATE_ABOVE = 0.9
_STALE_FROM = {EntryType.DECISION: 181, EntryType.PATTERN: 90}
# A line that is in at least ten texts, and in 5 % of all texts, comes from a template.
_TEMPLATE_LEAST, _TEMPLATE_SHARE = 10, 0.05

Groups = tuple[tuple[str, ...], ...]
Changes = Callable[[Sequence[str], date], Mapping[str, date]]
"""A function that returns the files below some paths that changed since a day, with the day of the last change.

Paths are relative to the top of the repository.
"""


class StaleItem(Struct, frozen=True):
    """An entry that nobody verified for longer than its type allows. `label` is the contract's name for its kind."""

    id: str
    label: NodeLabel
    title: str
    age_days: int
    freshness: Freshness


class HygieneReport(Struct, frozen=True, kw_only=True):
    """The entries that need maintenance, the writes that did not complete, and what the run recorded.

    `near` are pairs of similar rules. `drifted` are groups of notes about entities with the same name. `blocked` are
    the writes that mdmem stopped because of a similar entry. `titles` has the titles of all examined entries.
    `recorded` are the manifests that the run wrote. `findings` is not part of the MCP contract.
    """

    checked_at: date
    project_id: str | None = None
    scope: str | None = None
    duplicates: Groups = ()
    near: tuple[NearPair, ...] = ()
    drifted: Groups = ()
    unresolved: tuple[PendingWrite, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    stale_items: tuple[StaleItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    commit: str | None = None
    remarks: tuple[str, ...] = ()
    pending_only: bool = False

    @property
    def duplicates_found(self) -> int:
        """Return the number of redundant entries: one less than the size of each group, summed up."""
        return sum(len(group) - 1 for group in self.duplicates)

    def stale(self, label: NodeLabel) -> list[str]:
        """Return the sorted addresses of the stale entries with a label."""
        return sorted(one.id for one in self.stale_items if one.label is label)

    @property
    def is_clean(self) -> bool:
        """Return whether nothing needs maintenance."""
        kinds = (self.duplicates, self.near, self.stale_items, self.drifted, self.findings)
        return not any((*kinds, self.unresolved, self.blocked))


def examine(
    catalog: Catalog,
    today: date,
    *,
    wings: Collection[str],
    text: Mapping[str, str],
    changes: Changes,
    found: Sequence[Finding] = (),
    is_focused: bool = False,
) -> HygieneReport:
    """Return a report of the entries in some wings that need maintenance. Nothing is changed.

    Drafts are compared too, because two agents may write the same rule. `text` is the text of each entry by address,
    and `found` are the findings of checks. With `is_focused`, entries without a `focus` field are left out.
    """

    def is_meant(entry: Entry) -> bool:
        return entry.wing in wings and (not is_focused or entry.focus is not None)

    lineage = catalog.lineage
    current = [entry for entry in catalog.entries.values() if is_meant(entry) and lineage.is_current(entry.address)]
    # A draft that supersedes an entry may be similar to that entry.
    drafts = [
        entry
        for entry in catalog.entries.values()
        if is_meant(entry) and entry.status is Status.DRAFT and not _supersedes(catalog, entry)
    ]
    addresses = frozenset(entry.address for entry in current)
    duplicates = _find_duplicates([*current, *drafts], text)
    stale_items = sorted(_find_stale(catalog, current, today), key=lambda item: (-item.age_days, item.id))
    stale = {one.id for one in stale_items}
    checked = (one for one in found if one.address in addresses)
    findings = (
        *(one for one in checked if one.code != "review-overdue" or one.address not in stale),
        *_find_changed_code(catalog, current, changes),
    )
    return HygieneReport(
        checked_at=today,
        duplicates=duplicates,
        near=_find_near([*current, *drafts], text, duplicates),
        drifted=_find_drifted([*current, *drafts]),
        stale_items=tuple(stale_items),
        findings=tuple(sorted(findings, key=lambda one: one.sort_key)),
        titles={one.address: one.title for one in current} | {one.address: f"{one.title} (draft)" for one in drafts},
    )


def _find_duplicates(entries: Iterable[Entry], text: Mapping[str, str]) -> Groups:
    """Return the groups of entries of the same type and wing whose titles and texts are nearly the same."""
    groups: list[tuple[str, ...]] = []
    for alike in _grouped(entries, lambda one: (one.wing, one.type)):
        texts = ((one.address, words_of(f"{one.title}\n{text.get(one.address, '')}")) for one in alike)
        groups += near_groups(texts, above=DUPLICATE_ABOVE)
    return tuple(sorted(groups))


def _grouped(entries: Iterable[Entry], key: Callable[[Entry], Hashable]) -> Collection[list[Entry]]:
    found: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found.values()


def _find_near(entries: Iterable[Entry], text: Mapping[str, str], duplicates: Groups) -> tuple[NearPair, ...]:
    """Return pairs of similar, unlinked rules of the same wing and type. The threshold is the one that a save uses.

    Words from a common template do not count. Two rules that contradict each other are usually similar.
    """
    group_of = {address: group for group in duplicates for address in group}
    found = []
    rules_only = (entry for entry in entries if entry.type.is_rule)
    for rules in _grouped(rules_only, lambda one: (one.wing, one.type)):
        by_address = {one.address: one for one in rules}
        subjects = {address: subject_of(one, text.get(address, "")) for address, one in by_address.items()}
        own = _without_template({address: one.text for address, one in subjects.items()})
        for pair in near_pairs(((address, words_of(one)) for address, one in own.items()), share=REVIEW_FROM):
            share = jaccard(subjects[pair.a].words, subjects[pair.b].words)
            is_duplicate = pair.a in group_of and group_of[pair.a] is group_of.get(pair.b)
            one, other = by_address[pair.a], by_address[pair.b]
            linked = {link for name in LINK_FIELDS for link in (*one.links(name), *other.links(name))}
            if share >= REVIEW_FROM and not is_duplicate and linked.isdisjoint((pair.a, pair.b)):
                found.append(NearPair(pair.a, pair.b, share))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b)))


def _without_template(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts without the headings and prompts that come from a common template. The keys stay the same."""
    times = Counter(line for text in texts.values() for line in {line.strip() for line in text.splitlines()})
    least = max(_TEMPLATE_LEAST, ceil(_TEMPLATE_SHARE * len(texts)))
    return {
        name: "\n".join(line for line in text.splitlines() if times[line.strip()] < least)
        for name, text in texts.items()
    }


def _find_changed_code(catalog: Catalog, current: Iterable[Entry], changes: Changes) -> Iterator[Finding]:
    """Yield a finding for each entry if files in its `applies_to` changed after it was last verified."""
    asked = [(entry, day) for entry in current if entry.applies_to and (day := last_review(entry)) is not None]
    globs = {glob for entry, _ in asked for glob in entry.applies_to}
    places = {part for glob in globs if (part := fixed_part(glob)) is not None}
    if not places:
        return
    # Git accepts a folder together with a folder inside it. The empty path means the top of the repository.
    days = changes([""] if "" in places else sorted(places), min(day for _, day in asked))
    covered = {glob: list(all_matches([glob], days)) for glob in globs}
    for entry, day in asked:
        newer = {path for glob in entry.applies_to for path in covered[glob] if days[path] > day}
        if newer:
            last = max(days[path] for path in newer)
            path = min(path for path in newer if days[path] == last)
            more = f", with {len(newer) - 1} more" if len(newer) > 1 else ""
            verb = "verified" if entry.verified_at is not None else "written"
            message = f"`{path}` changed on {last}{more}, after it was {verb} on {day}"
            help_ = f"read it against the code, then type `mdmem verify {entry.address}`, or supersede it"
            place = catalog.place(entry.address, "applies_to")
            yield Finding("unverified-since-change", message, place, help_, entry.address)


def _supersedes(catalog: Catalog, entry: Entry) -> bool:
    return bool(entry.supersedes) or entry.address in catalog.lineage.predecessors


def _find_stale(catalog: Catalog, current: Iterable[Entry], today: date) -> Iterator[StaleItem]:
    """Yield the decisions and patterns that were verified too long ago, except decisions that supersede another."""
    for entry in current:
        age, limit = age_of(entry, today), _STALE_FROM.get(entry.type)
        if age is None or limit is None or age < limit:
            continue
        if entry.type is EntryType.PATTERN or not _supersedes(catalog, entry):
            yield StaleItem(entry.address, label_of(entry), entry.title, age, freshness_on(entry, today))


def _find_drifted(entries: Iterable[Entry]) -> Groups:
    """Return the groups of entities in one wing and focus that have the same name, ignoring case."""
    by_name: dict[tuple[str, str | None, str], list[str]] = {}
    for entry in entries:
        if entry.entity:
            name = " ".join(unicodedata.normalize("NFKC", entry.entity).casefold().split())
            by_name.setdefault((entry.wing, entry.focus, name), []).append(entry.address)
    return tuple(sorted(tuple(sorted(group)) for group in by_name.values() if len(group) > 1))
