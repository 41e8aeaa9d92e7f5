"""What stands under an entry in an answer: what it replaced, and the newer entries that cite it, with the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from mdmem.catalog import Catalog
from mdmem.catalog.links import Direction, Neighbourhood
from mdmem.entry.model import Entry, EntryType, day_of
from mdmem.entry.sections import citing_sentences
from mdmem.retrieval.pack import Mention, Texts
from mdmem.retrieval.question import Retrieval, Retrieved
from mdmem.workspace.workspace import Workspace

_REPLACED, _CITING = 5, 5
# Whose text the index is asked for: more than these few are seldom given with their content.
_ASKED = 4
# Bodies that are read for sentences, the likeliest first.
_READ = 40
# In characters: a longer sentence is cut round the name.
_SENTENCE = 240
_NUMBERED = re.compile(r"([a-z]+)-?0*([0-9]+)(?:-.*)?\Z")
_CHANGES = re.compile(
    r"(?i)\b(?:amend|chang|clarif|deprecat|extend|modif|obsolet|overrid|relax|remov|replac|restrict|revis|supersed|updat)"
)


def texts_of(workspace: Workspace, found: Retrieval) -> Texts:
    """Return what a pack reads of the entries of a workspace."""
    catalog = workspace.catalog
    mentions = Mentions(workspace, found)
    return Texts(catalog.body, catalog.sizes.__getitem__, catalog.digests.__getitem__, mentions.under)


@dataclass
class Mentions:
    """The entries that stand under those of one answer; the full text is asked only where the question asked it."""

    workspace: Workspace
    found: Retrieval
    _asked: int = 0

    @property
    def _catalog(self) -> Catalog:
        return self.workspace.catalog

    @cached_property
    def _links(self) -> Neighbourhood:
        return Neighbourhood(self._catalog)

    def under(self, item: Retrieved) -> tuple[Mention, ...]:
        """Return what an item replaced, the newest first, and what cites it."""
        entry = item.entry
        if self._catalog.entries.get(entry.address) is not entry:
            return ()
        return (*self._replaced(entry), *self._citing(item))

    def _replaced(self, entry: Entry) -> Iterator[Mention]:
        olds = [self._catalog.entries[old] for old in self._catalog.lineage.ancestors(entry.address)]
        for old in sorted(olds, key=_age, reverse=True)[:_REPLACED]:
            yield Mention("replaces", old.address, old.title, _day(old))

    def _citing(self, item: Retrieved) -> list[Mention]:
        entry = item.entry
        if entry.type is EntryType.INVARIANT and not item.score:
            return []
        names = _names_of(entry)
        sources = [self._catalog.entries[address] for address in self._likely(item, names)]
        newer = [one for one in sources if _age(one) >= _age(entry) and one.address != entry.address]
        found = []
        for address, body, _ in self._catalog.bodies([one.address for one in newer]):
            sentences = citing_sentences(body, entry.address, names)
            if sentences:
                citing = self._catalog.entries[address]
                # One that says what it changes says more than one that points.
                said = next((one for one in sentences if _CHANGES.search(one)), sentences[0])
                found.append(Mention("cited by", address, citing.title, _day(citing), _cut(said, names)))
        found.sort(key=lambda one: not _CHANGES.search(one.said))
        return found[:_CITING]

    def _likely(self, item: Retrieved, names: tuple[str, ...]) -> list[str]:
        """Return the entries in force that link to one, and those whose text holds the words of its name."""
        is_current = self._catalog.lineage.is_current
        linking = [
            one.entry.address
            for one in self._links.of(item.entry.address)
            if one.direction is Direction.INCOMING and one.relationship == "see"
        ]
        return [one for one in dict.fromkeys([*linking, *self._holding(item, names)]) if is_current(one)][:_READ]

    def _holding(self, item: Retrieved, names: tuple[str, ...]) -> list[str]:
        if self.found.basis.source != "index" or not item.score or self._asked >= _ASKED:
            return []
        self._asked += 1
        scope = self.found.scope
        answer = self.workspace.find_text(names[0], [one for one in self._catalog.entries if scope.holds(one)])
        needed = frozenset(answer.terms)
        return [match.key for match in answer.matches if match.terms >= needed]


def _names_of(entry: Entry) -> tuple[str, ...]:
    """Return what other entries call one in prose: its id, its number as such records write it, its title."""
    name = entry.address.rpartition("/")[2]
    numbered = _NUMBERED.match(name)
    titles = (entry.title,) if len(entry.title.split()) > 2 else ()
    if numbered is None:
        return (name, *titles)
    letters, digits = numbered.groups()
    forms = (f"{letters} {digits}", f"{letters}-{digits}", f"{letters}:`{digits}`", f"{letters}-{digits:>04}")
    return tuple(dict.fromkeys((*forms, name, *titles)))


def _age(entry: Entry) -> date:
    return day_of(entry.created_at) if entry.created_at else date.min


def _day(entry: Entry) -> str:
    return day_of(entry.created_at).isoformat() if entry.created_at else ""


def _cut(sentence: str, names: tuple[str, ...]) -> str:
    """Return a sentence, a long one cut to the part round the name."""
    if len(sentence) <= _SENTENCE:
        return sentence
    folded = sentence.casefold()
    at = max(0, max(folded.find(name.casefold()) for name in names) - _SENTENCE // 2)
    at = min(at, len(sentence) - _SENTENCE)
    part = sentence[at : at + _SENTENCE]
    return f"{'… ' if at else ''}{part.strip()}{' …' if at + _SENTENCE < len(sentence) else ''}"
