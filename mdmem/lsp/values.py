"""The values that a field may have, the likeliest first: closed sets, days, and what others of the wing state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta

from mdmem.checks.engine import first_sentences
from mdmem.lsp.place import EditorPage
from mdmem.markdown.fields import scalar
from mdmem.model.entry import EntryType, Status, WingKind
from mdmem.model.fields import FIELDS, Kind

_MEANINGS = {
    EntryType.INVARIANT: "holds always, whatever is asked",
    EntryType.DECISION: "was decided, and binds until it is superseded",
    EntryType.PATTERN: "how something is done here",
    EntryType.NOTE: "a fact, and where it was learned",
    Status.DRAFT: "binds nobody yet",
    Status.ACTIVE: "in force",
    Status.UNDER_REVIEW: "in force, and in doubt",
    Status.DEPRECATED: "has ended",
}
# What lies ahead in the one field that names a day to come.
_AHEAD = (90, 180, 365)
_MOST = 100
_SETS = {Kind.TYPE: EntryType, Kind.STATUS: Status, Kind.WING_KIND: WingKind}
# The fields whose values others share; prose is each entry's own.
_SHARED = frozenset({"label", "owner", "topic", "focus", "agent", "approved_by", "tags"})


def values_of(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    """Yield the values that a field may have, as they are written, each with what it means."""
    kind = next((field.kind for field in FIELDS if field.name == name), None)
    if kind in _SETS:
        yield from ((member.value, _MEANINGS.get(member, "")) for member in _SETS[kind])
    elif kind is Kind.MOMENT:
        yield from _days(page, name)
    elif kind is Kind.NAMES:
        wings = page.session.catalog.wings.values()
        yield from ((wing.name, "shared wing") for wing in wings if wing.is_shared and wing.name != page.wing)
    elif kind is Kind.PAIRS:
        yield from ((f"{code}: ", told) for code, told in first_sentences().items())
    elif name == "owners":
        yield from _stated(page, "owner")
    elif name in _SHARED:
        yield from _stated(page, name)


def _days(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    today = page.session.today()
    if name == "expires_at":
        yield from (((today + timedelta(days)).isoformat(), f"in {days} days") for days in _AHEAD)
    else:
        yield today.isoformat(), "today"


def _stated(page: EditorPage, name: str) -> Iterator[tuple[str, str]]:
    """Yield what the entries of the wing state, the most frequent first, then what those of other wings do."""
    catalog, wing_path, itself = page.session.catalog, f"{page.wing}/", page.address
    others = {address: getattr(entry, name) for address, entry in catalog.entries.items() if address != itself}
    here = Counter(_texts(value for address, value in others.items() if address.startswith(wing_path)))
    everywhere = Counter(_texts(others.values()))
    wing = catalog.wings.get(page.wing or "")
    owners = wing.owners if wing is not None and name == "owner" else ()
    known = dict.fromkeys((*owners, *_by_number(here), *_by_number(everywhere)))
    for text in list(known)[:_MOST]:
        if text.isprintable():
            yield scalar(text), "owner of the wing" if text in owners else ""


def _by_number(counted: Counter[str]) -> list[str]:
    return sorted(counted, key=lambda text: (-counted[text], text))


def _texts(values: Iterable[str | tuple[str, ...] | None]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif value:
            yield from value
