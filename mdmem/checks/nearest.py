"""Which addresses a wrong one may mean; few are compared, so that a thousand wrong links stay cheap."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

# A comparison costs some 50 µs.
_COMPARED = 8
_TELLING = 200
_CLOSE = 0.7
_SHOWN = 3
_NUMBER = re.compile(r"\d+")


class Nearest:
    """The addresses of a tree, by entry-id and by pieces of it."""

    def __init__(self, addresses: Iterable[str]) -> None:
        """Index the addresses."""
        self._by_id: dict[str, list[str]] = {}
        self._by_piece: dict[tuple[str, str], list[str]] = {}
        for address in sorted(addresses):
            wing, _, entry_id = address.split("/", 2)
            self._by_id.setdefault(entry_id.lower(), []).append(address)
            for piece in _pieces(entry_id):
                self._by_piece.setdefault((wing, piece), []).append(address)

    def to(self, written: str, near: str) -> tuple[str, ...]:
        """Return up to three addresses, the likeliest first: those of the same entry-id, else like ones of one wing.

        `near` is the address of the entry that holds the link.
        """
        parts = written.removesuffix(".md").strip("./").split("/")
        wing, entry_id = parts[0] if len(parts) > 2 else near.split("/", 1)[0], parts[-1].lower()
        same = [address for address in self._by_id.get(entry_id, ()) if address != near]
        if same:
            return tuple(sorted(same, key=lambda address: (not address.startswith(f"{wing}/"), address))[:_SHOWN])
        named = {_entry_id(address): address for address in self._candidates(wing, entry_id) if address != near}
        close = difflib.get_close_matches(entry_id, named, n=_SHOWN, cutoff=_CLOSE)
        return tuple(named[one] for one in close)

    def _candidates(self, wing: str, entry_id: str) -> list[str]:
        """Return those that share most pieces; a piece that very many share tells nothing."""
        sharing = (self._by_piece.get((wing, piece), ()) for piece in _pieces(entry_id))
        shared = Counter(address for some in sharing if len(some) <= _TELLING for address in some)
        # Another number is no slip of the pen: `adr-12` is as near to `adr-13` as to `adr-2`.
        numbers = _NUMBER.findall(entry_id)
        like = (address for address, _ in shared.most_common() if _NUMBER.findall(_entry_id(address)) == numbers)
        return list(islice(like, _COMPARED))


def _pieces(entry_id: str) -> Iterator[str]:
    """Yield the words of an entry-id, its start and its end: a typo leaves most of them whole."""
    lowered = entry_id.lower()
    yield from {f"^{lowered[:3]}", f"{lowered[-3:]}$", *re.split(r"[-_. ]+", lowered)}


def _entry_id(address: str) -> str:
    return address.rsplit("/", 1)[-1].lower()
