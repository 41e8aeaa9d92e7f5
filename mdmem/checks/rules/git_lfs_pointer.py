"""The file is a Git LFS pointer, not its text.

LFS keeps the text on a server, and git keeps three lines that name it. A reader without LFS, a diff and a review see
only these lines, so the rule itself is read and reviewed by nobody.

Fails:

    version https://git-lfs.github.com/spec/v1
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
    size 1423

Fix: run `git lfs pull`, then `git lfs untrack '*.md'`, and commit the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.finding import Finding, Severity

CODE = "git-lfs-pointer"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file whose text Git LFS holds elsewhere."""
    yield from case.loaded(CODE)
