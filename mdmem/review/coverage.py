"""Which files of the code a change is about: those that `applies_to` of the changed entries matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from mdmem.entry.globs import any_match
from mdmem.review.comparison import Comparison
from mdmem.review.model import Covered, Ref, Rewording

_NAMED = 5


def covered_files(
    comparison: Comparison, reworded: Sequence[Rewording], files: Callable[[], Collection[str]]
) -> tuple[Covered, ...]:
    """Return the entries that began, ended or say something else, by authority, with the files that they are about.

    `files` gives the tracked paths from the repository's top; it is asked once, and only where an entry has globs.
    """
    concerned = [
        (comparison.before.ref(old), comparison.before.catalog.entries[old].applies_to) for old in comparison.ended
    ]
    after = comparison.after.catalog.entries
    changed = {*comparison.begun, *(one.entry.address for one in reworded if one.entry.address in comparison.binds)}
    concerned += [(comparison.after.ref(address), after[address].applies_to) for address in changed]
    with_globs = sorted(((ref, globs) for ref, globs in concerned if globs), key=lambda pair: pair[0].rank)
    tracked = sorted(files()) if with_globs else []
    return tuple(_covered(ref, globs, tracked) for ref, globs in with_globs)


def _covered(ref: Ref, globs: tuple[str, ...], tracked: Sequence[str]) -> Covered:
    found = [path for path in tracked if any_match(globs, (path,)) is not None]
    return Covered(ref, globs, len(found), tuple(found[:_NAMED]))
