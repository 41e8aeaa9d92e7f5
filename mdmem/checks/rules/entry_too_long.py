"""An entry is longer than the budget of its type.

A pack of rules has a budget, and invariants are never cut: each long entry pushes others out. An entry over its
budget mostly holds several rules, or the story that belongs in a note. Counted are the body and the lists that are
shown with it, a token being 4 bytes of UTF-8: 400 for an invariant, 1200 for a decision or a pattern, 2000 for a
note.

Fails:

    an invariant with the minutes of the meeting that decided it

Runs only where the settings ask for it: by `[check.entry_tokens]`, which sets the budgets, by a severity of its own, or
by `select`.

Fix: split it, or move the story into a note and link it with `see`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil

from mdmem.checks.case import Case
from mdmem.model.entry import Entry, EntryType
from mdmem.model.finding import Finding, Severity

CODE = "entry-too-long"
SEVERITY = Severity.WARNING
_BYTES_PER_TOKEN = 4
_TOKENS: Mapping[str, int] = {
    EntryType.INVARIANT: 400,
    EntryType.DECISION: 1200,
    EntryType.PATTERN: 1200,
    EntryType.NOTE: 2000,
}
_SHOWN = ("repeatable_steps", "exclusions", "actions_taken", "decisions_made", "open_items", "next_actions")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry over the budget that the settings, else this check, give its type."""
    budgets = {**_TOKENS, **case.settings.entry_tokens}
    entries = case.catalog.entries
    # Most are within the smallest budget, and none of those is asked for.
    least = min(budgets.values()) * _BYTES_PER_TOKEN
    for entry in [entries[one] for one in entries if case.extract(f"{one}.md").length > least]:
        budget = budgets[entry.type]
        extract = case.extract(entry.path)
        if extract.length <= budget * _BYTES_PER_TOKEN:
            continue
        tokens = ceil((extract.size + _listed(entry)) / _BYTES_PER_TOKEN)
        if tokens > budget:
            message = f"the entry has {tokens} tokens, over the {budget} of the type `{entry.type}`"
            help_ = "split it, or move the story into a note and link it with `see`"
            yield case.on_entry(CODE, entry, message, help_)


def _listed(entry: Entry) -> int:
    return sum(len(item.encode("utf-8")) for name in _SHOWN for item in getattr(entry, name))
