"""One list holds the same item twice.

A clean merge of two branches that each add `executor` to `tags` makes such a list. It changes nothing for a reader,
yet it shows that nobody looked at the merge. Case counts for globs only; steps and actions may repeat, and links have
a check of their own.

Fails:

    tags: [executor, navigation, Executor]

Fix: remove the second one.
`mdmem check --fix` does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import with_fix
from mdmem.markdown.patch import remove_item
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Severity

CODE = "duplicate-list-item"
SEVERITY = Severity.WARNING
_FIELDS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each item that repeats an earlier one of its list."""
    for entry, _ in case.entries:
        for name in _FIELDS:
            items = getattr(entry, name)
            if len(items) > 1 and len({_folded(name, item) for item in items}) < len(items):
                yield from _repeats(case, entry, name)


def _repeats(case: Case, entry: Entry, name: str) -> Iterator[Finding]:
    document = case.catalog.document(entry.path)
    first: dict[str, int] = {}
    for number, item in enumerate(document.fields[name] if document.fields else ()):
        if item is not None and first.setdefault(_folded(name, item), number) != number:
            place, other = document.place(name, number), document.place(name, first[_folded(name, item)])
            message = f"{_shown(item)} stands twice in `{name}`"
            shown = Finding(CODE, message, place, "remove it", entry.address, other)
            yield with_fix(shown, "Remove the second", remove_item, document, name, number)


def _folded(name: str, item: object) -> str:
    if isinstance(item, dict):
        return str(sorted(item.items()))
    return str(item).strip().casefold() if name != "applies_to" else str(item)


def _shown(item: object) -> str:
    return f"`{': '.join(map(str, item.values()))}`" if isinstance(item, dict) else f"`{item}`"
