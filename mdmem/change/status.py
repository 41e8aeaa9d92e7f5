"""How the memory stands: what it holds, its index, its findings, and what is odd about the installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.checks.run import CheckRequest, check
from mdmem.errors import EnvironmentFaultError, MdmemError, UsageError
from mdmem.model.finding import totals
from mdmem.setup.hook_frameworks import missing_install
from mdmem.setup.hooks import STAGES, find_hooks
from mdmem.setup.merge_driver import DriverState, find_driver
from mdmem.store.catalog import Catalog
from mdmem.store.git import Repository
from mdmem.store.index.protocol import IndexBusyError, IndexState, IndexWriteError, RefreshResult
from mdmem.store.state.journal import Tally
from mdmem.store.state.pending_writes import PendingWrites
from mdmem.store.workspace.proposals import merged_decisions
from mdmem.store.workspace.remarks import LastHygiene, last_of, tally_of
from mdmem.store.workspace.remote_wings import Borrowed, borrowed_wings
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.visibility import is_visible
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.save import blocked_saves


class WingCount(Struct, frozen=True, kw_only=True):
    """How many entries a wing holds, by type and by status."""

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
    """Where the memory is, what it holds, and how its index and its findings stand; a baseline records `known` more.

    `told` is what reached agents lately, and `untold` the rules in force that did not; `merged` are the decisions of
    agents that were merged and not approved.
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
    told: Tally = field(default_factory=Tally)
    untold: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def report_status(workspace: Workspace) -> StatusReport:
    """Return the report; nothing is written for it."""
    catalog = workspace.catalog
    report = check(workspace, CheckRequest(with_uncommitted=True))
    try:
        active = resolve_scope(catalog, workspace.settings, Filters()).wing
    except UsageError:
        active = None
    told = tally_of(workspace)
    return StatusReport(
        told=told,
        untold=tuple(address for address in _rules(catalog) if address not in told.times),
        root=workspace.location.root,
        why=workspace.location.why,
        tree=catalog.tree.name,
        active_wing=active,
        wings=tuple(_count(workspace, name) for name in catalog.wings),
        index=_index_state(workspace),
        findings=totals(report.findings),
        known=sum(totals(report.known).values()),
        hygiene=last_of(workspace, active),
        borrowed=borrowed_wings(workspace),
        merged=tuple(merged_decisions(workspace)),
        remarks=tuple(_remarks(workspace)),
    )


def _rules(catalog: Catalog) -> Iterator[str]:
    """Yield the addresses of the rules in force."""
    rules = (address for address, one in catalog.entries.items() if one.type.is_rule)
    return filter(catalog.lineage.is_current, rules)


def _index_state(workspace: Workspace) -> IndexState:
    """Return how the index stands to what is seen: of the rest of it nothing is told."""
    live = workspace.catalog.digests
    state = workspace.index.state(live=live)
    if not workspace.access.is_narrow:
        return state
    return replace(state, documents=len(live) - state.stale, gone=0, bytes=0)


def _count(workspace: Workspace, name: str) -> WingCount:
    catalog = workspace.catalog
    entries = [entry for entry in catalog.entries.values() if entry.wing == name]
    return WingCount(
        name=name,
        kind=catalog.wings[name].kind.value,
        types=dict(Counter(entry.type.value for entry in entries)),
        statuses=dict(Counter(entry.status.value for entry in entries)),
        broken=sum(path.startswith(f"{name}/") for path in catalog.broken),
    )


def _remarks(workspace: Workspace) -> list[str]:
    remarks = []
    if workspace.location.git_fault:
        remarks.append(workspace.location.git_fault)
    elif workspace.location.repository is None:
        remarks.append("not in a git repository: history, --at and --staged are not available")
    elif unguarded := _unguarded(workspace.location.repository, workspace.location.root):
        remarks.append(f"{unguarded} in this clone")
    if any(finding.code == "merge-marker" for finding in workspace.catalog.findings):
        remarks.append("a merge waits to be decided; `mdmem resolve` lists what")
    waiting, blocked = _count_waiting(workspace)
    if waiting:
        said = "1 write waits" if waiting == 1 else f"{waiting} writes wait"
        remarks.append(f"{said} to be done; `mdmem save --waiting` lists what")
    if blocked:
        said = "1 save was" if blocked == 1 else f"{blocked} saves were"
        remarks.append(f"{said} stopped by an entry that says much the same; `mdmem save --waiting` lists what")
    owners = [name for name in _WHOOSHES if _is_installed(name)]
    if len(owners) > 1:
        remarks.append(f"{' and '.join(owners)} overwrite each other in this environment; uninstall all but one")
    return remarks


def _unguarded(repository: Repository, root: Path) -> str:
    """Return what a clone lacks, a hook that checks commits and merging by keys, and the commands that set it up."""
    try:
        (hook,), driver = find_hooks(repository, ("pre-commit",)), find_driver(repository, [root])
    except MdmemError:
        return ""
    lacking = [] if hook.is_checking else ["no hook checks commits"]
    install = missing_install(repository.top, STAGES) if lacking else None
    ways = [f"`{install or 'mdmem hooks install'}`"]
    if driver is not None and driver.state is DriverState.ABSENT:
        lacking.append("git merges entries line by line")
        ways += ["`mdmem hooks install --driver-only`"] if install else []
    sets = "sets" if len(ways) == 1 else "set"
    return f"{' and '.join(lacking)}: {' and '.join(ways)} {sets} it up" if lacking else ""


def _count_waiting(workspace: Workspace) -> tuple[int, int]:
    """Return how many writes wait, and how many a similar entry stopped."""
    ledger = PendingWrites(workspace.state_folder)
    try:
        return sum(is_visible(workspace, one) for one in ledger.pending()), len(blocked_saves(workspace, ledger))
    except EnvironmentFaultError:
        return 0, 0


# All of them install the package `whoosh`. To ask which distributions do reads every file list: 80 ms.
_WHOOSHES = ("Whoosh", "Whoosh-Reloaded", "whoosh3")


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def refresh_index(workspace: Workspace, *, rebuild: bool = False) -> RefreshResult:
    """Bring the index up to date; raises EnvironmentFaultError where another process writes it or the disk refuses."""
    # The index is everybody's: from what only some may see, it would lose the rest.
    whole = workspace.unlimited()
    live, read = whole.catalog.digests, whole.texts
    try:
        return workspace.index.refresh(live=live, read=read, progress=workspace.progress, rebuild=rebuild)
    except IndexBusyError as error:
        raise EnvironmentFaultError("the index is being written; try again in a moment") from error
    except IndexWriteError as error:
        raise EnvironmentFaultError(
            f"the index cannot be written: {error}; questions are answered from the files"
        ) from error
