"""Remove links into wings that the caller may not read from entries and bodies.

A missing wing is treated like a hidden wing, so that callers cannot tell which wings exist.
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
from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.store.catalog.addresses import full_address
from mdmem.store.settings import Settings

_ADDRESS = re.compile(r"[\w-]+(?:/[\w-]+){2}")
_PARTS = re.compile(r"[\w.-]+(?:/[\w.-]+){2,}")
_WING_TABLE = re.compile(r"\bwings\.([\w-]+)")
_RELATIONS = "relations"
# The properties of relations, by the relation's type and target.
_PROPERTIES = "x-relation-properties"


class SeenAddresses(Set[str]):
    """The visible addresses of a tree, as a set that claims to contain every address in a hidden or missing wing, too.

    A link to such an address is treated like a link to an unreadable file, so that it reveals nothing.
    """

    def __init__(self, seen: Set[str], access: Access, missing: frozenset[str] = frozenset()) -> None:
        """Take the visible addresses, the access, and the wings that could not be fetched."""
        self._seen, self._access, self._missing = seen, access, missing

    def __contains__(self, address: object) -> bool:
        """Return whether an address exists or may exist."""
        if address in self._seen or not isinstance(address, str):
            return address in self._seen
        is_missing = address.partition("/")[0] in self._missing and _ADDRESS.fullmatch(address) is not None
        return is_missing or is_hidden(address, self._access)

    def __iter__(self) -> Iterator[str]:
        """Yield the visible addresses."""
        return iter(self._seen)

    def __len__(self) -> int:
        """Return the number of visible addresses."""
        return len(self._seen)

    def __ge__(self, other: Set[Any]) -> bool:
        """Return whether every address in another set exists or may exist."""
        return all(address in self for address in other)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> frozenset[Any]:
        return frozenset(it)


def known_addresses(found: Set[str], access: Access, missing: frozenset[str]) -> Set[str]:
    """Return the addresses that were found, as a set that also contains any address in hidden or missing wings."""
    return SeenAddresses(found, access, missing) if access.is_narrow or missing else found


def is_hidden(address: str, access: Access) -> bool:
    """Return whether an address is in a hidden wing."""
    return access.is_narrow and _ADDRESS.fullmatch(address) is not None and not access.sees(address)


def is_hidden_path(path: str, access: Access) -> bool:
    """Return whether a file, by path from the root, is in a hidden wing."""
    return access.is_narrow and not path.startswith(("/", "../")) and not access.sees(path)


class Redaction(Struct, frozen=True):
    """Removes links to what the caller may not see from texts; `addresses` are the known addresses of the tree."""

    access: Access
    addresses: Collection[str]

    def hides(self, link: str, near: str) -> bool:
        """Return whether a link leads into a hidden wing, in any spelling; `near` is the address of its entry."""
        return is_hidden(full_address(link, near, self.addresses) or link, self.access)

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
        """Return the front matter without hidden links; a field that had only hidden links is removed."""
        shown = dict(fields)
        if not self.access.is_narrow:
            return shown
        properties = shown.get(_PROPERTIES)
        if isinstance(properties, Mapping):
            shown[_PROPERTIES] = {name: value for name, value in properties.items() if not self.names(str(name), near)}
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
        # Also find addresses in invalid items, such as `[[a/b/c]]` or several links with commas between them.
        parts = [item, *item.values()] if isinstance(item, dict) else [item]
        texts = (found for part in parts for found in (str(part), *_PARTS.findall(str(part))))
        return any(self.hides(text.strip(), near) for text in texts)

    def body(self, body: str, near: str) -> str:
        """Return a body without links that the caller may not see; their texts stay, and code is not changed."""
        if not self.access.is_narrow or "[" not in body:
            return body

        def is_cut(link: BodyLink) -> bool:
            if not link.is_path:
                return self.hides(link.target, near)
            return is_hidden_path(posixpath.normpath(posixpath.join(posixpath.dirname(near), link.target)), self.access)

        return without_links(body, without_code(body), is_cut)

    def names(self, text: str, near: str) -> bool:
        """Return whether a text mentions an address in a hidden wing."""
        return self.access.is_narrow and any(self.hides(one.rstrip("."), near) for one in _PARTS.findall(text))


def visible_settings(read: Callable[[], Settings], access: Access, is_known: Callable[[str], bool]) -> Settings:
    """Return the settings without hidden wings; raises SettingsError, but not for a mistake in a hidden wing's table.

    `is_known` tells whether a name means a visible wing.
    """

    def without_others(settings: Settings) -> Settings:
        tables = {name: one for name, one in settings.wings.items() if access.reads(name)}
        default = settings.default_wing
        is_shown = default is not None and is_known(default)
        return replace(settings, wings=tables, default_wing=default if is_shown else None)

    try:
        return without_others(read())
    except SettingsError as error:
        readable = error.readable
        if isinstance(readable, Settings):
            readable = without_others(readable)
            if any(not access.reads(name) for name in _WING_TABLE.findall(str(error))):
                return readable
        raise SettingsError(str(error), readable=readable, line=error.line) from None
