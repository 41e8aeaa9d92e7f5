"""Report the state of the memory: wings, index, findings, and problems of the installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import EnvironmentFaultError, MdmemError, UsageError
from mdmem.model.finding import totals
from mdmem.setup.agents_file import NO_WINGS_LINE, lacks_wings_line
from mdmem.setup.hooks import STAGES, HookState, find_driver, find_hooks, missing_install
from mdmem.store.catalog.load import place_of
from mdmem.store.index import IndexBusyError, IndexState, IndexWriteError, RefreshResult
from mdmem.store.state.local_records import Tally, find_pin
from mdmem.store.workspace.proposals import merged_decisions
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import LastHygiene, Workspace, last_hygiene, tally_of
from mdmem.write.save import waiting_saves


class Borrowed(Struct, frozen=True):
    """A wing that is read from another repository: its URL or path, its commit, and the day of the last fetch."""

    name: str
    git: str
    commit: str
    asked: date


class WingCount(Struct, frozen=True, kw_only=True):
    """The number of entries in one wing, by type and by status; `broken` counts the files that cannot be parsed."""

    name: str
    kind: str
    types: Mapping[str, int]
    statuses: Mapping[str, int]
    broken: int

    @property
    def total(self) -> int:
        """Return the number of readable entries."""
        return sum(self.types.values())


class StatusReport(Struct, frozen=True, kw_only=True):
    """The state of the memory; `why` says how the root was found.

    `known` counts the findings in the baseline, `findings` the others. `shown` counts how often agents got each
    entry lately, and `never_shown` are the current rules that they did not get. `merged` are agents' decisions
    without approval.
    """

    root: Path
    why: str
    tree: str
    active_wing: str | None
    wings: tuple[WingCount, ...]
    index: IndexState
    findings: Mapping[str, int]
    known: int = 0
    hygiene: LastHygiene = field(default_factory=LastHygiene)
    borrowed: tuple[Borrowed, ...] = ()
    shown: Tally = field(default_factory=Tally)
    never_shown: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def report_status(workspace: Workspace) -> StatusReport:
    """Return the report. Nothing is written."""
    catalog = workspace.catalog
    report = check(workspace, CheckRequest(with_uncommitted=True))
    try:
        active = resolve_scope(catalog, workspace.settings, Filters()).wing
    except UsageError:
        active = None
    shown, live = tally_of(workspace), catalog.digests
    index = workspace.index.state(live=live)
    if workspace.access.is_narrow:
        # The index also has entries that are hidden from this caller.
        index = replace(index, documents=len(live) - index.stale, gone=0, bytes=0)
    return StatusReport(
        shown=shown,
        never_shown=tuple(
            address
            for address in sorted(catalog.lineage.current)
            if catalog.entries[address].type.is_rule and address not in shown.times
        ),
        root=workspace.location.root,
        why=workspace.location.why,
        tree=catalog.tree.name,
        active_wing=active,
        wings=tuple(
            WingCount(
                name=name,
                kind=wing.kind.value,
                types=Counter(one.type.value for one in catalog.entries.values() if one.wing == name),
                statuses=Counter(one.status.value for one in catalog.entries.values() if one.wing == name),
                broken=sum(path.startswith(f"{name}/") for path in catalog.broken),
            )
            for name, wing in catalog.wings.items()
        ),
        index=index,
        findings=totals(report.findings),
        known=sum(totals(report.known).values()),
        hygiene=last_hygiene(workspace, active),
        borrowed=_borrowed_wings(workspace),
        merged=tuple(merged_decisions(workspace)),
        remarks=tuple(_remarks(workspace)),
    )


def _borrowed_wings(workspace: Workspace) -> tuple[Borrowed, ...]:
    """Return the wings read from other repositories, by name; raises SettingsError if the settings are invalid."""
    fetched, found = workspace.catalog.fetched_wings, list[Borrowed]()
    for name, stated in workspace.settings.remote_wings.items():
        pin = find_pin(workspace.cache_folder, place_of(stated, workspace.location.root), stated.commit or "")
        if pin is not None and name in fetched:
            found.append(Borrowed(name, stated.git or "", stated.commit or "", pin.asked))
    return tuple(found)


def _remarks(workspace: Workspace) -> Iterator[str]:
    if workspace.location.git_fault:
        yield workspace.location.git_fault
    elif workspace.location.repository is None:
        yield "not in a git repository: history, --at and --staged are not available"
    else:
        repository = workspace.location.repository
        with suppress(MdmemError):
            (hook,) = find_hooks(repository, ("pre-commit",))
            driver = find_driver(repository, [workspace.location.root])
            if not hook.is_checking:
                install = missing_install(repository.top, STAGES) or ("" if hook.advice else "mdmem hooks install")
                how = f"`{install}` sets one up" if install else hook.advice
                yield f"no hook checks commits in this clone: {how}"
            if driver is not None and driver.state is HookState.ABSENT:
                driver_only = "`mdmem hooks install --driver-only` sets up the merge driver"
                yield f"git merges entries line by line in this clone: {driver_only}"
    if any(finding.code == "merge-marker" for finding in workspace.catalog.findings):
        yield "a merge left conflicts; `mdmem resolve` lists them"
    if lacks_wings_line(workspace.location.base, workspace.catalog.wings.values()):
        yield NO_WINGS_LINE
    with suppress(EnvironmentFaultError):
        found = waiting_saves(workspace)
        if found.pending or found.blocked:
            counts = f"{len(found.pending)} pending, {len(found.blocked)} stopped by a similar entry"
            yield f"writes that did not complete: {counts}; `mdmem save --waiting` lists them"
    owners = []
    for name in _WHOOSHES:
        with suppress(PackageNotFoundError):
            distribution(name)
            owners.append(name)
    if len(owners) > 1:
        yield f"{' and '.join(owners)} overwrite each other in this environment; uninstall all but one"


# These distributions all install a package `whoosh`. Searching the file lists of all distributions would be slow.
_WHOOSHES = ("Whoosh", "Whoosh-Reloaded", "whoosh3")


def refresh_index(workspace: Workspace, *, rebuild: bool = False) -> RefreshResult:
    """Update the search index; raises EnvironmentFaultError if another process writes it, or if writing fails."""
    # All callers share the index, so it also contains the entries that this caller may not see.
    try:
        return workspace.index.refresh(workspace.unlimited().corpus, rebuild=rebuild)
    except IndexBusyError as error:
        raise EnvironmentFaultError("another process is writing the search index; try again in a moment") from error
    except IndexWriteError as error:
        raise EnvironmentFaultError(f"{error}; mdmem answers from the files instead") from error
