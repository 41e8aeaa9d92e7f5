"""Checks of wings and settings."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterator

from mdmem.checks.approvals import names_the_same
from mdmem.checks.case import Base, Case
from mdmem.checks.check import check
from mdmem.checks.engine import get_check
from mdmem.checks.paths import at_path
from mdmem.checks.registry import CODES
from mdmem.checks.severity import codes_of
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.spelling import nearest
from mdmem.store.settings import Ended, Old, OneSided, Settings, WingSettings
from mdmem.store.tree import SETTINGS_NAME


@check("manifest-invalid", Severity.ERROR)
def manifest_invalid(case: Case) -> Iterator[Finding]:
    """The manifest of a wing holds something that cannot be read.

    A manifest says whether a wing is shared, who owns it and which shared wings it reads. A key that is not read means
    the default: a shared wing that counts as a project's, or shared invariants that nobody sees.

    Fails:

        ---
        kind: libary
        ---

    Fix: correct the value or the key; known are kind, project_id, owners, shared_wings, applies_to, description and
    last_hygiene_at.
    """
    yield from (finding for finding in case.loaded("manifest-invalid") if finding.place.path not in case.unmerged)


@check("wing-without-manifest", Severity.ERROR)
def wing_without_manifest(case: Case) -> Iterator[Finding]:
    """A folder at the repository's top holds what is meant as an entry, and no manifest makes it a wing.

    Where the memory is the top of the repository, most folders hold code, so only one with a `README.md` whose front
    matter has `kind` is a wing. What lies in another is read by nothing: no retrieval, no link and no check finds it. A
    file at `x/y/z.md` with `type` and `status` is meant to be read.

    Fails:

        ops/rules/no-root.md      (an invariant, and there is no ops/README.md)

    Fix: write `ops/README.md` with `kind: project` and `owners` between two lines of `---`.
    """
    lost = Counter(path.split("/", 1)[0] for path in case.orphans)
    had = {name for name, wing in case.base.catalog.wings.items() if wing.has_manifest} if case.base else set()
    for wing in sorted(lost.keys() & had):
        entries = "1 entry counts" if lost[wing] == 1 else f"{lost[wing]} entries count"
        message = f"the manifest of the wing `{wing}` is gone or has no `kind`, so its {entries} as no memory"
        yield Finding(
            "wing-without-manifest", message, Place(f"{wing}/README.md"), f"bring `{wing}/README.md` back as it was"
        )
    for path in case.orphans:
        wing = path.split("/", 1)[0]
        if wing not in had:
            message = f"`{wing}` has no manifest, so nothing reads this entry"
            help_ = f"write `{wing}/README.md` with `kind: project` between two lines of `---`"
            yield at_path("wing-without-manifest", path, message, help_)


@check("default-wing-unknown", Severity.ERROR)
def default_wing_unknown(case: Case) -> Iterator[Finding]:
    """The settings name a default wing that is none.

    Every question and every write without `--wing` goes to that wing, so that `retrieve` answers nothing while the
    checks would be green.

    Fails:

        default_wing = "teem"      (the wing is `team`)

    Fix: write the name of a wing, or remove the line.
    """
    name, wings = case.settings.default_wing, case.catalog.wings
    if name is None or case.catalog.access.is_narrow or case.catalog.closed or name in case.catalog.missing_wings:
        return
    folded = "".join(character if character.isalnum() else "_" for character in name.casefold())
    if wings.keys() & {name, folded} or any(wing.project_id == name for wing in wings.values()):
        return
    close = nearest(name, tuple(wings))
    help_ = f"write `{close}`" if close else "write the name of a wing, or remove the line"
    place = Place(SETTINGS_NAME, case.settings.line_of("default_wing"))
    yield Finding("default-wing-unknown", f"`default_wing` is `{name}`, and there is no such wing", place, help_)


@check("unknown-shared-wing", Severity.ERROR)
def unknown_shared_wing(case: Case) -> Iterator[Finding]:
    """A manifest names a shared wing that does not exist.

    A typo there drops the invariants of the wing that was meant, and nothing else would tell.

    Fails:

        shared_wings: [raect]

    Fix: write the name of the wing's folder; the nearest is named.
    """
    wings = case.catalog.wings
    known = {*wings, *case.catalog.missing_wings}
    for wing in wings.values():
        for item, name in enumerate(wing.shared_wings or ()):
            if name in known:
                continue
            place = case.catalog.document(f"{wing.name}/README.md").place("shared_wings", item)
            close = difflib.get_close_matches(name, sorted(known - {wing.name}), n=1)
            help_ = f"write `{close[0]}`" if close else "remove it, or write the name of the wing's folder"
            yield Finding("unknown-shared-wing", f"there is no wing `{name}`", place, help_)


@check("shared-wing-is-project", Severity.ERROR)
def shared_wing_is_project(case: Case) -> Iterator[Finding]:
    """A manifest names a project's wing among its shared wings.

    Only shared wings are read by other projects; what a project decides for itself binds nobody else. The name is not
    read, and the rules that were expected from it are missing.

    Fails:

        shop/README.md       shared_wings: [billing]
        billing/README.md    kind: project

    Fix: remove the name, or write `kind: shared` in the other wing's README.md if its rules are meant for all.
    """
    wings = case.catalog.wings
    for wing in wings.values():
        for item, name in enumerate(wing.shared_wings or ()):
            if name not in wings or wings[name].is_shared:
                continue
            message = (
                "a wing does not share itself"
                if name == wing.name
                else f"`{name}` is a project's wing, not a shared one"
            )
            help_ = (
                f"remove `{name}`"
                if name == wing.name
                else f"remove it, or write `kind: shared` in the README.md of `{name}`"
            )
            yield Finding(
                "shared-wing-is-project",
                message,
                case.catalog.document(f"{wing.name}/README.md").place("shared_wings", item),
                help_,
            )


@check("wing-without-owner", Severity.WARNING)
def wing_without_owner(case: Case) -> Iterator[Finding]:
    """A wing names nobody who answers for it.

    Owners approve what becomes binding in their wing. Without one, nobody answers for a rule, and an agent's draft has
    no one to ask.

    Fails:

        ---
        kind: shared
        ---

    Fix: add `owners: [team or name <email>]` to the README.md of the wing.
    """
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")}
    for name, wing in case.catalog.wings.items():
        manifest = f"{name}/README.md"
        # A manifest that cannot be read may well name them.
        if wing.owners or manifest in faulty:
            continue
        if wing.has_manifest:
            yield Finding(
                "wing-without-owner",
                f"the wing `{name}` has no owner",
                Place(manifest),
                "add `owners:` with a team or a person",
            )
        else:
            first = next(file.path for file in case.catalog.files if file.path.startswith(f"{name}/"))
            keys = "`kind: project` or `kind: shared`, and `owners: [NAME]`"
            help_ = f"put a README.md into the wing's folder, with {keys} between two lines of `---`"
            yield Finding(
                "wing-without-owner", f"the wing `{name}` has no manifest, and so no owner", Place(first), help_
            )


@check("wing-not-fetched", Severity.ERROR)
def wing_not_fetched(case: Case) -> Iterator[Finding]:
    """A wing that lives in another repository is not read.

    It may hold invariants, so it never counts as absent: the run is incomplete, every retrieval names the wing among
    its problems, and links into it do not dangle. Either nobody has fetched it here, or what was fetched is not what
    the settings pin it to, or a folder of this memory has the wing's name. No check fetches anything.

    Fails:

        [wings.ros2]
        git = "https://git.example.org/ros2-memory.git"     (and there is no `commit` yet)

    Fix: `mdmem sync --wings --pinned` fetches what the settings name; `mdmem sync --wings` moves on to the newest.
    """
    yield from case.loaded("wing-not-fetched")


_OFF = "switched off"
_LOOSENED_HELP = "take it back, or let an owner approve it as a change of its own"


@check("settings-loosened", Severity.WARNING)
def settings_loosened(case: Case) -> Iterator[Finding]:
    """The change makes the checks of the memory milder, or takes an owner away.

    A change that switches off what it would fail by passes unseen. Reported are a check that no longer runs, a severity
    that is lowered, a `fail_on` that lets more through, an owner who is removed from a wing, an `agent_status` that
    lets agents put in force what they only drafted before, a `one_sided` that lets a claim hide what is in force, and a
    wing of another repository that is named no more.

    Fails:

        base:    ignore = []
        now:     ignore = ["dangling-link"]

    Fix: take it back, or make it a change of its own that an owner approves, with the reason in its message.
    """
    if case.base is None:
        return
    if SETTINGS_NAME not in case.unmerged:
        yield from _of_checks(case.base.settings, case.settings, case.catalog.wings)
        yield from _of_levels(case.base.settings, case.settings)
        yield from _of_remote_wings(case.base.settings, case.settings, case.catalog.wings)
    yield from _of_owners(case, case.base)


def _of_checks(before: Settings, after: Settings, wings: Collection[str]) -> Iterator[Finding]:
    """Yield each check that no longer runs or weighs less: in the whole memory, or else in one wing."""
    everywhere = dict(_milder(before, after, ""))
    stated = sorted({*before.wings, *after.wings}.intersection(wings))
    in_wings = [(wing, change) for wing in stated for change in _milder(before, after, wing)]
    for code, what in everywhere.items():
        yield _of_check(after, "", code, what)
    for wing, (code, what) in in_wings:
        if everywhere.get(code) != what:
            yield _of_check(after, wing, code, what)


def _milder(before: Settings, after: Settings, wing: str) -> Iterator[tuple[str, str]]:
    """Yield each code that a wing's files are spared, or are told at a lower severity, and which of the two."""
    if before == after:
        return
    ran, runs = (codes_of(settings, f"{wing}/") for settings in (before, after))
    for code in CODES:
        if code in ran and code not in runs:
            yield code, _OFF
        elif code in ran:
            was, now = (_level(settings, wing, code) for settings in (before, after))
            if now.rank > was.rank:
                yield code, f"lowered from {was} to {now}"


def _level(settings: Settings, wing: str, code: str) -> Severity:
    own = settings.wings[wing].severity if wing in settings.wings else {}
    return own.get(code) or settings.severity.get(code) or get_check(code).severity


def _of_check(after: Settings, wing: str, code: str, what: str) -> Finding:
    table = f"wings.{wing}.check" if wing else "check"
    where = f"the wing `{wing}`" if wing else "the whole memory"
    stated: Settings | WingSettings = after.wings.get(wing, WingSettings()) if wing else after
    if what != _OFF:
        line = after.line_of(f"{table}.severity.{code}")
    elif code in stated.ignore:
        line = after.line_of(f"{table}.ignore", code)
    else:
        line = after.line_of(f"{table}.select")
    return _at_setting(line, f"`{code}` is {what} in {where}")


def _of_levels(before: Settings, after: Settings) -> Iterator[Finding]:
    if after.fail_on.rank < before.fail_on.rank:
        message = f"`fail_on` is raised from {before.fail_on} to {after.fail_on}"
        yield _at_setting(after.line_of("check.fail_on"), message)
    if before.ended is Ended.SAME and after.ended is Ended.LOWER:
        yield _at_setting(after.line_of("check.ended"), "what ended is told at a lower severity than before")
    if before.old is Old.FAIL and after.old is Old.PASS:
        yield _at_setting(after.line_of("check.old"), "what was there before a change does not fail it any more")
    if before.one_sided is OneSided.CLAIM and after.one_sided is OneSided.FACT:
        message = "what only a newer entry says it replaces is hidden, and was shown before"
        yield _at_setting(after.line_of("lineage.one_sided"), message)
    for kind, status in before.agent_status.items():
        now = after.agent_status[kind]
        if status is Status.DRAFT and now is not Status.DRAFT:
            message = f"what an agent writes as {kind} becomes `{now}` at once, and was a draft"
            yield _at_setting(after.line_of(f"governance.agent_status.{kind}"), message)


def _of_remote_wings(before: Settings, after: Settings, wings: Collection[str]) -> Iterator[Finding]:
    """Yield each wing of another repository that is not named any more and that did not move here."""
    for name, stated in before.remote_wings.items():
        if name not in after.remote_wings and name not in wings:
            yield _at_setting(1, f"the wing `{name}` of {stated.git} is not read any more")


def _of_owners(case: Case, base: Base) -> Iterator[Finding]:
    """Yield one finding for each wing that lost an owner; of a manifest that cannot be read nothing is known."""
    faulty = {finding.place.path for finding in case.loaded("manifest-invalid")} | case.unmerged
    for name, wing in base.catalog.wings.items():
        manifest = f"{name}/README.md"
        if name not in case.catalog.wings or manifest in faulty:
            continue
        owners = case.catalog.wings[name].owners
        removed = [owner for owner in wing.owners if not any(names_the_same(owner, other) for other in owners)]
        if removed:
            listed = " and ".join(f"`{owner}`" for owner in removed)
            has_manifest = case.catalog.wings[name].has_manifest
            place = case.catalog.document(manifest).place("owners") if has_manifest else Place(manifest)
            yield Finding(
                "settings-loosened", f"{listed} no longer answers for the wing `{name}`", place, _LOOSENED_HELP
            )


def _at_setting(line: int, message: str) -> Finding:
    return Finding("settings-loosened", message, Place(SETTINGS_NAME, line), _LOOSENED_HELP)
