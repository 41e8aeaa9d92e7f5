"""The priority merge over random memories: caps and order hold, and no invariant is ever lost."""

from collections import Counter
from datetime import date, timedelta

from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.ask.answer import Answer
from mdmem.ask.bundle import CAPS, BundleRequest, BundleScope, Merged, merge, narrowed
from mdmem.ask.question import Question, Tier
from mdmem.ask.rank import authority_key
from mdmem.ask.retrieve import retrieval_of
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, NodeLabel, Status, Wing, WingKind, label_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import MemoryTree
from mdmem.store.workspace.scope import Filters, Scope, resolve_scope

TODAY = date(2026, 11, 21)
WINGS = {
    "app": Wing(name="app", shared_wings=("lib",)),
    "lib": Wing(name="lib", kind=WingKind.SHARED),
    "web": Wing(name="web"),
}


@st.composite
def memories(draw: st.DrawFn) -> dict[str, Entry]:
    """Draw up to 60 entries in a project, a shared wing and another project, some superseded, some in conflict."""
    wings = draw(st.lists(st.sampled_from(("app", "app", "app", "lib", "web")), max_size=60))
    addresses = [f"{wing}/room/e{number:02}" for number, wing in enumerate(wings)]
    found = {}
    for number, address in enumerate(addresses):
        kind = draw(st.sampled_from(EntryType))
        older = addresses[:number]
        found[address] = entry(
            address,
            type=kind,
            status=draw(st.sampled_from((Status.ACTIVE, Status.ACTIVE, *Status))),
            label=draw(st.sampled_from((None, "context", "session"))) if kind is EntryType.NOTE else None,
            focus=draw(st.sampled_from((None, None, "auth", "maps"))),
            created_at=date(2026, 1, 1) + timedelta(days=draw(st.integers(0, 9))),
            supersedes=tuple(draw(st.lists(st.sampled_from(older), max_size=1))) if older else (),
            overrides=tuple(draw(st.lists(st.sampled_from(older), max_size=1))) if older else (),
        )
    return dict(sorted(found.items()))


asks = st.builds(
    BundleRequest,
    project_id=st.just("app"),
    scope=st.sampled_from(BundleScope),
    focus=st.sampled_from((None, "auth")),
    labels=st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(NodeLabel), min_size=1, max_size=3)),
)


def answer(entries: dict[str, Entry], asked: BundleRequest) -> tuple[Catalog, Scope, Answer, Merged]:
    """Return what is found and what is merged of it, the scope being certain."""
    catalog = Catalog(MemoryTree("nothing"), entries, WINGS, {}, (), (), (), {})
    focuses = (asked.focus,) if asked.focus else ()
    filters = Filters(wings=("app",), focuses=focuses, types=asked.types)
    scope = narrowed(catalog, resolve_scope(catalog, Settings(), filters), asked)
    found = retrieval_of(Selection(catalog, scope, Question(filters=filters), None, TODAY))
    return catalog, scope, found, merge(catalog, found, asked, wing="app", is_uncertain=False)


@given(memories(), asks)
def test_items_are_current_in_the_order_of_authority_and_within_the_caps_of_their_scopes(
    entries: dict[str, Entry], asked: BundleRequest
) -> None:
    catalog, _, found, merged = answer(entries, asked)
    taken = Counter(item.tier for item in merged.items if item.entry.type is not EntryType.INVARIANT)
    assert all(taken[tier] <= CAPS[tier] for tier in Tier)
    assert len(merged.proposed) <= 5
    assert merged.items == sorted(merged.items, key=authority_key)
    assert [item.entry.type.rank for item in merged.items] == sorted(item.entry.type.rank for item in merged.items)
    current = {one for one in entries if catalog.lineage.is_current(one) or catalog.lineage.is_unresolved(one)}
    assert all(item.address in current and item.status is not Status.DRAFT for item in merged.items)
    assert all(item.status is Status.DRAFT for item in merged.proposed)
    # A scope reads nothing of other projects.
    assert all(item.entry.wing != "web" for item in (*merged.items, *merged.proposed))
    if asked.scope is BundleScope.GLOBAL:
        overridden = {one.address for one in found.basis.omitted if one.why.startswith("overridden by")}
        own = [item for item in merged.items if item.tier is Tier.PROJECT]
        assert all(overridden & set(item.overrides) for item in own)


@given(memories(), asks)
def test_no_invariant_that_binds_is_lost(entries: dict[str, Entry], asked: BundleRequest) -> None:
    catalog, *_, merged = answer(entries, asked)
    given_ones = {item.entry.address for item in merged.items}
    binding = {
        address: one
        for address, one in entries.items()
        if one.type is EntryType.INVARIANT and one.wing != "web" and catalog.lineage.is_current(address)
    }
    missing = [one for address, one in binding.items() if address not in given_ones]
    for one in missing:
        by_label = bool(asked.labels) and NodeLabel.INVARIANT not in asked.labels
        by_focus = asked.focus is not None and one.focus not in (None, asked.focus)
        by_scope = asked.scope is BundleScope.GLOBAL and one.wing == "app"
        assert by_label or by_focus or by_scope
    assert sum(one.count for one in merged.invariants_left_out) >= len(missing)


@given(memories(), asks)
def test_what_is_given_outranks_what_finds_no_room(entries: dict[str, Entry], asked: BundleRequest) -> None:
    _, _, found, merged = answer(entries, asked)
    over = {
        one.address for one in merged.basis.omitted if one.why.startswith("over the 1") or "of the scope" in one.why
    }
    for tier in Tier:
        given_keys = [
            authority_key(item)
            for item in merged.items
            if item.tier is tier and item.entry.type is not EntryType.INVARIANT
        ]
        left = [authority_key(item) for item in found.items if item.tier is tier and item.entry.address in over]
        assert not left or (len(given_keys) == CAPS[tier] and max(given_keys) < min(left))


@given(memories(), asks)
def test_everything_found_is_given_named_or_not_asked_for(entries: dict[str, Entry], asked: BundleRequest) -> None:
    _, _, found, merged = answer(entries, asked)
    told = {item.entry.address for item in merged.items} | {one.address for one in merged.basis.omitted}
    silent = [item for item in found.items if item.entry.address not in told]
    counted = sum(one.count for one in merged.basis.omitted_counts)
    unasked = [
        item
        for item in silent
        if (asked.labels and label_of(item.entry) not in asked.labels)
        or (asked.scope is BundleScope.GLOBAL and item.tier is Tier.PROJECT)
    ]
    assert len(silent) - len(unasked) <= counted
