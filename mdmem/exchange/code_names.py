"""Rules that name files of the project in their text: people say which of them a rule is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from mdmem.entry.model import Status
from mdmem.exchange.record import ForeignRecord

_CODE = re.compile(r"`([^`\n]+)`")


def count_on_code(records: Iterable[ForeignRecord], tracked: Callable[[], Iterable[str]]) -> int:
    """Return how many rules name tracked files, or folders of them, and state no `applies_to`.

    It is not guessed: that would keep a rule from the code that its text does not name.
    """
    named = [names for one in records if _may_bind(one) and (names := set(_names(one.body)))]
    known = _with_folders(tracked()) if named else frozenset()
    return sum(1 for names in named if not known.isdisjoint(names))


def _may_bind(record: ForeignRecord) -> bool:
    return record.type.is_rule and record.status is not Status.DEPRECATED and not record.fields.get("applies_to")


def _names(body: str) -> Iterator[str]:
    """Yield what stands as code and is written as a path."""
    for found in _CODE.finditer(body):
        written = found[1].strip()
        if "/" in written or "." in written:
            yield written.removeprefix("./").rstrip("/")


def _with_folders(files: Iterable[str]) -> frozenset[str]:
    known: set[str] = set()
    for path in files:
        while path and path not in known:
            known.add(path)
            path = path.rpartition("/")[0]
    return frozenset(known)
