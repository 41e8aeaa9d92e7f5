"""Who answers for an entry and what depends on it as one memory's own files say it, where no hub answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from mdmem.ask.question import Question
from mdmem.ask.search import search
from mdmem.errors import MdmemError, NotFoundError
from mdmem.hub.across import Reach
from mdmem.hub.contents import links_in_body
from mdmem.hub.names import own_names, remote_url
from mdmem.hub.origins import WingOrigin
from mdmem.hub.owners import TOLD, LinkingEntry, OwnedEntry, WhoReport, is_address
from mdmem.hub.reader import HubDependent, HubStated
from mdmem.model.entry import LINK_FIELDS, Entry
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.workspace import Workspace


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
