"""Where the words of a changed entry begin to differ from those of its base."""

from __future__ import annotations

from mdmem.checks.case import Case
from mdmem.checks.changes import Changed
from mdmem.checks.same_text import first_difference
from mdmem.finding import Place


def first_reworded(case: Case, one: Changed) -> Place:
    """Return the first line of an entry's body that is another than before."""
    line, text = first_difference(one.body_before, one.body_after)
    return Place(one.after.path, case.catalog.document(one.after.path).body_line + line, 1, len(text))
