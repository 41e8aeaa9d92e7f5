"""Checks of scope: amendments, overrides, contradictions, `applies_to`, and wings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from shlex import quote

from mdmem import SETTINGS_NAME
from mdmem.checks.case import Case, Link, at_path
from mdmem.checks.check import check
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.spelling import nearest
from mdmem.record import grouped
from mdmem.store.catalog.model import has_less_authority, may_amend

_SUPERSESSION = frozenset({"supersedes", "superseded_by"})
_RELATED = ("amends", "supersedes", "superseded_by", "overrides")


@check("amendment-in-prose", Severity.INFO)
def amendment_in_prose(case: Case) -> Iterator[Finding]:
    """The text of an entry says that it amends another one, but the field `amends` does not list that entry.

    Answers show an amendment only if it is in the field. The check looks for sentences with a verb such as amends,
    revises or updates, and a current entry: its address, a link, or its kind and number.

    Fails:
        app/rules/exception.md    This amends app/rules/retry-twice for payments.

    Fix: add the address to `amends`, or to `supersedes` if the other entry no longer applies at all.
    """
    entries = case.catalog.entries
    targets = ((one, one.target) for one in case.references if one.target is not None)
    links = grouped((one.address, (one.link.offset, target)) for one, target in targets)
    for entry in entries.values():
        amended: dict[str, int] = {}
        for sentence in case.file_facts(entry.path).amendments if case.is_current(entry.address) else ():
            named = [one for one in links.get(entry.address, ()) if sentence.start <= one[0] < sentence.end]
            for offset, name in sentence.names:
                meant = [one for one in (name, *case.numbered.get(name, ())) if one in entries]
                meant = [one for one in meant if one == name or one.startswith(f"{entry.wing}/")]
                named += [(offset, meant[0])] if len(meant) == 1 else []
            if named:
                amended.setdefault(min(named)[1], sentence.offset)
        for target, offset in amended.items():
            other = entries.get(target)
            if other is None or other is entry or not case.is_current(target):
                continue
            linked = {link for name in _RELATED for link in entry.links(name)}
            is_allowed = not has_less_authority(entry, other) and may_amend(entry, other, case.catalog.wings)
            if target not in linked and is_allowed:
                message = f"the text says that it amends `{target}`, but `amends` does not list it"
                help_ = f"add `{target}` to `amends`, or to `supersedes` if it no longer applies at all"
                yield case.in_body(entry.address, message, help_, offset=offset)


@check("amendment-invalid", Severity.ERROR)
def amendment_invalid(case: Case) -> Iterator[Finding]:
    """An entry amends one of higher authority, one in a wing that it must not change, or one that is not current.

    Answers ignore such an amendment. The order of authority is invariant, decision, pattern, note. A project's entry
    may amend entries of its own wing and shared entries. An amended entry that is not current gives a warning.

    Fails:
        app/rules/exception.md    type: note        amends: [app/rules/retry-twice]
        app/rules/retry-twice.md  type: decision

    Fix: give the amending entry the type of the amended one, write the amendment in the other wing, or use `see`
    instead. Amend the successor, which the finding mentions, or end the amendment with `mdmem deprecate`.
    """
    entries = case.catalog.entries
    for link in case.distinct_links:
        old = entries.get(link.target) if link.field == "amends" and link.target is not None else None
        if old is None or not (link.entry.status is Status.DRAFT or case.is_current(link.entry.address)):
            continue
        see, entry = f"`see: [{old.address}]` in place of `amends`", link.entry
        if has_less_authority(entry, old):
            message = f"a {entry.type} amends the {old.type} `{old.address}`"
            help_, place = f"write `type: {old.type}`, or {see}", case.place(old.address, "type")
            yield case.on_link(link, message, help_, other=place, former="amends-across-types")
        if not may_amend(entry, old, case.catalog.wings):
            message = f"amends `{old.address}`, which the wing {entry.wing} cannot amend"
            help_ = f"write the amendment in the wing {old.wing}, or {see}"
            yield case.on_link(link, message, help_, other=Place(old.path), former="amends-across-wings")
        if Status.DRAFT in (entry.status, old.status) or case.is_current(old.address):
            continue
        heads = case.catalog.lineage.heads(old.address)
        named = " or ".join(f"`{head}`" for head in heads if head != link.address)
        message = f"amends `{old.address}`, which is not current{f', superseded by {named}' if named else ''}"
        help_ = f"amend {named} if this still applies" if named else "remove the link"
        help_ += f", or end this with `mdmem deprecate {quote(link.address)} --reason TEXT`"
        other = case.place(old.address, "status")
        yield case.on_link(link, message, help_, other=other, severity=Severity.WARNING, former="amends-ended")


@check("override-invalid", Severity.ERROR)
def override_invalid(case: Case) -> Iterator[Finding]:
    """An entry overrides another one without a reason, in its own wing, or against a higher authority.

    With `overrides`, a project's rule replaces a shared rule in that project only. The reason is in `reason` or the
    body. Within a wing, the newer rule must supersede the older one. The order of authority is invariant, decision,
    pattern, note.

    Fails:
        app/incident-log/one-night.md    type: note    overrides: base/architecture/retry
        base/architecture/retry.md       type: decision

    Fix: add `reason:` that says what is different here. Within a wing write `supersedes`, or limit one of the two with
    `applies_to` or `focus`. Give the overriding entry the type of the other, or use `see` instead.
    """
    for entry in case.catalog.entries.values():
        if entry.overrides and not case.gives_reason(entry):
            message = f"nothing says why it overrides `{entry.overrides[0]}`"
            help_, former = "add `reason:` with what is different here", "override-without-reason"
            yield case.on_entry(entry, message, help_, field="overrides", former=former)
    for link in case.distinct_links:
        if link.field != "overrides" or link.target is None:
            continue
        entry, other = link.entry, case.catalog.entries.get(link.target)
        if link.target.startswith(f"{entry.wing}/"):
            message, former = f"overrides `{link.target}` of its own wing", "override-of-own-wing"
            narrow = "remove it and narrow one with `applies_to` or `focus`"
            help_ = f"write `supersedes: [{link.target}]` instead, or {narrow}"
        elif other is not None and entry.status is not Status.DEPRECATED and entry.type.rank > other.type.rank:
            message = f"a {entry.type} overrides the {other.type} `{other.address}`, which still applies"
            help_ = f"write `type: {other.type}`, or `see: [{other.address}]` instead"
            former = "override-across-types"
        else:
            continue
        yield case.on_link(link, message, help_, other=Place(f"{link.target}.md"), former=former)


@check("override-not-declared", Severity.WARNING)
def override_not_declared(case: Case) -> Iterator[Finding]:
    """A project's entry is about the same subject as a shared one, but has no `overrides`.

    Two current entries of one type are about the same subject if they have the same entry-id, or most words of their
    titles in common, and no link with `see` or `conflicts_with`. An entry with the label `local-override` is also
    reported.

    Fails:
        label: local-override     (and no `overrides`)

    Fix: add `overrides:` with the address of the shared rule and a `reason`, or link it with `see` if both apply.
    """
    found: set[str] = set()
    has_shared = any(wing.is_shared for wing in case.catalog.wings.values())
    current = [entry for address, entry in case.catalog.entries.items() if has_shared and case.is_current(address)]
    for project, shared, why in undeclared_overlaps(current, case.catalog.wings):
        found.add(project.address)
        message = f"covers the subject of the shared `{shared.address}` without `overrides`: {why}"
        help_ = f"add `overrides: {shared.address}` and `reason:`, or `see: [{shared.address}]` if both apply"
        yield case.on_entry(project, message, help_, field="title", other=Place(shared.path))
    for entry in case.catalog.entries.values():
        if entry.address in found or entry.label != "local-override" or entry.status is Status.DEPRECATED:
            continue
        # An invalid value is reported by another check.
        is_declared = any(one.field == "overrides" for one in case.file_facts(entry.path).links)
        if not is_declared and "overrides" not in entry.unread:
            message = "labelled `local-override`, but without `overrides`"
            yield case.on_entry(entry, message, "add `overrides:` with the address of the shared rule", field="label")


@check("conflict-unresolved", Severity.WARNING)
def conflict_unresolved(case: Case) -> Iterator[Finding]:
    """Two current entries contradict each other.

    One of them says so with `conflicts_with`, or with the relation `CONFLICTS_WITH` of an entity. Answers contain both.
    Each pair is reported once, and not at all if one entry overrides the other.

    Fails:
        app/rules/a.md    status: active    conflicts_with: [app/rules/b]
        app/rules/b.md    status: active

    Fix: end one with `mdmem deprecate`, or override the shared one. Or limit one with `applies_to` or `focus`, and
    remove the link.
    """
    seen: set[frozenset[str]] = set()
    for entry in case.catalog.entries.values():
        for target in entry.contradicts:
            pair, other = frozenset({entry.address, target}), case.catalog.entries.get(target)
            if other is None or len(pair) < 2 or pair in seen or not all(map(case.is_current, pair)):
                continue
            if target in entry.overrides or entry.address in other.overrides:
                continue
            seen.add(pair)
            message = f"contradicts `{target}`, and both are current"
            help_ = f"deprecate one, as with `mdmem deprecate {quote(target)} --reason TEXT`, or narrow one"
            help_ += " and remove the link"
            place, other_place = _conflict_place(case, entry, target), _conflict_place(case, other, entry.address)
            yield Finding("", message, place, help_, entry.address, other_place)


def _conflict_place(case: Case, entry: Entry, target: str) -> Place:
    """Return the place where an entry says that it contradicts another; else the beginning of its file."""
    for item, relation in enumerate(entry.relations):
        if relation.is_contradiction and relation.to == target and target not in entry.conflicts_with:
            return case.place(entry.address, "relations", item)
    return case.link_place(entry.address, "conflicts_with", target)


@check("cross-wing-link-undeclared", Severity.WARNING)
def cross_wing_link_undeclared(case: Case) -> Iterator[Finding]:
    """A link leads into a wing that the entry's own wing does not read.

    A project reads its own wing and the shared wings that its manifest lists (without a list, all). An entry
    has one finding for each wing that it may not link to. `supersession-across-wings` reports supersession links.

    Fails:
        shop/README.md               shared_wings: [react]
        shop/contracts/money.md      see: [billing/contracts/rounding]

    Fix: add the shared wing to `shared_wings`, or move the entry that both wings need into a shared wing.
    """
    seen: set[tuple[str, str]] = set()
    for link in case.all_links:
        target = link.target
        if target is None or _wing_of(target) == _wing_of(link.address):
            continue
        is_other = link.field in _SUPERSESSION if isinstance(link, Link) else link.path is not None
        if is_other or case.catalog.hides(target) or _wing_of(target) in case.catalog.missing_wings:
            continue
        here, there = (case.catalog.wings[_wing_of(one)] for one in (link.address, target))
        if here.may_read(there) or (link.address, there.name) in seen:
            continue
        seen.add((link.address, there.name))
        message = f"`{target}` is in the {there.kind} wing `{there.name}`, which `{here.name}` does not read"
        shared = f"write `kind: shared` in the README.md of `{there.name}` if its rules are meant for all"
        help_ = f"{shared}, else write here what you need from it"
        if there.is_shared:
            help_ = f"add `{there.name}` to `shared_wings` in the README.md of `{here.name}`"
        yield case.on_link(link, message, help_, other=Place(f"{target}.md"))


def _wing_of(path: str) -> str:
    return path.split("/", 1)[0]


@check("applies-to-nothing", Severity.WARNING, asks_git=True)
def applies_to_nothing(case: Case) -> Iterator[Finding]:
    """A glob in `applies_to` matches no file that git tracks.

    People who edit the code do not get the rule. Globs start at the top of the repository: `*` matches within a folder,
    `**` across folders, and a plain path everything below it. Deprecated entries are not checked.

    Fails:
        applies_to: ["src/nav/**"]     (the folder is `src/navigation`)

    Fix: write a glob that matches; `git ls-files ':(top,glob)src/nav/**'` lists the files of one.
    """
    stated = [one for one in case.catalog.entries.values() if one.applies_to and one.status is not Status.DEPRECATED]
    if not stated or case.facts is None or not case.facts.tracked_in_repository:
        return
    has_match = cache(case.facts.has_match)
    for entry in stated:
        for item, glob in enumerate(entry.applies_to):
            if has_match(glob):
                continue
            message, help_ = f"`{glob}` matches no tracked file", "write a glob that matches, from the repository's top"
            yield case.on_entry(entry, message, help_, field="applies_to", item=item)


@check("manifest-invalid", Severity.ERROR)
def manifest_invalid(case: Case) -> Iterator[Finding]:
    """The manifest of a wing (its `README.md`) has an invalid key or value, so its default applies.

    Fails:
        kind: libary

    Fix: correct the value, or the key: `mdmem guide fields` lists the keys of a wing.
    """
    yield from (finding for finding in case.loaded("manifest-invalid") if finding.place.path not in case.unmerged)


@check("wing-without-manifest", Severity.ERROR)
def wing_without_manifest(case: Case) -> Iterator[Finding]:
    """A folder at the top of the repository has files that look like entries, but no manifest that makes it a wing.

    If the memory is the top of the repository, a wing is a folder whose `README.md` has `kind` in its front matter.

    Fails:
        ops/rules/no-root.md      (an invariant, and there is no ops/README.md)

    Fix: write `ops/README.md` with `kind: project` and `owners` between two lines of `---`.
    """
    lost = Counter(map(_wing_of, case.orphans))
    had = {name for name, wing in case.base.catalog.wings.items() if wing.has_manifest} if case.base else set()
    for wing in sorted(lost.keys() & had):
        entries = "1 entry is" if lost[wing] == 1 else f"{lost[wing]} entries are"
        message = f"the manifest of the wing `{wing}` is gone or has no `kind`, so its {entries} not read"
        yield Finding("", message, Place(f"{wing}/README.md"), f"restore `{wing}/README.md`")
    for path in case.orphans:
        wing = _wing_of(path)
        if wing not in had:
            help_ = f"write `{wing}/README.md` with `kind: project` between two lines of `---`"
            yield at_path(path, f"`{wing}` has no manifest, so this entry is not read", help_)


@check("unknown-wing", Severity.ERROR)
def unknown_wing(case: Case) -> Iterator[Finding]:
    """The settings or a manifest mention a wing that does not exist, or list a project's wing as a shared one.

    With a wrong `default_wing`, `retrieve` returns nothing. With a wrong name in `shared_wings`, answers lack the
    invariants of the wing that was meant.

    Fails:
        default_wing = "teem"                  (the wing is `team`)
        shop/README.md       shared_wings: [billing]     (a project's wing)

    Fix: write the name of the wing's folder; the finding suggests a similar one. Remove a project's wing from
    `shared_wings`, or write `kind: shared` in its README.md if its rules are for all.
    """
    wings, default = case.catalog.wings, case.settings.default_wing or ""
    folded = "".join(character if character.isalnum() else "_" for character in default.casefold())
    is_known = default in (*case.catalog.missing_wings, *wings, *(wing.project_id for wing in wings.values()))
    is_hidden = case.catalog.access.is_narrow or bool(case.catalog.closed)
    if default and not (is_known or is_hidden or folded in wings):
        close = nearest(default, tuple(wings))
        help_ = f"write `{close}`" if close else "write the name of a wing, or remove the line"
        place = Place(SETTINGS_NAME, case.settings.line_of("default_wing"))
        message = f"`default_wing` is `{default}`, and there is no such wing"
        yield Finding("", message, place, help_, former="default-wing-unknown")
    known = {*wings, *case.catalog.missing_wings}
    for wing in wings.values():
        for item, name in enumerate(wing.shared_wings or ()):
            former = "shared-wing-is-project"
            if name not in known:
                close = nearest(name, tuple(known - {wing.name}))
                message, former = f"there is no wing `{name}`", "unknown-shared-wing"
                help_ = f"write `{close}`" if close else "remove it, or write the name of the wing's folder"
            elif name == wing.name and not wing.is_shared:
                message, help_ = "a wing does not share itself", f"remove `{name}`"
            elif name in wings and not wings[name].is_shared:
                message = f"`{name}` is a project's wing, not a shared one"
                help_ = f"remove it, or write `kind: shared` in the README.md of `{name}`"
            else:
                continue
            place = case.catalog.document(f"{wing.name}/README.md").place("shared_wings", item)
            yield Finding("", message, place, help_, former=former)


@check("wing-without-owner", Severity.WARNING)
def wing_without_owner(case: Case) -> Iterator[Finding]:
    """A wing has no owner, so nobody is responsible for its rules, and nobody can approve an agent's draft.

    Fails:
        kind: shared     (and no `owners`)

    Fix: add `owners: [team or name <email>]` to the README.md of the wing.
    """
    for name, wing in case.catalog.wings.items():
        manifest = f"{name}/README.md"
        # An invalid manifest may list owners that could not be read.
        if wing.owners or manifest in case.faulty_manifests:
            continue
        path, missing, help_ = manifest, "owner", "add `owners:` with a team or a person"
        if not wing.has_manifest:
            path = next(file.path for file in case.catalog.files if file.path.startswith(f"{name}/"))
            missing, keys = "manifest, and so no owner", "`kind: project` or `kind: shared`, and `owners: [NAME]`"
            help_ = f"put a README.md into the wing's folder, with {keys} between two lines of `---`"
        yield Finding("", f"the wing `{name}` has no {missing}", Place(path), help_)


@check("wing-not-fetched", Severity.ERROR, incomplete=True)
def wing_not_fetched(case: Case) -> Iterator[Finding]:
    """A wing from another repository could not be read.

    It may contain invariants, so the check is incomplete. Links into it are not reported as broken. Perhaps nobody
    fetched it on this machine, the settings have a newer commit, or a folder here has the same name as the wing.

    Fails:
        [wings.ros2]
        git = "https://git.example.org/ros2-memory.git"     (and there is no `commit` yet)

    Fix: run `mdmem sync --wings --pinned` to fetch the commit in the settings, or `mdmem sync --wings` for the newest.
    """
    yield from case.loaded("wing-not-fetched")
