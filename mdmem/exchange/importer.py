"""Imports what other tools wrote: plans, writes, lists what is wrong in the records, and clears the old places."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.errors import UsageError
from mdmem.exchange.import_plan import ImportPlan, plan_import
from mdmem.exchange.intake import ImportRequest, Outcome
from mdmem.exchange.old_places import OldPlaces
from mdmem.model.finding import Finding, Severity
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.write import WriteOptions, WriteResult, catalog_after, commit_files, write


class ImportReport(Struct, frozen=True, kw_only=True):
    """The plan that was carried out, what was written, and the errors that the records brought along.

    `gone` are the old files that were moved away; `unapproved` counts what would be in force with nobody behind it;
    `remarks` are sentences that belong to no file.
    """

    plan: ImportPlan
    written: WriteResult
    errors: tuple[Finding, ...] = ()
    gone: tuple[str, ...] = ()
    unapproved: int = 0
    remarks: tuple[str, ...] = ()


def import_records(workspace: Workspace, request: ImportRequest, options: WriteOptions) -> ImportReport:
    """Import what is asked for; nothing that exists is overwritten, and what cannot be imported is a row of its own.

    Raises UsageError for what was typed wrong, and what `write` raises; then nothing was written.
    """
    if request.leaves_pointer and not request.moves:
        raise UsageError("--pointer says what --move leaves in the old place; give both, or neither")
    plan = plan_import(workspace, request)

    def planned(fresh: Workspace) -> ImportPlan:
        nonlocal plan
        plan = plan_import(fresh, request) if fresh is not workspace else plan
        return plan

    old = OldPlaces(workspace, leaves_pointer=request.leaves_pointer) if request.moves else None
    if old is None:
        written = write(workspace, lambda one: planned(one).change_set, options)
        gone: tuple[str, ...] = ()
        remarks = plan.remarks
    else:
        # The new files come first: whoever is killed between has both, and types the same once more.
        uncommitted = WriteOptions(is_dry=options.is_dry, commit=False)
        written = write(workspace, lambda one: planned(one).change_set, uncommitted)
        mentions = old.mentions(plan)
        gone, said = old.clear(plan, is_dry=options.is_dry)
        remarks = (*plan.remarks, *said, *mentions)
        if not options.is_dry:
            remarks += old.unfollowed(gone)
            written = commit_files(workspace, plan.change_set, written, also=old.touched, commit=options.commit)
    errors = _errors(workspace, written, [row.address for row in plan.rows if row.outcome is Outcome.IMPORTED])
    unapproved = sum(1 for row in plan.rows if row.puts_in_force) if request.approved_by is None else 0
    return ImportReport(plan=plan, written=written, errors=errors, gone=gone, unapproved=unapproved, remarks=remarks)


def _errors(workspace: Workspace, written: WriteResult, addresses: Sequence[str | None]) -> tuple[Finding, ...]:
    """Return the errors that stand in the new entries, or are about one of them."""
    if not written.changes:
        return ()
    fresh = workspace if written.is_dry else workspace.reread()
    catalog = catalog_after(workspace, written.changes) if written.is_dry else fresh.whole_catalog
    case = Case(catalog, workspace.settings, workspace.today)
    found = run_checks(case, chosen_codes(workspace.settings))
    paths = {f"{one}.md" for one in addresses if one is not None}
    return tuple(one for one in found if one.severity is Severity.ERROR and _is_about(one, paths))


def _is_about(finding: Finding, paths: Collection[str]) -> bool:
    return finding.place.path in paths or (finding.other is not None and finding.other.path in paths)
