"""Who answers for an entry, and what depends on it, in a hub and in one memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from mdmem.ask.question import Question
from mdmem.ask.search import search
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.hub.across import AcrossRequest, Pinned, Reach, search_across
from mdmem.hub.contents import links_in_body
from mdmem.hub.names import own_names, remote_url
from mdmem.hub.reader import HubDependent, HubStated, Reader, SeenRow, SeenWing
from mdmem.hub.repository_copy import Origins, WingOrigin
from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.workspace import Workspace

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


def who_in(workspace: Workspace, asked: str) -> WhoReport:
    """Return owners and dependents, in the same memory, of the entry at an address, or of those that match words best.

    Raises NotFoundError where nothing is found.
    """
    own, plain = name_of(workspace), asked.strip()
    addresses: tuple[str, ...]
    if is_address(plain):
        said, colon, address = plain.rpartition(":")
        if colon and said != own:
            raise NotFoundError(f"`{said}` is another repository than this one, {own}")
        addresses, reach = (resolve_name(workspace, address),), None
    else:
        hits = search(workspace, Question(words=plain)).hits
        addresses = tuple(hit.entry.address for hit in hits[:TOLD])
        reach = Reach(len(hits), is_all=True)
    if not addresses:
        raise NotFoundError(f"no entry holds a word of `{plain}`")
    linking = _linking(workspace, frozenset(addresses))
    return WhoReport(asked, tuple(_owned(workspace, own, one, linking.get(one, ())) for one in addresses), reach)


def name_of(workspace: Workspace) -> str:
    """Return what a memory is called where nobody says, in a hub or not."""
    location = workspace.location
    if location.repository is None:
        return location.root.name
    try:
        return own_names(location, remote_url(location.repository))[0]
    except MdmemError:
        # Its folder's name is none.
        return location.root.name


def _linking(workspace: Workspace, wanted: Collection[str]) -> Mapping[str, Collection[tuple[Entry, str]]]:
    """Return which entries link some addresses, and in which field."""
    catalog, found = workspace.catalog, dict[str, dict[tuple[str, str], Entry]]()
    for source, field, target in (*_in_fields(catalog.entries.values()), *_in_bodies(workspace)):
        if target in wanted:
            found.setdefault(target, {})[source.address, field] = source
    return {target: [(entry, field) for (_, field), entry in sorted(links.items())] for target, links in found.items()}


def _in_fields(entries: Collection[Entry]) -> Iterator[tuple[Entry, str, str]]:
    for entry in entries:
        yield from ((entry, name, target) for name in LINK_FIELDS for target in entry.links(name))
        yield from ((entry, "relations", one.to) for one in entry.relations)


def _in_bodies(workspace: Workspace) -> Iterator[tuple[Entry, str, str]]:
    catalog = workspace.catalog
    for address, document in catalog.documents(list(catalog.entries), keep=False):
        entry = catalog.entries[address]
        links = links_in_body(entry, catalog.shown_body(document), catalog.addresses)
        yield from ((entry, "body", target) for target, _ in links)


def _owned(workspace: Workspace, repository: str, address: str, linking: Collection[tuple[Entry, str]]) -> OwnedEntry:
    def origin(wing: str) -> WingOrigin:
        folder = f"{workspace.location.under}/{wing}".removeprefix("/")
        return WingOrigin(repository, "", folder, wing, repository_id=0)

    entry = workspace.catalog.entries[address]
    wing = workspace.catalog.wings[entry.wing]
    return OwnedEntry(
        origin=origin(entry.wing),
        address=address,
        stated=HubStated(0, entry.path, entry.type, entry.status, entry.title, entry.owner),
        wing_owners=wing.owners,
        dependents=tuple(
            LinkingEntry(
                origin(one.wing),
                one.address,
                HubDependent(0, one.path, field, one.type, one.status, one.title, one.owner),
            )
            for one, field in linking
        ),
        pinned_by=(),
    )
