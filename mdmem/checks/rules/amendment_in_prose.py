"""The text of an entry says that it amends another, and `amends` does not name it.

Who reads the amended entry is told nothing of the change: answers show an amendment with what it amends where the
field says so, and prose is read by people alone. Only a sentence whose subject is the entry itself counts, with
amends, revises, updates or the like before the name of an entry in force: its address, a link, or its kind and number.

Fails:

    app/rules/exception.md    This amends app/rules/retry-twice for payments.

Fix: add the address to `amends`, or to `supersedes` where nothing of the other entry holds any more.
`mdmem check --unsafe-fixes` adds it to `amends`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from mdmem.checks.amendment_sentences import AmendmentSentence, EntryName
from mdmem.checks.case import Case
from mdmem.checks.fixes.base import with_choice
from mdmem.markdown.patch import add_items
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.amendments import is_lower, may_speak_for

CODE = "amendment-in-prose"
SEVERITY = Severity.INFO
_ID = re.compile(r"(?:([a-z]+)-)?0*(\d+)(?:-|\Z)")
# What a number alone is called in prose.
_KINDS = ("adr", "decision", "record")
_SAID = ("amends", "supersedes", "superseded_by", "overrides")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry in force that a sentence of another one in force says it amends."""
    names = _Names(case)
    for entry in case.catalog.entries.values():
        sentences = case.extract(entry.path).amendments
        if not sentences or not case.is_current(entry.address):
            continue
        # The first that names an entry tells where.
        named = ((names.first(entry, one), one.offset) for one in reversed(sentences))
        for target, offset in {target: offset for target, offset in named if target is not None}.items():
            if _may_amend(case, entry, target):
                message = f"the text says that it amends `{target}`, and `amends` does not"
                help_ = f"add `{target}` to `amends`, or to `supersedes` if nothing of it holds any more"
                shown = case.in_body(CODE, entry.address, message, help_, offset=offset)
                document = case.catalog.document(entry.path)
                yield with_choice(shown, f"Add `{target}` to `amends`", add_items, document, "amends", [target])


def _may_amend(case: Case, entry: Entry, target: str) -> bool:
    other = case.catalog.entries.get(target)
    if other is None:
        # A link may lead to a file that cannot be read.
        return False
    is_said = any(target in entry.links(name) for name in _SAID)
    is_allowed = not is_lower(entry, other) and may_speak_for(entry, other, case.catalog.wings)
    return target != entry.address and case.is_current(target) and is_allowed and not is_said


class _Names:
    """What the names in a text mean: kinds with numbers, addresses and links."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def first(self, entry: Entry, sentence: AmendmentSentence) -> str | None:
        """Return the entry that is named first behind the verb."""
        links = self._links.get(entry.address, ())
        linked = [(at, target) for at, target in links if sentence.start <= at < sentence.end]
        meant = ((name.offset, self._meant(entry, name)) for name in sentence.names)
        named = [(at, target) for at, target in meant if target is not None]
        return min(linked + named)[1] if linked or named else None

    def _meant(self, entry: Entry, name: EntryName) -> str | None:
        if name.address:
            return name.address if name.address in self._case.catalog.entries else None
        meant = self._numbered.get((entry.wing, name.kind, name.number), [])
        return meant[0] if len(meant) == 1 else None

    @cached_property
    def _links(self) -> dict[str, list[tuple[int, str]]]:
        links: dict[str, list[tuple[int, str]]] = {}
        for one in self._case.references:
            if one.target is not None:
                links.setdefault(one.address, []).append((one.link.offset, one.target))
        return links

    @cached_property
    def _numbered(self) -> dict[tuple[str, str, int], list[str]]:
        """The entries by wing, kind and number: of `pep-0484`, and of `0007-use-utc`, which any kind may mean."""
        found: dict[tuple[str, str, int], list[str]] = {}
        for address, entry in self._case.catalog.entries.items():
            if numbered := _ID.match(address.rsplit("/", 1)[-1]):
                for kind in [numbered[1]] if numbered[1] else _KINDS:
                    found.setdefault((entry.wing, kind, int(numbered[2])), []).append(address)
        return found
