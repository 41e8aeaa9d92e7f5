"""What a sync did, and why one stops."""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.errors import MdmemError
from mdmem.sync.course import Course


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What was done between a branch and its upstream; the counts are of commits.

    `commit` is where both are now, `attempts` how often it was tried, `faults` how many findings the result has that
    fail a check, and `uncommitted` the files of the memory that are in no commit yet.
    """

    branch: str
    upstream: str
    course: Course
    commit: str
    pulled: int = 0
    pushed: int = 0
    attempts: int = 1
    faults: int = 0
    uncommitted: tuple[str, ...] = ()


class SyncStoppedError(MdmemError):
    """What is here and what others pushed do not go together; nothing was pushed, and nothing changed here."""

    exit_code = 1
