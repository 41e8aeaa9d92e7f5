"""What of the other projects' rules applies to the paths of a question: nobody asked for their wings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdmem.ask.question import Elsewhere
from mdmem.model.entry import Entry, EntryType
from mdmem.model.globs import any_match
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Scope

if TYPE_CHECKING:
    from mdmem.ask.question import Elsewhere


def rules_elsewhere(catalog: Catalog, scope: Scope, paths: Sequence[str]) -> tuple[Elsewhere, ...]:
    """Return how many rules of each project wing that is not read apply to one of some paths."""
    # Whoever only counts does without what a whole answer is made of.
    return tuple(Elsewhere(wing, count) for wing, count in count_elsewhere(catalog, scope, paths).items())


def count_elsewhere(catalog: Catalog, scope: Scope, paths: Sequence[str]) -> dict[str, int]:
    """Return, by name, the project wings that are not read and the number of their rules that apply."""
    others = (
        entry.wing
        for entry in (catalog.entries.values() if paths else ())
        if entry.wing not in scope.wings and not catalog.wings[entry.wing].is_shared
        if entry.type.is_rule and catalog.lineage.is_current(entry.address)
        if any_match(_globs_of(catalog, entry), paths) is not None
    )
    return dict(sorted(Counter(others).items()))


def _globs_of(catalog: Catalog, entry: Entry) -> Sequence[str]:
    """Return the globs by which an entry applies: its own, or those of its wing where an invariant has none."""
    is_always = entry.type is EntryType.INVARIANT and not entry.applies_to
    return catalog.wings[entry.wing].applies_to if is_always else entry.applies_to
