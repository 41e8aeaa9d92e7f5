"""What has to be done so that a branch and its upstream are the same."""

from __future__ import annotations

from enum import Enum


class Course(Enum):
    """What is to be done: nothing, push what is here, take what is there, or put what is here on top of it."""

    NOTHING = "nothing"
    PUSH = "push"
    PULL = "pull"
    REBASE = "rebase"

    @property
    def pushes(self) -> bool:
        """Say whether something of ours goes to the others."""
        return self in (Course.PUSH, Course.REBASE)


def course_between(ours: str, theirs: str, *, base: str) -> Course:
    """Return what is to be done for two commits, by the one that they come from."""
    if ours == theirs:
        return Course.NOTHING
    if base == theirs:
        return Course.PUSH
    return Course.PULL if base == ours else Course.REBASE
