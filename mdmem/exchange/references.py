"""Which record a link means: by its path, its number, its slug or its title."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from mdmem.dataclass import dataclass
from mdmem.exchange.record import Claim, ForeignRecord

_STEM_NUMBER = re.compile(r"(?:adr[-_ ]?)?0*(\d{1,6})(?:[-_. ]|\Z)", re.IGNORECASE)
_NUMBER = re.compile(r"(?:[A-Za-z]{2,6}[- #]?)?#?0*(\d{1,6})\Z")


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """What can be linked to: an address with the path, the names and the number that others call it by."""

    address: str
    path: str
    names: frozenset[str]
    number: int | None


def known_by(record: ForeignRecord, address: str) -> KnownRecord:
    """Return how others call a record."""
    permalink = record.fields.get("x-permalink", "")
    path = record.source.path
    called = (record.title, record.name, record.source.stem, permalink, str(permalink).rpartition("/")[2])
    names = frozenset(_plain(one) for one in called if isinstance(one, str) and one)
    return KnownRecord(address, path, names, number_of(record.source.stem))


def known_from(address: str, path: str, title: str) -> KnownRecord:
    """Return how others call an entry that was imported before."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return KnownRecord(address, path, frozenset({_plain(stem), _plain(title)}), number_of(stem))


def number_of(stem: str) -> int | None:
    """Return the number that a file's name begins with; a day is none."""
    found = _STEM_NUMBER.match(stem)
    return int(found[1]) if found else None


class References:
    """Finds what links of some sources mean, among what is known; `by_path` has the address of what was at a path."""

    def __init__(self, known: Iterable[KnownRecord]) -> None:
        """Take all that can be meant; a part of a file is not among them."""
        self.by_path: dict[str, str] = {}
        self._by_name: dict[str, list[KnownRecord]] = {}
        self._by_number: dict[int, list[KnownRecord]] = {}
        for one in known:
            self.by_path.setdefault(one.path, one.address)
            for name in one.names:
                self._by_name.setdefault(name, []).append(one)
            if one.number is not None:
                self._by_number.setdefault(one.number, []).append(one)

    def named(self, name: str, folder: str) -> tuple[str, ...]:
        """Return the addresses that a name, a slug or a number may mean, those of the same folder where some are."""
        number = _NUMBER.match(name.strip())
        found = self._by_name.get(_plain(name)) or (self._by_number.get(int(number[1]), []) if number else [])
        near = [one for one in found if posixpath.dirname(one.path) == folder]
        return tuple(dict.fromkeys(one.address for one in near or found))

    def meant(self, claim: Claim, folder: str) -> tuple[str, ...]:
        """Return the addresses that a claim may mean; exactly one where it is certain."""
        if claim.is_path:
            path = posixpath.normpath(
                posixpath.join(folder, claim.target.lstrip("/") if folder == "" else claim.target)
            )
            address = self.by_path.get(path) or self.by_path.get(claim.target.lstrip("/"))
            return (address,) if address else self.named(_stem(claim.target), folder)
        return self.named(claim.target, folder)


def _stem(path: str) -> str:
    return posixpath.basename(path).rsplit(".", 1)[0]


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", name.casefold()).split())
