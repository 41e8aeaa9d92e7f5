"""What became of an address that leads nowhere: moved, deleted, ignored by git, or never there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mdmem.catalog import full_address
from mdmem.checks.case import Case
from mdmem.checks.nearest import Nearest


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of an address, as the end of a sentence, and which addresses may be meant, the likeliest first.

    `certain` is where the file moved to, as git tells.
    """

    story: str
    meant: tuple[str, ...] = ()
    certain: str | None = None

    def help(self, first: Sequence[str] = ()) -> str:
        """Return what to type; `first` are addresses that are likelier still."""
        meant = tuple(dict.fromkeys([*first, *self.meant]))[:3]
        if meant:
            return f"write {' or '.join(f'`{address}`' for address in meant)}, or remove the link"
        return "remove the link, or write the entry with `mdmem new`"


@dataclass(frozen=True)
class Missing:
    """Tells the fate of addresses of one case; what it needs is looked up at the first question."""

    case: Case

    def fate(self, written: str, near: str) -> Fate:
        """Return what became of an address; `near` is the address of the entry that holds the link."""
        gone = full_address(written, near, self._deleted)
        if gone is not None:
            return self._fate_of_deleted(gone, near)
        if full_address(written, near, self._ignored):
            return Fate("is ignored by git")
        return Fate("does not exist", self._nearest.to(written, near))

    def _fate_of_deleted(self, gone: str, near: str) -> Fate:
        """Follow the moves of a file to where it is now, or to the commit that deleted it."""
        followed = {gone}
        commit, moved = self._deleted[gone]
        while moved is not None and moved not in self.case.catalog.addresses:
            if moved in followed or moved not in self._deleted:
                return Fate(
                    f"moved to `{moved}` in commit `{commit}`, and is not there either", self._nearest.to(moved, near)
                )
            followed.add(moved)
            commit, moved = self._deleted[moved]
        if moved is None:
            return Fate(f"was deleted in commit `{commit}`", self._nearest.to(gone, near))
        return Fate(f"moved to `{moved}` in commit `{commit}`", (moved,), moved)

    @cached_property
    def _deleted(self) -> Mapping[str, tuple[str, str | None]]:
        if self.case.facts is None:
            return {}
        return {
            path.removesuffix(".md"): (commit, moved.removesuffix(".md") if moved else None)
            for path, (commit, moved) in self.case.facts.deleted.items()
        }

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return (
            frozenset(path.removesuffix(".md") for path in self.case.facts.ignored) if self.case.facts else frozenset()
        )

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.case.catalog.addresses)
