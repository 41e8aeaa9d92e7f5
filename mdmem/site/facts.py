"""Collect the facts that the pages show (entries, history, code, findings), and define the path of each page."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from urllib.parse import quote

from markupsafe import Markup, escape
from msgspec import Struct

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError
from mdmem.markdown.body import cut_at_word
from mdmem.markdown.parse import may_have_links, without_code
from mdmem.model.entry import Entry, Status, Wing, day_of, instant_of
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Severity
from mdmem.model.globs import all_matches, fixed_part
from mdmem.model.text import visible
from mdmem.render.lineage import BoxState, Relations, state_of
from mdmem.site.markup import addresses_in
from mdmem.store.catalog.links import references_in
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.history import Commit, history
from mdmem.store.workspace.visibility import visible_commits
from mdmem.store.workspace.workspace import Workspace

# The most bytes of a file name; most file systems allow 255.
_MAX_LENGTH = 200


def _file_name(name: str) -> str:
    """Return a name, or its hash if it is too long, unprintable, or could be the file name of another page."""
    content = os.fsencode(name)
    if len(content) <= _MAX_LENGTH and name.isprintable() and "~" not in name and name.casefold() != "index.html":
        return name
    return f"~{hashlib.sha256(content).hexdigest()[:32]}"


def page_of(address: str) -> str:
    """Return the path of the page of an entry."""
    return f"entries/{'/'.join(map(_file_name, address.split('/')))}.html"


def page_of_wing(wing: str) -> str:
    """Return the path of the page of a wing."""
    return f"wings/{_file_name(wing)}.html"


def link_to_room(wing: str, room: str) -> str:
    """Return the link to a room in the page of its wing, with percent-encoding."""
    return f"{quote(page_of_wing(wing))}#{quote(room)}"


def up_from(page: str) -> str:
    """Return the relative path from a page to the folder of the site."""
    return "../" * page.count("/")


_LONGEST_TITLE, _LONGEST_REASON = 300, 600


class Row(Struct, frozen=True):
    """An entry in a list. `page` is the percent-encoded path of its page; `amended_by` are the amending entries."""

    entry: Entry
    page: str
    title: Markup
    state: BoxState
    amended_by: Sequence[str]

    @property
    def is_current(self) -> bool:
        """Return whether the entry is active or under review, and not superseded by a current entry."""
        return self.state in (BoxState.CURRENT, BoxState.REVIEWED)


class Event(Struct, frozen=True):
    """An event of the timeline. The field `what` is `new`, `replaces`, `replaced` or `deprecated`.

    The field `replaced` has the addresses of the entries that the entry at `address` replaces.
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
    def month(self) -> str:
        """Return the month of the event, such as `2026-03`."""
        return self.day.isoformat()[:7]


class SiteFacts(Struct, frozen=True, dict=True):
    """The facts of a workspace, each computed once, when it is first used."""

    workspace: Workspace

    @property
    def catalog(self) -> Catalog:
        """Return the catalog of the workspace, with the entries that its caller may see."""
        return self.workspace.catalog

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, sorted by authority, then title, then address."""
        return tuple(sorted(self.catalog.entries.values(), key=lambda one: (one.type.rank, one.title, one.address)))

    @cached_property
    def wings(self) -> tuple[Wing, ...]:
        """Return the wings, projects first."""
        return tuple(sorted(self.catalog.wings.values(), key=lambda one: (one.is_shared, one.name)))

    @cached_property
    def rooms(self) -> Mapping[tuple[str, str], tuple[Entry, ...]]:
        """Return the entries of each room, by wing and room; empty for a room in which no file can be parsed."""
        found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.wing, entry.room].append(entry)
        for path in self.catalog.broken:
            wing, room, _ = path.split("/", 2)
            if wing in self.catalog.wings:
                found[wing, room] += ()
        return {place: tuple(found[place]) for place in sorted(found)}

    @cached_property
    def rows(self) -> Mapping[str, Row]:
        """Return a Row for each entry, by address."""
        return {
            one.address: Row(
                one,
                quote(page_of(one.address)),
                with_code(cut_at_word(one.title, _LONGEST_TITLE)),
                state_of(self.catalog, one.address, today=self.workspace.today),
                self.catalog.derived.amended_by(one.address),
            )
            for one in self.entries
        }

    def rows_of(self, entries: Iterable[Entry]) -> list[Row]:
        """Return a Row for each of some entries."""
        return [self.rows[entry.address] for entry in entries]

    @cached_property
    def current(self) -> tuple[Entry, ...]:
        """Return the current entries."""
        return tuple(entry for entry in self.entries if self.catalog.lineage.is_current(entry.address))

    @cached_property
    def relations(self) -> Relations:
        """Return the relations between entries, which the diagrams of the site show."""
        return Relations(self.catalog)

    @cached_property
    def bodies(self) -> Mapping[str, str]:
        """Return the bodies of all entries that can still be read, reduced to the text that the caller may see."""
        addresses, found = list(self.catalog.entries), dict[str, str]()
        if not self.workspace.access.is_narrow:
            return {address: body for address, body, _ in self.catalog.bodies(addresses)}
        for address in addresses:
            with suppress(MdmemError):
                found[address] = self.catalog.body(address)
        return found

    @cached_property
    def linked_from(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return, by address, the entries that link to it, each with the field of the link, or `in its text`."""
        known = self.catalog.entries
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for entry in known.values():
            for name in LINK_FIELDS:
                for other in entry.links(name):
                    found[other].setdefault(entry.address, name.replace("_", " "))
        for address, body in sorted(self.bodies.items()):
            # Removing the code from a body is slow.
            prose = {address: without_code(body)} if may_have_links(body) else {}
            for other in (*addresses_in(body), *(one.target or "" for one in references_in(prose, known))):
                if other in known and other != address:
                    found[other].setdefault(address, "in its text")
        return {address: sorted(those.items()) for address, those in found.items()}

    @cached_property
    def commits(self) -> Mapping[str, Sequence[Commit]]:
        """Return the commits of each entry's file, newest first, by address; empty outside git or if git fails."""
        location, prefix = self.workspace.location, self.workspace.location.prefix
        if location.repository is None:
            return {}
        until = next(iter(self.workspace.commits), None)
        listed = history(location.repository, [location.under or "."], until=until)
        shown = {one.digest: one for one in visible_commits(self.workspace, listed)}
        found: dict[str, list[Commit]] = defaultdict(list)
        for commit in listed:
            for path in commit.paths:
                address = path.removeprefix(prefix).removesuffix(".md")
                if address in self.catalog.entries:
                    found[address].append(shown[commit.digest])
        return found

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings of `mdmem check`; none if it cannot run."""
        try:
            return tuple(check(self.workspace, CheckRequest()).findings)
        except MdmemError:
            return ()

    @cached_property
    def problems(self) -> tuple[Finding, ...]:
        """Return the findings that are errors or warnings."""
        return tuple(one for one in self.findings if one.severity in (Severity.ERROR, Severity.WARNING))

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """Return the sorted paths, from the repository's top, of the files that git tracks outside the memory."""
        prefix = self.workspace.location.prefix
        # For a memory at the top, only the wings that the caller may not see are left out.
        others = (prefix,) if prefix else tuple(f"{name}/" for name in self.workspace.tree.hidden())
        return tuple(path for path in sorted(self.workspace.tracked_files()) if not path.startswith(others))

    @cached_property
    def matched_files(self) -> Mapping[str, Sequence[str]]:
        """Return, by address of each entry with globs, the sorted tracked files that its globs match."""
        found: dict[str, frozenset[str]] = {}
        for glob in dict.fromkeys(glob for entry in self.entries for glob in entry.applies_to):
            # A glob is tried only on the files that begin with its fixed part.
            start, files = fixed_part(glob), self.tracked
            files = () if start is None else files[bisect_left(files, start) : bisect_left(files, f"{start}\U0010ffff")]
            found[glob] = frozenset(all_matches([glob], files))
        return {
            entry.address: sorted(frozenset[str]().union(*(found[glob] for glob in entry.applies_to)))
            for entry in self.entries
            if entry.applies_to
        }

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Return one event for each added entry, and for each deprecated one without an added successor; newest first.

        If an entry replaces others, there is one event for all of them.
        """
        lineage, found = self.catalog.lineage, list[Event]()
        for entry in self.entries:
            olds = self._replaced_by(entry)
            if entry.status is not Status.DRAFT and entry.created_at is not None:
                reason = _joined([old.why_replaced(entry) for old in olds] if olds else [entry.reason])
                what, replaced = "replaces" if olds else "new", tuple(old.address for old in olds)
                found.append(Event(entry.created_at, entry.address, what, reason, replaced))
            if entry.deprecated_at is None or lineage.is_current(entry.address):
                continue
            successors = (self.catalog.entries[one] for one in lineage.successors.get(entry.address, ()))
            if not any(entry in self._replaced_by(new) for new in successors):
                what = "replaced" if entry.superseded_by else "deprecated"
                found.append(Event(entry.deprecated_at, entry.address, what, self.why_ended(entry)))
        # If two events have the same time, a new entry comes before a deprecated one.
        found.sort(key=lambda one: (one.day, instant_of(one.moment), one.what != "new"), reverse=True)
        return tuple(found)

    def _replaced_by(self, entry: Entry) -> list[Entry]:
        """Return the entries that an entry replaced on the day of its creation, so that both changes are one event."""
        if entry.status is Status.DRAFT or entry.created_at is None:
            return []
        begun = day_of(entry.created_at)
        olds = (self.catalog.entries[one] for one in self.catalog.lineage.predecessors.get(entry.address, ()))
        return [one for one in olds if one.deprecated_at is None or day_of(one.deprecated_at) == begun]

    def why_ended(self, entry: Entry) -> str:
        """Return why an entry is no longer current, as stated by the entry or its successors; may be empty."""
        successors = self.catalog.lineage.successors.get(entry.address, ())
        reasons = [entry.why_replaced(self.catalog.entries[one]) for one in successors]
        return _joined(reasons or [entry.why_ended])


def with_code(text: str) -> Markup:
    """Return a text as HTML, with the parts between backticks as code, unless the number of backticks is odd."""
    shown = str(escape(visible(text)))
    parts = shown.replace("``", "`").split("`")
    if len(parts) % 2 == 0:
        return Markup(shown)
    return Markup("".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts)))


def shown_reason(reason: str | None) -> Markup:
    """Return the reason for a change as HTML, shortened if it is long."""
    return with_code(cut_at_word(reason or "", _LONGEST_REASON))


def without_title(body: str, title: str) -> str:
    """Return a body without its first heading if this heading repeats the title."""
    first, _, rest = body.lstrip().partition("\n")
    return rest if first.startswith("#") and first.lstrip("# ").strip() == title.strip() else body


def _joined(reasons: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))
