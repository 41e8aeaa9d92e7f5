"""Checks of the run itself: its base, settings, suppressions and baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mdmem import SETTINGS_NAME
from mdmem.checks.case import Case
from mdmem.checks.check import NO_WING, check, codes_of, find_severity, get_check
from mdmem.checks.rules.change import names_the_same
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.settings import Settings, WingSettings


@check("nothing-checked", Severity.WARNING)
def nothing_checked(case: Case) -> Iterator[Finding]:
    """The memory has no entries, so nothing was checked.

    The `--root` may be wrong, or the checkout may lack the memory. It is an error in CI, an info in a new memory.

    Fails:
        memory/mdmem.toml     (and no file at memory/<wing>/<room>/<entry-id>.md)

    Fix: give the right root with `--root`, or write a first entry with `mdmem new`.
    """
    if case.catalog.files or case.orphans:
        return
    manifests = {f"{name}/{MANIFEST}" for name, wing in case.catalog.wings.items() if wing.has_manifest}
    strays = sum(file.path.endswith(".md") and file.path not in manifests for file in case.catalog.others)
    found = f", though {strays} Markdown file{'s lie' if strays > 1 else ' lies'} elsewhere" if strays else ""
    message, level = f"there is no file at `wing/room/entry-id.md`{found}", Severity.ERROR if case.in_ci else None
    help_ = "give the right folder with `--root`, or write an entry with `mdmem new`"
    if manifests and not strays:
        message, level, help_ = "the memory has no entry", Severity.INFO, "`mdmem new` writes one"
    yield Finding("", message, Place(SETTINGS_NAME), help_, severity=level)


@check("git-unavailable", Severity.ERROR, incomplete=True)
def git_unavailable(case: Case) -> Iterator[Finding]:
    """Git failed, or does not have the tree to compare with, so the check is incomplete.

    Git may be too old or distrust the owner of the repository, or a shallow clone may lack the branch or merge base.

    Fails:
        mdmem check --base origin/main     (in a shallow clone that lacks it)

    Fix: follow the hint of the finding: `git fetch origin main`, or another `--base`; `git fetch --unshallow`, or
    `fetch-depth: 0` in GitHub's checkout; `git config --global --add safe.directory DIR`.
    """
    yield from case.loaded("base-unavailable", "shallow-history", "git-unavailable")


@check("check-crashed", Severity.ERROR, incomplete=True)
def check_crashed(case: Case) -> Iterator[Finding]:
    """A check crashed because of a bug in mdmem, so its findings are missing.

    The other checks go on, and the run is incomplete. No setting switches this off: a crash must not look like success.

    Fails:
        mdmem check     (the check `body-empty` failed: KeyError: 'app/rules/use-utc')

    Fix: run `mdmem check --ignore CODE` to skip the check, and report the output of `MDMEM_DEBUG=1 mdmem check`.
    """
    yield from case.loaded("check-crashed")


@check("suppression-invalid", Severity.ERROR)
def suppression_invalid(case: Case) -> Iterator[Finding]:
    """A suppression has no effect: its code is unknown or cannot be suppressed, or its reason is missing.

    A file cannot suppress findings about a change, the settings, or an unreadable file. An earlier code of a check
    still works, and is reported as an info.

    Fails:
        <!-- mdmem: ignore vague-invariant -->
        ignore: {frozen-text-changed: a typo}

    Fix: write the code and the reason why it does not apply here, `<!-- mdmem: ignore CODE REASON -->`.
    """
    for one in case.suppressions:
        if one.fault is not None:
            message, help_ = one.fault
            yield Finding("", message, one.place, help_, one.address)
        elif get_check(one.code).code != one.code:
            message = f"the check `{one.code}` is called `{get_check(one.code).code}` now"
            yield Finding("", message, one.place, "write the new name", one.address, severity=Severity.INFO)


@check("unused-suppression", Severity.WARNING)
def unused_suppression(case: Case) -> Iterator[Finding]:
    """A suppression or a record in the baseline excuses a finding that no longer exists.

    If it stays, the same mistake can come back unnoticed. Checks that did not run or depend on git are not considered.

    Fails:
        <!-- mdmem: ignore body-empty the title says it all -->     (and the body has a sentence by now)

    Fix: remove the comment, or the code from `ignore`; `mdmem check --update-baseline` writes the baseline again.
    """
    # The engine and the baseline report these when all other checks have run.
    yield from case.loaded("unused-suppression")


_OFF = "switched off"


@check("settings-loosened", Severity.WARNING)
def settings_loosened(case: Case) -> Iterator[Finding]:
    """The change makes the checks of the memory less strict, or removes an owner.

    Otherwise a change could switch off the check that it fails. The finding is reported for each of these:

    - a check no longer runs, or has a lower severity
    - `fail_on` is higher, or `ended` or `old` makes fewer findings fail
    - an owner of a wing is removed
    - `agent_status` no longer makes agents' new entries drafts
    - `one_sided` lets a one-sided supersession hide a current entry
    - a wing of another repository is removed

    Fails:
        base:    ignore = []
        now:     ignore = ["dangling-link"]

    Fix: undo it, or make it a separate change that an owner approves, with the reason in its commit message.
    """
    if case.base is None:
        return
    before, after = case.base.settings, case.settings
    if SETTINGS_NAME not in case.unmerged and before != after:
        yield from _of_checks(before, after, case.catalog.wings)
        yield from _of_levels(before, after)
        for name, stated in before.remote_wings.items():
            if name not in after.remote_wings and name not in case.catalog.wings:
                yield _loosened(1, f"the wing `{name}` of {stated.git} is not read any more")
    for name, was in case.base.catalog.wings.items():
        manifest, wing = f"{name}/README.md", case.catalog.wings.get(name)
        # The owners in an invalid manifest are not known.
        if wing is None or manifest in case.faulty_manifests | case.unmerged:
            continue
        removed = [owner for owner in was.owners if not any(names_the_same(owner, other) for other in wing.owners)]
        if removed:
            listed = " and ".join(f"`{owner}`" for owner in removed)
            place = case.catalog.document(manifest).place("owners") if wing.has_manifest else Place(manifest)
            lost = "are no longer owners" if len(removed) > 1 else "is no longer an owner"
            yield _loosened(0, f"{listed} {lost} of the wing `{name}`", place)


def _of_checks(before: Settings, after: Settings, wings: Collection[str]) -> Iterator[Finding]:
    """Yield each check that no longer runs or is less severe, in the whole memory or in one wing."""
    milder: dict[tuple[str, str], str] = {}
    for wing in ("", *sorted({*before.wings, *after.wings}.intersection(wings))):
        runs = codes_of(after, f"{wing}/")
        for code in sorted(codes_of(before, f"{wing}/")):
            check = get_check(code)
            was, now = (find_severity(one, wing, check.code, code) or check.severity for one in (before, after))
            if code not in runs or now.rank > was.rank:
                milder[wing, code] = f"lowered from {was} to {now}" if code in runs else _OFF
    for (wing, code), what in milder.items():
        # Report a wing or a former code only if the whole memory, or the present code, has not changed alike.
        present = get_check(code).code
        if (wing and what == milder.get(("", code))) or (code != present and what == milder.get((wing, present))):
            continue
        table, where = (f"wings.{wing}.check", f"the wing `{wing}`") if wing else ("check", "the whole memory")
        stated: Settings | WingSettings = after.wings.get(wing, NO_WING) if wing else after
        line = after.line_of(f"{table}.severity.{code}")
        if what == _OFF:
            line = after.line_of(f"{table}.{'ignore' if code in stated.ignore else 'select'}")
        yield _loosened(line, f"`{code}` is {what} in {where}")


def _of_levels(before: Settings, after: Settings) -> Iterator[Finding]:
    if after.fail_on.rank < before.fail_on.rank:
        message = f"`fail_on` is raised from {before.fail_on} to {after.fail_on}"
        yield _loosened(after.line_of("check.fail_on"), message)
    if before.ended == "same" and after.ended == "lower":
        message = "findings on deprecated and superseded entries are less severe than before"
        yield _loosened(after.line_of("check.ended"), message)
    if before.old == "fail" and after.old == "pass":
        yield _loosened(after.line_of("check.old"), "old findings do not fail a change any more")
    if before.one_sided == "claim" and after.one_sided == "fact":
        message = "a one-sided supersession hides the old entry, which was shown before"
        yield _loosened(after.line_of("lineage.one_sided"), message)
    for kind, status in before.agent_status.items():
        now = after.agent_status[kind]
        if status is Status.DRAFT and now is not Status.DRAFT:
            message = f"a new {kind} of an agent becomes `{now}` at once, and was a draft before"
            yield _loosened(after.line_of(f"governance.agent_status.{kind}"), message)


def _loosened(line: int, message: str, place: Place | None = None) -> Finding:
    help_ = "undo it, or let an owner approve it as a change of its own"
    return Finding("", message, place or Place(SETTINGS_NAME, line), help_)
