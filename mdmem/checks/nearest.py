"""Which addresses a wrong one may mean; few are compared, so that a thousand wrong links stay cheap."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

# A comparison costs some 20 µs.
_COMPARED = 24
_SHOWN = 3


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
        wing = parts[0] if len(parts) > 2 else near.split("/", 1)[0]
        same = [address for address in self._by_id.get(parts[-1].lower(), ()) if address != near]
        if same:
            return tuple(sorted(same, key=lambda address: (not address.startswith(f"{wing}/"), address))[:_SHOWN])
        named = {_entry_id(address): address for address in self._candidates(wing, parts[-1]) if address != near}
        close = difflib.get_close_matches(parts[-1].lower(), named, n=_SHOWN, cutoff=0.6)
        return tuple(named[entry_id] for entry_id in close)

    def _candidates(self, wing: str, entry_id: str) -> list[str]:
        """Return those that share a piece, the rarest piece first."""
        sharing = [self._by_piece.get((wing, piece), []) for piece in _pieces(entry_id)]
        found = dict.fromkeys(address for some in sorted(sharing, key=len) for address in some[:_COMPARED])
        return list(found)[:_COMPARED]


def _pieces(entry_id: str) -> Iterator[str]:
    """Yield the words of an entry-id, its start and its end: a typo leaves most of them whole."""
    lowered = entry_id.lower()
    yield from {f"^{lowered[:3]}", f"{lowered[-3:]}$", *re.split(r"[-_. ]+", lowered)}


def _entry_id(address: str) -> str:
    return address.rsplit("/", 1)[-1].lower()
