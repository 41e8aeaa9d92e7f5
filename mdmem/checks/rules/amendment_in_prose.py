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

from mdmem.catalog.amendments import is_lower, may_speak_for
from mdmem.checks.case import Case
from mdmem.checks.fixes.base import with_choice
from mdmem.document.patch import add_items
from mdmem.entry.model import Entry
from mdmem.finding import Finding, Severity

CODE = "amendment-in-prose"
SEVERITY = Severity.INFO
_SELF = r"(?:this|the present)(?: \w+){0,2}|we|it"
_VERB = r"(?:amend|revise|update|modifie|modify|relaxe?|supplement|partially (?:supersede|replace))s?"
_AMENDING = re.compile(
    rf"(?:^[ \t]*(?:[-*+][ \t]+)?[*_]{{0,2}}|(?<=[.:!?])\s|\b(?:{_SELF})\s(?:also\s|only\s|partially\s)?)"
    rf"(?P<verb>{_VERB})\b[*_]{{0,2}}:?",
    re.IGNORECASE | re.MULTILINE,
)
# Up to the end of the sentence, and no further: a name far from the verb is of something else.
_OBJECT = re.compile(r"(?:[^.!?;\n]|\.(?=\w)|\n(?!\s)){0,60}")
_NAMES = re.compile(
    r"(?<![\w-])(?P<kind>[A-Za-z]{2,10})(?:[ \-_]|:`|\s#)0*(?P<number>\d{1,6})(?![\w-])"
    r"|(?<![\w/-])(?P<address>[a-z0-9_]+/[a-z0-9-]+/[\w-]+)"
)
_ID = re.compile(r"(?:([a-z]+)-)?0*(\d+)(?:-|\Z)")
# What a number alone is called in prose.
_KINDS = ("adr", "decision", "record")
_SAID = ("amends", "supersedes", "superseded_by", "overrides")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry in force that a sentence of another one in force says it amends."""
    names = _Names(case)
    for entry, document in case.entries:
        if not case.is_current(entry.address):
            continue
        for target, offset in dict(_amended(names, entry, case.prose[entry.address])).items():
            if _may_amend(case, entry, target):
                message = f"the text says that it amends `{target}`, and `amends` does not"
                help_ = f"add `{target}` to `amends`, or to `supersedes` if nothing of it holds any more"
                shown = case.in_body(CODE, entry.address, message, help_, offset=offset)
                yield with_choice(shown, f"Add `{target}` to `amends`", add_items, document, "amends", [target])


def _amended(names: _Names, entry: Entry, prose: str) -> Iterator[tuple[str, int]]:
    """Yield the first entry that is named behind each verb, with the place of the verb; the last one first."""
    for verb in reversed(list(_AMENDING.finditer(prose))):
        said = _OBJECT.match(prose, verb.end())
        target = names.first(entry, prose, verb.end(), said.end()) if said else None
        if target:
            yield target, verb.start("verb")


def _may_amend(case: Case, entry: Entry, target: str) -> bool:
    other = case.catalog.entries[target]
    is_said = any(target in entry.links(name) for name in _SAID)
    is_allowed = not is_lower(entry, other) and may_speak_for(entry, other, case.catalog.wings)
    return target != entry.address and case.is_current(target) and is_allowed and not is_said


class _Names:
    """What the names in a text mean: kinds with numbers, addresses and links."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def first(self, entry: Entry, prose: str, start: int, end: int) -> str | None:
        """Return the entry that is named first in a part of a body."""
        linked = [(at, target) for at, target in self._links.get(entry.address, ()) if start <= at < end]
        written = ((found.start(), self._meant(entry, found)) for found in _NAMES.finditer(prose, start, end))
        named = [(at, target) for at, target in written if target is not None]
        return min(linked + named)[1] if linked or named else None

    def _meant(self, entry: Entry, found: re.Match[str]) -> str | None:
        if found["address"]:
            return found["address"] if found["address"] in self._case.catalog.entries else None
        meant = self._numbered.get((entry.wing, found["kind"].casefold(), int(found["number"])), [])
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
