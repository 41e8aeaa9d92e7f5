"""Under which facet each entry stands, and the table that says so."""

import pytest
from builders import entry
from mdmem.ask.context.facets import ROWS, TITLES, Facet, facet_of, facet_table

from mdmem.model.entry import EntryType

NOTE, PATTERN = EntryType.NOTE, EntryType.PATTERN


@pytest.mark.parametrize(
    ("address", "values", "facet"),
    [
        ("app/anti-patterns/x", {"type": EntryType.INVARIANT, "label": "anti-pattern"}, Facet.CONSTRAINTS),
        ("app/migration-notes/x", {"type": EntryType.DECISION}, Facet.DECISIONS),
        ("app/conventions/x", {"type": PATTERN}, Facet.PROCEDURES),
        ("app/validation/x", {"type": PATTERN}, Facet.VERIFICATION),
        ("app/components/x", {"type": PATTERN}, Facet.PROCEDURES),
        ("app/components/x", {"type": NOTE}, Facet.ARTIFACTS),
        ("app/context/x", {"type": NOTE, "label": "idea"}, Facet.IDEATION),
        ("app/context/x", {"type": NOTE, "label": "Migration_Note"}, Facet.PLANNING),
        ("app/debugging/x", {"type": NOTE}, Facet.GOTCHAS),
        ("app/context/x", {"type": NOTE, "label": "episode"}, Facet.RECENT_MEMORY),
        ("app/anything/x", {"type": NOTE}, Facet.DOMAIN),
    ],
)
def test_facet_of_entry(address: str, values: dict[str, object], facet: Facet) -> None:
    assert facet_of(entry(address, **values)) is facet


def test_newest_session_with_open_items_is_active_work() -> None:
    session = entry("app/sessions/x", type=NOTE, label="session", open_items=("the rest",))
    assert facet_of(session, latest=["app/sessions/x"]) is Facet.ACTIVE_WORK
    assert facet_of(session) is Facet.RECENT_MEMORY


def test_newest_session_with_nothing_left_is_recent_memory() -> None:
    session = entry("app/sessions/x", type=NOTE, label="session")
    assert facet_of(session, latest=["app/sessions/x"]) is Facet.RECENT_MEMORY


def test_label_goes_before_room() -> None:
    assert facet_of(entry("app/incident-log/x", type=NOTE, label="plan")) is Facet.PLANNING


def test_every_facet_of_the_contract_has_a_row_and_a_title() -> None:
    assert {row.facet for row in ROWS} == set(Facet) == set(TITLES)
    assert len(Facet) == 11


def test_table_names_every_facet_in_one_row() -> None:
    rows = facet_table().splitlines()
    assert rows[0] == "| facet | title | entries |"
    assert [row.split("`")[1] for row in rows[2:]] == [row.facet.value for row in ROWS]
    assert rows[2] == "| `constraints` | Constraints | every invariant, whatever label and room |"
