"""What the pages show, asked once: entries and how they stand, their history, the code, and what is wrong."""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property

from msgspec import Struct

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError
from mdmem.model.entry import Entry, EntryType, Status, Wing, day_of, instant_of
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import all_matches, fixed_part
from mdmem.render.lineage_graph import Bearings, state_of
from mdmem.store.catalog import Catalog
from mdmem.store.git.history import Commit, history
from mdmem.store.git.process import resolve
from mdmem.store.tree import NarrowedTree
from mdmem.store.workspace.remarks import age_of
from mdmem.store.workspace.visibility import visible_commits
from mdmem.store.workspace.workspace import Workspace

# A file of everything touches nobody's heart: of more files a glob's number alone is told.
MOST_FILES = 40


class BindingEvent(Struct, frozen=True):
    """Something that changed what binds: `what` is new, replaces, replaced or ended.

    What `replaced` names ended with it.
    """

    moment: date
    address: str
    what: str
    reason: str = ""
    replaced: tuple[str, ...] = ()

    @property
    def day(self) -> date:
        """Return the day of the event."""
        return day_of(self.moment)

    @property
    def order(self) -> tuple[date, datetime, bool]:
        """Return what sorts events by time: where a day is all that is stated, an end follows the beginnings."""
        return self.day, instant_of(self.moment), self.what != "new"


class SiteFacts(Struct, frozen=True, dict=True):
    """One reading of a workspace for the pages; every part is built when it is first needed."""

    workspace: Workspace

    @property
    def catalog(self) -> Catalog:
        """Return the entries."""
        return self.workspace.catalog

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Return the entries by authority, then title, then address."""
        return tuple(sorted(self.catalog.entries.values(), key=lambda one: (one.type.rank, one.title, one.address)))

    @cached_property
    def wings(self) -> tuple[Wing, ...]:
        """Return the wings, projects first."""
        return tuple(sorted(self.catalog.wings.values(), key=lambda one: (one.is_shared, one.name)))

    @cached_property
    def rooms(self) -> Mapping[tuple[str, str], tuple[Entry, ...]]:
        """Return the entries of each room, also of one where none can be read."""
        found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.wing, entry.room].append(entry)
        for path in self.catalog.broken:
            wing, room, _ = path.split("/", 2)
            found[wing, room] += ()
        return {place: tuple(found[place]) for place in sorted(found)}

    def is_current(self, entry: Entry) -> bool:
        """Say whether an entry is in force and nothing replaced it."""
        return entry.address in self._current

    @cached_property
    def _current(self) -> frozenset[str]:
        is_current = self.catalog.lineage.is_current
        return frozenset(address for address in self.catalog.entries if is_current(address))

    def state(self, entry: Entry) -> str:
        """Return how an entry stands, in one or two words."""
        return self._states[entry.address]

    @cached_property
    def _states(self) -> Mapping[str, str]:
        catalog, today = self.catalog, self.workspace.today
        return {address: state_of(catalog, address, today=today).value for address in catalog.entries}

    @cached_property
    def bearings(self) -> Bearings:
        """Return what the pictures draw besides supersessions."""
        return Bearings(self.catalog)

    def bodies(self, addresses: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield address and body of entries, as the caller may see them."""
        if self.workspace.access.is_narrow:
            yield from ((address, self.catalog.body(address)) for address in addresses)
        else:
            yield from self.catalog.plain_bodies([*addresses])

    @cached_property
    def named_by(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Return who names each entry in a field, and in which."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entry in self.catalog.entries.values():
            for name in LINK_FIELDS:
                for other in entry.links(name):
                    found[other].append((entry.address, name))
        return {address: tuple(sorted(set(named))) for address, named in found.items()}

    @cached_property
    def commits(self) -> Mapping[str, tuple[Commit, ...]]:
        """Return the commits that touched each entry's file, newest first, from one `git log`."""
        location = self.workspace.location
        if location.repository is None:
            return {}
        until = next(iter(self.workspace.commits), None)
        try:
            listed = history(location.repository, [location.under or "."], until=until)
            told = {one.digest: one for one in visible_commits(self.workspace, listed)}
        except MdmemError:
            return {}
        under = self.under
        found: dict[str, list[Commit]] = defaultdict(list)
        for commit in listed:
            for path in commit.paths:
                address = path.removeprefix(under).removesuffix(".md")
                if address in self.catalog.entries:
                    found[address].append(told[commit.digest])
        return {address: tuple(some) for address, some in found.items()}

    @cached_property
    def newest_commit(self) -> tuple[str, str] | None:
        """Return when the newest of these commits was made, and its digest."""
        newest = max((some[0] for some in self.commits.values()), key=lambda one: one.when, default=None)
        return (newest.when, newest.digest) if newest is not None else None

    @property
    def state_of_all(self) -> Sequence[object]:
        """Return what all facts derive from: the same gives the same pages."""
        catalog, repository = self.catalog, self.workspace.location.repository
        head = None
        if repository is not None:
            with contextlib.suppress(MdmemError):
                head = next(iter(self.workspace.commits), None) or resolve(repository, "HEAD")
        findings = [
            (one.code, one.severity, one.address, one.place.path, one.place.line, one.message, one.help)
            for one in self.findings
        ]
        broken = {path: one.findings[0].message for path, one in catalog.broken.items()}
        digests = [sorted(catalog.file_digests.items()), sorted(catalog.digests.items()), sorted(broken.items())]
        aged = [one.address for one in self.unverified]
        return [
            head,
            digests,
            repr(self.workspace.settings),
            sorted(self._states.items()),
            findings,
            self.tracked,
            aged,
        ]

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return what `check` says of the tree; none where it cannot run."""
        try:
            return tuple(check(self.workspace, CheckRequest()).findings)
        except MdmemError:
            return ()

    @cached_property
    def unverified(self) -> tuple[Entry, ...]:
        """Return the rules in force that nobody ever verified for longer than a review may wait, the oldest first.

        What was verified too long ago is a finding.
        """
        aged = ((age_of(one, self.workspace.today), one) for one in self.entries if one.verified_at is None)
        most = self.workspace.settings.review_after_days
        held = [(age, one) for age, one in aged if one.type.is_rule and self.is_current(one)]
        found = [(age, one) for age, one in held if age is None or age > most]
        return tuple(one for _, one in sorted(found, key=lambda pair: (pair[0] is not None, -(pair[0] or 0))))

    @cached_property
    def under(self) -> str:
        """Return what stands before a path of the memory in one of the repository."""
        under = self.workspace.location.under
        return f"{under}/" if under else ""

    @cached_property
    def files_url(self) -> str | None:
        """Return where a host shows the files, as settings say."""
        return self.workspace.settings.files_url

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """Return the tracked files that are no part of the memory."""
        under, tree = self.under, self.workspace.tree
        hidden = tuple(f"{under}{name}/" for name in tree.hidden()) if isinstance(tree, NarrowedTree) else ()
        files = (path for path in sorted(self.workspace.tracked_files()) if not path.startswith(hidden))
        return tuple(path for path in files if not (under and path.startswith(under)))

    @cached_property
    def met(self) -> Mapping[str, tuple[str, ...]]:
        """Return the files that the globs of each entry meet."""
        globs = dict.fromkeys(glob for entry in self.entries for glob in entry.applies_to)
        found = {glob: frozenset(all_matches([glob], self._below(fixed_part(glob)))) for glob in globs}
        return {
            entry.address: tuple(sorted(frozenset[str]().union(*(found[glob] for glob in entry.applies_to))))
            for entry in self.entries
            if entry.applies_to
        }

    def _below(self, beginning: str | None) -> Sequence[str]:
        """Return the tracked files whose path begins so: no rule is put to every file of the repository."""
        if beginning is None:
            return ()
        at = bisect_left(self.tracked, beginning)
        return self.tracked[at : bisect_left(self.tracked, f"{beginning}\U0010ffff", at)]

    @cached_property
    def events(self) -> tuple[BindingEvent, ...]:
        """Return what changed what binds, the newest first, as the entries' own dates have it."""
        return tuple(sorted(self._events(), key=lambda one: one.order, reverse=True))

    def _events(self) -> Iterator[BindingEvent]:
        for entry in self.entries:
            if entry.status is not Status.DRAFT and entry.created_at is not None:
                olds = self._replaced_by(entry)
                reason = _joined([old.why_replaced(entry) for old in olds] if olds else [entry.reason])
                what, replaced = "replaces" if olds else "new", tuple(old.address for old in olds)
                yield BindingEvent(entry.created_at, entry.address, what, reason, replaced)
            if entry.deprecated_at is None or self.is_current(entry):
                continue
            if not any(entry in self._replaced_by(new) for new in self._successors(entry)):
                what = "replaced" if entry.superseded_by else "ended"
                yield BindingEvent(entry.deprecated_at, entry.address, what, self.why_ended(entry))

    def why_ended(self, entry: Entry) -> str:
        """Return why an entry that ended did, as it or what replaced it says."""
        return _joined([entry.why_replaced(new) for new in self._successors(entry)] or [entry.why_ended])

    def _successors(self, entry: Entry) -> list[Entry]:
        return [self.catalog.entries[one] for one in self.catalog.lineage.successors.get(entry.address, ())]

    def _replaced_by(self, entry: Entry) -> list[Entry]:
        """Return what ended on the day that an entry began: together, they are one event."""
        if entry.status is Status.DRAFT or entry.created_at is None:
            return []
        begun = day_of(entry.created_at)
        olds = (self.catalog.entries[one] for one in self.catalog.lineage.predecessors.get(entry.address, ()))
        return [one for one in olds if one.deprecated_at is None or day_of(one.deprecated_at) == begun]

    def bound_on(self, day: date) -> tuple[Entry, ...]:
        """Return the rules that were in force on a day, as the entries' own dates have it."""
        return tuple(entry for entry, begin, end in self._spans if begin <= day and (end is None or day < end))

    @cached_property
    def _spans(self) -> tuple[tuple[Entry, date, date | None], ...]:
        """Return each rule that is or was in force, with the day that it began on, and the one that it ended on."""
        return tuple(
            (entry, day_of(entry.created_at), end)
            for entry in self.entries
            if entry.type.is_rule and entry.status is not Status.DRAFT and entry.created_at is not None
            for end in [None if self.is_current(entry) or entry.deprecated_at is None else day_of(entry.deprecated_at)]
            if end is not None or self.is_current(entry)
        )

    @cached_property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return how many entries there are of each type, by how they stand."""
        counted = {kind.value: Counter[str]() for kind in EntryType}
        for entry in self.entries:
            counted[entry.type.value][self.state(entry)] += 1
        return counted


def _joined(reasons: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))
