"""Answer `retrieve_context` within a time limit, with every failure as a status.

The contract limits the entries of each scope; all entries together are in the order of authority.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import (
    TYPE_FILTER,
    AnswerBasis,
    Contradiction,
    Item,
    Omission,
    OmittedCount,
    Retrieval,
    count_omitted,
)
from mdmem.ask.bundle import (
    SCOPE_WORDS,
    BundleRequest,
    BundleScope,
    ContextBundle,
    RetrievalStatus,
    bundle_item,
    read_request,
)
from mdmem.ask.problems import problems_in
from mdmem.ask.question import Question, Tier
from mdmem.ask.retrieve import Reading, read_steadily, with_code_paths, with_fallback, with_outside
from mdmem.errors import EnvironmentFaultError, GoneError
from mdmem.model.entry import EntryType, label_of
from mdmem.model.lineage import Standing
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.remarks import is_due
from mdmem.store.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState, resolve_scope
from mdmem.store.workspace.visibility import scope_seen
from mdmem.store.workspace.workspace import Clock, OverdueError, Workspace

# The contract: so many of each scope.
CAPS = {Tier.FOCUS: 10, Tier.PROJECT: 10, Tier.SHARED: 5}
PROPOSED = 5
NAMED = 50


class MergedBundle(Struct, frozen=True, kw_only=True):
    """The items of a bundle, in the order of authority, and the omissions."""

    items: tuple[Item, ...]
    proposed: tuple[Item, ...]
    suspected: tuple[Contradiction, ...]
    invariants_left_out: tuple[OmittedCount, ...]
    basis: AnswerBasis


def narrowed(catalog: Catalog, scope: Scope, request: BundleRequest) -> Scope:
    """Return the scope to read: the global one without a focus is only the shared wings."""
    if request.scope is not BundleScope.GLOBAL or scope.focus is not None:
        return scope
    shared = tuple(name for name in scope.wings if name in catalog.wings and catalog.wings[name].is_shared)
    binding = tuple(name for name in scope.binding_wings if name in shared)
    return replace(scope, wing=None, wings=shared, shared_wings=shared, binding_wings=binding)


def merge(catalog: Catalog, found: Retrieval, request: BundleRequest, *, wing: str, is_uncertain: bool) -> MergedBundle:
    """Return the part of a retrieval that is in the bundle of a wing.

    A scope is uncertain where no entry has the focus yet: then only the project's own entries and the invariants that
    apply to it are included.
    """
    return _Merge(catalog, found, request, wing, is_uncertain).merged()


class _Merge(Struct, frozen=True, dict=True):
    catalog: Catalog
    found: Retrieval
    request: BundleRequest
    wing: str
    is_uncertain: bool

    def merged(self) -> MergedBundle:
        wanted = [item for item in self.found.items if self._has_label(item)]
        read = [item for item in wanted if self._is_read(item)]
        items, over = _within_caps(read)
        found = [item for item in self.found.proposed if self._has_label(item) and item.tier in self._tiers]
        drafts, more = self._shown(found, is_alone=all(one.entry.type is EntryType.INVARIANT for one in items))
        given = {item.entry.address for item in items}
        touching = self.found.basis.contradictions_of(given)
        omitted = [
            *(_omission(item, f"over the {CAPS[item.tier]} of the scope `{SCOPE_WORDS[item.tier]}`") for item in over),
            *(_omission(item, f"over the {PROPOSED} drafts that are shown") for item in more),
            *(_omission(item, "of a shared wing, while the focus is uncertain") for item in self._put_off(wanted)),
            # In the contract's words.
            *(
                replace(one, why="not among `categories`") if one.why == TYPE_FILTER else one
                for one in self.found.basis.omitted
            ),
        ]
        invariants = [one for one in omitted if one.type == EntryType.INVARIANT]
        return MergedBundle(
            items=tuple(items),
            proposed=tuple(drafts),
            suspected=tuple(one for one in touching if not one.is_declared),
            invariants_left_out=count_omitted([*invariants, *self._beyond_scope(given)]),
            basis=replace(
                self.found.basis,
                conflicts=tuple(one for one in touching if one.is_declared),
                omitted=tuple(omitted[:NAMED]),
                omitted_counts=(*self.found.basis.omitted_counts, *count_omitted(omitted[NAMED:])),
            ),
        )

    def _shown(self, drafts: Sequence[Item], *, is_alone: bool) -> tuple[list[Item], list[Item]]:
        """Return the drafts that are shown, and the rest: where there is nothing else, all of the caller's own are."""
        own, others = list[Item](), list[Item]()
        for one in drafts:
            (own if is_alone and self.request.is_own(one.entry) else others).append(one)
        room = max(0, PROPOSED - len(own))
        return [*own, *others[:room]], others[room:]

    @cached_property
    def _tiers(self) -> frozenset[Tier]:
        """The tiers that are read; a wing that is shared itself has no other."""
        if self.request.scope is BundleScope.GLOBAL:
            return frozenset({Tier.SHARED, Tier.FOCUS})
        wing = self.catalog.wings.get(self.wing)
        own = Tier.SHARED if wing is not None and wing.is_shared else Tier.PROJECT
        return frozenset({own}) if self.is_uncertain else frozenset(Tier)

    def _is_read(self, item: Item) -> bool:
        """Say whether an item is of a scope that is read, binds always, or stands here for one that is."""
        if item.tier in self._tiers or self._replaces(item):
            return True
        if self.request.scope is BundleScope.GLOBAL:
            # A chain that leads out of the shared wings was followed because its old end matched.
            return bool(item.via) and self.found.scope.wing is None
        return self.found.scope.binds(item.entry)

    def _has_label(self, item: Item) -> bool:
        """Say whether an item, or one that it stands for, is of a category that was asked for."""
        labels = self.request.labels
        if not labels or label_of(item.entry) in labels or self._replaces(item):
            return True
        return any(label_of(self.catalog.entries[old]) in labels for old in item.via)

    def _replaces(self, item: Item) -> bool:
        return not self._overridden.isdisjoint(item.overrides)

    @cached_property
    def _overridden(self) -> frozenset[str]:
        """The shared entries that are left out because the project overrides them."""
        return frozenset(one.address for one in self.found.basis.omitted if one.why.startswith("overridden by "))

    def _put_off(self, wanted: Iterable[Item]) -> Iterator[Item]:
        if self.is_uncertain and self.request.scope is not BundleScope.GLOBAL:
            yield from (item for item in wanted if not self._is_read(item))

    def _beyond_scope(self, given: set[str]) -> Iterator[Omission]:
        """Yield the invariants of the wing that a global scope does not read."""
        if self.request.scope is not BundleScope.GLOBAL or self.wing in self.found.scope.shared_wings:
            return
        named = given | {one.address for one in self.found.basis.omitted}
        for address, entry in self.catalog.entries.items():
            is_own = entry.wing == self.wing and entry.type is EntryType.INVARIANT
            if is_own and address not in named and self.catalog.lineage.is_current(address):
                yield Omission(address, entry.type.value, "of the project, which the scope `global` does not include")


def overriders(catalog: Catalog, wing: str) -> dict[str, tuple[str, ...]]:
    """Return, for each entry that a wing overrides somewhere, the entries in force that do, sorted."""
    found: dict[str, list[str]] = {}
    for address, entry in catalog.entries.items():
        if entry.overrides and entry.wing == wing and catalog.lineage.is_current(address):
            for other in entry.overrides:
                if other in catalog.entries and entry.type.rank <= catalog.entries[other].type.rank:
                    found.setdefault(other, []).append(address)
    return {other: tuple(sorted(by)) for other, by in found.items()}


def _within_caps(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Return what finds room in its scope, and what does not; invariants need none."""
    room, everything = dict(CAPS), list(items)
    chosen = set()
    for item in sorted(everything, key=_turn):
        is_invariant = item.entry.type is EntryType.INVARIANT
        if is_invariant or room[item.tier] > 0:
            chosen.add(item.entry.address)
            room[item.tier] -= not is_invariant
    given = [item for item in everything if item.entry.address in chosen]
    return given, [item for item in everything if item.entry.address not in chosen]


def _turn(item: Item) -> tuple[bool, bool, bool]:
    """Return when an item gets room: proposals last, merged decisions after rules and patterns and before notes."""
    standing = item.stance.standing if item.stance is not None else Standing.BINDING
    return standing.is_proposal, item.entry.type is EntryType.NOTE, standing is Standing.MERGED


def _omission(item: Item, why: str) -> Omission:
    return Omission(item.entry.address, item.entry.type.value, why)


def retrieve_context(
    workspace: Workspace,
    *,
    project_id: str | None,
    scope: str = "project",
    focus: str | None = None,
    categories: Sequence[str] | None = None,
    topic: str | None = None,
    agent: str | None = None,
    paths: Sequence[str] = (),
    at: str | None = None,
    clock: Clock = monotonic,
) -> ContextBundle:
    """Return the bundle of a project for an agent, `at` a revision or a date; every failure is a status.

    The settings limit an attempt; one that takes longer, or whose files go away meanwhile, is made once more.
    Raises UsageError for a scope or category that is not known, and for a revision or date that is none.
    """
    workspace = workspace.as_of(at)
    request = read_request(
        project_id=project_id, scope=scope, focus=focus, categories=categories, topic=topic, agent=agent
    )

    def attempt(reading: Reading) -> ContextBundle:
        timed = reading.workspace.within(reading.settings.timeout_seconds, clock=clock)
        return _bundle(replace(reading, workspace=timed), request, paths)

    try:
        return read_steadily(workspace, attempt, unsettled=(GoneError, OverdueError))
    except OverdueError:
        return _timed_out(workspace, request)
    except (EnvironmentFaultError, OSError) as error:
        return _failed(workspace, request, str(error))


def _bundle(reading: Reading, request: BundleRequest, paths: Sequence[str]) -> ContextBundle:
    catalog, workspace = reading.view.effective.catalog, reading.workspace
    state = scope_seen(reading.view.effective, request.project_id, request.focus)
    if state.wing is None:
        return _without_wing(catalog, request, state)
    is_uncertain = state.state is ScopeState.UNCERTAIN
    focuses = (request.focus,) if request.focus is not None and not is_uncertain else ()
    # By its id, since a wing's name may be the id of another; one that cannot be listed has only its name.
    named = ((request.project_id or "") if state.wing in catalog.wings else state.wing,)
    filters = Filters(wings=named, focuses=focuses, types=request.types)
    resolved = resolve_scope(catalog, reading.settings, filters, tracked=workspace.tracked_files)
    scope = narrowed(catalog, resolved, request)
    # Where a server was started says nothing about the paths that its callers mean.
    at_top = replace(workspace, cwd=workspace.location.base)
    question = with_code_paths(at_top, Question(words=request.topic, filters=filters), paths)
    found = reading.retrieve(scope, question)
    merged = merge(catalog, found, request, wing=state.wing, is_uncertain=is_uncertain)
    # What the project overrides in a narrower place stands among the shared knowledge itself.
    by = overriders(catalog, state.wing) if request.scope is BundleScope.GLOBAL else {}
    files = reading.view.checkout.catalog
    bundle = ContextBundle(
        status=_status(found, merged, catalog),
        scope_state=state.state,
        items=tuple(
            bundle_item(catalog, found.describe(item), by.get(item.entry.address, ())) for item in merged.items
        ),
        proposed=tuple(bundle_item(files, found.describe_proposed(item)) for item in merged.proposed),
        suspected=merged.suspected,
        invariants_left_out=merged.invariants_left_out,
        hygiene_due=is_due(workspace, request.project_id or state.wing),
        wing=state.wing,
        shared_wings=scope.shared_wings,
        focus=scope.focus,
        basis=merged.basis,
    )
    bundle = replace(bundle, message=_message(bundle, request, state))
    if bundle.status is not RetrievalStatus.FAILED:
        return replace(bundle, basis=with_outside(merged.basis, workspace, request.topic))
    why = merged.basis.why_degraded or "no entry of the scope can be read"
    return replace(bundle, basis=with_fallback(merged.basis, workspace, request.topic, why=why))


def _status(found: Retrieval, merged: MergedBundle, catalog: Catalog) -> RetrievalStatus:
    if merged.basis.conflicts:
        return RetrievalStatus.CONFLICTED
    if merged.items or merged.proposed:
        return RetrievalStatus.SUCCEEDED
    hidden = any(problem.place.path.split("/")[0] in found.scope.wings for problem in found.basis.problems)
    is_dark = hidden and not any(entry.wing in found.scope.wings for entry in catalog.entries.values())
    return RetrievalStatus.FAILED if is_dark else RetrievalStatus.EMPTY


def _message(bundle: ContextBundle, request: BundleRequest, state: ScopeAnswer) -> str | None:
    """Return the remarks that no other key states, in one line."""
    parts = [state.message] if state.message else []
    if state.message and request.scope is not BundleScope.GLOBAL:
        parts.append("until then only the project is read, with the invariants of its shared wings")
    if request.scope is BundleScope.FOCUS and request.focus is None:
        parts.append("no `focus` is given, so the project is read")
    if request.topic and not any(letter.isalnum() for letter in request.topic):
        parts.append("`topic` contains no word to search for")
    parts += (f"{one.count} rules of the wing `{one.wing}` apply to these paths" for one in bundle.basis.elsewhere)
    if bundle.proposed and all(item.type is EntryType.INVARIANT for item in bundle.items):
        only = "besides invariants, only" if bundle.items else "only"
        parts.append(f"{only} drafts were found: they are in `proposed`, and do not bind until a person approves them")
    if bundle.status is RetrievalStatus.FAILED:
        parts.append("no entry of this scope can be read; continue without memory")
    elif bundle.basis.problems and bundle.status is RetrievalStatus.EMPTY:
        parts.append("no readable entry matches, and the unreadable files may contain rules")
    return "; ".join(parts) or None


def _without_wing(catalog: Catalog, request: BundleRequest, state: ScopeAnswer) -> ContextBundle:
    """Return the answer where no project is named, or one that is not there; what cannot be read may be its wing."""
    basis = AnswerBasis()
    if request.project_id is not None:
        scope = Scope(wing=None, wings=(request.project_id,), state=state.state)
        basis = AnswerBasis(problems=problems_in(catalog, scope))
    return ContextBundle(
        status=RetrievalStatus.EMPTY, scope_state=state.state, message=state.message, focus=request.focus, basis=basis
    )


def _timed_out(workspace: Workspace, request: BundleRequest) -> ContextBundle:
    late = AnswerBasis(degraded=True, why_degraded="the time limit was reached")
    return ContextBundle(
        status=RetrievalStatus.TIMED_OUT,
        scope_state=_unknown(request),
        message="the memory was not read in time, in two attempts; continue without it, or ask again later",
        focus=request.focus,
        # To tell the wings from other folders of a repository's top, the memory would have to be read once more.
        basis=with_outside(late, workspace, request.topic) if workspace.location.under else late,
    )


def _failed(workspace: Workspace, request: BundleRequest, why: str) -> ContextBundle:
    return ContextBundle(
        status=RetrievalStatus.FAILED,
        scope_state=_unknown(request),
        message="the memory cannot be read; continue without it",
        focus=request.focus,
        basis=with_fallback(AnswerBasis(), workspace, request.topic, why=why),
    )


def _unknown(request: BundleRequest) -> ScopeState:
    return ScopeState.UNCERTAIN if request.project_id is not None else ScopeState.UNRESOLVED
