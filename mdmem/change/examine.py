"""What needs maintenance among the entries of a catalog.

Entries in force that nobody verified since the code they apply to changed.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from mdmem.change.hygiene_report import Groups, HygieneFindings, StaleItem
from mdmem.change.near_duplicates import NearPair, alike, near_ones, near_pairs, numbered, without_template
from mdmem.markdown.similarity import REVIEW_FROM, jaccard, words_once
from mdmem.model.entry import Entry, EntryType, Status, Wing, label_of
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Place
from mdmem.model.globs import fixed_part, matches
from mdmem.store.catalog import Catalog
from mdmem.store.state.pending_writes import Blocked, PendingWrite
from mdmem.store.workspace.remarks import age_of, freshness_of, looked_at
from mdmem.write.plan import subject_of

CODE = "unverified-since-change"


def outgrown(
    catalog: Catalog, held: Iterable[Entry], changes: Callable[[Sequence[str], date], Mapping[str, date]]
) -> Iterator[Finding]:
    """Yield one finding for each entry of which files that `applies_to` covers changed on a later day.

    `changes` is asked once, for all entries.
    """
    asked = [(entry, day) for entry in held if entry.applies_to and (day := looked_at(entry)) is not None]
    places = _outermost(
        {part for entry, _ in asked for glob in entry.applies_to if (part := fixed_part(glob)) is not None}
    )
    if not places:
        return
    covered = _Covered(changes(places, min(day for _, day in asked)))
    for entry, day in asked:
        newer = covered.after(day, entry.applies_to)
        if newer:
            yield _finding_outgrown(catalog, entry, day, newer)


def _finding_outgrown(catalog: Catalog, entry: Entry, day: date, newer: Mapping[str, date]) -> Finding:
    last = max(newer.values())
    path = min(path for path, changed in newer.items() if changed == last)
    more = f", with {len(newer) - 1} more" if len(newer) > 1 else ""
    verb = "verified" if entry.verified_at is not None else "written"
    message = f"`{path}` changed on {last}{more}, after it was {verb} on {day}"
    help_ = f"read it against the code, then type `mdmem verify {entry.address}`, or supersede it"
    return Finding(CODE, message, catalog.place(entry.address, "applies_to"), help_, entry.address)


def _outermost(places: Iterable[str]) -> list[str]:
    """Return the paths that lie below no other of them; only the top, which is empty, where it is among them."""
    kept: list[str] = []
    for place in sorted(places, key=lambda one: one.split("/")):
        if place == "":
            return [""]
        if not kept or not f"{place}/".startswith(f"{kept[-1]}/"):
            kept.append(place)
    return kept


class _Covered:
    """Changed paths by the globs that cover them; a glob that many entries name is matched once."""

    def __init__(self, days: Mapping[str, date]) -> None:
        self._days = days
        self._paths = sorted(days)
        self._by_glob: dict[str, list[str]] = {}

    def after(self, day: date, globs: Iterable[str]) -> dict[str, date]:
        """Return the covered paths that changed after a day."""
        paths = {path for glob in globs for path in self._of(glob)}
        return {path: self._days[path] for path in paths if self._days[path] > day}

    def _of(self, glob: str) -> list[str]:
        if glob not in self._by_glob:
            self._by_glob[glob] = [path for path in self._below(fixed_part(glob)) if matches(glob, path)]
        return self._by_glob[glob]

    def _below(self, part: str | None) -> Iterator[str]:
        if part is None:
            return
        for index in range(bisect_left(self._paths, part), len(self._paths)):
            if not self._paths[index].startswith(part):
                return
            yield self._paths[index]


EMPTY_ROOM = "empty-room"
COPY_OF_SHARED = "copy-of-shared"
# Entry-model: from .86 one entry says what another says.
COPY_FROM = 0.86
# The contract fixes these three.
DUPLICATE_ABOVE = 0.9
DECISION_DAYS = 180
PATTERN_DAYS = 90
Changes = Callable[[Sequence[str], date], Mapping[str, date]]


def empty_rooms(catalog: Catalog, rooms: Iterable[str]) -> Iterator[Finding]:
    """Yield one finding for each folder of a room that holds nothing but a README, by path.

    A folder with other files than entries is no empty room: pictures lie there, or what the checks name.
    """
    listed = [file.path for file in (*catalog.files, *catalog.others) if file.path.count("/") >= 2]
    held = {_room(path) for path in listed if path.count("/") > 2 or not path.endswith("/README.md")}
    for room in sorted({*rooms, *map(_room, listed)} - held):
        help_ = f"write an entry with `mdmem new TYPE {room}`, or remove the folder"
        yield Finding(EMPTY_ROOM, "holds no entry", Place(room), help_)


def _room(path: str) -> str:
    wing, room, _ = path.split("/", 2)
    return f"{wing}/{room}"


def copies(
    current: Iterable[Entry], wings: Mapping[str, Wing], text: Mapping[str, str], *, held: Collection[str]
) -> Iterator[Finding]:
    """Yield one finding for each held project entry that repeats one of its type from a shared wing it reads.

    What they say is compared, without their titles; an entry that names the other in `overrides` is no copy.
    """
    by_type: dict[EntryType, list[Entry]] = {}
    for entry in current:
        by_type.setdefault(entry.type, []).append(entry)
    for entries in by_type.values():
        shared = frozenset(entry.address for entry in entries if wings[entry.wing].is_shared)
        if shared and len(shared) < len(entries):
            yield from _copies_of(shared, {entry.address: entry for entry in entries}, wings, text, held=held)


def _copies_of(
    shared: Collection[str],
    entries: Mapping[str, Entry],
    wings: Mapping[str, Wing],
    text: Mapping[str, str],
    *,
    held: Collection[str],
) -> Iterator[Finding]:
    compared = [address for address in entries if address in shared or address in held]
    texts = numbered((address, words_once(text.get(address, ""))) for address in compared)
    for address, found in near_ones(texts, shared, share=COPY_FROM).items():
        entry = entries[address]
        read = wings[entry.wing].shared_wings
        for near in found:
            other = entries[near.name]
            if other.address not in entry.overrides and (read is None or other.wing in read):
                yield _finding(entry, other, near.share)
                break


def _finding(entry: Entry, shared: Entry, share: float) -> Finding:
    message = f"repeats the shared `{shared.address}`: they share {share:.0%} of their words"
    reason = f"repeats {shared.address}"
    help_ = f"type `mdmem deprecate {entry.address} --reason '{reason}'`, or add `overrides: {shared.address}`"
    return Finding(COPY_OF_SHARED, message, Place(entry.path), help_, entry.address, other=Place(shared.path))


class Surroundings(Struct, frozen=True, kw_only=True):
    """What the catalog does not hold.

    `text` gives what an entry says; `changes` the newest day of change of the files below some paths, of those since a
    day; both paths count from the repository's top. `rooms` are the folders of rooms, `found` what checks found.
    """

    text: Mapping[str, str]
    changes: Changes
    rooms: Sequence[str] = ()
    unresolved: Sequence[PendingWrite] = ()
    blocked: Sequence[Blocked] = ()
    found: Sequence[Finding] = ()


class HygieneReach(Struct, frozen=True, kw_only=True):
    """Which entries are examined: those of some wings; `scope` focus narrows to entries that have a focus.

    `project_id` and `scope` are the words of whoever asked.
    """

    wings: frozenset[str]
    project_id: str | None = None
    scope: str | None = None

    def holds(self, entry: Entry) -> bool:
        """Say whether an entry is examined."""
        return entry.wing in self.wings and (self.scope != "focus" or entry.focus is not None)


def examine(catalog: Catalog, around: Surroundings, *, today: date, reach: HygieneReach) -> HygieneFindings:
    """Return what needs maintenance among the entries in force within reach; nothing is changed.

    Drafts count where entries are compared with one another: agents write drafts, and two of them may write the same.
    Everything is sorted by address, stale items from the oldest on.
    """
    current = [entry for entry in catalog.entries.values() if catalog.lineage.is_current(entry.address)]
    held = [entry for entry in current if reach.holds(entry)]
    # A draft that is to replace something says nearly what its predecessor says, and may.
    drafts = [
        entry
        for entry in catalog.entries.values()
        if reach.holds(entry) and entry.status is Status.DRAFT and not _replaces(catalog, entry)
    ]
    addresses = frozenset(entry.address for entry in held)
    duplicates = _duplicates([*held, *drafts], around.text)
    outdated = tuple(entry.address for entry in held if _is_outdated(catalog, entry, today))
    obsolete = tuple(entry.address for entry in held if _is_obsolete(entry, today))
    stale = {*outdated, *obsolete}
    checked = (one for one in around.found if one.address in addresses)
    findings = (
        *(one for one in checked if one.code != "review-overdue" or one.address not in stale),
        *outgrown(catalog, held, around.changes),
        *copies(current, catalog.wings, around.text, held=addresses),
        *(one for one in empty_rooms(catalog, around.rooms) if one.place.path.split("/")[0] in reach.wings),
    )
    return HygieneFindings(
        checked_at=today,
        project_id=reach.project_id,
        scope=reach.scope,
        duplicates=duplicates,
        near=_near([*held, *drafts], around.text, duplicates),
        outdated=outdated,
        obsolete=obsolete,
        drifted=_drifted([*held, *drafts]),
        unresolved=tuple(around.unresolved),
        blocked=tuple(around.blocked),
        stale_items=_stale_items([entry for entry in held if entry.address in stale], today),
        findings=tuple(sorted(findings, key=lambda one: one.sort_key)),
        titles={one.address: one.title for one in held} | {one.address: f"{one.title} (draft)" for one in drafts},
    )


def _replaces(catalog: Catalog, entry: Entry) -> bool:
    return bool(entry.supersedes) or entry.address in catalog.lineage.predecessors


def _is_outdated(catalog: Catalog, entry: Entry, today: date) -> bool:
    """Say whether a decision that supersedes nothing was neither made nor verified in the last 180 days."""
    if entry.type is not EntryType.DECISION or _replaces(catalog, entry):
        return False
    age = age_of(entry, today)
    return age is not None and age > DECISION_DAYS


def _is_obsolete(entry: Entry, today: date) -> bool:
    """Say whether a pattern was not validated for 90 days."""
    age = age_of(entry, today)
    return entry.type is EntryType.PATTERN and age is not None and age >= PATTERN_DAYS


def _duplicates(held: Iterable[Entry], text: Mapping[str, str]) -> Groups:
    """Return the groups of entries of one type and wing that share over .9 of the words of title and text."""
    by_kind: dict[tuple[str, EntryType], list[Entry]] = {}
    for entry in held:
        by_kind.setdefault((entry.wing, entry.type), []).append(entry)
    groups: list[tuple[str, ...]] = []
    for entries in by_kind.values():
        said = ((one.address, words_once(f"{one.title}\n{text.get(one.address, '')}")) for one in entries)
        groups += alike(numbered(said), above=DUPLICATE_ABOVE)
    return tuple(sorted(groups))


def _near(held: Iterable[Entry], text: Mapping[str, str], duplicates: Groups) -> tuple[NearPair, ...]:
    """Return the pairs of rules of one wing and type that saving would hold to be alike, none of which names the other.

    What they share has to be their own: entries made from one template are not alike for that. Two that contradict each
    other and say so nowhere are mostly alike.
    """
    by_kind: dict[tuple[str, EntryType], dict[str, Entry]] = {}
    for entry in held:
        if entry.type.is_rule:
            by_kind.setdefault((entry.wing, entry.type), {})[entry.address] = entry
    told = {address: group for group in duplicates for address in group}
    found = []
    for entries in by_kind.values():
        subjects = {name: subject_of(one, text.get(name, "")) for name, one in entries.items()}
        own = without_template({name: one.text for name, one in subjects.items()})
        pairs = near_pairs(numbered((name, words_once(one)) for name, one in own.items()), share=REVIEW_FROM)
        for one in pairs:
            share = jaccard(subjects[one.a].words, subjects[one.b].words)
            is_told = one.a in told and told[one.a] is told.get(one.b)
            if share >= REVIEW_FROM and not is_told and not _are_linked(entries[one.a], entries[one.b]):
                found.append(NearPair(one.a, one.b, share))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b)))


def _are_linked(one: Entry, other: Entry) -> bool:
    return other.address in _named_by(one) or one.address in _named_by(other)


def _named_by(entry: Entry) -> Iterator[str]:
    return (address for name in LINK_FIELDS for address in getattr(entry, name))


def _drifted(held: Iterable[Entry]) -> Groups:
    """Return the groups of entities that bear one name, whatever its case, in one wing and focus."""
    by_name: dict[tuple[str, str | None, str], list[str]] = {}
    for entry in held:
        if entry.entity:
            name = " ".join(unicodedata.normalize("NFKC", entry.entity).casefold().split())
            by_name.setdefault((entry.wing, entry.focus, name), []).append(entry.address)
    return tuple(sorted(tuple(sorted(group)) for group in by_name.values() if len(group) > 1))


def _stale_items(stale: Iterable[Entry], today: date) -> tuple[StaleItem, ...]:
    items = [
        StaleItem(entry.address, label_of(entry), entry.title, age, freshness_of(age))
        for entry in stale
        if (age := age_of(entry, today)) is not None
    ]
    return tuple(sorted(items, key=lambda item: (-item.age_days, item.id)))
