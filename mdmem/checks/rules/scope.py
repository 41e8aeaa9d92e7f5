"""Checks of amendments, overrides, contradictions, and where an entry applies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from mdmem.checks.amendment_sentences import AmendmentSentence, EntryName
from mdmem.checks.case import Case, Link, written_links
from mdmem.checks.check import check
from mdmem.checks.fixes.base import is_slip, with_choice
from mdmem.checks.paths import MAGIC, TrackedPaths
from mdmem.markdown.links import BodyLink
from mdmem.markdown.patch import add_items, replace_item
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import Entry, Status, Wing
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.derived import is_lower, may_speak_for

if TYPE_CHECKING:
    from mdmem.markdown.similarity import Overlap


_ID = re.compile(r"(?:([a-z]+)-)?0*(\d+)(?:-|\Z)")
# What a number alone is called in prose.
_KINDS = ("adr", "decision", "record")
_SAID = ("amends", "supersedes", "superseded_by", "overrides")


@check("amendment-in-prose", Severity.INFO)
def amendment_in_prose(case: Case) -> Iterator[Finding]:
    """The text of an entry says that it amends another, and `amends` does not name it.

    Who reads the amended entry is told nothing of the change: answers show an amendment with what it amends where the
    field says so, and prose is read by people alone. Only a sentence whose subject is the entry itself counts, with
    amends, revises, updates or the like before the name of an entry in force: its address, a link, or its kind and
    number.

    Fails:

        app/rules/exception.md    This amends app/rules/retry-twice for payments.

    Fix: add the address to `amends`, or to `supersedes` where nothing of the other entry holds any more.
    `mdmem check --unsafe-fixes` adds it to `amends`.
    """
    names = _Names(case)
    for entry in case.catalog.entries.values():
        sentences = case.extract(entry.path).amendments
        if not sentences or not case.is_current(entry.address):
            continue
        # The first that names an entry tells where.
        named = ((names.first(entry, one), one.offset) for one in reversed(sentences))
        for target, offset in {target: offset for target, offset in named if target is not None}.items():
            if _may_amend(case, entry, target):
                message = f"the text says that it amends `{target}`, and `amends` does not"
                help_ = f"add `{target}` to `amends`, or to `supersedes` if nothing of it holds any more"
                shown = case.in_body("amendment-in-prose", entry.address, message, help_, offset=offset)
                document = case.catalog.document(entry.path)
                yield with_choice(shown, f"Add `{target}` to `amends`", add_items, document, "amends", [target])


def _may_amend(case: Case, entry: Entry, target: str) -> bool:
    other = case.catalog.entries.get(target)
    if other is None:
        # A link may lead to a file that cannot be read.
        return False
    is_said = any(target in entry.links(name) for name in _SAID)
    is_allowed = not is_lower(entry, other) and may_speak_for(entry, other, case.catalog.wings)
    return target != entry.address and case.is_current(target) and is_allowed and not is_said


class _Names:
    """What the names in a text mean: kinds with numbers, addresses and links."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def first(self, entry: Entry, sentence: AmendmentSentence) -> str | None:
        """Return the entry that is named first behind the verb."""
        links = self._links.get(entry.address, ())
        linked = [(at, target) for at, target in links if sentence.start <= at < sentence.end]
        meant = ((name.offset, self._meant(entry, name)) for name in sentence.names)
        named = [(at, target) for at, target in meant if target is not None]
        return min(linked + named)[1] if linked or named else None

    def _meant(self, entry: Entry, name: EntryName) -> str | None:
        if name.address:
            return name.address if name.address in self._case.catalog.entries else None
        meant = self._numbered.get((entry.wing, name.kind, name.number), [])
        return meant[0] if len(meant) == 1 else None

    @cached_property
    def _links(self) -> dict[str, list[tuple[int, str]]]:
        links: dict[str, list[tuple[int, str]]] = {}
        for one in self._case.references:
            if one.target is not None:
                links.setdefault(one.address, []).append((one.link.offset, one.target))
        return links

    @cached_property
    def _numbered(self) -> dict[tuple[str, str, int], list[str]]:
        """The entries by wing, kind and number: of `pep-0484`, and of `0007-use-utc`, which any kind may mean."""
        found: dict[tuple[str, str, int], list[str]] = {}
        for address, entry in self._case.catalog.entries.items():
            if numbered := _ID.match(address.rsplit("/", 1)[-1]):
                for kind in [numbered[1]] if numbered[1] else _KINDS:
                    found.setdefault((entry.wing, kind, int(numbered[2])), []).append(address)
        return found


@check("amends-across-types", Severity.ERROR)
def amends_across_types(case: Case) -> Iterator[Finding]:
    """An entry amends one of higher authority.

    The order is invariant, decision, pattern, note. A note cannot change a part of a decision: readers would follow it,
    and whoever guards the decision never saw it. Such an amendment counts for nothing, and answers do not show it.

    Fails:

        app/rules/exception.md    type: note        amends: [app/rules/retry-twice]
        app/rules/retry-twice.md  type: decision

    Fix: give the amending entry the type of the amended one, or write `see` instead.
    """
    for link, old in case.amendments:
        if is_lower(link.entry, old):
            message = f"a {link.entry.type} amends the {old.type} `{old.address}`"
            help_ = f"write `type: {old.type}`, or `see: [{old.address}]` in place of `amends`"
            place = case.catalog.place(link.entry.address, "amends", link.item)
            yield Finding(
                "amends-across-types",
                message,
                place,
                help_,
                link.entry.address,
                other=case.catalog.place(old.address, "type"),
            )


@check("amends-across-wings", Severity.ERROR)
def amends_across_wings(case: Case) -> Iterator[Finding]:
    """An entry amends one of a wing that it cannot speak for.

    Within a wing any entry may amend another, and a project's entry may amend a shared one, for that project alone.
    What another project decided is its own; and a shared entry that changes a project's rule would bind nobody else by
    it. Such an amendment counts for nothing, and answers do not show it.

    Fails:

        shop/rules/exception.md       amends: [web/rules/retry-twice]     (two projects)

    Fix: write the amendment in the other wing, or `see` instead.
    """
    for link, old in case.amendments:
        if not may_speak_for(link.entry, old, case.catalog.wings):
            message = f"amends `{old.address}`, which is not {link.entry.wing}'s to amend"
            help_ = f"write the amendment in the wing {old.wing}, or `see: [{old.address}]` in place of `amends`"
            place = case.catalog.place(link.entry.address, "amends", link.item)
            yield Finding("amends-across-wings", message, place, help_, link.entry.address, other=Place(old.path))


@check("amends-ended", Severity.WARNING)
def amends_ended(case: Case) -> Iterator[Finding]:
    """An entry in force amends one that does not hold any more.

    What replaced the amended entry was written with or without the amendment, and nobody can tell which: the amendment
    is shown with neither. Where the amending entry itself replaced the other, it is no amendment.

    Fails:

        app/rules/exception.md      status: active        amends: [app/rules/retry-once]
        app/rules/retry-once.md     status: deprecated    superseded_by: [app/rules/retry-twice]

    Fix: amend what replaced it, which the finding names, or end the amendment with `mdmem deprecate`.
    """
    for link, old in case.amendments:
        if link.entry.status is Status.DRAFT or old.status is Status.DRAFT or case.is_current(old.address):
            continue
        heads = case.catalog.lineage.heads(old.address)
        named = " or ".join(f"`{head}`" for head in heads if head != link.entry.address)
        after = f", replaced by {named}" if named else ""
        help_ = f"amend {named} if this still holds" if named else "remove the link"
        help_ += f", or end this with `mdmem deprecate {link.entry.address} --reason TEXT`"
        place = case.catalog.place(link.entry.address, "amends", link.item)
        message = f"amends `{old.address}`, which has ended{after}"
        yield Finding(
            "amends-ended", message, place, help_, link.entry.address, other=case.catalog.place(old.address, "status")
        )


@check("override-without-reason", Severity.ERROR)
def override_without_reason(case: Case) -> Iterator[Finding]:
    """An entry overrides a shared rule and does not say why.

    The next reader cannot tell a considered exception from a rule nobody knew, and when the shared rule changes nobody
    knows whether the exception still holds. `reason` counts, and so does a body that gives one, for instance after
    `Rationale:`.

    Fails:

        overrides: ros2/architecture/single-threaded-executor-default

        The navigation node uses a MultiThreadedExecutor.

    Fix: add `reason:` with what is different here.
    """
    for entry in case.catalog.entries.values():
        if entry.overrides and not case.gives_reason(entry):
            message = f"nothing says why it overrides `{entry.overrides[0]}`"
            yield case.on_entry(
                "override-without-reason",
                entry,
                message,
                "add `reason:` with what is different here",
                field="overrides",
            )


@check("override-of-own-wing", Severity.ERROR)
def override_of_own_wing(case: Case) -> Iterator[Finding]:
    """An entry overrides one of its own wing.

    `overrides` lets a project's rule win over a shared one in that project alone, while the shared rule stays in force
    elsewhere. Inside a wing both would bind the same readers: there the newer rule supersedes the older.

    Fails:

        app/rules/retry-five-times.md    overrides: app/rules/retry-twice

    Fix: write it under `supersedes`, and `superseded_by`, `status: deprecated` and `deprecated_at` in the old entry.
    Where both hold, remove `overrides` and narrow one of the two with `applies_to` or `focus`.
    """
    for link in case.distinct_links:
        if link.field == "overrides" and link.target is not None and link.target.startswith(f"{link.entry.wing}/"):
            message = f"overrides `{link.target}` of its own wing"
            help_ = (
                f"write `supersedes: [{link.target}]` instead, or remove it and narrow one with `applies_to` or `focus`"
            )
            place = case.catalog.place(link.entry.address, link.field, link.item)
            yield Finding(
                "override-of-own-wing", message, place, help_, link.entry.address, other=Place(f"{link.target}.md")
            )


@check("override-across-types", Severity.ERROR)
def override_across_types(case: Case) -> Iterator[Finding]:
    """An entry overrides a shared one of higher authority.

    The order is invariant, decision, pattern, note. A note that displaced a decision, or a decision that displaced an
    invariant, would weaken what binds in every project without anybody seeing it, so retrieval gives both.

    Fails:

        app/incident-log/one-night.md    type: note    overrides: base/architecture/retry
        base/architecture/retry.md       type: decision

    Fix: give the overriding entry the type of the other, once those who answer for it agree, or write `see` in place of
    `overrides`.
    """
    for link in case.distinct_links:
        entry, other = link.entry, case.catalog.entries.get(link.target or "")
        if link.field != "overrides" or other is None or other.wing == entry.wing or entry.status is Status.DEPRECATED:
            continue
        if entry.type.rank > other.type.rank:
            message = f"a {entry.type} overrides the {other.type} `{other.address}`, which stays in force"
            help_ = f"write `type: {other.type}`, or `see: [{other.address}]` instead"
            place = case.catalog.place(entry.address, link.field, link.item)
            yield Finding("override-across-types", message, place, help_, entry.address, other=Place(other.path))


@check("override-not-declared", Severity.WARNING)
def override_not_declared(case: Case) -> Iterator[Finding]:
    """A project's entry covers the subject of a shared one, or calls itself a local override, without `overrides`.

    Retrieval then returns both as binding, and only a reader who knows both can tell that one is meant to win. Two
    current entries of one type cover one subject when they bear the same entry-id, or when their titles share most of
    their words. `see` or `conflicts_with` between the two says that they were compared, and ends the finding.

    Fails:

        type: decision
        label: local-override
        title: Use a MultiThreadedExecutor in the navigation node

    Fix: add `overrides:` with the address of the shared rule and a `reason`, or link it with `see` when both hold.
    """
    found: set[str] = set()
    for overlap in _overlaps(case):
        project, shared = overlap.project, overlap.shared
        found.add(project.address)
        message = f"covers the subject of the shared `{shared.address}` without `overrides`: {overlap.why}"
        help_ = f"add `overrides: {shared.address}` and `reason:`, or `see: [{shared.address}]` when both hold"
        place = case.catalog.place(project.address, "title")
        yield Finding("override-not-declared", message, place, help_, project.address, other=Place(shared.path))
    for entry in case.catalog.entries.values():
        if entry.address not in found and _overrides_nothing(case, entry):
            message = "labelled `local-override`, and does not say what it overrides"
            yield case.on_entry(
                "override-not-declared",
                entry,
                message,
                "add `overrides:` with the address of the shared rule",
                field="label",
            )


def _overlaps(case: Case) -> Iterator[Overlap]:
    if any(wing.is_shared for wing in case.catalog.wings.values()):
        current = (entry for address, entry in case.catalog.entries.items() if case.is_current(address))
        yield from undeclared_overlaps(current, case.catalog.wings)


def _overrides_nothing(case: Case, entry: Entry) -> bool:
    if entry.label != "local-override" or entry.status is Status.DEPRECATED:
        return False
    # A value that could not be read has its own finding.
    return not written_links(case.catalog.document(entry.path), "overrides") and "overrides" not in entry.unread


@check("conflict-unresolved", Severity.WARNING)
def conflict_unresolved(case: Case) -> Iterator[Finding]:
    """Two entries in force contradict each other.

    `conflicts_with`, or an entity's relation `CONFLICTS_WITH`, says so openly, and retrieval shows both; until somebody
    decides, each reader decides alone. A pair is reported once, whichever end names it. Where one of the two overrides
    the other, it is decided.

    Fails:

        app/rules/a.md    status: active    conflicts_with: [app/rules/b]
        app/rules/b.md    status: active

    Fix: end one with `mdmem deprecate`, or name the shared entry under `overrides` in the project's. Where both hold,
    narrow one with `applies_to` or `focus`, and remove the link.
    """
    seen: set[frozenset[str]] = set()
    for entry in case.catalog.entries.values():
        for target in entry.contradicts:
            pair = frozenset({entry.address, target})
            if len(pair) < 2 or pair in seen or not all(map(case.is_current, pair)) or _is_decided(case, *pair):
                continue
            seen.add(pair)
            message = f"contradicts `{target}`, and both are in force"
            help_ = f"end one, as with `mdmem deprecate {target} --reason TEXT`, or narrow one and remove the link"
            place, other = (
                _conflict_place(case, entry, target),
                _conflict_place(case, case.catalog.entries[target], entry.address),
            )
            yield Finding("conflict-unresolved", message, place, help_, entry.address, other=other)


def _conflict_place(case: Case, entry: Entry, target: str) -> Place:
    """Return where an entry says that it contradicts another; the head of its file where it does not."""
    if target in entry.contradicts and target not in entry.conflicts_with:
        named = ((item, one.to) for item, one in enumerate(entry.relations) if one.is_contradiction)
        item = next(item for item, to in named if to == target)
        return case.catalog.place(entry.address, "relations", item)
    return case.link_place(entry.address, "conflicts_with", target)


def _is_decided(case: Case, first: str, second: str) -> bool:
    entries = case.catalog.entries
    return second in entries[first].overrides or first in entries[second].overrides


_SUPERSESSION_FIELDS = frozenset({"supersedes", "superseded_by"})


@check("cross-wing-link-undeclared", Severity.WARNING)
def cross_wing_link_undeclared(case: Case) -> Iterator[Finding]:
    """A link leads into a wing that the reader's wing does not read.

    A project reads its own wing and the shared wings that its manifest names, all of them when it names none. A link
    into any other wing leads to a rule that retrieval never returns here, and whose owners do not know who depends on
    it. Supersession links are judged by `supersession-across-wings`. Each entry is reported once for each such wing.

    Fails:

        shop/README.md               shared_wings: [react]
        shop/contracts/money.md      see: [billing/contracts/rounding]

    Fix: add the shared wing to `shared_wings`, or move what both need into a shared wing.
    """
    seen: set[tuple[str, str]] = set()
    for address, target, link in _links(case):
        if case.catalog.hides(target) or target.split("/", 1)[0] in case.catalog.missing_wings:
            continue
        here, there = (case.catalog.wings[one.split("/", 1)[0]] for one in (address, target))
        if (address, there.name) in seen or _reads(here, there):
            continue
        seen.add((address, there.name))
        if there.is_shared:
            help_ = f"add `{there.name}` to `shared_wings` in the README.md of `{here.name}`"
        else:
            shared = f"write `kind: shared` in the README.md of `{there.name}` if its rules are meant for all"
            help_ = f"{shared}, else state here what is needed from it"
        message = f"`{target}` is in the {there.kind} wing `{there.name}`, which `{here.name}` does not read"
        yield Finding(
            "cross-wing-link-undeclared",
            message,
            _cross_wing_place(case, address, link),
            help_,
            address,
            other=Place(f"{target}.md"),
        )


def _links(case: Case) -> Iterator[tuple[str, str, Link | BodyLink]]:
    for link in case.distinct_links:
        if (
            link.target is not None
            and link.field not in _SUPERSESSION_FIELDS
            and not link.target.startswith(f"{link.entry.wing}/")
        ):
            yield link.entry.address, link.target, link
    for found in case.references:
        if found.path is None and found.target is not None:
            yield found.address, found.target, found.link


def _cross_wing_place(case: Case, address: str, link: Link | BodyLink) -> Place:
    if isinstance(link, Link):
        return case.catalog.place(address, link.field, link.item)
    return case.catalog.document(f"{address}.md").body_place(link.offset, link.width)


def _reads(here: Wing, there: Wing) -> bool:
    if here.name == there.name:
        return True
    return there.is_shared and (here.shared_wings is None or there.name in here.shared_wings)


@check("applies-to-nothing", Severity.WARNING)
def applies_to_nothing(case: Case) -> Iterator[Finding]:
    """A glob of `applies_to` matches no file that git tracks.

    The code moved or was never there, so the rule is not shown to whoever edits that code. Globs count from the top of
    the repository: `*` stays in a folder, `**` crosses, a plain path covers what is below it. Ended entries are left
    alone.

    Fails:

        applies_to: ["src/nav/**"]     (the folder is `src/navigation`)

    Fix: write a glob that matches; `git ls-files ':(top,glob)src/nav/**'` lists what one covers. Where the glob was
    counted from a folder above the memory, or one folder or file of it is one letter away from the only such name there
    is, `mdmem check --unsafe-fixes` writes that.
    """
    stated = [one for one in case.catalog.entries.values() if one.applies_to and one.status is not Status.DEPRECATED]
    if not stated or case.facts is None or not case.facts.tracked_in_repository:
        return
    tracked = TrackedPaths(case.facts)
    known: dict[str, bool] = {}
    for entry in stated:
        for item, glob in enumerate(entry.applies_to):
            if glob not in known:
                known[glob] = tracked.has_match(glob)
            if not known[glob]:
                yield _glob_finding(case, entry, item, tracked)


def _glob_finding(case: Case, entry: Entry, item: int, tracked: TrackedPaths) -> Finding:
    glob = entry.applies_to[item]
    meant = _from_top(glob, tracked) or _nearest(glob, tracked)
    message = f"`{glob}` matches no tracked file"
    wanted = f"write `{meant}`" if meant else f"write a glob that `git ls-files ':(top,glob){glob}'` lists files for"
    help_ = f"{wanted}; globs count from the repository's top"
    shown = case.on_entry("applies-to-nothing", entry, message, help_, field="applies_to", item=item)
    document = case.catalog.document(entry.path)
    if meant is None:
        return shown
    return with_choice(shown, f"Write `{meant}`", replace_item, document, "applies_to", item, meant)


def _from_top(glob: str, tracked: TrackedPaths) -> str | None:
    """Return a glob that was counted from a folder above the memory as it is counted from the top."""
    folders = tracked.prefix.rstrip("/").split("/")
    tried = ("/".join([*folders[:depth], glob]) for depth in range(len(folders) - 1, 0, -1))
    return next((one for one in tried if tracked.has_match(one)), None)


def _nearest(glob: str, tracked: TrackedPaths) -> str | None:
    """Return the glob with the first name in it that is not there corrected, where one name alone is a letter away."""
    parts = glob.split("/")
    for depth, part in enumerate(parts):
        names = tracked.names_in("/".join(parts[:depth]))
        if part in names:
            continue
        close = [name for name in names if len(part) > 2 and not MAGIC.search(part) and is_slip(part, name)]
        found = "/".join([*parts[:depth], *close, *parts[depth + 1 :]])
        return found if len(close) == 1 and tracked.has_match(found) else None
    return None
