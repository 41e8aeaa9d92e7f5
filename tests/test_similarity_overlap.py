from __future__ import annotations

from collections.abc import Iterator

from builders import entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.similarity import MAY_OVERLAP, jaccard, undeclared_overlaps, words_of
from mdmem.model.entry import Entry, EntryType, Wing, WingKind

WINGS = {
    "shop": Wing(name="shop"),
    "nav": Wing(name="nav", shared_wings=("ros2",)),
    "react": Wing(name="react", kind=WingKind.SHARED),
    "ros2": Wing(name="ros2", kind=WingKind.SHARED),
}
ENTRIES = st.builds(
    lambda wing, name, kind, words: entry(f"{wing}/rules/{name}", type=kind, title=" ".join(words)),
    st.sampled_from(sorted(WINGS)),
    st.sampled_from("abcdefgh"),
    st.sampled_from([EntryType.DECISION, EntryType.NOTE]),
    st.lists(st.sampled_from(["use", "the", "one", "two", "retry", "cache", "for", "never"]), max_size=8),
)


def pairs(entries: list[Entry]) -> list[tuple[str, str]]:
    return [(project.address, shared.address) for project, shared, _ in undeclared_overlaps(entries, WINGS)]


def every_pair(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    """Compare each with each, which is what the keys must not change."""
    for one in sorted(entries, key=lambda entry: entry.address):
        for other in sorted(entries, key=lambda entry: entry.address):
            wing = WINGS[one.wing]
            if wing.is_shared or not WINGS[other.wing].is_shared or one.type is not other.type:
                continue
            same = one.address.split("/")[2] == other.address.split("/")[2]
            alike = jaccard(words_of(one.title), words_of(other.title)) >= MAY_OVERLAP
            if (same or alike) and (wing.shared_wings is None or other.wing in wing.shared_wings):
                yield one.address, other.address


@given(st.lists(ENTRIES, max_size=12, unique_by=lambda one: one.address))
def test_overlaps_are_those_of_comparing_each_with_each(entries: list[Entry]) -> None:
    assert pairs(entries) == list(every_pair(entries))


def test_see_between_the_two_ends_the_overlap() -> None:
    shared = entry("react/rules/retry", title="Retry calls twice")
    assert pairs([shared, entry("shop/rules/calls", title="Retry calls twice")]) == [
        ("shop/rules/calls", "react/rules/retry")
    ]
    assert pairs([shared, entry("shop/rules/calls", title="Retry calls twice", see=(shared.address,))]) == []


def test_only_the_first_twenty_overlaps_of_an_entry_are_reported() -> None:
    wings = {"shop": Wing(name="shop")}
    wings |= {f"s{number:02}": Wing(name=f"s{number:02}", kind=WingKind.SHARED) for number in range(50)}
    found = list(undeclared_overlaps([entry(f"{wing}/rules/e", title="Topic") for wing in wings], wings))
    assert [shared.address for _, shared, _ in found] == [f"s{number:02}/rules/e" for number in range(20)]
    assert found[-1][2] == "both have the same entry-id; more are not listed"
    assert {why for _, _, why in found[:-1]} == {"both have the same entry-id"}
