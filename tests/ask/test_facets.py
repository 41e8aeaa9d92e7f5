"""Under which facet each entry stands."""

import pytest
from builders import entry

from mdmem.ask.facets import ROWS, TITLES, Facet, facet_of
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
        ("app/incident-log/x", {"type": NOTE, "label": "Migration_Note"}, Facet.PLANNING),
        ("app/context/x", {"type": NOTE, "label": "episode"}, Facet.RECENT_MEMORY),
        ("app/anything/x", {"type": NOTE}, Facet.DOMAIN),
    ],
)
def test_facet_of_entry(address: str, values: dict[str, object], facet: Facet) -> None:
    assert facet_of(entry(address, **values)) is facet


def test_newest_session_is_active_work_where_something_is_open() -> None:
    session = entry("app/sessions/x", type=NOTE, label="session", open_items=("the rest",))
    done = entry("app/sessions/x", type=NOTE, label="session")
    assert facet_of(session, newest=["app/sessions/x"]) is Facet.ACTIVE_WORK
    assert facet_of(session) is facet_of(done, newest=["app/sessions/x"]) is Facet.RECENT_MEMORY


def test_every_facet_of_the_contract_has_a_row_and_a_title() -> None:
    assert {row.facet for row in ROWS} == set(Facet) == set(TITLES)
    assert len(Facet) == 11
