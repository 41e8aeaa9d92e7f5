"""Find the record that a link means: by its path, its number, its slug or its title."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from msgspec import Struct

from mdmem.exchange.record import Claim, ForeignRecord

# Words for a record before its number.
_RECORD = r"(?:adrs?|madr|rfc|ad|dec|[a-z]{1,3}dr|decisions?|records?)"
_STEM_NUMBER = re.compile(
    rf"(?!\d{{4}}-\d\d-\d\d)(?:{_RECORD}[-_ ]*(?:[a-z]{{1,10}}[-_])?)?0*(\d{{1,6}})(?=[-_. ]|\Z)", re.I
)
_HEADING_NUMBER = re.compile(
    rf"\W*(?:{_RECORD}[\s_#.-]*(?:no\.?\s*)?0*(\d{{1,6}})\b|0*(\d{{1,6}})\]?\s*[.:)|\u2013\u2014-])", re.I
)
_NUMBER = re.compile(rf"(?:(?:{_RECORD}|no|nr|number)[\s_#:.-]*)*#?0*(\d{{1,6}})\Z", re.IGNORECASE)


class KnownRecord(Struct, frozen=True):
    """A record that others may link to: its address, and its path, names and number."""

    address: str
    path: str
    names: frozenset[str]
    number: int | None


def known_by(record: ForeignRecord, address: str) -> KnownRecord:
    """Return the names by which others may refer to a record."""
    permalink = record.fields.get("x-permalink", "")
    path = record.source.path
    called = (record.title, record.name, record.source.stem, permalink, str(permalink).rpartition("/")[2])
    names = frozenset(_plain(one) for one in called if isinstance(one, str) and one)
    return KnownRecord(address, path, names, record.number)


def known_from(address: str, path: str, title: str) -> KnownRecord:
    """Return the names by which others may refer to an entry that was imported before."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return KnownRecord(address, path, frozenset({_plain(stem), _plain(title)}), number_of(stem))


def number_of(stem: str) -> int | None:
    """Return the number at the start of a file's name, unless it is a date."""
    found = _STEM_NUMBER.match(stem)
    return int(found[1]) if found else None


def number_in(heading: str) -> int | None:
    """Return the number at the start of a heading: `ADR-0034: Title`, `34. Title`."""
    found = _HEADING_NUMBER.match(heading)
    return int(found[1] or found[2]) if found else None


class References:
    """Find records by links; `by_path` has their addresses by the path of the source."""

    def __init__(self, known: Iterable[KnownRecord]) -> None:
        """Index the known records."""
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
        """Return the addresses that a name, a slug or a number may mean, those in the same folder if there are any."""
        plain, number = _plain(name), _NUMBER.match(name.strip())
        found = self._by_name.get(plain) or (self._by_number.get(int(number[1]), []) if number else self._begun(plain))
        near = [one for one in found if posixpath.dirname(one.path) == folder]
        return tuple(dict.fromkeys(one.address for one in near or found))

    def _begun(self, plain: str) -> list[KnownRecord]:
        """Return the records whose name begins with a shorter one that has a number: `ADR-DB-003`."""
        if not (any(map(str.isdigit, plain)) and " " in plain):
            return []
        return [one for name, records in self._by_name.items() if name.startswith(f"{plain} ") for one in records]

    def meant(self, claim: Claim, folder: str) -> tuple[str, ...]:
        """Return the addresses that a claim may mean; a single one is certain."""
        if not claim.is_path:
            return self.named(claim.target, folder)
        path = posixpath.normpath(posixpath.join(folder, claim.target.lstrip("/") if folder == "" else claim.target))
        address = self.by_path.get(path) or self.by_path.get(f"{path}.md") or self.by_path.get(claim.target.lstrip("/"))
        if address:
            return (address,)
        # A record keeps its number when its title changes.
        number = number_of(_stem(path))
        renamed = self._by_number.get(number, []) if number is not None else []
        in_folder = tuple(one.address for one in renamed if posixpath.dirname(one.path) == posixpath.dirname(path))
        return self.named(_stem(claim.target), folder) or in_folder


def _stem(path: str) -> str:
    stem, _, ending = posixpath.basename(path).rpartition(".")
    return stem if stem and ending.isalpha() else posixpath.basename(path)


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[-_\s]+", " ", name.casefold()).split())
