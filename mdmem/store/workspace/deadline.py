"""Limit the time of a question: reading files past the deadline raises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mdmem.store.tree import TreeFile, TreeView, Unreadable
from mdmem.store.workspace.workspace import Workspace

Clock = Callable[[], float]


# Not an `Exception`: the index takes any of those for damage, and would be rebuilt.
class OverdueError(BaseException):
    """The time for an answer is over."""


class Deadline(Struct, frozen=True):
    """A moment of a clock that counts in seconds."""

    at: float
    clock: Clock

    def check(self) -> None:
        """Raise OverdueError once the moment is past."""
        if self.clock() > self.at:
            raise OverdueError


class TimedTree(TreeView, kw_only=True):
    """A tree that gives no file past a deadline."""

    deadline: Deadline

    def files(self) -> tuple[TreeFile, ...]:
        """Return everything below the root."""
        found = self.below.files()
        self.deadline.check()
        return found

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        """Yield each path with its bytes, while there is time."""
        for path, content in self.below.read(paths):
            self.deadline.check()
            yield path, content

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        """Return the digest of each file that can be read, by path."""
        found = self.below.digests(files)
        self.deadline.check()
        return found


def within(workspace: Workspace, seconds: float, *, clock: Clock) -> Workspace:
    """Return a workspace that reads the same tree until so many seconds are over."""
    timed = TimedTree(workspace.whole_tree, deadline=Deadline(clock() + seconds, clock))
    return replace(workspace.over(timed), is_timed=True)
