"""What a three-way merge is about: two versions of a thing and the one that both come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Sides(Generic[Thing]):
    """The ancestor, ours and theirs."""

    ancestor: Thing
    ours: Thing
    theirs: Thing

    def map(self, make: Callable[[Thing], Made]) -> Sides[Made]:
        """Return what is made of each."""
        return Sides(make(self.ancestor), make(self.ours), make(self.theirs))

    def agreed(self) -> tuple[Thing] | None:
        """Return the version that holds, alone in a tuple, where at most one side changed it; None where both did."""
        if self.ours == self.theirs or self.ancestor == self.theirs:
            return (self.ours,)
        return (self.theirs,) if self.ancestor == self.ours else None
