"""Entries out of the cache are those that went in, and the columns beside them say what the entries do."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.catalog.adjacency import Adjacency
from mdmem.catalog.traits import Traits
from mdmem.entry.model import Entry, EntryType, Status
from mdmem.entry.stored_entries import PackedEntries, StoredEntries
from mdmem.errors import GoneError
from mdmem.lineage import Lineage
from mdmem.record import as_raw, pack, unpack

ADDRESSES = tuple(f"w/r/{name}" for name in "abcde")
LINKS = st.lists(st.sampled_from(ADDRESSES), max_size=2).map(tuple)
RARE: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("overrides", "conflicts_with", "amends", "see"), LINKS),
    "applies_to": st.sampled_from([(), ("src/**",)]),
    "expires_at": st.sampled_from([None, date(2026, 3, 5)]),
    "relevance_score": st.sampled_from([None, 0.0, 0.5]),
}
ENTRIES = st.dictionaries(
    st.sampled_from(ADDRESSES),
    st.fixed_dictionaries({"type": st.sampled_from(EntryType), "status": st.sampled_from(Status), **RARE}),
).map(lambda stated: {one: Entry(address=one, title=one, **fields) for one, fields in sorted(stated.items())})
TRAITS = ("of_type", "overriding", "contested", "drafts", "draft", "bound", "doubtful", "rated", "plain", "hidden")


def stored(held: dict[str, Entry], /, **changes: Any) -> StoredEntries:
    packed = PackedEntries.of(held, Adjacency(held).citing).with_changes(**changes)
    found = unpack(pack("1", packed), "1", PackedEntries)
    assert found is not None
    return found.read()


@given(ENTRIES)
def test_entries_and_what_is_told_of_all_are_as_before(entries: dict[str, Entry]) -> None:
    found = stored(entries)
    assert [found[one] for one in entries] == list(entries.values())
    lineages = Lineage(entries), Lineage(found)
    assert lineages[1].current == lineages[0].current
    before, after = (Traits(lineage.entries, lineage) for lineage in lineages)
    for name in TRAITS:
        assert getattr(after, name) == getattr(before, name)
    assert dict(Adjacency(found).citing) == Adjacency(entries).citing
    assert (list(found.items()), len(found)) == (list(entries.items()), len(entries))


@given(ENTRIES, ENTRIES, st.sets(st.sampled_from(ADDRESSES)))
def test_others_at_their_addresses_are_told_as_if_they_had_been_kept(
    entries: dict[str, Entry], others: dict[str, Entry], first: set[str]
) -> None:
    before = stored(entries)
    assert all(before[one] == entries[one] for one in first & entries.keys())
    new = {one: other.with_changes(see=entries[one].see) for one, other in others.items() if one in entries}
    found, changed = before.with_others(new), {**entries, **new}
    assert found is not None
    assert [found[one] for one in changed] == list(changed.values())
    lineages = Lineage(changed), Lineage(found)
    before_and_after = (Traits(lineage.entries, lineage) for lineage in lineages)
    told, tells = ({name: getattr(one, name) for name in TRAITS} for one in before_and_after)
    assert tells == told
    assert dict(Adjacency(found).citing) == Adjacency(changed).citing
    assert found.unlike(before) == before.unlike(found) == sorted(new)
    assert found.unlike(stored(entries)) is None
    assert list(found.items()) == list(changed.items())
    assert dict(before.items()) == entries


def test_others_with_other_links_are_not_told_by_columns() -> None:
    entries = {one: Entry(address=one, title=one, type=EntryType.NOTE, status=Status.ACTIVE) for one in ADDRESSES}
    before = stored(entries)
    assert before.with_others({ADDRESSES[0]: entries[ADDRESSES[0]].with_changes(see=(ADDRESSES[1],))}) is None
    assert before.with_others({"w/r/z": entries[ADDRESSES[0]]}) is None


@given(ENTRIES, st.sets(st.sampled_from(ADDRESSES)))
def test_entry_is_the_same_however_it_is_asked_for(entries: dict[str, Entry], first: set[str]) -> None:
    found = stored(entries)
    asked = {one: found[one] for one in first if one in found}
    whole = dict(found.items())
    assert all(whole[one] is entry for one, entry in asked.items())
    assert all(found[one] is entry for one, entry in whole.items())


A = Entry(address="w/r/a", type=EntryType.NOTE, status=Status.ACTIVE, title="A", created_at=date(2026, 3, 5))
OTHERS = (5, A.with_changes(address="w/r/b"), A.with_changes(created_at="soon"))


@pytest.mark.parametrize("row", OTHERS)
def test_row_that_is_no_such_entry_is_refused_and_its_file_goes(row: object, tmp_path: Path) -> None:
    for ask in (lambda found: found["w/r/a"], lambda found: found.values()):
        found = stored({"w/r/a": A}, entries=as_raw([row]))
        found.file = tmp_path / "former"
        found.file.write_bytes(b"")
        with pytest.raises(GoneError):
            ask(found)
        assert not found.file.exists()


@pytest.mark.parametrize(
    "changes", [{"addresses": []}, {"types": b""}, {"citing": []}, {"having": {}}, {"dated": ["title"]}]
)
def test_columns_that_do_not_fit_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # nobody is told more
        stored({"w/r/a": A}, **changes)
