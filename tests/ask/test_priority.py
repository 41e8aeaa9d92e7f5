"""Test which entries a bundle contains: the scopes, their shares of the limit, and the order."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from ask.builders import bundle, ids, item, put, why_omitted
from mdmem.ask.answer import Question, Tier
from mdmem.ask.bundle import CAPS, BundleRequest, merge, shared_part
from mdmem.ask.rank import authority_key
from mdmem.ask.retrieve import retrieval_of
from mdmem.ask.select import Selection
from mdmem.model.entry import Entry, EntryType, NodeLabel, Status, Wing, WingKind, label_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import MemoryTree
from mdmem.store.workspace.scope import Filters, resolve_scope


def many(root: Path, number: int, room: str, /, **fields: object) -> list[str]:
    """Write so many entries of one room and return their addresses, the newest first."""
    names = [f"{room}/{room.split('/')[0]}-{fields.get('focus', 'any')}-{at:02}" for at in range(number)]
    for at, address in enumerate(names):
        title = f"{address.rsplit('/', 1)[-1].replace('-', '')}"
        put(root, address, title, created_at=f"2026-01-{at + 1:02}", **fields)
    return names[::-1]


def test_each_scope_has_its_room_in_a_bundle_and_what_finds_none_is_named_with_its_scope(root: Path) -> None:
    focus = many(root, 12, "app/architecture", focus="auth")
    project = many(root, 12, "app/components")
    shared = many(root, 7, "lib/architecture")
    answer = bundle(root, focus="auth")
    assert ids(answer["items"]) == [*focus[:10], *project[:10], *shared[:5]]
    assert [one["scope"] for one in answer["items"]] == ["focus"] * 10 + ["project"] * 10 + ["global"] * 5
    assert answer["retrieval_status"] == "succeeded"
    left = {"10 of the scope `focus`": focus[10:], "10 of the scope `project`": project[10:]}
    left |= {"5 of the scope `global`": shared[5:]}
    assert why_omitted(answer) == {one: f"over the {room}" for room, addresses in left.items() for one in addresses}


def test_fifty_are_named_and_the_rest_counted(root: Path) -> None:
    for number in range(63):
        put(root, f"app/components/c{number:02}", f"c{number:02}", type="note")
    answer = bundle(root)
    assert len(answer["omitted"]) == 50
    assert answer["omitted_counts"] == [{"type": "note", "why": "over the 10 of the scope `project`", "count": 3}]


def test_authority_fills_a_scope_and_orders_the_whole_list(root: Path) -> None:
    notes = many(root, 9, "app/components", type="note")
    put(root, "app/architecture/choice", "Choice")
    put(root, "app/conventions/way", "Way", type="pattern", trigger="now")
    put(root, "lib/architecture/common", "Common")
    answer = bundle(root)
    first = ["app/architecture/choice", "lib/architecture/common", "app/conventions/way"]
    assert ids(answer["items"]) == [*first, *notes[:8]]
    assert list(why_omitted(answer)) == [notes[8]]


def test_invariants_take_no_room_and_come_first(root: Path) -> None:
    rules = many(root, 13, "app/rules", type="invariant")
    common = many(root, 7, "lib/rules", type="invariant")
    choices = many(root, 10, "app/architecture")
    answer = bundle(root)
    assert ids(answer["items"]) == [*rules, *common, *choices]


def test_the_global_scope_counts_the_invariants_of_the_project_and_shows_what_overrides_a_shared_entry(
    root: Path,
) -> None:
    put(root, "app/architecture/own", "Own", overrides="lib/architecture/common", reason="two clients")
    put(root, "app/rules/never", "Never", type="invariant")
    put(root, "lib/architecture/common", "Common")
    answer = bundle(root, scope="global")
    assert ids(answer["items"]) == ["lib/architecture/common"]
    assert answer["items"][0]["overridden_by"] == ["app/architecture/own"]
    assert [one["count"] for one in answer["invariants_left_out"]] == [1]


@pytest.mark.parametrize("scope", ["global", "project", "focus"])
def test_with_a_focus_every_scope_is_read(root: Path, scope: str) -> None:
    put(root, "app/architecture/own", "Own")
    put(root, "app/architecture/auth", "Auth", focus="auth")
    put(root, "lib/architecture/common", "Common")
    answer = bundle(root, scope=scope, focus="auth")
    assert ids(answer["items"]) == ["app/architecture/auth", "app/architecture/own", "lib/architecture/common"]


def test_drafts_stand_apart_five_at_most(root: Path) -> None:
    drafts = many(root, 6, "app/architecture", status="draft")
    answer = bundle(root)
    assert answer["items"] == []
    assert ids(answer["proposed"]) == drafts[:5]
    assert why_omitted(answer) == {drafts[5]: "over the 5 drafts that are shown"}
    assert answer["retrieval_status"] == "succeeded"


@pytest.mark.parametrize(
    ("categories", "expected"),
    [
        (["Decision"], ["app/r/decision"]),
        (["Decision", "Pattern"], ["app/r/decision", "app/r/pattern"]),
        (["Context"], ["app/r/context"]),
        (["Session"], ["app/r/session"]),
        (["EntityFact"], ["app/r/entity"]),
        (["Invariant"], ["app/r/invariant"]),
        (["Note"], ["app/r/note"]),
    ],
)
def test_categories_let_through_the_labels_they_name(root: Path, categories: list[str], expected: list[str]) -> None:
    for kind in ("invariant", "decision", "pattern", "note"):
        put(root, f"app/r/{kind}", kind, type=kind)
    for label in ("context", "session", "entity"):
        put(root, f"app/r/{label}", label, type="note", label=label)
    assert ids(bundle(root, categories=categories)["items"]) == expected


def test_invariants_that_the_categories_leave_out_are_counted_and_no_topic_leaves_any_out(root: Path) -> None:
    put(root, "app/r/rule", "Rule", type="invariant")
    put(root, "lib/r/rule", "Common", type="invariant")
    answer = bundle(root, categories=["Decision"])
    assert answer["items"] == []
    assert answer["invariants_left_out"] == [{"type": "invariant", "why": "not among `categories`", "count": 2}]
    answer = bundle(root, topic="authentication")
    assert ids(answer["items"]) == ["app/r/rule", "lib/r/rule"]
    assert (answer["covered"], answer["unmatched_terms"]) == (False, ["authentication"])


def test_a_declared_override_wins_and_is_told(root: Path) -> None:
    put(root, "lib/r/executor", "Executor")
    put(root, "lib/r/rule", "Rule", type="invariant")
    put(root, "app/r/rule", "Our rule", type="invariant", overrides=["lib/r/rule"], reason="two clients")
    put(root, "app/r/executor", "Executor", overrides=["lib/r/executor"], reason="two clients")
    answer = bundle(root)
    assert ids(answer["items"]) == ["app/r/rule", "lib/r/rule", "app/r/executor"]
    assert why_omitted(answer) == {"lib/r/executor": "overridden by app/r/executor"}
    assert item(answer, "app/r/executor")["overrides"] == ["lib/r/executor"]
    assert item(answer, "lib/r/rule")["overridden_by"] == ["app/r/rule"]


def test_a_shared_wing_can_be_the_project(root: Path) -> None:
    put(root, "lib/r/one", "One")
    answer = bundle(root, "lib")
    assert [(one["id"], one["scope"]) for one in answer["items"]] == [("lib/r/one", "global")]


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


focuses = st.sampled_from((None, "auth"))
labels = st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(NodeLabel), min_size=1, max_size=3))


@given(memories(), st.booleans(), focuses, labels)
def test_bundle_is_in_the_order_of_authority_within_its_caps_and_loses_nothing_in_silence(
    entries: dict[str, Entry], is_global: bool, focus: str | None, asked_labels: frozenset[NodeLabel]
) -> None:
    scope_word = "global" if is_global else "project"
    asked = BundleRequest(project_id="app", scope=scope_word, focus=focus, categories=tuple(asked_labels))
    is_global = asked.is_global
    catalog = Catalog(MemoryTree("nothing"), entries, WINGS, {}, (), (), (), {})
    filters = Filters(wings=("app",), focuses=(focus,) if focus else (), types=asked.types)
    scope = resolve_scope(catalog, Settings(), filters)
    scope = shared_part(catalog, scope) if is_global else scope
    found = retrieval_of(Selection(catalog, scope, Question(filters=filters), None, TODAY))
    bundled, left_out = merge(catalog, found, asked, wing="app", is_uncertain=False)
    items, omitted = list(bundled.items), {one.address: one.why for one in bundled.basis.omitted}

    # Items are current, in the order of authority, and within the caps of their scopes.
    # A one-sided successor comes directly before the entry that it supersedes.
    apart = [one for one in items if one.address not in catalog.lineage.claims]
    assert apart == sorted(apart, key=authority_key)
    assert [item.entry.type.rank for item in items] == sorted(item.entry.type.rank for item in items)
    current = {one for one in entries if catalog.lineage.is_current(one) or catalog.lineage.is_unresolved(one)}
    assert all(item.address in current and item.status is not Status.DRAFT for item in items)
    assert all(item.status is Status.DRAFT for item in bundled.proposed)
    assert len(bundled.proposed) <= 5
    # A scope reads nothing of other projects, and `global` only shared wings.
    read = {"lib"} if is_global else {"app", "lib"}
    assert {item.entry.wing for item in (*items, *bundled.proposed)} <= read
    # The items outrank those over a cap.
    for tier in Tier:
        own = [authority_key(one) for one in items if one.tier is tier and one.entry.type is not EntryType.INVARIANT]
        over = [one for one in found.items if one.tier is tier and "of the scope" in omitted.get(one.address, "")]
        assert len(own) <= CAPS[tier]
        assert not over or (len(own) == CAPS[tier] and max(own) < min(map(authority_key, over)))
    # No invariant is lost.
    missing = [
        one
        for address, one in entries.items()
        if one.type is EntryType.INVARIANT and one.wing != "web" and catalog.lineage.is_current(address)
        if address not in {item.address for item in items}
    ]
    for one in missing:
        by_label = bool(asked_labels) and NodeLabel.INVARIANT not in asked_labels
        by_focus = focus is not None and one.focus not in (None, focus)
        assert by_label or by_focus or (is_global and one.wing == "app")
    assert sum(one.count for one in left_out) >= len(missing)
    # Every entry that was found is an item, omitted with a reason, counted, or was not asked for.
    silent = [item for item in found.items if item not in items and item.address not in omitted]
    unasked = [one for one in silent if asked_labels and label_of(one.entry) not in asked_labels]
    assert len(silent) - len(unasked) <= sum(one.count for one in bundled.basis.omitted_counts)
