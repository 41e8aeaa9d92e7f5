"""Which tracked files of the code a glob meets, counted once for each look at the disk."""

from __future__ import annotations

from functools import lru_cache

from mdmem.lsp.session import EditorSession
from mdmem.model.globs import all_matches


def files_met(session: EditorSession, *globs: str) -> tuple[str, ...]:
    """Return the tracked files that any of some globs meets, sorted."""
    return _met(session.tracked_files, globs)


# The set keeps its hash, and another look at the disk makes another set.
@lru_cache(maxsize=512)
def _met(tracked: frozenset[str], globs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(all_matches(globs, tracked)))
