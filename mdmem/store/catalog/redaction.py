"""Which links lead into wings that the caller may not read, and entries and bodies without them.

A wing that is not there counts as one that may not be read: whoever asks learns nothing of which it is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.markdown.links import BodyLink, without_links
from mdmem.markdown.parse import without_code
from mdmem.model.access import Access
from mdmem.model.entry import Entry, Wing
from mdmem.model.fields import LINK_FIELDS
from mdmem.store.catalog.addresses import full_address
from mdmem.store.settings import Settings

_ADDRESS = re.compile(r"[\w-]+(?:/[\w-]+){2}")
_PARTS = re.compile(r"[\w.-]+(?:/[\w.-]+){2,}")
_WING_TABLE = re.compile(r"\bwings\.([\w-]+)")
_RELATIONS = "relations"
# By relation: its type and the address that it leads to.
_PROPERTIES = "x-relation-properties"


class SeenAddresses(Set[str]):
    """The addresses of a tree, with every one that lies where nobody, or not the caller, can look; the seen are listed.

    So a link there is taken as one to a file that is there and cannot be read: nothing is found out about it.
    """

    def __init__(self, seen: Set[str], access: Access, missing: frozenset[str] = frozenset()) -> None:
        """Take the addresses that are seen, and by what access; and the wings of which nobody knows what they hold."""
        self._seen, self._access, self._missing = seen, access, missing

    def __contains__(self, address: object) -> bool:
        """Say whether an address is there, or may be."""
        return address in self._seen or (isinstance(address, str) and self._may_be(address))

    def _may_be(self, address: str) -> bool:
        is_missing = address.partition("/")[0] in self._missing and _ADDRESS.fullmatch(address) is not None
        return is_missing or is_hidden(address, self._access)

    def __iter__(self) -> Iterator[str]:
        """Yield the addresses that are seen."""
        return iter(self._seen)

    def __len__(self) -> int:
        """Return how many are seen."""
        return len(self._seen)

    def __ge__(self, other: Set[Any]) -> bool:
        """Say whether all of some addresses are there, or may be."""
        return all(address in self for address in other)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        return frozenset(it)


def known_addresses(found: Set[str], access: Access, missing: frozenset[str]) -> Set[str]:
    """Return the addresses that were found, with those that may be there where nobody, or not the caller, can look."""
    return SeenAddresses(found, access, missing) if access.is_narrow or missing else found


def is_hidden(address: str, access: Access) -> bool:
    """Say whether an address lies in a wing that is not seen."""
    return access.is_narrow and _ADDRESS.fullmatch(address) is not None and not access.sees(address)


def is_hidden_path(path: str, access: Access) -> bool:
    """Say whether a file, counted from the root, lies in a wing that is not seen."""
    return access.is_narrow and not path.startswith(("/", "../")) and not access.sees(path)


def without_hidden_wings(wing: Wing, access: Access) -> Wing:
    """Return a wing as the caller may see it: of the shared wings that it names those that are seen."""
    if wing.shared_wings is None or not access.is_narrow:
        return wing
    return wing.with_changes(shared_wings=tuple(name for name in wing.shared_wings if access.reads(name)))


class Redaction(Struct, frozen=True):
    """Takes the links that are hidden out of what is shown; `addresses` are those of the tree, as they are seen."""

    access: Access
    addresses: Collection[str]

    def hides(self, link: str, near: str) -> bool:
        """Say whether a link is hidden, however it is written; `near` is the address of what holds it."""
        meant = full_address(link, near, self.addresses) or link
        return is_hidden(meant, self.access)

    def entry(self, entry: Entry) -> Entry:
        """Return an entry without its hidden links and relations."""
        changes: dict[str, Any] = {}
        for name in LINK_FIELDS:
            links = entry.links(name)
            seen = tuple(link for link in links if not self.hides(link, entry.address))
            if seen != links:
                changes[name] = seen
        relations = tuple(one for one in entry.relations if not self.hides(one.to, entry.address))
        if relations != entry.relations:
            changes[_RELATIONS] = relations
        return entry.with_changes(**changes) if changes else entry

    def fields(self, fields: Mapping[str, Any], near: str) -> dict[str, Any]:
        """Return what a front matter states without its hidden links; a field that held nothing else is left out."""
        shown = dict(fields)
        held = shown.get(_PROPERTIES)
        if isinstance(held, Mapping):
            shown[_PROPERTIES] = {name: value for name, value in held.items() if not self.names(str(name), near)}
        for name in {*LINK_FIELDS, _RELATIONS, "shared_wings"} & shown.keys():
            value = shown[name]
            items = value if isinstance(value, list) else [value]
            seen = [item for item in items if not self._is_hidden_item(name, item, near)]
            if len(seen) == len(items):
                continue
            if seen:
                shown[name] = seen
            else:
                del shown[name]
        return shown

    def _is_hidden_item(self, name: str, item: object, near: str) -> bool:
        if name == "shared_wings":
            return not self.access.reads(str(item))
        # An item may be no link as it should be written, but `[[a/b/c]]`, or several with commas between them.
        parts = [item, *item.values()] if isinstance(item, dict) else [item]
        texts = (found for part in parts for found in (str(part), *_PARTS.findall(str(part))))
        return any(self.hides(text.strip(), near) for text in texts)

    def body(self, body: str, near: str) -> str:
        """Return a body without its hidden cross-references, which are those outside code; their words stay."""
        if "[" not in body:
            return body

        def is_cut(link: BodyLink) -> bool:
            if not link.is_path:
                return self.hides(link.target, near)
            return is_hidden_path(posixpath.normpath(posixpath.join(posixpath.dirname(near), link.target)), self.access)

        return without_links(body, without_code(body), is_cut)

    def names(self, text: str, near: str) -> bool:
        """Say whether a text names an address that is hidden."""
        return any(self.hides(found.rstrip("."), near) for found in _PARTS.findall(text))


def visible_settings(read: Callable[[], Settings], access: Access, is_known: Callable[[str], bool]) -> Settings:
    """Return the settings without what they say of wings that are not seen, right or wrong; raises SettingsError.

    `is_known` says whether a name means one that is seen.
    """
    try:
        return _without_others(read(), access, is_known)
    except SettingsError as error:
        readable = error.readable
        if isinstance(readable, Settings):
            readable = _without_others(readable, access, is_known)
            if any(not access.reads(name) for name in _WING_TABLE.findall(str(error))):
                return readable
        raise SettingsError(str(error), readable=readable, line=error.line) from None


def _without_others(settings: Settings, access: Access, is_known: Callable[[str], bool]) -> Settings:
    tables = {name: one for name, one in settings.wings.items() if access.reads(name)}
    default = settings.default_wing
    if default is not None and not is_known(default):
        default = None
    return replace(settings, wings=tables, default_wing=default)
