"""Who answers for an entry, and who depends on it, over all repositories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from msgspec import Struct

from mdmem.ask.question import Question
from mdmem.errors import NotFoundError, UsageError
from mdmem.hub.across import AcrossRequest, Pinned, Reach, search_across
from mdmem.hub.origins import Origins, WingOrigin
from mdmem.hub.reader import HubDependent, HubStated, Reader, SeenRow, SeenWing

# Of the hits for words so many are told about; of repositories so many are named.
TOLD, _NAMED = 3, 8


class LinkingEntry(Struct, frozen=True):
    """An entry of some repository that links another, in which field."""

    origin: WingOrigin
    address: str
    linking: HubDependent


class OwnedEntry(Struct, frozen=True):
    """An entry with those who answer for it, for itself and for its wing, and what depends on it."""

    origin: WingOrigin
    address: str
    stated: HubStated
    wing_owners: tuple[str, ...]
    dependents: tuple[LinkingEntry, ...]
    pinned_by: tuple[Pinned, ...]


class WhoReport(Struct, frozen=True):
    """What was asked, and the entries that it means: of those that match words the best.

    `is_cut` says that more decides how these stand than was read.
    """

    query: str
    entries: tuple[OwnedEntry, ...]
    reach: Reach | None = None
    is_cut: bool = False


def who(reader: Reader, asked: str, *, repositories: Sequence[str] = (), today: date) -> WhoReport:
    """Return owners and dependents of the entries at an address, or of those that match words best.

    Raises NotFoundError where nothing is found.
    """
    reach, is_cut = None, False
    if is_address(asked):
        ids = [row.id for row in places_of(reader, asked, repositories)]
    else:
        request = AcrossRequest(Question(words=asked), tuple(repositories), TOLD)
        answer = search_across(reader, request, today=today)
        reach, is_cut = answer.reach, answer.is_cut
        by_label = {one.label: key for key, one in answer.origins.of.items()}
        addresses = [hit.entry.address for hit in answer.result.hits[:TOLD]]
        split = (address.partition("/") for address in addresses)
        ids = [row.id for row in reader.files_at((by_label[label], f"{rest}.md") for label, _, rest in split)]
    if not ids:
        raise NotFoundError(f"no entry that you may read is at `{asked}`, or holds a word of it")
    return WhoReport(asked, _told(reader, ids), reach, is_cut)


def is_address(asked: str) -> bool:
    """Say whether what is asked is an address in full, and not words."""
    address = asked.rpartition(":")[2]
    return address.count("/") == 2 and " " not in asked.strip()


def _told(reader: Reader, ids: Sequence[int]) -> tuple[OwnedEntry, ...]:
    stated = reader.stated(ids)
    wings = reader.wings({one.wing_id for one in stated.values()})
    readers = {key: _readers(reader, wing) for key, wing in wings.items()}
    linking: dict[int, list[HubDependent]] = {}
    for key, one in stated.items():
        wing, rest = wings[one.wing_id], one.path.removesuffix(".md")
        linking[key] = reader.dependents(f"{wing.name}/{rest}", readers[one.wing_id][0])
    others = {dependent.wing_id for found in linking.values() for dependent in found}
    origins = Origins(reader, {*wings, *others})
    return tuple(
        OwnedEntry(
            origin=origins.of[one.wing_id],
            address=_address(origins.of[one.wing_id], one.path),
            stated=one,
            wing_owners=wings[one.wing_id].owners,
            dependents=tuple(
                LinkingEntry(origins.of[by.wing_id], _address(origins.of[by.wing_id], by.path), by)
                for by in linking[key]
            ),
            pinned_by=readers[one.wing_id][1],
        )
        for key, one in sorted(stated.items(), key=lambda pair: ids.index(pair[0]))
    )


def _address(origin: WingOrigin, path: str) -> str:
    return f"{origin.wing}/{path.removesuffix('.md')}"


def _readers(reader: Reader, wing: SeenWing) -> tuple[set[int], tuple[Pinned, ...]]:
    """Return the wings that may link into one, and the repositories that pin it, or its copies at other commits."""
    origins = Origins(reader, [wing.id])
    copies = {one.id: one for one in (wing, *reader.wings_from(*origins.place(wing.id)))}
    pins = reader.pins_on(copies)
    names = reader.repositories({pin.repository_id for pin in pins}) if pins else {}
    owners = {*names, *({wing.repository_id} - {None})}
    own = {one.id for one in reader.wings_of([one for one in owners if one is not None])}
    pinned = [
        Pinned(names[pin.repository_id].name, copies[pin.wing_id].commit or "")
        for pin in pins
        if pin.repository_id in names
    ]
    return own | copies.keys(), tuple(sorted(pinned))


def places_of(reader: Reader, asked: str, repositories: Sequence[str] = ()) -> list[SeenRow]:
    """Return the files at an address, written in full, of the repositories that are named, or of all."""
    named, _, address = asked.strip().rpartition(":")
    wing, _, rest = address.removesuffix(".md").partition("/")
    chosen = (*repositories, *([named] if named else ()))
    found = reader.wings_named([wing])
    if chosen:
        ids = {reader.get_repository(name).id for name in chosen}
        pinned = {pin.wing_id for pin in reader.pins_of(ids)}
        found = [one for one in found if one.repository_id in ids or one.id in pinned]
    return reader.files_at((one.id, f"{rest}.md") for one in found)


def by_repository(reader: Reader, addresses: Sequence[str], *, named: str | None) -> list[tuple[str, tuple[str, ...]]]:
    """Return the repositories that some addresses are of, each with its addresses, in the order that was asked."""
    # One that says none is not of the repository that another one says.
    said = {one.strip().rpartition(":")[0] for one in addresses}
    groups = [addresses] if named is not None or len(said) <= 1 else [[one] for one in addresses]
    return [_one_of(reader, group, named=named) for group in groups]


def repository_of(reader: Reader, addresses: Sequence[str], *, named: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the one repository that some addresses are of, and the addresses without its name.

    Raises NotFoundError where none has one of them, and UsageError where several have, or they differ.
    """
    found = by_repository(reader, addresses, named=named)
    return _the_one(name for name, _ in found), tuple(one for _, plain in found for one in plain)


def _the_one(names: Iterable[str]) -> str:
    found = sorted(set(names))
    if len(found) > 1:
        raise UsageError(f"the addresses are of several repositories: {', '.join(found)}; ask one at a time")
    return found[0]


def _one_of(reader: Reader, addresses: Sequence[str], *, named: str | None) -> tuple[str, tuple[str, ...]]:
    asked = [one.strip() for one in addresses]
    said = {one.rpartition(":")[0] for one in asked if ":" in one} | ({named} if named else set())
    plain = tuple(one.rpartition(":")[2] for one in asked)
    if said:
        return _the_one(said), plain
    rows = places_of(reader, plain[0])
    origins = Origins(reader, {row.wing_id for row in rows})
    own = sorted({one.repository for one in origins.of.values() if one.repository_id is not None})
    if not own and rows:
        pins = reader.pins_on({row.wing_id for row in rows})
        own = sorted(one.name for one in reader.repositories({pin.repository_id for pin in pins}).values())[:1]
    if not own:
        hint = "a short address needs --repository, and `mdmem hub search` looks for words"
        raise NotFoundError(f"no repository that you may read has an entry `{plain[0]}`; {hint}")
    if len(own) > 1:
        listed = ", ".join(own[:_NAMED]) + (f" and {len(own) - _NAMED} more" if len(own) > _NAMED else "")
        raise UsageError(f"`{plain[0]}` is in several repositories: {listed}; write REPOSITORY:{plain[0]}")
    return own[0], plain
