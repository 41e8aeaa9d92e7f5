"""A wing that lives in another repository is not read.

It may hold invariants, so it never counts as absent: the run is incomplete, every retrieval names the wing among its
problems, and links into it do not dangle. Either nobody has fetched it here, or what was fetched is not what the
settings pin it to, or a folder of this memory has the wing's name. No check fetches anything.

Fails:

    [wings.ros2]
    git = "https://git.example.org/ros2-memory.git"     (and there is no `commit` yet)

Fix: `mdmem sync --wings --pinned` fetches what the settings name; `mdmem sync --wings` moves on to the newest.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "wing-not-fetched"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each wing from elsewhere that is not read, at the line that names its repository."""
    yield from case.loaded(CODE)
