"""Answer the calls `retrieve_context`, `memory_surface` and `get_scope_state`, whose contracts fix their JSON.

A bundle is the answer of `retrieve_context`: entries for an agent in the order of authority, with a limit for each
scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.ask.answer import (
    VIA_NAMED,
    Answer,
    AnswerBasis,
    Item,
    Omission,
    OmittedCount,
    Question,
    Reason,
    SearchResult,
    Tier,
    count_omitted,
    tidy,
)
from mdmem.ask.relate import doubts_of
from mdmem.ask.retrieve import Reading, problems_in, read_with_retry, with_code_paths, with_lines_outside
from mdmem.ask.search import search_in
from mdmem.errors import GoneError
from mdmem.markdown.body import content_of
from mdmem.markdown.parse import rationale_span, without_code
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, NodeLabel, Status, entries_with, freshness_on, label_of
from mdmem.model.lineage import Standing, branch_state_json
from mdmem.record import record_json
from mdmem.store.catalog.model import Catalog
from mdmem.store.index.analysis import snippet
from mdmem.store.workspace.scope import Filters, Scope, ScopeAnswer, ScopeState, resolve_scope
from mdmem.store.workspace.visibility import may_write_to, scope_seen
from mdmem.store.workspace.workspace import Workspace, is_hygiene_due

Bundle = dict[str, Any]
"""A bundle as JSON values in the contract's shape."""

# The most entries of each scope, and the contract's word for the scope: shared wings are the scope `global`.
CAPS = {Tier.FOCUS: 10, Tier.PROJECT: 10, Tier.SHARED: 5}
SCOPE_WORDS = {Tier.FOCUS: "focus", Tier.PROJECT: "project", Tier.SHARED: "global"}
# The most drafts that are shown, and the most omitted entries that are listed.
_DRAFTS, _NAMED = 5, 50
# The most results of `memory_surface`, and the most characters of a passage.
_MAX_RESULTS, _WIDTH = 50, 300


class BundleRequest(Struct, frozen=True, kw_only=True):
    """The arguments of one call of `retrieve_context`; empty `categories` mean all labels.

    A focus is a part of a project, as in the field `focus` of an entry. With a focus, entries of every scope are
    included.
    """

    project_id: str | None = None
    scope: str = "project"
    focus: str | None = None
    categories: tuple[NodeLabel, ...] = ()
    topic: str = ""
    agent: str = UNNAMED_AGENT

    @property
    def is_global(self) -> bool:
        """Return whether only shared wings are read."""
        return self.scope == "global" and self.focus is None

    @property
    def types(self) -> tuple[EntryType, ...]:
        """Return the entry types that have the requested labels, in the order of authority."""
        wanted = {label.type for label in self.categories}
        return tuple(kind for kind in EntryType if kind in wanted)


def retrieve_context(workspace: Workspace, request: BundleRequest, paths: Sequence[str] = ()) -> Bundle:
    """Return the bundle of a project for an agent; raises GoneError if files disappear twice while they are read."""
    return read_with_retry(workspace, lambda reading: _read(reading, request, paths))


def _read(reading: Reading, request: BundleRequest, paths: Sequence[str]) -> Bundle:
    catalog, workspace = reading.view.effective.catalog, reading.workspace
    state = scope_seen(reading.view.effective, request.project_id, request.focus)
    if state.wing is None:
        basis = AnswerBasis()
        if request.project_id is not None:
            # An unreadable file may be the README.md that states the project of its wing.
            wanted = Scope(wing=None, wings=(request.project_id,), state=state.state)
            basis = AnswerBasis(problems=problems_in(catalog, wanted))
        return _bundle("empty", state.state, state.message, basis, focus=request.focus)
    is_uncertain = state.state is ScopeState.UNCERTAIN
    focuses = (request.focus,) if request.focus is not None and not is_uncertain else ()
    # Select the wing by its project id, since its name may be the id of another wing. An unreadable wing has no id.
    named = ((request.project_id or "") if state.wing in catalog.wings else state.wing,)
    filters = Filters(wings=named, focuses=focuses, types=request.types)
    scope = resolve_scope(catalog, reading.settings, filters, tracked=workspace.tracked_files)
    scope = shared_part(catalog, scope) if request.is_global else scope
    # A server's working directory has nothing to do with its callers, so their paths start at the top.
    at_top = replace(workspace, cwd=workspace.location.base)
    question = with_code_paths(at_top, Question(words=request.topic, filters=filters), paths)
    found, invariants_left_out = merge(
        catalog, reading.retrieve(scope, question), request, wing=state.wing, is_uncertain=is_uncertain
    )
    status, message = _outcome(catalog, found, state)
    basis = with_lines_outside(found.basis, workspace, request.topic, is_unread=status == "failed")
    overriding = [
        one
        for one in entries_with(catalog.entries, "overrides")
        # The scope `global` contains shared entries that the project overrides.
        if request.is_global and one.wing == state.wing and catalog.lineage.is_current(one.address)
    ]
    files = reading.view.checkout.catalog
    return _bundle(
        status,
        state.state,
        message,
        basis,
        items=[_item(catalog, found.describe(item), overriding) for item in found.items],
        proposed=[_item(files, found.describe_proposed(item)) for item in found.proposed],
        invariants_left_out=[asdict(one) for one in invariants_left_out],
        hygiene_due=is_hygiene_due(workspace, request.project_id or state.wing),
        wing=state.wing,
        shared_wings=list(scope.shared_wings),
        focus=scope.focus,
    )


def shared_part(catalog: Catalog, scope: Scope) -> Scope:
    """Reduce a scope to its shared wings."""
    shared = tuple(name for name in scope.wings if name in catalog.wings and catalog.wings[name].is_shared)
    binding = tuple(name for name in scope.binding_wings if name in shared)
    return replace(scope, wing=None, wings=shared, shared_wings=shared, binding_wings=binding)


def merge(
    catalog: Catalog, found: Answer, request: BundleRequest, *, wing: str, is_uncertain: bool
) -> tuple[Answer, tuple[OmittedCount, ...]]:
    """Reduce an answer to the items and drafts that belong to the bundle of a wing, and count the omitted invariants.

    Items are omitted because of their label, their scope, or the limit on the number of items of one scope.
    `is_uncertain` says that no entry has the requested focus yet. In that case only the project's own entries are
    included, and the invariants of shared wings.
    """
    own = Tier.SHARED if wing in catalog.wings and catalog.wings[wing].is_shared else Tier.PROJECT
    tiers = {own} if is_uncertain else set(Tier)
    overridden = {one.address for one in found.basis.omitted if one.why.startswith(f"{Reason.OVERRIDDEN} by ")}

    def has_label(item: Item) -> bool:
        entries = (item.entry, *(catalog.entries[old] for old in item.via))
        is_named = not request.categories or any(label_of(entry) in request.categories for entry in entries)
        return is_named or not overridden.isdisjoint(item.overrides)

    def is_read(item: Item) -> bool:
        return item.tier in tiers or found.scope.always_applies(item.entry)

    def order(item: Item) -> tuple[bool, bool, bool]:
        """Return a sort key: proposals come last; decisions merged without approval come between patterns and notes."""
        standing = item.branch_state.standing if item.branch_state is not None else Standing.BINDING
        return standing.is_proposal, item.entry.type is EntryType.NOTE, standing is Standing.MERGED

    wanted = [item for item in found.items if has_label(item)]
    left, chosen, over = dict(CAPS), set[str](), list[Item]()
    for item in sorted(filter(is_read, wanted), key=order):
        is_invariant = item.entry.type is EntryType.INVARIANT
        if is_invariant or left[item.tier] > 0:
            chosen.add(item.address)
            left[item.tier] -= 0 if is_invariant else 1
        else:
            over.append(item)
    drafts = [item for item in found.proposed if has_label(item) and item.tier in tiers]
    # The caller's own drafts come first.
    drafts.sort(key=lambda one: (one.entry.agent or "").casefold() != request.agent.casefold())
    omitted = [
        *(one.omission(f"over the {CAPS[one.tier]} of the scope `{SCOPE_WORDS[one.tier]}`") for one in over),
        *(one.omission(f"over the {_DRAFTS} drafts that are shown") for one in drafts[_DRAFTS:]),
        *(one.omission("of a shared wing, while the focus is uncertain") for one in wanted if not is_read(one)),
    ]
    others = found.basis.omitted
    # The contract calls the filter of types `categories`.
    omitted += [replace(one, why="not among `categories`") if one.why == Reason.TYPE_FILTER else one for one in others]
    basis = replace(
        found.basis,
        conflicts=found.basis.contradictions_of(chosen),
        omitted=tuple(omitted[:_NAMED]),
        omitted_counts=count_omitted([*found.basis.omitted_counts, *omitted[_NAMED:]]),
    )
    invariants = [one for one in omitted if one.type == EntryType.INVARIANT]
    if request.is_global and own is not Tier.SHARED:
        beyond = catalog.derived.of_type[EntryType.INVARIANT] & catalog.lineage.current - chosen
        why = "of the project, which the scope `global` does not include"
        invariants += [Omission(one, "invariant", why) for one in beyond if one.partition("/")[0] == wing]
    items = tuple(item for item in wanted if item.address in chosen)
    return replace(found, items=items, proposed=tuple(drafts[:_DRAFTS]), basis=basis), count_omitted(invariants)


def _outcome(catalog: Catalog, found: Answer, state: ScopeAnswer) -> tuple[str, str | None]:
    """Return the status, and one line with remarks about facts that no other key of the bundle has, or None.

    The status is `conflicted` if an item has a declared contradiction, and `failed` if no entry can be read.
    """
    basis, wings = found.basis, found.scope.wings
    parts = list[str]()
    if state.message:
        parts += [state.message, "until then only the project is read, with the invariants of its shared wings"]
    parts += (f"{one.count} rules of the wing `{one.wing}` apply to these paths" for one in basis.elsewhere)
    status = "succeeded" if found.items or found.proposed else "empty"
    if any(one.is_declared for one in basis.conflicts):
        status = "conflicted"
    elif status == "succeeded" and not found.items:
        parts.append("only drafts were found; they have no effect until a person approves them")
    elif status == "empty" and basis.problems:
        is_hidden = any(one.place.path.split("/")[0] in wings for one in basis.problems)
        if is_hidden and not any(entry.wing in wings for entry in catalog.entries.values()):
            status = "failed"
            parts.append("no entry of this scope can be read; continue without memory")
        else:
            parts.append("no readable entry matches, and the unreadable files may contain rules")
    return status, "; ".join(parts) or None


def _bundle(
    status: str, state: ScopeState, message: str | None, basis: AnswerBasis, *, focus: str | None, **more: Any
) -> Bundle:
    """Return a bundle as JSON values; unreadable files come before the items, since they may contain rules.

    `omitted` lists 50 entries, and `omitted_counts` counts the rest. `suspected` are undeclared contradictions.
    """
    declared = [asdict(one) for one in basis.conflicts if one.is_declared]
    found = {
        "retrieval_status": status,
        "scope_state": state.value,
        "message": message,
        **basis.as_json("problems"),
        "conflicts_found": bool(declared),
        "hygiene_due": False,
        "items": [],
        "proposed": [],
        "conflicts": declared,
        "suspected": [asdict(one) for one in basis.conflicts if not one.is_declared],
        "invariants_left_out": [],
        "omitted": [record_json(one, id="address", type="type", why="why") for one in basis.omitted],
        **basis.as_json("omitted_counts"),
        "wing": None,
        "shared_wings": [],
        "focus": focus,
        **basis.as_json("coverage", "covered", "unmatched_terms", "fallback", "source", "degraded", "why_degraded"),
    }
    return {**found, **more}


def _item(catalog: Catalog, item: Item, overriding: Sequence[Entry] = ()) -> dict[str, Any]:
    """Return an item as JSON values, with its body divided into `rationale` and `content`; no text is in both.

    Optional keys are omitted if they are empty. Raises GoneError if the file was removed meanwhile.
    """
    entry, body = item.entry, catalog.body(item.address)
    start, end = rationale_span(without_code(body))
    # The line that introduces the rationale is in neither part.
    parts = (body[: body.rfind("\n", 0, start) + 1].strip(), body[end:].strip())
    by = (one for one in overriding if item.address in one.overrides and one.type.rank <= entry.type.rank)
    further = {
        "content": content_of(entry, "\n\n".join(filter(None, parts))),
        "uncertainty": next(doubts_of(catalog, entry, item.status), None),
        "overrides": list(item.overrides),
        "overridden_by": list(item.overridden_by) or sorted(one.address for one in by),
        "via": list(item.via[:VIA_NAMED]),
        **{name: list(addresses) for name, addresses in item.relations.items()},
    }
    return {
        "id": entry.address,
        "label": label_of(entry),
        "title": entry.title,
        "rationale": body[start:end].strip(),
        "scope": SCOPE_WORDS[item.tier],
        "created_at": entry.created_at.isoformat() if entry.created_at else None,
        **record_json(item, "entry.type", "status", "reason"),
        **{name: value for name, value in further.items() if value},
        **branch_state_json(item.branch_state, is_current=item.current),
    }


def get_scope_state(workspace: Workspace, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return whether a scope exists and whether the caller may write to it.

    If the project or focus is unknown, `nearest` has similar names. If the caller may not read a project, the answer is
    the same whether the project exists or not.
    """
    catalog = workspace.catalog
    project_id, focus = tidy(project_id) or None, tidy(focus) or None
    answer = replace(scope_seen(workspace, project_id, focus), is_writable=may_write_to(workspace, project_id))
    if answer.state is ScopeState.RESOLVED:
        return answer
    if answer.wing:
        wanted = focus
        known = {one.focus for one in catalog.entries.values() if one.wing == answer.wing and one.focus}
    else:
        wanted = project_id
        known = {wing.project_id or name for name, wing in catalog.wings.items() if not wing.is_shared}
    folded = {one.casefold(): one for one in sorted(known)}
    close = get_close_matches((wanted or "").casefold(), folded, n=3, cutoff=0.5)
    return replace(answer, nearest=tuple([folded[one] for one in close] or sorted(known)[:12]))


def memory_surface(
    workspace: Workspace, *, query: str, project_id: str | None = None, limit: int = 5
) -> dict[str, Any]:
    """Search for words in one project's wing, or in all wings, and return the best matches as JSON values.

    At most `limit` current entries (1 to 50) and as many drafts are listed, in separate lists. `next_step` tells the
    agent which call shows more.
    """
    words, named = tidy(query), tidy(project_id) or None
    state, most = scope_seen(workspace, named), min(max(limit, 1), _MAX_RESULTS)
    is_known = named is None or state.wing is not None
    wings = tuple(workspace.catalog.wings) if named is None else tuple(filter(None, [state.wing]))
    question = Question(words=words, filters=Filters(include_drafts=True))
    found = search_in(workspace, Scope(wing=state.wing, wings=wings), question)
    drafts = [hit for hit in found.hits if hit.status is Status.DRAFT]
    current = [hit for hit in found.hits if hit.status is not Status.DRAFT]
    next_step = "call `retrieve_context` with the project for the rules, in the order of authority"
    if not is_known:
        next_step = state.message or ""
    elif not words:
        next_step = "write the words to search for in `query`"
    elif len(current) > most:
        next_step += f"; {len(current) - most} more match, raise `limit` to see them"
    elif not current:
        unread = "; an unreadable file may contain them" if found.basis.problems else ""
        next_step = f"no current entry contains these words{unread}; {next_step}"
    return {
        **found.basis.as_json("problems"),
        "matches": [_match(workspace, hit, found) for hit in current[:most]],
        "query_used": words,
        "total_found": len(current),
        "next_step": next_step,
        "proposed": [_match(workspace, hit, found) for hit in drafts[:most]],
        **found.basis.as_json("unmatched_terms", "source", "degraded", "why_degraded"),
    }


def _match(workspace: Workspace, hit: Item, found: SearchResult) -> dict[str, Any]:
    entry, wing = hit.entry, workspace.catalog.wings[hit.entry.wing]
    tier = Tier.SHARED if wing.is_shared else Tier.FOCUS if entry.focus else Tier.PROJECT
    try:
        content = content_of(entry, workspace.catalog.body(entry.address))
        passage = snippet(content, hit.terms or found.terms, width=_WIDTH)
    except GoneError:
        passage = ""
    return {
        "id": entry.address,
        "label": label_of(entry),
        "name": entry.title,
        "content": passage,
        "scope": SCOPE_WORDS[tier],
        "freshness": freshness_on(entry, workspace.today),
        "bm25_score": round(hit.score, 4),
        "project_id": None if wing.is_shared else wing.project_id or wing.name,
        "status": hit.status,
        **({"via": list(hit.via[:VIA_NAMED])} if hit.via else {}),
    }
