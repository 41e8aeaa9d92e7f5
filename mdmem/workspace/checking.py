"""Runs the checks over a workspace: what to compare with, the findings, those that are known, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.checks import settings_loosened
from mdmem.checks.case import Case
from mdmem.checks.engine import Report, chosen_codes, mark_new, require_known_wings, run
from mdmem.checks.registry import CHANGE, CODES, INCOMPLETE_CODES, MERGE
from mdmem.errors import UsageError
from mdmem.finding import Finding
from mdmem.gitrepo import staged_index
from mdmem.tree import NarrowedTree
from mdmem.workspace.baselines import without_known, write_baseline
from mdmem.workspace.comparing import Compared, compare
from mdmem.workspace.facts import GitFacts, SeenFacts
from mdmem.workspace.moment import Moment
from mdmem.workspace.narrowing import narrowed
from mdmem.workspace.opened import Opened
from mdmem.workspace.seen import seen_findings

if TYPE_CHECKING:
    from mdmem.authoring.mending import Mended


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one run of the checks was asked for.

    `base` is the revision to compare with; without one, what is staged is compared with HEAD and a merge with what it
    goes into. `baseline` is a file of known findings, counted from the working folder; without one the settings' own.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    base: str | None = None
    baseline: str | None = None
    in_ci: bool = False
    is_debugging: bool = False


def check(workspace: Opened, asked: Asked) -> Report:
    """Return what the checks find on the whole tree, narrowed to paths where some are given."""
    compared = compare(workspace, asked.base)
    if compared.faults and workspace.moment.merge_into is not None:
        # The merge cannot be told; what goes into it can.
        workspace = workspace.at(Moment(revision=workspace.moment.revision or "HEAD"))
    codes = _codes(workspace, compared, asked)
    catalog = workspace.whole_catalog
    require_known_wings(workspace.settings, catalog.wings)
    found = find(workspace, compared, codes, asked)
    # Which checks were chosen does not change what could not be read.
    unread = (*catalog.findings, *catalog.closed, *compared.faults, *found)
    incomplete = sorted({finding.place.path for finding in unread if finding.code in INCOMPLETE_CODES})
    found = without_known(workspace, seen_findings(catalog, found), codes, asked.baseline)
    return Report(
        tree=catalog.tree.name,
        checked=len(catalog.files),
        findings=tuple(narrowed(workspace, found, asked.paths)),
        incomplete=tuple(incomplete),
        base=compared.base.name if compared.base is not None else None,
        fail_on=workspace.settings.fail_on,
    )


def _codes(workspace: Opened, compared: Compared, asked: Asked) -> tuple[str, ...]:
    codes = chosen_codes(workspace.settings, asked.select, asked.ignore)
    guard = settings_loosened.CODE
    if compared.base is None or asked.select or guard in (*asked.ignore, *compared.base.settings.ignore):
        return codes
    # A change that switches this check off does so for later ones, not for itself.
    return tuple(code for code in CODES if code == guard or code in codes)


def find(workspace: Opened, compared: Compared, codes: Sequence[str], asked: Asked) -> list[Finding]:
    """Return every finding of the tree, those marked new that what it is compared with has not."""
    case = _case(workspace, compared, in_ci=asked.in_ci)

    def found_in(one: Case, some: Sequence[str]) -> list[Finding]:
        return run(one, some, by_wing=not asked.select, is_debugging=asked.is_debugging)

    # What else is wrong with a file that git could not merge is its conflict's doing.
    found = [one for one in found_in(case, codes) if one.code in MERGE or one.place.path not in case.unmerged]
    for parent in compared.other_parents:
        # A merge commit did only what differs from every parent.
        changing = [code for code in codes if code in CHANGE]
        elsewhere = {(one.code, one.place.path) for one in found_in(replace(case, base=parent), changing)}
        found = [one for one in found if one.code not in CHANGE or (one.code, one.place.path) in elsewhere]
    if compared.base is None:
        return found
    before = Case(compared.base.catalog, compared.base.settings, workspace.today, case.facts)
    told = {finding.code for finding in found}
    # A check that finds nothing now needs no look at what it found before.
    return mark_new(found, found_in(before, [code for code in codes if code in told and code not in CHANGE]))


def update_baseline(workspace: Opened, asked: Asked) -> tuple[Path, int]:
    """Record every finding of the whole tree as known, and return the file and how many findings it records."""
    codes = chosen_codes(workspace.settings, asked.select, asked.ignore)
    found = find(workspace, compare(workspace, asked.base), codes, asked)
    return write_baseline(workspace, found, codes, asked.baseline)


def mend(workspace: Opened, asked: Asked, *, with_unsafe: bool, is_dry: bool) -> tuple[Report, Mended]:
    """Mend what can be mended and return what is left, and what was changed; with `is_dry` nothing is written.

    Raises UsageError where another tree than the working tree is read, and what `carry_out` raises.
    """
    from mdmem.authoring.mending import mend_all
    from mdmem.authoring.plan import Plan, carry_out
    from mdmem.workspace.writing import is_unchanged

    if not workspace.moment.is_working_tree:
        raise UsageError("only files on disk can be mended; leave out --staged, --rev and --merge")

    known = workspace.catalog.file_digests

    def mended_in(one: Opened) -> Mended:
        return mend_all(one.tree, lambda tree: check(one.over(tree), asked), with_unsafe=with_unsafe)

    mended = mended_in(workspace)

    def newest() -> Plan:
        nonlocal mended
        fresh = replace(workspace)
        mended = mended if is_unchanged(workspace, fresh, known) else mended_in(fresh)
        return mended.plan

    if not is_dry:
        carry_out(workspace.location.root, mended.plan, state=workspace.state_folder, newest=newest)
    return replace(mended.report, fixed=mended.fixed), mended


def _case(workspace: Opened, compared: Compared, *, in_ci: bool) -> Case:
    return Case(
        catalog=workspace.whole_catalog,
        settings=workspace.settings,
        today=workspace.today,
        facts=_facts(workspace),
        base=compared.base,
        merge=compared.merge,
        faults=compared.faults,
        in_ci=in_ci,
    )


def _facts(workspace: Opened) -> GitFacts | SeenFacts | None:
    location = workspace.location
    if location.repository is None:
        return None
    index = staged_index(location.repository, workspace.environment, workspace.cwd)
    elsewhere = workspace.whole_catalog.fetched_wings
    on_disk = tuple(one.path for one in workspace.tree.files() if one.path.partition("/")[0] not in elsewhere)
    facts = GitFacts(location.repository, location.under, on_disk, index, workspace.commits)
    return SeenFacts(facts, workspace.tree) if isinstance(workspace.tree, NarrowedTree) else facts
