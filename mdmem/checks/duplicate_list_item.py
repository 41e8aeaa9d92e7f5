"""One list holds the same item twice.

A clean merge of two branches that each add `executor` to `tags` makes such a list. It changes nothing for a reader,
yet it shows that nobody looked at the merge. Case counts for globs only; steps and actions may repeat, and links have
a check of their own.

Fails:

    tags: [executor, navigation, Executor]

Fix: remove the second one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.checks.case import Case
from mdmem.entry.model import Entry
from mdmem.finding import Finding, Severity

CODE = "duplicate-list-item"
SEVERITY = Severity.WARNING
_FIELDS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each item that repeats an earlier one of its list."""
    for entry in case.catalog.entries.values():
        for name in _FIELDS:
            items = getattr(entry, name)
            if len(items) > 1 and len({_folded(name, item) for item in items}) < len(items):
                yield from _repeats(case, entry, name)


def _repeats(case: Case, entry: Entry, name: str) -> Iterator[Finding]:
    document = case.catalog.document(entry.path)
    first: dict[object, int] = {}
    for number, item in enumerate((document.fields or {})[name]):
        key = _folded(name, tuple(item.values()) if isinstance(item, dict) else item)
        if item is not None and first.setdefault(key, number) != number:
            shown = " ".join(item.values()) if isinstance(item, dict) else item
            place, other = document.place(name, number), document.place(name, first[key])
            yield Finding(CODE, f"`{shown}` stands twice in `{name}`", place, "remove it", entry.address, other)


def _folded(name: str, item: Any) -> object:
    return item.strip().casefold() if isinstance(item, str) and name != "applies_to" else item
